"""An open file as a place to read on from, and what is remembered of bytes that were read.

A `Fingerprint` is enough to know the same bytes again in another file (a copy, a file restored or synced
anew) or to see that they are no longer there (truncated, rewritten, an inode used again). The first
line alone would not do: it is often the same in every file of a run.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import NamedTuple, Self

from miles_tui.errors import UnreadableLog
from miles_tui.ingest.files.away import is_away
from miles_tui.ingest.files.holes import data_from

CHUNK = 1 << 20  # read at once: 0.07 s a gigabyte, a quarter less than 256 KiB at a time
MARK = 256  # bytes kept at each end of what was read
OPENING = 1 << 20  # bytes of its beginning that are kept whole: so far a text that is written again is surely known
LEAST_STEP = 1 << 12
SPOT, SPOTS = 16, 128  # bytes kept at this many places further on, 4 KiB apart or more: 80 KB a text in all
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY  # a FIFO must not block, a tty not adopt us

FileKey = tuple[int, int]  # device and inode


class Lost(Enum):
    """Why a file can't be read on from where we were."""

    SHRUNK = "shrunk"  # fewer bytes than we read; on NFS that may be a stale size, seen once
    REWRITTEN = "rewritten"  # the bytes before our offset are others
    OVERWRITTEN = "overwritten"  # those at the beginning are, and those before our offset not, or not yet


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


def unreadable(path: object, error: OSError) -> UnreadableLog:
    """The error that a person reads."""
    said = UnreadableLog(f"{path} {in_words(error)}")
    said.away = is_away(error)
    return said


def close(fd: int) -> None:
    """Close a descriptor that was only read. What a network file system says of it then is of no concern to us.

    The descriptor is gone whatever it says: closing it again would take another file's.
    """
    if fd >= 0:
        with suppress(OSError):
            os.close(fd)


def _pread(fd: int, size: int, at: int) -> bytes:
    """The bytes there. Raises OSError where fewer come although the file has more: the rest could not be fetched."""
    data = os.pread(fd, size, at)
    if len(data) < size and os.fstat(fd).st_size >= at + size:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return data


Peek = Callable[[int, int], bytes]  # (size, offset) -> the bytes of a text there


class Fingerprint(NamedTuple):
    """The first `size` bytes of a file: how many, and up to `MARK` of them at either end.

    Of a text that was read as it came also its `opening`, and `spots`: (offset, the bytes that end there), evenly and
    at every power of two, so that some lie in any long beginning of it. A difference behind the last is not seen.
    """

    size: int
    head: bytes
    tail: bytes
    opening: bytes = b""
    spots: tuple[tuple[int, bytes], ...] = ()

    def fits(self, fd: int) -> bool:
        """Whether the file `fd` begins with the bytes that this was taken of."""
        at = self.size - len(self.tail)
        return _pread(fd, len(self.tail), at) == self.tail and _pread(fd, len(self.head), 0) == self.head

    def agrees(self, peek: Peek, length: int) -> bool:
        """Whether a text of `length` bytes is this one, as far as both go; `peek` is asked only for `spans`."""
        known = self.opening or self.head
        if peek(len(known), 0)[:length] != known[:length]:
            return False
        if any(peek(SPOT, at - SPOT) != spot for at, spot in self.spots if at <= length):
            return False
        if length >= self.size:
            return peek(len(self.tail), self.size - len(self.tail)) == self.tail
        return bool(self.opening) or length <= len(known)

    def begins(self, other: Fingerprint) -> bool:
        """Whether this text is a beginning of the longer one: told only where all of it is kept."""
        return 0 < self.size == len(self.opening) < other.size and other.opening.startswith(self.opening)

    def is_punched(self, now: Fingerprint) -> bool:
        """Whether `now`, of as many bytes, is this text with NULs where holes were punched in it, and not all NULs."""
        spots = dict(now.spots)
        pairs = [(self.head, now.head), (self.tail, now.tail), (self.opening, now.opening[: len(self.opening)])]
        pairs += [(spot, spots[at]) for at, spot in self.spots if at in spots]
        kept = any(new.strip(b"\0") for _, new in pairs)
        return kept and all(old == new or _is_pierced(old, new) for old, new in pairs)

    def spans(self) -> list[tuple[int, int]]:
        """(size, offset) of the places that tell whether a text is this one."""
        ends = [(len(self.opening or self.head), 0), (len(self.tail), self.size - len(self.tail))]
        return [*ends, *((SPOT, at - SPOT) for at, _ in self.spots)]

    def grown(self, data: bytes) -> Fingerprint:
        """The trace of a longer text: `data` is `tail`, and what came behind it."""
        back = len(self.tail)
        size, opening, spots = self.size + len(data) - back, self.opening, self.spots
        head = self.head if len(self.head) == MARK else self.head + data[back : back + MARK - len(self.head)]
        if len(opening) == self.size < OPENING:
            opening += data[back : back + OPENING - len(opening)]
        step = _step(size)
        if size // step > self.size // step:
            if step > _step(self.size):
                spots = tuple(spot for spot in spots if not spot[0] % step or not spot[0] & (spot[0] - 1))
            base = self.size - back
            spots += tuple((at, data[at - SPOT - base : at - base]) for at in _places(self.size, size, step))
        return Fingerprint(size, head, data[-MARK:], opening, spots)

    @classmethod
    def of(cls, fd: int, size: int) -> Fingerprint:
        """The ends of the first `size` bytes of `fd`: 3 us."""
        return cls(size, _pread(fd, min(size, MARK), 0), _pread(fd, min(size, MARK), max(0, size - MARK)))

    @classmethod
    def whole(cls, fd: int, size: int) -> Fingerprint:
        """The trace of the first `size` bytes of `fd`, as if they had been read: 0.3 ms."""
        opening = _pread(fd, min(size, OPENING), 0)
        spots = tuple((at, _pread(fd, SPOT, at - SPOT)) for at in _places(0, size, _step(size)))
        return cls.of(fd, size)._replace(opening=opening, spots=spots)


