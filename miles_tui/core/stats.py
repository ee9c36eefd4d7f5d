"""Robust baselines and sequential tests: plain numbers in, plain numbers out, a bounded window each.

The tests look for a change at an unknown rollout by a generalized likelihood ratio (Willsky and Jones,
IEEE Trans. Autom. Control 21, 1976; Basseville and Nikiforov, "Detection of Abrupt Changes", 1993, ch. 2.4):
for every possible start of the change the data are matched with the change's shape, and the best match counts.
Residuals are clipped (Huber, "Robust Statistics", 1981), so that a spike is one vote and no more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MAD_TO_SD = 1.4826  # of a normal distribution


def median(values: Sequence[float]) -> float:
    """The middle value; the mean of the middle two. `values` is not empty."""
    ordered = sorted(values)
    n = len(ordered)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; `values` is not empty."""
    return sum(values) / len(values)


def clip(value: float, low: float, high: float) -> float:
    """`value`, held within `low` and `high`."""
    return low if value < low else high if value > high else value


def center_and_scale(values: Sequence[float], bound: float = 2.5) -> tuple[float, float]:
    """Center and standard deviation, spikes held back.

    One step of Huber's proposal from the median and the MAD: values are pulled in to `bound` robust
    deviations, and mean and deviation are taken of those. It keeps about 95 % of the efficiency of mean and
    deviation on normal data, where median and MAD alone keep 64 and 37 % (Huber 1981, ch. 6).
    The scale is 0 where more than half of the values are equal and the rest lie beyond every bound.
    """
    middle = median(values)
    scale = MAD_TO_SD * median([abs(v - middle) for v in values])
    if scale == 0:
        return middle, 0.0
    low, high = middle - bound * scale, middle + bound * scale
    held = [low if v < low else high if v > high else v for v in values]
    center = sum(held) / len(held)
    variance = sum((v - center) ** 2 for v in held) / max(len(held) - 1, 1)
    return center, math.sqrt(variance)


def step_noise(values: Sequence[float], bound: float = 3.0) -> float:
    """The standard deviation of the noise around a curve that may move: from differences of neighbours.

    A slow curve cancels in a difference (von Neumann, Ann. Math. Stat. 12, 1941); the differences are pulled
    in to `bound` of their own MAD. 0 for fewer than three values.
    """
    if len(values) < 3:
        return 0.0
    steps = [b - a for a, b in pairwise(values)]
    scale = MAD_TO_SD * median([abs(s) for s in steps])
    if scale == 0:
        scale = math.sqrt(sum(s * s for s in steps) / len(steps))
    limit = bound * scale
    return math.sqrt(sum(clip(s, -limit, limit) ** 2 for s in steps) / len(steps) / 2)


@dataclass(slots=True, frozen=True)
class Match:
    """The best match of a change: `score` in standard deviations, begun `length` values ago.

    `before` is the mean of the residuals before it, `n` how many they are (a profile's count included).
    """

    score: float
    length: int
    before: float = 0.0
    n: float = 0.0


NO_MATCH = Match(0.0, 0)


@dataclass(slots=True, frozen=True)
class Shape:
    """A change's course: `offset + slope * j` on its j-th value, j from 1. A step is (1, 0), a ramp (0, 1)."""

    offset: float
    slope: float


STEP, RAMP = Shape(1.0, 0.0), Shape(0.0, 1.0)


def best_match(
    residuals: Sequence[float],
    shape: Shape,
    shortest: int,
    longest: int,
    least_before: int,
    prior: float = 0.0,
    prior_at: float = 0.0,
    trust: float = 8.0,
) -> Match:
    """The start that explains the end of `residuals` best as a rise of this `shape`.

    `residuals` are in units of their own deviation, oldest first, already clipped. For a change of k values with
    course g the score is sum(g * (r - m)) / sqrt(v * (sum(g^2) + sum(g)^2 / n)): m and v are mean and variance of
    the n values before it. The second term is the level's own uncertainty: a short baseline asks for more.
    `prior` values at `prior_at` come from a profile. `trust` is how many values the unit variance counts for.
    Starts that leave fewer than `least_before` values before them are not tried.
    """
    total = sum(residuals) + prior * prior_at
    squares = sum([r * r for r in residuals]) + prior * (1.0 + prior_at * prior_at)
    size, offset, slope = len(residuals) + prior, shape.offset, shape.slope
    flat = ramp = part = 0.0  # sums of r, j * r and r^2 over the change
    best = NO_MATCH
    longest = min(longest, int(size) - least_before, len(residuals))
    for k in range(1, longest + 1):
        r = residuals[-k]
        flat += r
        ramp += flat
        part += r * r
        if k < shortest:
            continue
        n = size - k
        m = (total - flat) / n
        v = (max(squares - part - n * m * m, 0.0) + trust) / (n - 1 + trust)
        j, jj = k * (k + 1) / 2, k * (k + 1) * (2 * k + 1) / 6
        g = offset * k + slope * j
        gg = offset * offset * k + 2 * offset * slope * j + slope * slope * jj
        score = (offset * flat + slope * ramp - m * g) / math.sqrt(v * (gg + g * g / n))
        if score > best.score:
            best = Match(score, k, m, n)
    return best


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
