"""The last time stamp of a text, and who printed it."""

from __future__ import annotations

import re

from miles_tui.core.model.records import Event, EventKind
from miles_tui.core.parsing.line_prefix import head_time, source_of
from miles_tui.core.parsing.line_splitter import line_start
from miles_tui.core.parsing.metric_line import line_at

_MOST_YEARS = 4096  # places with `20` that are looked at for the last time stamp of a text,
_MOST_STAMPS = 256  # and lines with a date that are read for it: 2 ms
_CLOCK_STAMP = re.compile(rb"20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d")


def last_stamp(text: bytes, *, own: bool = False, outer: int = 0, end: int | None = None) -> Event | None:
    """The last time stamp at a line's head in `text[:end]`, and who printed it. `own`, `outer`: see `head_time`."""
    year = b"[20" if own else b"20"
    at, lines = len(text) if end is None else end, 0
    for _ in range(_MOST_YEARS):
        at = text.rfind(year, 0, at)
        if at < 0 or lines == _MOST_STAMPS:
            break
        if _CLOCK_STAMP.match(text, at + len(year) - 2):
            at = line_start(text, 0, at)
            line = line_at(text, at)
            time = head_time(line, own=own, outer=outer)
            if time is not None:
                return Event(EventKind.CLOCK, time=time, source=source_of(line))
            lines += 1
    return None
