"""What is normal for one signal: a center and a scale from the run's own rollouts, a profile's, or both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from miles_tui.core.stats.robust import InOrder, Match, Shape, best_match, center_and_scale, clip, threshold


@dataclass(slots=True, frozen=True)
class Norm:
    """A signal's normal as a profile knows it: what `count` healthy rollouts of other runs say.

    `center` and `scale` (one standard deviation of a step) are in the rule's own unit: the logarithm for the
    gradient norm. `whose` is the profile's name.
    """

    center: float
    scale: float
    count: float
    whose: str


class Baseline:
    """The last healthy values of a signal, and the center and scale they give.

    The newest `hold` values are not asked for center and scale: a change that is under way would hide itself.
    A profile counts as `norm.count` further values, fewer as the run goes on. `floor` is the least scale, as a
    share of the center; `absolute` is the least scale itself.
    """

    ASKED = 6  # values after which the run is asked whether the profile is of its setup
    FADED = 72  # values of the run itself after which the profile's level counts for nothing
    EVERY = 4  # values, once there are 32: a fit of 90 costs 6 µs
    TRUST = 8.0  # values that the scale counts for beside the run's own, in `rise`
    KEPT = 96  # values: more do not sharpen the tests by 5 %, and a baseline should follow a setup over a day

    def __init__(
        self,
        least: int,
        hold: int,
        norm: Norm | None = None,
        floor: float = 0.0,
        absolute: float = 0.0,
        yields: bool = False,
    ):
        self.least, self.hold, self.norm = least, hold, norm
        self.floor, self.absolute = floor, absolute
        self.yields = yields  # whether the run itself can show that the profile is of another setup
        self.values: list[float] = []  # the newest `KEPT`; a list, for it is sliced far more often than shifted
        self.center = norm.center if norm else 0.0
        self.scale = self._floored(norm.scale) if norm else 0.0
        self._due = 0
        self._ordered = InOrder(self.EVERY)

    def _floored(self, scale: float) -> float:
        return max(scale, self.floor * abs(self.center), self.absolute)

    @property
    def ready(self) -> bool:
        """Whether there is enough to judge by."""
        return self.norm is not None or len(self.values) >= self.least

    @property
    def count(self) -> int:
        """How many of `least` values are there."""
        return min(len(self.values), self.least)

    @property
    def source(self) -> str:
        """Where the normal comes from: see `Evidence.source`."""
        return f"profile {self.norm.whose}" if self.norm else "run"

    @property
    def weight(self) -> float:
        """How many values the profile counts for now: it fades as the run's own come in."""
        return self.norm.count * max(0.0, 1.0 - len(self.values) / self.FADED) if self.norm else 0.0

    def add(self, value: float) -> None:
        """Take a value in and, when it is time, work center and scale out again (every value at first, then every
        fourth)."""
        self.values.append(value)
        if len(self.values) > self.KEPT:
            del self.values[0]
        if self.norm and self.yields and len(self.values) == self.ASKED and self._contradicts(self.norm):
            self.norm = None  # another setup: its own rollouts say more
            self._due = 0
        self._due -= 1
        if self._due > 0:
            return
        self._due = 1 if len(self.values) < 32 else self.EVERY
        self._fit()

    def _contradicts(self, norm: Norm) -> bool:
        """Whether the run's own level lies further from the profile's than three deviations of the difference."""
        own, _ = center_and_scale(self.values)
        n = len(self.values)
        return abs(own - norm.center) > 3.0 * self.scale * math.sqrt(1 / n + 1 / max(norm.count, 1.0))

    def _fit(self) -> None:
        old = self.values[: max(len(self.values) - self.hold, min(len(self.values), self.least))]
        norm = self.norm
        if len(old) < 3:
            return
        center, scale = center_and_scale(self._ordered.of(old))
        if norm:
            n = len(old)
            weight = self.weight
            self.center = (n * center + weight * norm.center) / (n + weight)
            scale = math.sqrt((n * scale * scale + weight * norm.scale**2) / (n + weight))
        else:
            self.center = center
        self.scale = self._floored(scale)

    def forget_last(self, count: int) -> None:
        """Take the newest values out again: they belong to a fault."""
        del self.values[max(len(self.values) - count, 0) :]

    def residuals(self, low: float, high: float) -> list[float]:
        """All values in deviations from the center, clipped; needs a scale above 0."""
        center, scale = self.center, self.scale
        return [low if (r := (v - center) / scale) < low else high if r > high else r for v in self.values]

    def rise(
        self,
        residuals: Sequence[float],
        held: tuple[float, float],
        shape: Shape,
        lengths: tuple[int, int],
        least_before: int,
        need: float,
    ) -> Match | None:
        """The `stats.best_match` of this shape at the end of `residuals`, None if it is not sure.

        `residuals` are those of `residuals(*held)`, or their beginning; the profile's values count with them. Sure is
        a score of `need` where the scale is known, and more where it is estimated (`stats.threshold`). `lengths` are
        the shortest and the longest change, in values.
        """
        weight, norm = self.weight, self.norm
        prior_at = clip((norm.center - self.center) / self.scale, *held) if norm else 0.0
        trust = self.TRUST + weight
        match = best_match(residuals, shape, *lengths, least_before, weight, prior_at, trust, need)
        sure = match.length > 0 and match.score >= threshold(need, match.n + trust - 1)
        return match if sure else None

    def rebase(self) -> None:
        """Begin anew: neither the past nor the profile says what is normal now."""
        self.values.clear()
        self.norm = None
        self.center = self.scale = 0.0
        self._due = 0


def tail_mean(values: Iterable[float], count: int) -> float:
    """The mean of the last `count` values, or of as many as there are."""
    last = list(values)[-count:]
    return sum(last) / len(last) if last else math.nan


def in_a_row(values: Sequence[float], limit: float) -> int:
    """How many of the newest values are above `limit`."""
    count = 0
    for value in reversed(values):
        if value <= limit:
            break
        count += 1
    return count
