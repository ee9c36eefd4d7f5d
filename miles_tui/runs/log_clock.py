"""The log's clock against ours: how old the newest record is, and in which zone the log's times are. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from miles_tui.core.text.cells import ago

LEAST_AGE = 60.0  # seconds of silence that are never worth a word
UNKNOWN_PACE = 600.0  # as long as nobody knows how long a rollout takes
USUAL = 1.5  # times the usual rollout: older data is said to be old
QUARTER = 900  # seconds: zones differ by whole ones of these
CLOCK_SLACK = 120.0  # seconds that a line may take from its stamp to us, or two clocks may differ
FARTHEST = 14 * 3600  # seconds that a zone can lie from UTC


def age_words(silence: float, usual: float | None) -> str:
    """How old the newest record is, in words that change once a minute at most; "" while that is usual."""
    limit = UNKNOWN_PACE if usual is None else max(LEAST_AGE, USUAL * usual)
    return "" if silence < limit else ago(silence)


@dataclass(slots=True)
class Zone:
    """The zone of a log's times, in seconds from UTC, where it is not the terminal's; None where it is, or unknown.

    Told by fresh records alone: a stamp that is whole quarter hours away from our clock, twice in a row.
    """

    offset: int | None = None
    _last: float | None = None
    _before: int = 0  # quarter hours by which the record before was away

    def see(self, stamp: float | None, local: float, zone: int, *, fresh: bool) -> bool:
        """The newest record's stamp; `local` is our wall clock as such a stamp, `zone` its seconds from UTC.

        `fresh`: it was written just now. Whether what is shown changed.
        """
        if stamp is None or stamp == self._last:
            return False
        self._last = stamp
        if not fresh:
            return False
        quarters = round((stamp - local) / QUARTER)
        if abs(stamp - local - quarters * QUARTER) > CLOCK_SLACK or abs(zone + quarters * QUARTER) > FARTHEST:
            return False
        before, self._before = self._before, quarters
        offset = zone + quarters * QUARTER if quarters else None
        if before != quarters or offset == self.offset:
            return False
        self.offset = offset
        return True

    @property
    def name(self) -> str:
        """`UTC`, `UTC+5:30`, or "" where the log's zone is the terminal's."""
        if self.offset is None:
            return ""
        hours, rest = divmod(abs(self.offset), 3600)
        sign = "-" if self.offset < 0 else "+"
        return "UTC" + (f"{sign}{hours}" + (f":{rest // 60:02}" if rest else "") if self.offset else "")
