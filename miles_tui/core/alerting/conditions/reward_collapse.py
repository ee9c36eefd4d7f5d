"""`reward-collapse`: the reward is a small part of what it was."""

from __future__ import annotations

import math
from collections import deque

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.stats.robust import median, step_noise

CONDITION = Condition(
    id="reward-collapse",
    severity=Severity.CRITICAL,
    title="The reward collapsed",
    signals=("reward",),
    likely_cause="The policy has broken down (an update too large, lost weights), or the reward function no longer "
    "finds the answer.",
    first_check="Read a few answers of this rollout. Degenerate text: go back to the last good checkpoint with a "
    "smaller step. Good text: the reward function and its answer extraction.",
    rule="The reward is below a third of the median of the rollouts before, two rollouts in a row, and further below "
    "it than five times its own noise. A reward whose level is not clearly above 0 is judged by its noise alone.",
)


class RewardCollapse(LatchedRule):
    """A level against the median of up to a dozen rollouts before: needs no long baseline, the fall is huge."""

    LEAST = 4  # rollouts
    STAYS = 2  # rollouts in a row
    PART = 1 / 3
    NOISES, NOISES_ALONE = 5.0, 9.0
    condition = CONDITION
    signal = "reward"
    stages = (Stage.SAMPLED,)
    need = 2

    def __init__(self) -> None:
        super().__init__()
        self.values: deque[float] = deque(maxlen=24)
        self.low = 0
        self.level = 0.0
        self.bound = -math.inf

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:  # noqa: ARG002
        if len(self.values) < self.LEAST:
            self.values.append(value)
            have = len(self.values)
            return Evaluation(State.LEARNING, count=have, of=self.LEAST) if have < self.LEAST else OK
        # nearly always; the bound lies below what was accepted before
        if not self.low and (value >= self.values[-1] or value >= min(self.values)):
            self.values.append(value)
            return OK
        if not self.low:
            self.level, self.bound = self._bound()
        if value >= self.bound:
            self.low = 0
            self.values.append(value)
            return OK
        self.low += 1
        if self.low < self.STAYS:
            return Evaluation(State.PENDING, count=self.low, of=self.STAYS)
        self.low = 0
        fallen = Measured("reward", last=value, level=self.level)
        return Evaluation(State.FIRING, Evidence((fallen,), source="run", facts=(("rollouts", self.STAYS),)))

    def _bound(self) -> tuple[float, float]:
        """The level of the last dozen rollouts, and what the reward must fall below."""
        values = list(self.values)
        level = median(values[-12:])
        # a noise from few values may be far too small: a half more at four values, next to nothing at twenty-four
        noise = step_noise(values) * (1 + 2 / len(values))
        noise = max(noise, 0.02 * abs(level))
        if level > 2 * noise:
            return level, min(level * self.PART, level - self.NOISES * noise)
        return level, level - max(self.NOISES_ALONE * noise, max(values) - min(values))

    def _eases(self, rollout: Rollout, value: float) -> bool:  # noqa: ARG002
        eased = value >= (self.level + self.bound) / 2
        if eased and self.clear + 1 >= self.need:
            self.values.append(value)
        return eased

    def restarted(self) -> None:
        """See `Rule.restarted`: the reward goes on from an earlier point, which is no fall."""
        self.low = 0
        if not self.on:
            self.values.clear()

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.values.clear()
        self.low = 0
