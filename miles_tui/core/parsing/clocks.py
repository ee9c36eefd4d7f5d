"""The wall clock that a log's stamps come from: local times know no zone, and jump an hour twice a year."""

from __future__ import annotations

import re

from miles_tui.core.model.records import Event, EventKind
from miles_tui.core.parsing.line_prefix import head_time, source_of
from miles_tui.core.parsing.line_splitter import line_start
from miles_tui.core.text.cells import civil

_MOST_YEARS = 4096  # places with `20` that are looked at for the last time stamp of a text,
_MOST_STAMPS = 256  # and lines with a date that are read for it: 2 ms
_CLOCK_STAMP = re.compile(rb"20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d")

HOUR_SECONDS, DAY_SECONDS = 3600.0, 86_400
# Where clocks are put forward it is at one of these hours, on one of these days and in one of these months (IANA's
# time zone data, the rules since 2007: Europe, America, Lebanon on Sundays, Israel and Egypt on Fridays, Palestine on
# Saturdays; south of the equator from September to November).
HOURS = range(4)
CLOCK_MONTHS = (3, 4, 9, 10, 11)
WEEKDAYS = (4, 5, 6)  # Monday is 0


def put_forward(before: float, after: float, usual: float | None, *, heard: float | None = None) -> bool:
    """Whether a silence is an hour by which the clock was put forward, and no more than two usual times beside it.

    Both ends are seconds of the log's clock. A stamp `heard` inside the hour that such a clock leaves out says no:
    then the hour was there.
    """
    if not HOUR_SECONDS <= after - before < HOUR_SECONDS + 2 * (usual or 0.0):
        return False
    skipped = -(-before // HOUR_SECONDS) * HOUR_SECONDS  # the first full hour: the clock leaves out the hour from it on
    while skipped + HOUR_SECONDS <= after:
        day, hour = divmod(int(skipped), DAY_SECONDS)
        if hour // 3600 in HOURS and (day + 3) % 7 in WEEKDAYS and civil(day)[1] in CLOCK_MONTHS:
            return heard is None or not skipped <= heard < skipped + HOUR_SECONDS
        skipped += HOUR_SECONDS
    return False


def last_stamp(text: bytes, *, own: bool = False, outer: int = 0, end: int | None = None) -> Event | None:
    """The last time stamp at a line's head in `text[:end]`, and who printed it. `own`, `outer`: see `head_time`."""
    from miles_tui.core.parsing.metric_line import line_at  # the first paint needs only `put_forward`

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
