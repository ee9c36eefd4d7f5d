"""A pause log beside the run's own: the times at which a heat guard (or a person) paused the job."""

from __future__ import annotations

import os
from bisect import bisect_right, insort
from contextlib import suppress
from pathlib import Path

from miles_tui.core.parsing.line_prefix import time_of
from miles_tui.errors import UnreadableLog
from miles_tui.files import UnfitFileError, open_plain

LARGEST = 64 << 20  # bytes: years of a line a minute
MOST_LINE = 4096  # bytes of an unfinished last line that wait for the rest


class PauseLog:
    """The time stamps of a file's lines, read on as it grows; it is looked at once a record at most.

    A rollout is touched by a pause when a stamp lies between the record before it and its own.
    Raises UnreadableLog when the file can't be read at the beginning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._rest = b""
        self._begun = False
        self._times: list[float] = []
        self._open: float | None = None  # of a last line that has no end yet
        try:
            self._read()
        except OSError as error:
            raise UnreadableLog(f"{path} can't be read: {error.strerror or error}") from None

    @property
    def unstamped(self) -> bool:
        """Whether something was read and no time was in it."""
        return self._size > 0 and not self._times and self._open is None

    def between(self, after: float, until: float) -> bool:
        """Whether a pause is told of in (`after`, `until`], seconds of the log's clock."""
        with suppress(OSError):  # it may be rotated just now: what was read before still counts
            self._read()
        at = bisect_right(self._times, after)
        if at < len(self._times) and self._times[at] <= until:
            return True
        return self._open is not None and after < self._open <= until

    def _read(self) -> None:
        size = os.stat(self._path).st_size  # noqa: PTH116
        if size == self._size and self._begun:
            return
        grew = size >= self._size
        with open_plain(self._path) as file:  # which may fail where it is closed, too: nothing is kept until then
            if size > LARGEST:
                raise UnfitFileError(0, f"it has more than {LARGEST >> 20} MiB", str(self._path))
            file.seek(self._size if grew else 0)  # rewritten: its lines are read anew, known times stay
            text, size = file.read(LARGEST), file.tell()
        self._begun, self._size = True, size
        *lines, rest = ((self._rest if grew else b"") + text).split(b"\n")
        self._rest = rest[-MOST_LINE:]
        for line in lines:
            time = time_of(line.decode(errors="replace"))
            if time is not None:
                insort(self._times, time)
        self._open = time_of(self._rest.decode(errors="replace")) if self._rest else None
