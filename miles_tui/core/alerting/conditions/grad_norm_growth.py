"""`grad-norm-growth`: the gradient norm rises from rollout to rollout."""

from __future__ import annotations

import math
from collections import deque

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout
from miles_tui.core.stats.baseline import Baseline, Norm, in_a_row
from miles_tui.core.stats.robust import RAMP_SHAPE, Match, median

CONDITION = Condition(
    id="grad-norm-growth",
    severity=Severity.WARNING,
    title="The gradient norm grows step after step",
    signals=("gradient norm",),
    likely_cause="The learning rate is too high for this batch.",
    first_check="Lower the learning rate and repeat the run.",
    rule="The logarithm of the gradient norm is compared with its own level in the run's earlier rollouts (or in the "
    "profile). Spikes are healthy: each counts as two deviations and no more, and the newest one not at all. "
    "A rising line from any of the last 40 rollouts is tested against the level by its likelihood ratio; three "
    "far values in a row, each above the one before, need no test.",
)


class GradNormGrowth(LatchedRule):
    """A ramp in the logarithm of the norm, by `stats.best_match` on residuals clipped at two deviations.

    In the logarithm growth by a constant factor is a straight line, and setups differ by a constant. Two far values
    may be a healthy burst; three that rise, or four, may not.
    """

    LEAST = 7  # values
    BASE = 3.75  # score: one false alarm in some 10,000 rollouts over all families that were tried
    SHORTEST, LONGEST = 4, 40  # rollouts of growth: "step after step" is at least four
    FAR = 3.5  # deviations
    RISE = math.log(1.25)  # least rise of the newest values worth a person's time
    LEAST_SCALE = 0.05  # of the logarithm: a norm that has hardly moved yet will
    HELD = -2.5, 2.0  # deviations that a low and a high value count for at most

    condition = CONDITION
    need = 2  # medians of five in a row

    def __init__(self, norm: Norm | None = None):
        super().__init__()
        self.baseline = Baseline(self.LEAST, hold=5, norm=norm, absolute=self.LEAST_SCALE, yields=True)
        self.last: deque[float] = deque(maxlen=6)
        self.level = self.worst = 0.0

    def _reads(self, rollout: Rollout) -> float | None:
        value = rollout.values.get("gradient norm")
        return math.log(value) if value is not None and 0 < value < math.inf else None

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        base = self.baseline
        self.last.append(value)
        base.add(value)
        if not base.ready:
            return Evaluation(State.LEARNING, count=base.count, of=base.least)
        limit = base.center + self.FAR * base.scale
        far = in_a_row(self.last, limit) if value > limit else 0
        climbs = far >= 3 and self.last[-3] < self.last[-2] < self.last[-1]
        match = self._match() if far < 4 else Match(0.0, far)
        if far >= 4 or climbs:
            length = max(far, 3)
            self.level = base.center
        elif match is not None:
            length, self.level = match.length, base.center + match.before * base.scale
        else:
            return OK
        self.worst = median(list(self.last)[-5:])
        base.forget_last(length)
        return Evaluation(State.FIRING, self._evidence(rollout.number - length + 1))

    def _match(self) -> Match | None:
        """The growth that is sure and large enough; a far newest value is left out until another one confirms it."""
        base, norm = self.baseline, self.baseline.norm
        recent = list(self.last)[-4:]
        if sum(recent) - len(recent) * base.center < 2.0 * base.scale:  # four of five healthy rollouts end here
            return None
        residuals = base.residuals(*self.HELD)
        high = self.HELD[1]
        if len(residuals) > 1 and residuals[-1] >= high and residuals[-2] < 1.0:
            residuals = residuals[:-1]
        match = base.rise(residuals, self.HELD, RAMP_SHAPE, (self.SHORTEST, self.LONGEST), 4, self.BASE)
        if match is None:
            return None
        if norm and (sum(residuals[-4:]) / 4 - min(residuals[:3])) * base.scale < self.RISE:
            return None  # above the profile's level all along: another setup, but nothing grows
        rise = sum(residuals[-4:]) / 4 - match.before
        return match if rise * base.scale >= self.RISE else None

    def _evidence(self, since: int) -> Evidence:
        """In norms, not their logarithms: the mean is the row's."""
        base, norms = self.baseline, [math.exp(value) for value in self.last][-5:]
        norm = Measured(
            "gradient norm",
            last=norms[-1],
            mean=sum(norms) / len(norms),
            over=len(norms),
            level=math.exp(self.level),
            low=math.exp(self.level - 2 * base.scale),
            high=math.exp(self.level + 2 * base.scale),
        )
        return Evidence((norm,), since, base.source)

    def _eases(self, rollout: Rollout, value: float) -> bool:  # noqa: ARG002
        self.last.append(value)
        now = median(list(self.last)[-5:])
        self.worst = max(self.worst, now)
        scale = self.baseline.scale
        # near the level after a small rise, halfway after a large one: both take about five rollouts of a repaired run
        return now <= self.level + max(0.5 * scale, 0.4 * (self.worst - self.level) - 0.6 * scale)

    def restarted(self) -> None:
        """See `Rule.restarted`."""
        self.last.clear()

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.baseline.rebase()
        self.last.clear()
