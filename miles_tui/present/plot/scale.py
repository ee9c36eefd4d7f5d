"""Scales of a chart: ranges that move rarely, ticks at round numbers, values to dots. Pure.

Both ends of a range are round, so that most new rollouts leave the picture as it is and send few bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from miles_tui.core.text.numbers import PLAIN_BELOW, PLAIN_FROM, number

ROUND = (1.0, 2.0, 5.0, 10.0)
EVEN = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # times a power of ten: nearly even steps of a logarithmic scale
AHEAD = 8  # the x-range ends at a round number up to an eighth of its length ahead
CLOSE = 3.0  # values within this factor look alike on a linear and a logarithmic scale
WIDE_BAND = 3.0  # a band that is this many times wider than the data does not set the y-range
TINIEST, HUGEST = 1e-300, 1e300  # beyond, sums and powers leave the floats: values are drawn at these


class Scale(NamedTuple):
    """A range of values on `dots` dots, 0 the lowest; logarithmic where `log`."""

    low: float
    high: float
    dots: int
    log: bool = False

    def at(self, value: float) -> float:
        """The dot of a value, not rounded and not cut to the range."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, TINIEST))
        return (value - low) / (high - low) * (self.dots - 1)

    def dot(self, value: float) -> int:
        """The dot of a value, the nearest end for one outside."""
        return round(min(self.dots - 1.0, max(0.0, self.at(value))))

    def value(self, dot: float) -> float:
        """The value of a dot: what `at` undoes."""
        part = dot / (self.dots - 1)
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            return 10 ** (low + part * (high - low))
        return self.low * (1 - part) + self.high * part


def round_step(length: float, count: int) -> float:
    """The round number (1, 2 or 5 times a power of ten) that divides `length` into at most `count` steps."""
    rough = max(length, TINIEST) / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough))
    return next((f * power for f in ROUND if f * power >= rough * (1 - 1e-9)), 10 * power)


def rollout_range(first: int, last: int) -> tuple[int, int]:
    """The x-range: from the first rollout to a round number beyond the last one, which holds for a while."""
    unit = max(1, int(round_step(last - first + 1, AHEAD)))
    return first, max(first + 1, -(-(last + 1) // unit) * unit)


def value_range(
    values: Iterable[float], band: tuple[float, float] | None, count: int, *, log: bool = False
) -> tuple[float, float]:
    """The y-range: all values (finite ones), and the band unless that would press them flat; ends are round.

    On a logarithmic scale only what is above 0 counts, and the ends are of `EVEN`; values within a factor of
    `CLOSE` have round ends as on a linear one.
    """
    known = _drawable(values, log) or _drawable(band or (), log) or [1.0]
    low, high = min(known), max(known)
    edges = _drawable(band or (), log)
    if len(edges) == 2 and edges[1] - edges[0] <= WIDE_BAND * (high - low):
        low, high = min(low, edges[0]), max(high, edges[1])
    if log and high > CLOSE * low:
        return _even(low, up=False), _even(high, up=True)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = abs(low) / 10 or 1.0
        return (0.0, room) if low == 0 else (low - room, high + room)
    half = round_step(high - low, count) / 2
    if log:  # never down to 0: there is no place for it
        return max(math.floor(low / half) * half, low / 2), math.ceil(high / half) * half
    return math.floor(low / half) * half, math.ceil(high / half) * half


def _even(value: float, *, up: bool) -> float:
    """The nearest of `EVEN` times a power of ten that is not below the value (`up`), or not above it."""
    power = 10.0 ** math.floor(math.log10(value))
    if up:
        return next(f * power for f in (*EVEN, 10.0) if f * power >= value * (1 - 1e-9))
    return next(f * power for f in (*reversed(EVEN), 0.5) if f * power <= value * (1 + 1e-9))


def _drawable(values: Iterable[float], log: bool) -> list[float]:
    """The values that a scale has a place for, those at the end of the floats moved to where sums still work."""
    least = TINIEST if log else -HUGEST
    kept = (v if abs(v) > TINIEST else 0.0 for v in values if math.isfinite(v))
    return [min(HUGEST, max(least, v)) for v in kept if v > 0 or not log]


def ticks(low: float, high: float, count: int, *, log: bool = False) -> list[float]:
    """Round numbers from `low` to `high`, at most about `count`.

    On a logarithmic scale decades, and what is between them as there is room; within a factor of `CLOSE` the numbers
    of a linear one, which are nearly even there.
    """
    if log and high > CLOSE * low * (1 + 1e-9):
        decades = [10.0**d for d in range(math.floor(math.log10(low)), math.floor(math.log10(high) + 1e-9) + 1)]
        for between in (EVEN, ROUND[:3], ROUND[:1]):
            found = [v for d in decades for f in between if low * (1 - 1e-9) <= (v := f * d) <= high * (1 + 1e-9)]
            if len(found) <= max(3, count):
                return found
        every = -(-len(found) // max(1, count))
        return [v for v in found if round(math.log10(v)) % every == 0]
    step = round_step(high - low, count)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def labels(values: Sequence[float], *, log: bool = False) -> list[str]:
    """The ticks as text, with as many decimals as tell them apart, and the same for all."""
    if not values:
        return []
    top = max(abs(v) for v in values)
    if len(values) < 2 or (log and values[-1] > CLOSE * values[0]):
        return [number(v, 1 if f"{v:.1e}"[1:3] == ".0" else 2) for v in values]
    step = abs(values[1] - values[0])
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if 0 < step < math.inf else 0
    if top < PLAIN_BELOW and (decimals <= 6 or top >= PLAIN_FROM) and decimals <= 8:
        return [f"{v:.{decimals}f}" if v else "0" for v in values]
    digits = 1 + max(0, math.floor(math.log10(top)) - math.floor(math.log10(step) + 1e-9)) if step else 2
    return [number(v, min(6, digits)) for v in values]
