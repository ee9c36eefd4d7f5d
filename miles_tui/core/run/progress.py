"""The clock of a run: how far it is, how long a rollout takes, when it last said something."""

from __future__ import annotations

from collections import deque

from miles_tui.core.model.records import Record
from miles_tui.core.stats.robust import median

RECENT_INTERVALS = 30  # intervals that the usual time is the median of


class Pace:
    """Rollout numbers against the log's own time stamps (seconds). Times are None where lines have none."""

    def __init__(self) -> None:
        self.number: int | None = None  # the highest rollout of this attempt that any line speaks of
        self.trained: int | None = None  # the highest that the trainer speaks of
        self.first: int | None = None  # the first rollout of the run
        self.count = 0  # live rollouts
        self.last: float | None = None  # its time
        self.clock: float | None = None  # the newest time stamp of any line that was looked at
        self._said: Record | None = None
        self._seen = -1
        self._intervals: deque[float] = deque(maxlen=RECENT_INTERVALS)
        self._usual: float | None = None  # None: to be computed
        self._mark: tuple[int, float] | None = None

    @property
    def said(self) -> str:
        """The newest record: its kind and number; "" before the first."""
        return f"{self._said.kind} {self._said.number}" if self._said else ""

    @property
    def usual(self) -> float | None:
        """Median seconds from one rollout to the next; None with fewer than two intervals. 3 µs where it changed."""
        if self._usual is None and len(self._intervals) >= 2:
            self._usual = median(self._intervals)
        return self._usual

    def tell(self, time: float) -> None:
        """The time stamp of some line after the newest record."""
        self.clock = time if self.clock is None else max(self.clock, time)

    def see(self, record: Record, number: int, train_side: bool) -> None:
        """A metric record of rollout `number`."""
        self._said = record
        time = record.time
        if time is not None and (self.last is None or time > self.last or number > self._seen):
            self.last = self.clock = time  # also where the clock goes back; a line printed again moves nothing
        if self.first is None:
            self.first = number
        if self.number is None or number > self.number:
            self.number = number
        if train_side and (self.trained is None or number > self.trained):
            self.trained = number
        if number > self._seen:
            self._seen = number
            self.count += 1
            self._interval(number, time)

    def restart(self, at: int) -> None:
        """A new attempt begins at rollout `at`; what lies beyond is dead."""
        if self.number is not None and self.number >= at:
            self.count = max(0, self.count - (self.number - at + 1))
        self._seen = at - 1
        self.number = self.trained = at - 1 if at > 0 else None
        self._mark = None
        self.last = None  # the time between two attempts is nobody's silence

    def _interval(self, number: int, time: float | None) -> None:
        if time is None:
            return
        if self._mark is not None and number == self._mark[0] + 1 and time > self._mark[1]:
            self._intervals.append(time - self._mark[1])
            self._usual = None
        self._mark = (number, time)

    def left(self, total: int | None) -> float | None:
        """Seconds until the last planned rollout at the usual pace; None where either is unknown."""
        if total is None or self.usual is None or self.trained is None:
            return None
        return max(0, total - 1 - self.trained) * self.usual
