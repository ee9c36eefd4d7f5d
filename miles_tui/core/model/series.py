"""Bounded series: the newest values of a metric, and what is known of all of them.

Columns of `array` hold 16 to 21 bytes a value; objects would take 60 and make means ten times slower.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import sub
from typing import NamedTuple

DEAD = 1  # beyond the point where a later attempt began: shown dim, counted nowhere
PAUSED = 2  # a pause touched this rollout: drawn hollow, not judged

# What is cut off at once when a series is full, as a part of its capacity: trimming an eighth keeps
# the columns contiguous (slices are plain copies) at a cost of one memmove every capacity/8 values.
SLACK = 8
_BEFORE_ALL = -(1 << 62)  # a rollout number below all


class Point(NamedTuple):
    """One value: the rollout it belongs to, the attempt, and its flags (`DEAD`, `PAUSED`)."""

    rollout: int
    value: float
    flags: int = 0
    attempt: int = 1


class SeriesTail(NamedTuple):
    """The newest values as columns, oldest first, dead ones among them: what many values cost least in."""

    x: array[int]  # rollouts, rising within an attempt
    y: array[float]
    flags: array[int]
    attempts: array[int]  # never falling

    @classmethod
    def of(cls, points: Iterable[Point]) -> SeriesTail:
        """Points as columns."""
        rows = [(p.rollout, p.value, p.flags, p.attempt) for p in points]
        x, y, flags, attempts = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(array("q", x), array("d", y), array("b", flags), array("i", attempts))

    def spans(self) -> list[tuple[int, int, int]]:
        """(attempt, first rollout, last rollout) of each attempt that has a value, in their order."""
        out: list[tuple[int, int, int]] = []
        end = len(self.x)
        while end:
            attempt = self.attempts[end - 1]
            begin = bisect_left(self.attempts, attempt, 0, end)
            out.append((attempt, self.x[begin], self.x[end - 1]))
            end = begin
        return out[::-1]


@dataclass(slots=True)
class Extent:
    """What is known of values without keeping them: count, extremes, and the largest step between neighbours."""

    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    swing: float = 0.0
    last: float = math.nan  # the last finite value: the neighbour of the next one

    def copy(self) -> Extent:
        return Extent(self.count, self.low, self.high, self.swing, self.last)

    def add(self, value: float) -> None:
        self.count += 1
        if value - value != 0.0:  # NaN or infinite
            return
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value
        step = abs(value - self.last)
        if step > self.swing:  # never so for the first value, where it is NaN
            self.swing = step
        self.last = value

    def add_all(self, values: array[float]) -> None:
        """`add` for many values, in C where all of them are finite: a tenth of the time."""
        if not values:
            return
        total = sum(values)
        if total - total != 0.0:  # something is not finite, or only their sum
            for value in values:
                self.add(value)
            return
        self.add(values[0])
        self.count += len(values) - 1
        self.low, self.high = min(self.low, min(values)), max(self.high, max(values))
        self.swing = max(self.swing, max(map(abs, map(sub, values[1:], values)), default=0.0))
        self.last = values[-1]


class Series:
    """The newest `capacity` values of one metric against the rollout number: a ring buffer.

    Within an attempt rollout numbers rise; a value for a number that is there already replaces it
    (updates of one rollout, a retried rollout). `restart(at)` marks what a new attempt overtook.
    Count, minimum, maximum and swing speak of all live values ever set, not only of those kept.
    """

    __slots__ = (
        "_attempts", "_begin", "_cut", "_extent", "_flags", "_folded", "_living", "_most", "_newest", "_old",
        "attempt", "capacity", "x", "y",
    )  # fmt: skip

    def __init__(self, capacity: int = 4096, attempt: int = 1) -> None:
        if capacity < 16:
            raise ValueError(f"capacity is {capacity}: a series keeps at least 16 values")
        self.capacity = capacity
        self._most = capacity + capacity // SLACK
        self.x, self.y = array("q"), array("d")
        self._flags, self._attempts = array("b"), array("i")  # as long as `x` only after `_fill`
        self.attempt = attempt
        self._begin = 0  # where the current attempt begins in the columns
        self._newest = _BEFORE_ALL  # the highest rollout of the current attempt
        self._cut = 0  # values that were trimmed
        # Of each earlier attempt with live values: the highest of their rollouts (in order), and where they begin and
        # end, counted from the first value ever. They are its first ones: restarts take the end of each.
        self._living: list[tuple[int, int, int]] = []
        self._old = Extent()  # of values that were trimmed
        self._extent = Extent()  # of those and the first `_folded` of the columns, never of the newest: it may change
        self._folded = 0

    def __len__(self) -> int:
        return len(self.x)

    @property
    def flags(self) -> array[int]:
        """The flags of each value."""
        self._fill()
        return self._flags

    @property
    def attempts(self) -> array[int]:
        """The attempt of each value."""
        self._fill()
        return self._attempts

    def set(self, rollout: int, value: float, flags: int = 0) -> None:
        """Put the value of a rollout; O(1) for the newest, O(capacity) for a late change of an older one."""
        if rollout > self._newest:
            self._newest = rollout
            self.x.append(rollout)
            self.y.append(value)
            if flags:
                self.flags[-1] = flags
            if len(self.x) > self._most:
                self._trim(len(self.x) - self.capacity)
        elif rollout == self._newest:
            self.y[-1] = value
            if flags or len(self._flags) == len(self.x):
                self.flags[-1] = flags
        else:
            self._set_late(rollout, value, flags)

    def _fill(self) -> None:
        """Flags and attempts of the values since the last time: nearly always 0 and the current attempt.

        To put them with each value would make a long log 4 % slower, its metric lines alone 7 %.
        """
        missing = len(self.x) - len(self._flags)
        if missing:
            self._flags.frombytes(bytes(missing))
            self._attempts.extend(array("i", (self.attempt,)) * missing)

    def _set_late(self, rollout: int, value: float, flags: int) -> None:
        at = bisect_left(self.x, rollout, self._begin)
        if self.x[at] != rollout:
            self._fill()
            self.x.insert(at, rollout)
            self.y.insert(at, value)
            self._flags.insert(at, flags)
            self._attempts.insert(at, self.attempt)
        else:
            self.y[at], self.flags[at] = value, flags
        if at < self._folded:
            self._recount()

    def mark(self, rollout: int, flag: int) -> None:
        """Set a flag on a rollout of this attempt, if it has a value."""
        at = bisect_left(self.x, rollout, self._begin)
        if at < len(self.x) and self.x[at] == rollout:
            self.flags[at] |= flag

    def restart(self, at: int) -> None:
        """A new attempt begins at rollout `at`: the earlier attempts' values from there on are dead.

        Costs what dies: a log can restart with every line, and a run has a thousand series.
        """
        living, size = self._living, len(self.x)
        if self._begin < size:
            self._fill()
            insort(living, (self._newest, self._begin + self._cut, size + self._cut))
            self._begin, self._newest = size, _BEFORE_ALL
        self.attempt += 1
        while living and living[-1][0] >= at:
            _, begin, end = living.pop()
            begin, end = max(begin - self._cut, 0), end - self._cut
            first = bisect_left(self.x, at, begin, end)
            for i in range(first, end):
                self._flags[i] |= DEAD
            if first > begin:
                insort(living, (self.x[first - 1], begin + self._cut, first + self._cut))
            if first < self._folded:
                self._recount()

    def forget_from(self, rollout: int) -> None:
        """Drop this attempt's values from a rollout on: their number proved to be wrong."""
        if rollout > self._newest:
            return
        at = bisect_left(self.x, rollout, self._begin)
        for column in (self.flags, self.attempts, self.x, self.y):
            del column[at:]
        self._newest = self.x[-1] if len(self.x) > self._begin else _BEFORE_ALL
        self._recount()

    @property
    def extent(self) -> Extent:
        """Count, minimum, maximum and swing of all live values; O(1) where it is asked after every value."""
        self._fold(len(self.x) - 1)
        whole = self._extent.copy()
        for i in range(self._folded, len(self.x)):
            if not self.flags[i] & DEAD:
                whole.add(self.y[i])
        return whole

    @property
    def last(self) -> Point | None:
        """The newest live value."""
        flags = self.flags
        if flags and not flags[-1] & DEAD:  # nearly always
            return Point(self.x[-1], self.y[-1], flags[-1], self._attempts[-1])
        return next(self.newest(), None)

    def newest(self) -> Iterator[Point]:
        """Live values, newest first."""
        flags, attempts = self.flags, self.attempts
        for i in range(len(self.x) - 1, -1, -1):
            if not flags[i] & DEAD:
                yield Point(self.x[i], self.y[i], flags[i], attempts[i])

    def points(self, count: int | None = None) -> list[Point]:
        """The newest `count` values (all that are kept without it), oldest first, dead ones among them."""
        start = 0 if count is None else max(0, len(self.x) - count)
        return [
            Point(*row)
            for row in zip(self.x[start:], self.y[start:], self.flags[start:], self.attempts[start:], strict=True)
        ]

    def tail(self, count: int) -> SeriesTail:
        """The newest `count` values as copies of the columns."""
        part = slice(max(0, len(self.x) - count), None)
        return SeriesTail(self.x[part], self.y[part], self.flags[part], self.attempts[part])

    def spans(self) -> list[tuple[int, int, int]]:
        """As `SeriesTail.spans`, of all values that are kept."""
        return SeriesTail(self.x, self.y, self.flags, self.attempts).spans()

    def mean(self, window: int = 5) -> float | None:
        """The mean of the newest `window` live values; None with fewer. NaN and infinities are left out."""
        if not any(self.flags[-window:]):  # nearly always: no point is made of each
            total = sum(self.y[-window:])
            if math.isfinite(total):
                return total / window if len(self.y) >= window else None
        newest = list(islice(self.newest(), window))
        values = [point.value for point in newest if math.isfinite(point.value)]
        return sum(values) / len(values) if len(newest) == window and values else None

    def means(self, window: int = 5) -> list[tuple[int, float]]:
        """(rollout, mean of the newest `window` live finite values) for every kept value with enough before it."""
        out: list[tuple[int, float]] = []
        recent: list[float] = []
        for x, y, flag in zip(self.x, self.y, self.flags, strict=True):
            if flag & DEAD or not math.isfinite(y):
                continue
            recent.append(y)
            if len(recent) > window:
                del recent[0]
            if len(recent) == window:
                out.append((x, sum(recent) / window))
        return out

    def _fold(self, end: int) -> None:
        if end > self._folded:
            self._extent.add_all(self._live(self._folded, end))
            self._folded = end

    def _live(self, start: int, end: int) -> array[float]:
        """The values of a stretch of the columns, without the dead ones."""
        flags, values = self.flags[start:end], self.y[start:end]
        if not any(flags):
            return values
        return array("d", (value for value, flag in zip(values, flags, strict=True) if not flag & DEAD))

    def _trim(self, count: int) -> None:
        self._fold(count)
        if self._folded == count:
            self._old = self._extent.copy()
        else:
            self._old.add_all(self._live(0, count))
        for column in (self.flags, self.attempts, self.x, self.y):
            del column[:count]
        self._begin = max(0, self._begin - count)
        self._cut += count
        self._living = [part for part in self._living if part[2] > self._cut]
        self._folded -= count

    def _recount(self) -> None:
        self._extent = self._old.copy()
        self._folded = 0


def put(columns: Iterable[Series], rollout: int, values: Iterable[float], flags: int) -> None:
    """`Series.set` for a value each of several series."""
    for series, value in zip(columns, values, strict=True):
        series.set(rollout, value, flags)
