"""What the terminal can show, told from the environment without asking it: no reply can end up in the input."""

from __future__ import annotations

from collections.abc import Mapping

# Terminals whose fonts have block elements at best; braille there is a row of empty boxes.
POOR = ("linux", "dumb", "vt100", "vt102", "vt220", "ansi", "cons25", "unknown")


def is_utf8(env: Mapping[str, str]) -> bool:
    """Whether the locale promises UTF-8.

    Python itself sets LC_CTYPE=C.UTF-8 where the locale is "C" or not set (PEP 538), so that alone
    promises nothing. Without any locale a terminal of today is taken to know UTF-8, but not in tmux:
    tmux then writes `_` for every such character.
    """
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = env.get(name, "")
        if not value or (name == "LC_CTYPE" and value in ("C.UTF-8", "C.utf8")):
            continue
        return "UTF8" in value.upper().replace("-", "")
    return "TMUX" not in env


def glyphs_for(env: Mapping[str, str]) -> str:
    """`braille`, `blocks` or `ascii`: the finest glyphs that can be trusted to be seen."""
    if not is_utf8(env) or env.get("TERM", "dumb") in POOR:
        return "ascii"
    return "braille"


def is_dark(env: Mapping[str, str]) -> bool:
    """Whether the terminal's ground is dark, as far as it says so (COLORFGBG: `15;0`); dark where it does not."""
    ground = env.get("COLORFGBG", "").rpartition(";")[2]
    return ground not in ("7", "15")
