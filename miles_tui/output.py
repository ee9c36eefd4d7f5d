"""Standard output and standard error as they are: any encoding, a reader that leaves, a full disk, nothing there."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from typing import TextIO

ERRORS = "miles-tui"  # the name of our way with what an encoding can't hold


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """What an encoding can't hold becomes the ASCII form that the screen has for it."""
    from miles_tui.core.glyphs import spelled, to_ascii

    if not isinstance(error, UnicodeEncodeError):
        raise error
    return to_ascii(spelled(error.object[error.start : error.end])), error.end


def prepare() -> None:
    """Make both streams take any text. What each can hold is written as it is; a closed one takes it in vain.

    Descriptors 0 to 2 are there then: a file or a pipe of ours that got the number of a closed one would be read as
    the log, or written to as the terminal.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    codecs.register_error(ERRORS, _stand_in)
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors=ERRORS)


def say(text: str, end: str = "\n") -> None:
    """Print lines for a person. Names, settings and a log's words in them may be anybody's: nothing acts, no key shows.

    The one way to standard output for all that is not JSON or CSV, which have ways of their own to spell a character.
    What is spelled in TOML stays so, and a line is as wide as it was made.
    """
    from miles_tui.core.plain import safe_lines

    sys.stdout.write(safe_lines(text) + end)


def one_line(name: object) -> str:
    """A name as a part of what is said: a path may have a line's end in it, and bytes that are no UTF-8."""
    from miles_tui.core.plain import harmless_name

    return harmless_name(name)


def complain(message: str) -> None:
    """One line to standard error, of which the same holds."""
    sys.stderr.write(f"miles-tui: {one_line(' '.join(message.split()))}\n")


def abandon() -> None:
    """Nobody takes our output any more: what is still to be written, by the interpreter's end too, is lost."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # until the process ends
