"""A finished log, read once from its beginning to its end."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from miles_tui.core.model.records import Event
from miles_tui.core.parsing.line_splitter import MAX_LINE
from miles_tui.ingest.files.gzip_file import GZIP_MAGIC, Gunzip, is_packed
from miles_tui.ingest.files.holes import data_from
from miles_tui.ingest.files.open_file import CHUNK, PlainFile, close, unreadable

STDIN = "-"


class Log(NamedTuple):
    """One run's log: the file that is written to (`-`: standard input), and its rotations, oldest first.

    `given` is how the person named it. As a path it is the file. Reading begins at the offset `start` of the first
    part's text; `launch` holds what the text before says of the run's arguments.
    """

    path: Path
    given: str
    before: tuple[Path, ...] = ()
    start: int = 0
    launch: tuple[Event, ...] = ()

    @property
    def parts(self) -> tuple[Path, ...]:
        """All files, oldest first."""
        return (*self.before, self.path)

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return self.given


def is_stream(path: str) -> bool:
    """Whether `path` is a FIFO or a device (`<(command)`, `/dev/stdin`): it is read once and has no size."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def read_all(
    path: str | PathLike[str], *, stdin: int = 0, start: int = 0, told: list[str] | None = None
) -> Iterator[bytes]:
    """A finished log's bytes (of one that grows: up to its present end), gzip unpacked, a chunk at a time.

    `-` is the descriptor `stdin`. Of a `Log` all parts are read; where one ends inside a line, that line
    is ended, so that it is never joined with the next file's first. Of another path what stands behind the offset
    `start` of its text. Raises UnreadableLog with one plain line; what can't be read of a text that
    begins well (a damaged gzip file, a file that is emptied meanwhile) is put into `told`, a line each.
    """
    if not isinstance(path, Log):
        yield from _read_part(os.fspath(path), stdin, start, told)
        return
    name = str(path.path)
    live = [] if name == STDIN or is_stream(name) else [name]
    with open_parts([*path.before, *live]) as files:
        start, last = path.start, b"\n"
        for file in files:
            if last != b"\n":
                yield b"\n"
            for chunk in read_open(file, start, told):
                last = chunk[-1:]
                yield chunk
            start = 0
    if not live:
        yield from _read_part(name, stdin, start, told)


@contextmanager
def open_parts(parts: Iterable[str | PathLike[str]]) -> Iterator[list[PlainFile]]:
    """The parts of a log, all opened before the first is read: what is rotated meanwhile has another name then."""
    with ExitStack() as closing:
        files: list[PlainFile] = []
        for part in parts:
            try:
                files.append(closing.enter_context(PlainFile(os.fspath(part))))
            except OSError as error:
                raise unreadable(part, error) from None
        yield files


def read_open(file: PlainFile, start: int = 0, told: list[str] | None = None) -> Iterator[bytes]:
    """The text of an open file behind the offset `start`, up to its present end. Raises UnreadableLog.

    `told` as in `read_all`.
    """
    wrong: list[str] = []
    try:
        promised = file.stat().st_size
        plain = not is_packed(file)
        os.lseek(file.fileno(), start if plain else 0, os.SEEK_SET)
        start = 0 if plain else start
        yield from _behind(start, _drain(file.fileno(), wrong))
        if file.stat().st_size < promised:
            wrong.append("could not be read whole (it was emptied or cut off meanwhile): what follows is not judged")
        if told is not None:
            told += [f"{file.path} {said}" for said in wrong]
    except OSError as error:
        raise unreadable(file.path, error) from None


def _read_part(name: str, stdin: int, start: int, told: list[str] | None) -> Iterator[bytes]:
    if name != STDIN and not is_stream(name):
        with open_parts([name]) as files:
            yield from read_open(files[0], start, told)
        return
    wrong: list[str] = []
    try:
        if name == STDIN:
            yield from _drain(stdin, wrong)
        else:
            fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            try:
                yield from _drain(fd, wrong)
            finally:
                close(fd)
        if told is not None:
            told += [f"{'standard input' if name == STDIN else name} {said}" for said in wrong]
    except OSError as error:
        raise unreadable(name, error) from None


def _behind(start: int, texts: Iterator[bytes]) -> Iterator[bytes]:
    """A text without its first `start` bytes."""
    for text in texts:
        if start < len(text):
            yield text[start:] if start else text
        start = max(0, start - len(text))


def _over_hole(fd: int) -> Iterator[bytes]:
    """Step over the hole that `fd` stands in, if any: as many of its NULs as make an unfinished line too long."""
    try:
        at, size = os.lseek(fd, 0, os.SEEK_CUR), os.fstat(fd).st_size
    except OSError:  # a pipe
        return
    end = max(at, data_from(fd, at, size))
    os.lseek(fd, end, os.SEEK_SET)
    for begin in range(at, min(end, at + MAX_LINE + CHUNK), CHUNK):
        yield bytes(min(CHUNK, end - begin))


def _drain(fd: int, wrong: list[str]) -> Iterator[bytes]:
    """All that comes out of a descriptor. os.read into new memory is as fast as readinto one buffer (22 GB/s)."""
    data = _read(fd)
    gunzip = Gunzip() if data.startswith(GZIP_MAGIC) else None
    some = False
    while data:
        if gunzip:
            for text in gunzip.feed(data):
                some = True
                yield text
        else:
            yield data
            if not data[-1]:
                yield from _over_hole(fd)
        data = _read(fd)
    if gunzip and gunzip.broken and not some:
        raise OSError(0, gunzip.wrong)
    if gunzip and gunzip.wrong:
        wrong.append(f"could not be read whole ({gunzip.wrong}): what follows is not judged")


def _read(fd: int) -> bytes:
    """What comes next, b"" at the end. Waits also where whoever shares the pipe made it one that does not block."""
    while True:
        try:
            return os.read(fd, CHUNK)
        except BlockingIOError:
            import select

            waiting = select.poll()
            waiting.register(fd, select.POLLIN)
            waiting.poll()
