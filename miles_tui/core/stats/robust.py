"""Robust baselines and sequential tests: plain numbers in, plain numbers out, a bounded window each.

The tests look for a change at an unknown rollout by a generalized likelihood ratio (Willsky and Jones,
IEEE Trans. Autom. Control 21, 1976; Basseville and Nikiforov, "Detection of Abrupt Changes", 1993, ch. 2.4):
for every possible start of the change the data are matched with the change's shape, and the best match counts.
Residuals are clipped (Huber, "Robust Statistics", 1981), so that a spike is one vote and no more.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul
from typing import NamedTuple

MAD_TO_SD = 1.4826  # of a normal distribution


def median(values: Sequence[float]) -> float:
    """The middle value; the mean of the middle two. `values` is not empty."""
    return middle_of(sorted(values))


def middle_of(ordered: Sequence[float]) -> float:
    """The median of values that are in order already."""
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def deviation(ordered: Sequence[float], middle: float) -> float:
    """The standard deviation that the median distance from `middle` stands for.

    `ordered` is in order, so the half of the values that is nearest to `middle` stands together: a binary search
    finds where it begins, in O(log n) where sorting the distances costs 5 µs for 90 values.
    """
    n = len(ordered)
    near = n // 2 + 1  # values: the furthest of them is the median distance, with the second furthest where n is even
    first, last = 0, n - near
    while first < last:
        at = (first + last) // 2
        if middle - ordered[at] > ordered[at + near] - middle:
            first = at + 1
        else:
            last = at
    below, above = middle - ordered[first], ordered[first + near - 1] - middle
    furthest = max(below, above)
    if n % 2:
        return MAD_TO_SD * furthest
    if below > above:
        second = max(middle - ordered[first + 1], above)
    else:
        second = max(below, ordered[first + near - 2] - middle)
    return MAD_TO_SD * ((second + furthest) / 2)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; `values` is not empty."""
    return sum(values) / len(values)


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """The sum of the products of two sequences, as far as both go; half the cost of a comprehension."""
    total: float = sum(map(mul, a, b))
    return total


def sum_of_squares(values: Sequence[float]) -> float:
    """The sum of the squares; a quarter of the cost of `dot` with itself."""
    root = math.hypot(*values)
    return root * root


class InOrder:
    """The values of a window by size, each time that the window has moved on by `step`: half the cost of sorting."""

    def __init__(self, step: int) -> None:
        self.step = step
        self._before: list[float] = []
        self._ordered: list[float] = []

    def of(self, values: list[float]) -> list[float]:
        """The `values` by size, in a list that the next call changes; sorted anew where they are not those of the
        window before without its first `step`, and as many that came."""
        before, ordered, step = self._before, self._ordered, self.step
        self._before = values = values.copy()
        if len(values) != len(before) or values[:-step] != before[step:]:
            self._ordered = ordered = sorted(values)
            return ordered
        for gone in before[:step]:
            del ordered[bisect_left(ordered, gone)]
        ordered += values[-step:]
        ordered.sort()
        return ordered


def squares_around(center: float, values: Sequence[float]) -> float:
    """The sum of the squared distances from `center`."""
    root = math.dist(values, [center] * len(values))
    return root * root


def pulled_in(values: list[float], ordered: list[float], low: float, high: float) -> list[float]:
    """`values`, each held within `low` and `high`; `ordered` are the same values in order.

    Those beyond are few, and are looked up by what they are: half the cost of a look at each value.
    """
    below, above = bisect_left(ordered, low), bisect_right(ordered, high)
    if below + len(ordered) - above > 8:
        return [low if v < low else high if v > high else v for v in values]
    held = values.copy()
    for value in ordered[:below]:
        held[held.index(value)] = low
    for value in ordered[above:]:
        held[held.index(value)] = high
    return held


def clip(value: float, low: float, high: float) -> float:
    """`value`, held within `low` and `high`."""
    return low if value < low else high if value > high else value


def center_and_scale(values: Iterable[float], bound: float = 2.5) -> tuple[float, float]:
    """Center and standard deviation, spikes held back.

    One step of Huber's proposal from the median and the MAD: values are pulled in to `bound` robust
    deviations, and mean and deviation are taken of those. It keeps about 95 % of the efficiency of mean and
    deviation on normal data, where median and MAD alone keep 64 and 37 % (Huber 1981, ch. 6).
    The scale is 0 where more than half of the values are equal and the rest lie beyond every bound.
    O(n log n): 7 µs for 90 values, half of it to put them in order; in order already, O(n).
    """
    held = sorted(values)
    middle = middle_of(held)
    scale = deviation(held, middle)
    if scale == 0:
        return middle, 0.0
    low, high, n = middle - bound * scale, middle + bound * scale, len(held)
    if held[0] < low:
        few = bisect_left(held, low)
        held[:few] = [low] * few
    if held[-1] > high:
        most = bisect_right(held, high)
        held[most:] = [high] * (n - most)
    center = sum(held) / n
    return center, math.dist(held, [center] * n) / math.sqrt(max(n - 1, 1))


def step_noise(values: Sequence[float], bound: float = 3.0) -> float:
    """The standard deviation of the noise around a curve that may move: from differences of neighbours.

    A slow curve cancels in a difference (von Neumann, Ann. Math. Stat. 12, 1941); the differences are pulled
    in to `bound` of their own MAD. 0 for fewer than three values.
    """
    return noise_of_steps([abs(b - a) for a, b in pairwise(values)], bound)


