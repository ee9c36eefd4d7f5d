"""A log read from its end to its beginning, a block at a time; where it has no data it is not read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from miles_tui.core.parsing.line_splitter import MAX_LINE, last_end, line_end, without_hole
from miles_tui.ingest.files.holes import hole_before


def blocks_backwards(fd: int, size: int) -> Iterator[tuple[int, bytes]]:
    """(offset, complete lines) from the file's end to its beginning, `size` bytes a read.

    NULs at a line's start are none of it, and a line longer than `MAX_LINE` is lost, alone, as for the reader.
    However long a line is, its bytes are looked at once. Memory: a line and a block.
    """
    end, line = os.fstat(fd).st_size, _Unfinished()
    while end > 0:
        start = max(0, end - size)
        block = os.pread(fd, end - start, start)
        last = last_end(block)
        line.grow(block[last:])
        if last:
            yield from line.taken(start + last)
            first = line_end(block, 0, last) + 1 if start else 0
            if first < last:
                yield start + first, block[first:last]
            line.grow(block[:first])
        end = start
        if line.nuls >= len(block):
            end = hole_before(fd, start, size)
            line.nuls += start - end
    yield from line.taken(0)


class _Unfinished:
    """A line whose beginning is further up. `nuls`: so many stand before what is known of it."""

    __slots__ = ("_lost", "_pieces", "_size", "nuls")

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.nuls = self._size = 0
        self._pieces: list[bytes] = []  # the last one first
        self._lost = False

    def grow(self, before: bytes) -> None:
        """What stands before it."""
        text = bytes(without_hole(before))
        if not text:
            self.nuls += len(before)
            return
        self._size += self.nuls + len(text)
        if self._size > MAX_LINE:
            self._lost = True
            self._pieces.clear()
        if not self._lost:
            self._pieces += [bytes(self.nuls), bytes(text)]
        self.nuls = len(before) - len(text)

    def taken(self, start: int) -> Iterator[tuple[int, bytes]]:
        """The line, which begins at `start`, unless there is none; another begins before it."""
        if self._pieces:
            yield start + self.nuls, b"".join(reversed(self._pieces))
        self._clear()
