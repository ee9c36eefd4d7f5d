"""A log read from its end to its beginning, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from io import SEEK_END
from typing import BinaryIO

from miles_tui.core.lines import MAX_LINE


def blocks_backwards(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """(offset, complete lines) from the file's end to its beginning, `size` bytes a read.

    Of a line longer than `MAX_LINE` only its last part is given.
    """
    end = file.seek(0, SEEK_END)
    rest = b""  # from `end` on: the part of a line whose beginning is further up
    while end > 0:
        start = max(0, end - size)
        file.seek(start)
        block = file.read(end - start) + rest
        first = block.find(b"\n") + 1 if start else 0
        if start and not first:
            rest = block if len(block) < MAX_LINE else b""
        else:
            yield start + first, block[first:]
            rest = block[:first]
        end = start
