"""`out-of-range`: a five-step mean outside the profile's range of single steps."""

from __future__ import annotations

import math
from collections import deque

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.model.signals import BY_NAME

CONDITION = Condition(
    id="out-of-range",
    severity=Severity.NOTICE,
    title="A signal has left its range",
    signals=(),
    likely_cause="This run differs from the runs that the profile was made from.",
    first_check="Compare the arguments with the profile's; if they were changed on purpose, make a new profile.",
    rule="The mean of five rollouts lies outside the range that single rollouts had in the profile's runs. Without a "
    "profile it says nothing.",
)


class OutOfRange(LatchedRule):
    """One signal against the profile's range; the mean of five swings less than single steps, so it is a mild test."""

    condition = CONDITION
    need = 2

    def __init__(self, signal: str, low: float, high: float, profile: str):
        super().__init__()
        self.signal, self.low, self.high, self.source = signal, low, high, f"profile {profile}"
        self.stages = (Stage.TRAINED,) if BY_NAME[signal].from_updates else (Stage.SAMPLED,)
        self.last: deque[float] = deque(maxlen=5)
        self.slack = 1e-9 * max(abs(low), abs(high))

    def _outside(self, value: float) -> bool:
        self.last.append(value)
        now = sum(self.last) / len(self.last)
        return not self.low - self.slack <= now <= self.high + self.slack

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:  # noqa: ARG002
        outside = self._outside(value)
        if len(self.last) < 5:
            return Evaluation(State.LEARNING, count=len(self.last), of=5)
        if not outside:
            return OK
        left = Measured(self.signal, mean=sum(self.last) / 5, over=5, low=self.low, high=self.high)
        return Evaluation(State.FIRING, Evidence((left,), source=self.source), signals=(self.signal,))

    def _eases(self, rollout: Rollout, value: float) -> bool:  # noqa: ARG002
        return not self._outside(value)

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.low, self.high = -math.inf, math.inf
