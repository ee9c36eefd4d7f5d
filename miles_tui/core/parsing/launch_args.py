"""The arguments of a run as the log prints them: Megatron's table, or a command line.

Names have underscores as in Miles's own table; values are the printed text, keys and tokens masked.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from miles_tui.core.text.sanitize import harmless

# A row begins with blanks; what a transport put before them does not matter.
_ROW = re.compile(r"(?:\A|  |(?<=[:>|\])-]) )([A-Za-z_]\w{0,80}) (?:\.{2,}(?: |\Z)|(?<=\w{46} ))(.*)", re.DOTALL)
_FLAG = re.compile(r"--([A-Za-z][\w-]{0,80})(?:=(.*))?", re.DOTALL)
_NEGATIVE = re.compile(r"-[\d.]")
_SCRIPT = re.compile(r"\S*\.py")
_MOST_VALUE = 200
_MOST_DIGITS = 12
_OFF = frozenset({"", "0", "false", "no", "none", "off"})


def table_row(line: str) -> tuple[str, str] | None:
    """`  name ....... value` as (name, value), whatever prefix stands before it, or None."""
    match = _ROW.search(harmless(line).strip())
    return (match[1], match[2].strip()[:_MOST_VALUE]) if match else None


def cli_arguments(line: str) -> dict[str, str]:
    """The flags behind the training script in a printed command line; the last of two equal flags wins.

    `--flag` alone is "True"; several values are joined with blanks.
    """
    text = harmless(line)
    try:
        words = shlex.split(text)
    except ValueError:  # an apostrophe or an unclosed quote
        words = text.split()
    begin = _script(words)
    if begin < 0:  # the command stands in one pair of quotes: `bash -c "... -- python3 train.py --lr 1e-6"`
        words = [part for word in words for part in word.split()]
        begin = _script(words)
    if begin < 0:
        begin = words.index("--") if "--" in words else len(words)
    found: dict[str, str] = {}
    values: list[str] = []
    name = ""
    for word in [*words[begin + 1 :], "--end"]:
        flag = _FLAG.fullmatch(word)
        if flag is None:
            if name and (not word.startswith("-") or _NEGATIVE.match(word)):
                values.append(word)
            continue
        if name:
            found[name] = " ".join(values)[:_MOST_VALUE] if values else "True"
        name, values = flag[1].replace("-", "_"), [flag[2]] if flag[2] is not None else []
    return found


def count_of(arguments: Mapping[str, str], name: str) -> int | None:
    """The number above 0 that an argument was printed with, None where there is none. `²` is a digit and no number."""
    text = value_of(arguments, name)
    return int(text) or None if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def value_of(arguments: Mapping[str, str], name: str) -> str:
    """The first word of an argument's value: a shell's redirections may stand behind it."""
    return next(iter(arguments.get(name, "").split(maxsplit=1)), "")


def is_on(arguments: Mapping[str, str], name: str) -> bool:
    """Whether a switch was printed and not as off; a path counts as on."""
    return name in arguments and value_of(arguments, name).lower() not in _OFF


def _script(words: list[str]) -> int:
    return max((i for i, word in enumerate(words) if _SCRIPT.fullmatch(word)), default=-1)
