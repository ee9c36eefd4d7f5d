"""Bytes in, complete lines out: the unfinished tail is kept, and a line can be too long.

A line ends with LF or CR: progress bars end their frames with CR, and a file may have no LF at all.
"""

from __future__ import annotations

import re

from miles_tui.core.text.sanitize import CONTROLS, without_sequences

Buffer = bytes | bytearray
Region = tuple[Buffer, int, int]  # a buffer, and where complete lines begin and end in it

# A metric line with 900 learning rates has 30 KB, a printed sample some hundred; 8 MiB are far
# beyond both, and bound what a file without line ends can make us keep.
MAX_LINE = 8 * 1024 * 1024
_ENDS = re.compile(rb"[\r\n]+")
_NEAR = 1 << 12  # bytes in which a line's end is looked for first


class LineSplitter:
    """Cuts chunks into regions of complete lines, without a copy of what is complete.

    A line longer than `max_line` bytes is lost, and only that line: neither its head nor its tail
    is ever given out. NUL bytes at a line's start are a hole in the file (a copy and truncate under
    a writer, a node crash): they are not kept and do not count. Memory: at most `max_line` and a chunk.
    """

    __slots__ = ("_skipping", "_tail", "max_line")

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self.max_line = max_line
        self._tail = bytearray()
        self._skipping = False

    def feed(self, chunk: Buffer) -> list[Region]:
        """The regions that `chunk` completes, in order; a region may lie in `chunk` itself."""
        end = last_end(chunk)
        if not end:
            self._keep(chunk)
            return []
        regions: list[Region] = []
        start = 0
        if self._tail or self._skipping:
            start = line_end(chunk, 0, len(chunk)) + 1
            self._keep(chunk[:start])
            regions = self._take()
            self._skipping = False
        if start < end:
            regions.append((chunk, start, end))
        if end < len(chunk):
            self._keep(chunk[end:])
        return regions

    def rest(self) -> list[Region]:
        """The last line, which has no end: for a file to which nobody writes any more."""
        regions = self._take()
        self._skipping = False
        return regions

    def _keep(self, piece: Buffer) -> None:
        if not self._tail:
            piece = without_hole(piece)
        if self._skipping or len(self._tail) + len(piece) > self.max_line + 1:
            self._tail = bytearray()
            self._skipping = True
        else:
            self._tail += piece

    def _take(self) -> list[Region]:
        tail, self._tail = self._tail, bytearray()
        return [(tail, 0, len(tail))] if tail else []


def last_end(data: Buffer) -> int:
    """Where the last complete line ends (behind its LF or CR); 0 when there is none."""
    newline = data.rfind(b"\n")
    # Only what stands behind the last LF is searched for CR: most chunks have none at all.
    return max(newline, data.rfind(b"\r", newline + 1)) + 1


def line_end(data: Buffer, start: int, end: int) -> int:
    """The index of the first LF or CR in `data[start:end]`, or `end`. Costs the line, however far the next LF is."""
    near = start + _NEAR
    while near < end:
        newline = data.find(b"\n", start, near)
        carriage = data.find(b"\r", start, near if newline < 0 else newline)
        if carriage >= 0 or newline >= 0:
            return newline if carriage < 0 else carriage
        start, near = near, near + 2 * (near - start)
    newline = data.find(b"\n", start, end)
    if newline < 0:
        newline = end
    carriage = data.find(b"\r", start, newline)
    return newline if carriage < 0 else carriage


def line_start(data: Buffer, start: int, at: int) -> int:
    """Where the line that holds index `at` begins, not before `start`. Costs the line, as `line_end`."""
    near = at - _NEAR
    while near > start:
        newline = data.rfind(b"\n", near, at)
        begin = data.rfind(b"\r", near if newline < 0 else newline, at)
        if begin >= 0 or newline >= 0:
            return max(begin, newline) + 1
        at, near = near, near - 2 * (at - near)
    newline = data.rfind(b"\n", start, at) + 1 or start
    return data.rfind(b"\r", newline, at) + 1 or newline


def next_line(data: Buffer, stop: int, end: int) -> int:
    """Where the first line begins that is not empty, behind the one that ends at `stop`."""
    match = _ENDS.match(data, stop, end)
    return match.end() if match else end


def without_hole(text: Buffer) -> Buffer:
    """`text` without the NULs that it begins with; where it holds nothing else that is seen at 10 GB/s."""
    if text and not text[0]:
        return text[:0] if text == bytes(len(text)) else text.lstrip(b"\0")
    return text


_NOISY = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f-\xff]|\[0m|\^\[\[|\\(?:u001b|x1b|033|e)\[", re.IGNORECASE)


def clean(line: bytes | bytearray) -> str:
    """The text of a line: decoded, without escape sequences (real or spelled), NULs, BOM and controls.

    Bytes that are no UTF-8 become U+FFFD. Backspaces are dropped, not applied.
    """
    text = line.decode("utf-8", "replace")
    if _NOISY.search(line) is None:
        return text
    return CONTROLS.sub("", without_sequences(text))
