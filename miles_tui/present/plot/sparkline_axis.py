"""The x-axis of a sparkline: how many rollouts a column stands for, and what is in each column.

One rule: the whole run is in sight, with as few rollouts a column as that takes (`PERS`). Where twenty are not
enough (a terminal of 120 cells has room for 29 columns, 580 rollouts) the newest are shown, twenty a column.

A column begins at a multiple of its size, so that history stands still: a rollout changes the newest column alone,
and all of them only when the run outgrows the width. The rows of a screen have one axis and are in line.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import NamedTuple

from miles_tui.core.model.series import DEAD, PAUSED, SeriesTail

PERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)  # close together: the width is at least half full after each

Span = tuple[int, int, int]  # attempt, its first and its last rollout


class Axis(NamedTuple):
    """Where columns stand. Places are counted in columns: rollout // per, shifted for each attempt.

    The newest attempt is not shifted. An earlier one ends two places before the next begins: between them one is free.
    """

    per: int = 1
    start: int = 0  # the place of the first slot
    slots: int = 1
    shifts: tuple[tuple[int, int], ...] = ()  # attempt, shift
    whole: bool = True  # is all of the run in sight?
    first: int = 0  # the first rollout in sight

    @property
    def reach(self) -> int:
        """How many values may be in sight."""
        return self.slots * self.per


@dataclass(slots=True)
class Column:
    """What a column shows. `value` is the mean of its rollouts `singles`, `low` and `high` the least and the greatest.

    `line` is the mean of their five-step means, None where there is none. `mark` is `bad` if one of them is not
    finite, `dead` or `paused` if at least half of them are.
    """

    at: int  # place on the axis
    attempt: int
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    line: float | None = None
    mark: str = ""
    singles: Sequence[float] = ()


def joined(spans: Iterable[Sequence[Span]]) -> list[Span]:
    """The spans of several series together: each attempt once, in their order."""
    out: dict[int, Span] = {}
    for some in spans:
        for attempt, first, last in some:
            _, low, high = out.get(attempt, (attempt, first, last))
            out[attempt] = attempt, min(low, first), max(high, last)
    return [out[attempt] for attempt in sorted(out)]


def axis_of(spans: Sequence[Span], slots: int, unit: int = 1) -> Axis:
    """The axis of a run with these attempts; where not all is in sight it moves by a quarter, in steps of `unit`.

    It follows from the data alone, so that it is the same after a restart of the program.
    """
    if not spans:
        return Axis(slots=slots)
    for per in PERS:
        shifts, begin = _laid_out(spans, per)
        last = spans[-1][2] // per
        if last - begin < slots:
            return Axis(per, begin, slots, shifts, True, spans[0][1])
    jump = max(unit, slots // 4 // unit * unit)
    start = ((last - slots) // jump + 1) * jump
    return Axis(per, start, slots, shifts, False, _first_rollout(spans, dict(shifts), start, per))


def _laid_out(spans: Sequence[Span], per: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """The shift of each attempt, and the place where the first one begins."""
    shifts: list[tuple[int, int]] = []
    begin = 0
    for attempt, first, last in reversed(spans):
        shift = begin - 2 - last // per if shifts else 0
        begin = first // per + shift
        shifts.append((attempt, shift))
    return tuple(shifts), begin


def _first_rollout(spans: Sequence[Span], shifts: dict[int, int], start: int, per: int) -> int:
    """The first rollout at or behind a place."""
    for attempt, first, last in spans:
        if last // per + shifts[attempt] >= start:
            return max(first, (start - shifts[attempt]) * per)
    return 0


def columns_of(tail: SeriesTail, axis: Axis, window: int = 5, skip: int = DEAD) -> list[Column]:
    """The columns in sight that have a value, oldest first; values with a flag of `skip` are in no mean.

    Give `window` values more than are in sight. Costs 0.15 ms for 600 values.
    """
    shifts, per, x, attempts = dict(axis.shifts), axis.per, tail.x, tail.attempts
    means = _means(tail, window, skip)
    out: list[Column] = []
    i = 0
    while i < len(x):
        attempt = attempts[i]
        end = bisect_right(attempts, attempt, i)
        shift = shifts.get(attempt)
        while shift is not None and i < end:
            place = x[i] // per
            stop = bisect_left(x, (place + 1) * per, i, end) if per > 1 else i + 1
            if place + shift >= axis.start:
                out.append(_column(place + shift, attempt, tail, means, i, stop))
            i = stop
        i = end
    return out


def _column(at: int, attempt: int, tail: SeriesTail, means: Sequence[float | None], i: int, stop: int) -> Column:
    flags, values = tail.flags[i:stop], tail.y[i:stop]
    known = [mean for mean in means[i:stop] if mean is not None]
    line = sum(known) / len(known) if known else None
    column = Column(at, attempt, line=line if line is not None and isfinite(line) else None)
    if not isfinite(sum(values)) and not all(map(isfinite, values)):
        column.mark = "bad"
        return column
    if any(flags):
        dead = sum(1 for flag in flags if flag & DEAD)
        paused = sum(1 for flag in flags if flag & PAUSED and not flag & DEAD)
        column.mark = "dead" if 2 * dead >= len(flags) else "paused" if 2 * paused >= len(flags) else ""
        if column.mark == "dead":
            column.line = None
        else:
            values = array("d", (v for v, flag in zip(values, flags, strict=True) if not flag)) or values
    column.singles, column.low, column.high = values, min(values), max(values)
    total = sum(values) / len(values)
    column.value = total if isfinite(total) else sum(value / len(values) for value in values)
    return column


def _means(tail: SeriesTail, window: int, skip: int) -> list[float | None]:
    """The mean of the newest `window` values that count, at each of them; None at others and before the first."""
    y = tail.y.tolist()
    out: list[float | None]
    if not any(tail.flags) and isfinite(sum(map(abs, y))):  # in C: a tenth of the time
        out = [None] * min(window - 1, len(y))
        return out + [total / window for total in map(sum, zip(*(y[k:] for k in range(window)), strict=False))]
    out, recent = [], list[float]()
    for value, flag in zip(y, tail.flags, strict=True):
        if flag & skip or not -inf < value < inf:
            out.append(None)
            continue
        recent.append(value)
        if len(recent) > window:
            del recent[0]
        out.append(sum(recent) / window if len(recent) == window else None)
    return out
