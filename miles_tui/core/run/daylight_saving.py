"""The wall clock that a log's stamps come from: local times know no zone, and jump an hour twice a year."""

from __future__ import annotations

from miles_tui.core.text.cells import date_of

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
        days, hour = divmod(int(skipped), DAY_SECONDS)
        day = date_of(days)
        if hour // 3600 in HOURS and day.weekday() in WEEKDAYS and day.month in CLOCK_MONTHS:
            return heard is None or not skipped <= heard < skipped + HOUR_SECONDS
        skipped += HOUR_SECONDS
    return False