def noise_of_steps(sizes: Iterable[float], bound: float = 3.0) -> float:
    """`step_noise` of values whose neighbours differ by these `sizes`, without their signs: 5 µs for 70."""
    held = sorted(sizes)
    n = len(held)
    if n < 2:
        return 0.0
    scale = MAD_TO_SD * middle_of(held)
    if scale == 0:
        scale = math.hypot(*held) / math.sqrt(n)
    high = bound * scale
    if held[-1] > high:
        most = bisect_right(held, high)
        held[most:] = [high] * (n - most)
    return math.hypot(*held) / math.sqrt(2 * n)


class Match(NamedTuple):
    """The best match of a change: `score` in standard deviations, begun `length` values ago.

    `before` is the mean of the residuals before it, `n` how many they are (a profile's count included).
    """

    score: float
    length: int
    before: float = 0.0
    n: float = 0.0


NO_MATCH = Match(0.0, 0)
ROUNDING = 1e-9  # relative slack of a bound that only saves work: a thousand times what rounding can do to it


class Shape(NamedTuple):
    """A change's course: `offset + slope * j` on its j-th value, j from 1. A step is (1, 0), a ramp (0, 1)."""

    offset: float
    slope: float


STEP_SHAPE, RAMP_SHAPE = Shape(1.0, 0.0), Shape(0.0, 1.0)


def best_match(
    residuals: Sequence[float],
    shape: Shape,
    shortest: int,
    longest: int,
    least_before: int,
    prior: float = 0.0,
    prior_at: float = 0.0,
    trust: float = 8.0,
    need: float = 0.0,
) -> Match:
    """The start that explains the end of `residuals` best as a rise of this `shape`.

    `residuals` are in units of their own deviation, oldest first, already clipped. For a change of k values with
    course g the score is sum(g * (r - m)) / sqrt(v * (sum(g^2) + sum(g)^2 / n)): m and v are mean and variance of
    the n values before it. The second term is the level's own uncertainty: a short baseline asks for more.
    `prior` values at `prior_at` come from a profile. `trust` is how many values the unit variance counts for.
    Starts that leave fewer than `least_before` values before them are not tried. `need` is the score below which the
    caller does nothing: what is returned below it may be any lower match, or none. 10 µs for 40 starts.
    """
    size = len(residuals) + prior
    longest = min(longest, int(size) - least_before, len(residuals))
    shortest = max(shortest, 1)
    if longest < shortest:
        return NO_MATCH
    total = sum(residuals) + prior * prior_at
    squares = sum_of_squares(residuals) + prior * (1.0 + prior_at * prior_at)
    return _best_of(residuals[: -longest - 1 : -1], shape, shortest, (size, total, squares), trust, need)


def _best_of(
    newest: Sequence[float],  # the residuals of the longest change, newest first
    shape: Shape,
    shortest: int,
    whole: tuple[float, float, float],  # count, sum and sum of squares of all values
    trust: float,
    need: float,
) -> Match:
    """See `best_match`. The sum of squares around their own mean is least for the fewest values, so the variance
    before the longest change bounds all others from below: most starts then cost neither a division nor a root."""
    (size, total, squares), offset, slope = whole, shape.offset, shape.slope
    flats = list(accumulate(newest))  # sums of r and of j * r over a change of k values, at k - 1
    ramps = accumulate(flats)
    longest = len(newest)
    m, n = (total - flats[-1]) / (size - longest), size - longest
    least_v = (max(squares - sum_of_squares(newest) - n * m * m, 0.0) + trust) / (size - shortest - 1 + trust)
    enough = need * math.sqrt(least_v) * (1.0 - ROUNDING)
    best, found = 0.0, NO_MATCH
    for (k, g, own, root), flat, ramp in zip(_courses(offset, slope, longest), flats, ramps, strict=True):
        m = (total - flat) / (size - k)
        gain = offset * flat + slope * ramp - m * g
        if gain <= enough * root or k < shortest:
            continue
        n = size - k
        v = (max(squares - sum_of_squares(newest[:k]) - n * m * m, 0.0) + trust) / (n - 1 + trust)
        score = gain / math.sqrt(v * (own + g * g / n))
        if score > best:
            best, found = score, Match(score, k, m, n)
    return found


@lru_cache(maxsize=64)  # a ramp and a step for ever, and the shapes of one law of the rollout time after the other
def _courses(offset: float, slope: float, longest: int) -> list[tuple[int, float, float, float]]:
    """For changes of 1 to `longest` values: k, the sum of the course, that of its squares, and the latter's root."""
    found = []
    for k in range(1, longest + 1):
        j, jj = k * (k + 1) / 2, k * (k + 1) * (2 * k + 1) / 6
        squares = offset * offset * k + 2 * offset * slope * j + slope * slope * jj
        found.append((k, offset * k + slope * j, squares, math.sqrt(squares)))
    return found


def threshold(base: float, freedom: float) -> float:
    """The score that a deviation estimated with `freedom` degrees of freedom asks for where a known one asks `base`.

    The score then follows Student's t rather than the normal law; Peizer and Pratt's approximation (JASA 63, 1968)
    turns the one's quantile into the other's. Held at three times `base`: below four values it says nothing.
    """
    if freedom < 1:
        return base * 3
    a = freedom - 2 / 3 + 0.1 / freedom
    exponent = base * base * (freedom - 5 / 6) / (a * a)
    return min(math.sqrt(freedom * math.expm1(min(exponent, 50.0))), base * 3)
