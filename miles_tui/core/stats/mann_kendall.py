"""A trend that is tested, for the arrow on the screen: up, down, or nothing that could not be noise."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

LEAST_VALUES = 8  # values: with fewer not even a perfect order is sure at this level after the correction
ALPHA_Z = 2.576  # two-sided 1 %


def trend(values: Iterable[float]) -> int:
    """1 for a rise, -1 for a fall, 0 for neither, among the finite values in their order.

    Mann and Kendall's test (Mann, Econometrica 13, 1945; ties after Kendall 1975), two-sided at 1 %. Where
    neighbours are alike without any trend, the variance is multiplied by (1 + r) / (1 - r), r being the lag-1
    correlation left after Theil and Sen's slope is taken out (Yue and Wang, Water Resour. Manage. 18, 2004).
    O(n^2): 40 µs for 20 values where there is a trend, 10 where there is none.
    """
    kept = [v for v in values if math.isfinite(v)]
    n = len(kept)
    if n < LEAST_VALUES:
        return 0
    score = 0
    ordered: list[float] = []
    for v in kept:  # those below it before it, less those above it
        at = bisect_left(ordered, v)
        score += at - (len(ordered) - bisect_right(ordered, v, at))
        ordered.insert(at, v)
    counts = [ordered.count(v) for v in set(kept)] if len(set(kept)) < n else []
    ties = sum(c * (c - 1) * (2 * c + 5) for c in counts)
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    if variance <= 0 or (abs(score) - 1) / math.sqrt(variance) < ALPHA_Z:  # what follows only widens it
        return 0
    slopes = [(kept[j] - kept[i]) / (j - i) for i in range(n - 1) for j in range(i + 1, n)]
    slopes.sort()
    variance *= _inflation(kept, slopes[len(slopes) // 2])
    z = (abs(score) - 1) / math.sqrt(variance)
    if z < ALPHA_Z:
        return 0
    return 1 if score > 0 else -1


def _inflation(values: list[float], slope: float) -> float:
    """How much likeness of neighbours widens the score's variance; at least 1."""
    rest = [v - slope * i for i, v in enumerate(values)]
    center = sum(rest) / len(rest)
    rest = [r - center for r in rest]
    below = sum(r * r for r in rest)
    if below <= 0:
        return 1.0
    r = sum(a * b for a, b in pairwise(rest)) / below
    r = min(max(r, 0.0), 0.6)  # a bend leaves more than that, and is no noise
    if r < 2.576 / math.sqrt(len(values)) / 1.5:  # too few values to tell it from 0
        return 1.0
    return (1 + r) / (1 - r)
