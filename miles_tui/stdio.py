"""Standard output and standard error as they are: any encoding, a reader that leaves, a full disk, nothing there."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ERRORS = "miles-tui"  # the name of our way with what an encoding can't hold
BUFFER = 1 << 16


class OutputError(OSError):
    """A standard stream does not take what is written to it: its disk is full, for one."""


class _Whole(io.RawIOBase):
    """A descriptor that takes every byte. Raises OutputError, BrokenPipeError where its reader has gone.

    Python's own gives up what a short write left where it does not buffer (PYTHONUNBUFFERED), and all where the
    descriptor does not block, which it shares with whoever else has the pipe or the terminal open.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                self._wait()
            except BrokenPipeError:
                raise
            except OSError as error:
                raise OutputError(error.errno, error.strerror) from None
        return size

    def _wait(self) -> None:
        import select

        room = select.poll()
        room.register(self._descriptor, select.POLLOUT)
        room.poll()


def _whole(stream: TextIO) -> TextIO:
    """The same stream with `_Whole` beneath it; one that is none of the process's own (a test's) as it is."""
    if stream not in (sys.__stdout__, sys.__stderr__):
        return stream
    stream.flush()
    writer = io.BufferedWriter(_Whole(stream.fileno()), BUFFER)
    lines = stream is sys.__stderr__ or stream.isatty()
    return io.TextIOWrapper(writer, stream.encoding, ERRORS, line_buffering=lines)


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    """What an encoding can't hold becomes the ASCII form that the screen has for it."""
    from miles_tui.core.text.ascii import spelled, to_ascii

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
    sys.stdout, sys.stderr = _whole(sys.stdout), _whole(sys.stderr)


def say(text: str, end: str = "\n") -> None:
    """Print lines for a person. Names, settings and a log's words in them may be anybody's: nothing acts, no key shows.

    The one way to standard output for all that is not JSON or CSV, which have ways of their own to spell a character.
    What is spelled in TOML stays so, and a line is as wide as it was made. As `hand_over`.
    """
    from miles_tui.core.text.sanitize import safe_lines

    hand_over(safe_lines(text) + end)


def hand_over(text: str = "") -> None:
    """Write to standard output as it is, and see it gone. Where its reader has gone, what comes from here on is lost.

    Raises OutputError.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        abandon(sys.stdout)


def one_line(name: object) -> str:
    """A name as a part of what is said: a path may have a line's end in it, and bytes that are no UTF-8."""
    from miles_tui.core.text.sanitize import harmless_name

    return harmless_name(name)


def complain(message: str) -> None:
    """One line to standard error, of which the same holds. Where nobody takes it, the exit status says it."""
    try:
        print(f"miles-tui: {one_line(' '.join(message.split()))}", file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def not_all(cut_short: Sequence[str]) -> int:
    """Tell what of a log could not be read; the exit status that this alone asks for."""
    for said in cut_short:
        complain(said)
    return 2 if cut_short else 0


def ended(run: Callable[[], int]) -> int:
    """The exit status of `run`, whichever way it ends; its output has left then."""
    try:
        try:
            status = run()
        except (BrokenPipeError, OutputError):
            raise
        except OSError as error:  # of a file that nobody thought of
            complain(f"{error.filename or 'the system'}: {error.strerror or error}")
            status = 2
        hand_over()
        return status
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # of records: that is how `| head` ends them
        abandon(sys.stdout)
        return 0
    except OutputError as error:
        abandon(sys.stdout)
        complain(f"standard output: {error.strerror}")
        return 2


def abandon(stream: TextIO) -> None:
    """Nobody takes this output any more: what is still to be written, by the interpreter's end too, is lost."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # until the process ends