def _is_pierced(old: bytes, new: bytes) -> bool:
    return len(old) == len(new) and all(now in (0, was) for was, now in zip(old, new, strict=True))


def _step(size: int) -> int:
    """How far the even spots of a text of this size are apart: a power of two."""
    return max(LEAST_STEP, 1 << (size // SPOTS).bit_length())


def _places(begin: int, end: int, step: int) -> list[int]:
    """Where spots are kept of what lies behind `begin`, up to `end`."""
    begin = max(begin, OPENING - 1)
    powers = {1 << bit for bit in range(begin.bit_length(), end.bit_length())}
    return sorted({at for at in powers if begin < at <= end}.union(range((begin // step + 1) * step, end + 1, step)))


NOTHING = Fingerprint(0, b"", b"")


class OpenFile:
    """A descriptor, and what was read of its text. Keeping it open keeps the inode from being used again."""

    __slots__ = ("_fd", "key", "path", "trace")

    def __init__(self, fd: int, path: str, key: FileKey) -> None:
        self._fd, self.path, self.key = fd, path, key
        self.trace = NOTHING  # of what was read

    def take(self, other: OpenFile) -> None:
        """Read on in `other`, which is this file opened anew."""
        self.close()
        self.key, self.path, self._fd = other.key, other.path, other.detach()

    def detach(self) -> int:
        """Hand over the descriptor."""
        fd, self._fd = self._fd, -1
        return fd

    def close(self) -> None:
        close(self.detach())


class PlainFile(OpenFile):
    """An open regular file.

    Raises OSError where it can't be opened, `NotAFileError` for a folder, a pipe or a device.
    """

    __slots__ = ("live",)

    def __init__(self, path: str) -> None:
        super().__init__(os.open(path, _FLAGS), path, (0, 0))
        self.live = False  # it was what the log's path led to: somebody may still write to it
        try:
            found = os.fstat(self._fd)
            if not stat.S_ISREG(found.st_mode):
                raise NotAFileError(0, "is a folder" if stat.S_ISDIR(found.st_mode) else "is not a file", path)
        except BaseException:
            self.close()
            raise
        self.key = (found.st_dev, found.st_ino)

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
            _pread(self._fd, back, seen.size - back)  # raises where the bytes are there and could not be fetched
            return Lost.SHRUNK
        # At the live edge the head is compared too (1 us): a file rewritten with the same size and end.
        if not data.startswith(seen.tail) or (
            len(data) < back + most and os.pread(self._fd, len(seen.head), 0) != seen.head
        ):
            now = Fingerprint.whole(self._fd, seen.size)
            if not seen.is_punched(now):
                return Lost.OVERWRITTEN if data.startswith(seen.tail) else Lost.REWRITTEN
            self.trace = seen = now
        if len(data) == back:
            return b""
        if not data[back] and not data[-1] and self._skip_hole(seen.size):
            return self.read(most)
        self.trace = seen.grown(data)
        return data[back:] if back else data

    def _skip_hole(self, at: int) -> bool:
        """Step over a hole. A writer without O_APPEND leaves one as long as its old log after a truncation."""
        start = data_from(self._fd, at, self.stat().st_size)
        if start <= at:
            return False
        self.starts_behind(start)
        return True

    def starts_at(self, trace: Fingerprint) -> None:
        """Read on behind the bytes of `trace`, which this file was found to begin with."""
        self.trace = trace

    def starts_behind(self, offset: int) -> None:
        """Read on from `offset`."""
        self.trace = Fingerprint.whole(self._fd, offset)

    @property
    def offset(self) -> int:
        """Where the next read begins."""
        return self.trace.size

    def fits(self, trace: Fingerprint) -> bool:
        return trace.fits(self._fd)

    def whole_of(self, size: int) -> Fingerprint:
        """The first `size` bytes as if they had been read."""
        return Fingerprint.whole(self._fd, size)

    def trace_of(self, size: int) -> Fingerprint:
        """The ends of the first `size` bytes."""
        return Fingerprint.of(self._fd, size)

    def peek(self, size: int, at: int = 0) -> bytes:
        return os.pread(self._fd, size, at)

    def stat(self) -> os.stat_result:
        return os.fstat(self._fd)

    def left(self) -> int:
        """How many bytes are still to be read, as far as known."""
        return max(0, os.fstat(self._fd).st_size - self.trace.size)

    def is_in(self, other: PlainFile) -> bool:
        """Whether `other` begins with what was read of this one."""
        return other.fits(self.trace)

    def fileno(self) -> int:
        return self._fd
