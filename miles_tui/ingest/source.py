"""An open file as a place to read on from, and what is remembered of bytes that were read.

A `Trace` is enough to know the same bytes again in another file (a copy, a file restored or synced
anew) or to see that they are no longer there (truncated, rewritten, an inode used again). The first
line alone would not do: it is often the same in every file of a run.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Self

CHUNK = 1 << 20  # read at once: 0.07 s a gigabyte, a quarter less than 256 KiB at a time
MARK = 256  # bytes kept at each end of what was read
GZIP_MAGIC = b"\x1f\x8b"
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY  # a FIFO must not block, a tty not adopt us

Key = tuple[int, int]  # device and inode


class Lost(Enum):
    """Why a file can't be read on from where we were."""

    SHRUNK = "shrunk"  # fewer bytes than we read; on NFS that may be a stale size, seen once
    REWRITTEN = "rewritten"  # the bytes before our offset are others


class NotAFileError(OSError):
    """The path leads to something that is no regular file."""


def in_words(error: OSError) -> str:
    """What an error of the file system means, in a few words that follow a path."""
    if isinstance(error, NotAFileError):
        return str(error.strerror)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "does not exist"
    if isinstance(error, PermissionError):
        return "may not be read (permission denied)"
    return f"can't be read ({(error.strerror or str(error)).lower()})"


@dataclass(slots=True, frozen=True)
class Trace:
    """The first `size` bytes of a file: how many, and up to `MARK` of them at either end."""

    size: int
    head: bytes
    tail: bytes

    def fits(self, fd: int) -> bool:
        """Whether the file `fd` begins with the bytes that this was taken of."""
        at = self.size - len(self.tail)
        return os.pread(fd, len(self.tail), at) == self.tail and os.pread(fd, len(self.head), 0) == self.head

    @classmethod
    def of(cls, fd: int, size: int) -> Trace:
        """The trace of the first `size` bytes of `fd`."""
        return cls(size, os.pread(fd, min(size, MARK), 0), os.pread(fd, min(size, MARK), max(0, size - MARK)))


NOTHING = Trace(0, b"", b"")


class PlainFile:
    """An open regular file. Keeping it open also keeps its inode from being used again.

    Raises OSError where it can't be opened, `NotAFileError` for a folder, a pipe or a device.
    """

    __slots__ = ("_fd", "key", "live", "path", "trace")

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, _FLAGS)
        self.path = path
        self.trace = NOTHING  # of what was read
        self.live = False  # it was what the log's path led to: somebody may still write to it
        try:
            found = os.fstat(self._fd)
            if not stat.S_ISREG(found.st_mode):
                raise NotAFileError(0, "is a folder" if stat.S_ISDIR(found.st_mode) else "is not a file", path)
        except BaseException:
            self.close()
            raise
        self.key: Key = (found.st_dev, found.st_ino)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, most: int) -> bytes | Lost:
        """Up to `most` bytes more; b"" at the end of what there is now.

        The bytes before the offset are read in the same call as those behind it: between two calls
        the file could be truncated and grow past the offset again.
        """
        seen = self.trace
        back = len(seen.tail)
        data = os.pread(self._fd, back + most, seen.size - back)
        if len(data) < back:
            return Lost.SHRUNK
        if not data.startswith(seen.tail):
            return Lost.REWRITTEN
        # At the live edge the head is compared too (1 us): a file rewritten with the same size and end.
        if len(data) < back + most and os.pread(self._fd, len(seen.head), 0) != seen.head:
            return Lost.REWRITTEN
        if len(data) == back:
            return b""
        if not data[back] and not data[-1] and self._skip_hole(seen.size):
            return self.read(most)
        new = data[back:] if back else data
        head = seen.head if len(seen.head) == MARK else seen.head + new[: MARK - len(seen.head)]
        self.trace = Trace(seen.size + len(new), head, data[-MARK:])
        return new

    def _skip_hole(self, at: int) -> bool:
        """Step over a hole. A writer without O_APPEND leaves one as long as its old log after a truncation."""
        try:
            start = os.lseek(self._fd, at, os.SEEK_DATA)
        except (OSError, AttributeError):
            return False
        if start <= at:
            return False
        self.trace = Trace.of(self._fd, start)
        return True

    def starts_at(self, trace: Trace) -> None:
        """Read on behind the bytes of `trace`, which this file was found to begin with."""
        self.trace = trace

    def fits(self, trace: Trace) -> bool:
        return trace.fits(self._fd)

    def trace_of(self, size: int) -> Trace:
        """The trace of the first `size` bytes."""
        return Trace.of(self._fd, size)

    def peek(self, size: int, at: int = 0) -> bytes:
        return os.pread(self._fd, size, at)

    def stat(self) -> os.stat_result:
        return os.fstat(self._fd)

    def left(self) -> int:
        """How many bytes are still to be read, as far as known."""
        return max(0, os.fstat(self._fd).st_size - self.trace.size)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def fileno(self) -> int:
        return self._fd

    def detach(self) -> int:
        """Hand over the descriptor."""
        fd, self._fd = self._fd, -1
        return fd


class Gunzip:
    """gzip in, text out, never more than `CHUNK` at once: a small file can hold a very long text.

    Several members behind one another are one text; what follows the last is ignored, as gzip does.
    A file that ends too early gives what there is; `broken` says that it is damaged.
    """

    def __init__(self) -> None:
        self._z = zlib.decompressobj(wbits=31)
        self._begun = False  # inside a member
        self._over = False
        self.broken = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The text of the next `data` of the file; to be read to its end before the next call."""
        while not self._over:
            if not self._begun:
                data = data.lstrip(b"\0")
                if not data:
                    return
                if not data.startswith(GZIP_MAGIC[: len(data)]):
                    self._over = True
                    return
                self._begun = True
            try:
                text = self._z.decompress(data, CHUNK)
            except zlib.error:
                self.broken = self._over = True
                return
            if text:
                yield text
            data = self._z.unconsumed_tail
            if self._z.eof:
                data, self._z, self._begun = self._z.unused_data, zlib.decompressobj(wbits=31), False
            elif not data and len(text) < CHUNK:
                return


class GzipFile:
    """A gzip file, read to its end: what `PlainFile` is for text. `trace` counts the text's bytes."""

    __slots__ = ("_fd", "_texts", "_z", "key", "path", "trace")

    def __init__(self, plain: PlainFile) -> None:
        self.key, self.path = plain.key, plain.path
        self._fd = plain.detach()
        self.trace = NOTHING
        self._z = Gunzip()
        self._texts = self._read()

    def _read(self) -> Iterator[bytes]:
        at = 0
        while data := os.pread(self._fd, CHUNK // 4, at):
            at += len(data)
            yield from self._z.feed(data)

    def read(self, most: int) -> bytes | Lost:
        del most  # a chunk is as long as it comes, at most CHUNK
        text = next(self._texts, b"")
        if text:
            seen = self.trace
            self.trace = Trace(
                seen.size + len(text),
                seen.head if len(seen.head) == MARK else (seen.head + text)[:MARK],
                (seen.tail + text)[-MARK:] if len(text) < MARK else text[-MARK:],
            )
        return text

    def left(self) -> int:
        return 0

    def close(self) -> None:
        if self._fd >= 0:
            self._texts = iter(())
            os.close(self._fd)
            self._fd = -1
