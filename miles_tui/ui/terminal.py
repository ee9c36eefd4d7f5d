"""What the terminal can show, and which of our descriptors lead to it.

The terminal is not asked anything for this: no reply can end up in the input.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from miles_tui.errors import UsageError

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


def switch_mouse(driver: object, on: bool) -> None:
    """Take the mouse or leave it while an app runs, for which Textual has no public way; nothing for other drivers."""
    if not hasattr(driver, "_mouse"):
        return
    driver._mouse = True  # both ways are closed to a driver that was started without the mouse
    getattr(driver, "_enable_mouse_support" if on else "_disable_mouse_support", lambda: None)()
    driver._mouse = on


@contextmanager
def own_terminal() -> Iterator[int]:
    """Keys from the terminal and the screen on it, wherever descriptors 0 and 2 lead; gives the old 0 for a log.

    Textual reads keys from 0 and draws on 2. A log piped in (`-`) takes 0, `2>errors` takes 2, and a 0 that is at
    its end (`< /dev/null`) would be read again and again at the price of a whole core.
    """
    saved = {fd: os.dup(fd) for fd in (0, 2)}
    try:
        if not os.isatty(0):
            _replace(0, os.O_RDONLY)
        if not os.isatty(2):
            _replace(2, os.O_WRONLY)
        yield saved[0]
    finally:
        for fd, before in saved.items():
            os.dup2(before, fd)
            os.close(before)


def _replace(fd: int, mode: int) -> None:
    try:
        terminal = os.open("/dev/tty", mode)
    except OSError:
        raise UsageError("the dashboard needs a terminal: use miles-tui check") from None
    os.dup2(terminal, fd)
    os.close(terminal)
