"""`clipped-on-policy`: something was clipped although each rollout has only one update."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import LEARNING, OFF, OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout

CONDITION = Condition(
    id="clipped-on-policy",
    severity=Severity.WARNING,
    title="The clip fraction is above 0 with one update per rollout",
    signals=("clip fraction",),
    likely_cause="The samples did not come from the current weights.",
    first_check="Check the update interval and the async settings.",
    rule="With one update per rollout the policy that is trained is the one that sampled, so nothing can be clipped: "
    "one value above 0 is enough. With several updates a rollout, or while their number is unknown, it says nothing.",
)


class ClippedOnPolicy(LatchedRule):
    """An identity, not a statistic: the ratio of a policy to itself is 1 (Schulman et al., PPO, 2017, eq. 7)."""

    condition = CONDITION
    signal = "clip fraction"

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        if rollout.planned_updates is None:
            return LEARNING
        if rollout.planned_updates > 1 or rollout.updates > 1:
            return OFF
        if value > 0:
            return Evaluation(State.FIRING, Evidence((Measured("clip fraction", last=value, level=0.0),)))
        return OK

    def _eases(self, rollout: Rollout, value: float) -> bool:  # noqa: ARG002
        return value <= 0
