"""Where a sparse file has data: what a punched hole, or a copy and truncate under a writer, leaves is not read."""

from __future__ import annotations

import errno
import os

from miles_tui.ingest.files.away import is_away


def data_from(fd: int, at: int, size: int) -> int:
    """The first offset from `at` on with data, `size` (the file's) where none follows; `at` itself where nobody says.

    It moves the descriptor's own offset: 1 us. Raises OSError where the file system gives no answer.
    """
    if not hasattr(os, "SEEK_DATA"):
        return at
    try:
        return min(size, os.lseek(fd, at, os.SEEK_DATA))
    except OSError as error:
        if is_away(error):
            raise
        return size if error.errno == errno.ENXIO else at


def hole_before(fd: int, end: int, step: int) -> int:
    """Where the hole that ends at `end` begins, or less than `step` bytes behind that; `end` where there is none.

    A file is asked only forwards, so it is asked from ever further up: some hundred times for 20 GB.
    """
    size, stride = os.fstat(fd).st_size, step
    while end > 0:
        probe = max(0, end - stride)
        if data_from(fd, probe, size) >= end:
            end, stride = probe, stride * 2
        elif stride == step:
            break
        else:
            stride = step
    return end
