"""`off-policy-at-start`: the first update of a rollout does not start from the policy that sampled."""

from __future__ import annotations

import math

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout

CONDITION = Condition(
    id="off-policy-at-start",
    severity=Severity.WARNING,
    title="The first update of a rollout is already off-policy",
    signals=("clip fraction",),
    likely_cause="The pass that scored the samples and the training pass disagree, or the samples are older than "
    "the weights.",
    first_check="Compare the log_probs pass with the training pass (precision, kernels, dropout, routing), "
    "then look at the update interval and the async settings.",
    rule="At the first update of a rollout nothing has been learned from it yet: train/ppo_kl must be within 1e-8 "
    "of 0, and with several updates a rollout the clip fraction of the first must be 0.",
)


class OffPolicyAtStart(LatchedRule):
    """An identity, held to the tolerance of Miles's own tests (1e-8)."""

    TOLERANCE = 1e-8
    condition = CONDITION

    def _reads(self, rollout: Rollout) -> float | None:
        kl = rollout.first.get("train/ppo_kl", 0.0)
        clipped = rollout.first.get("train/pg_clipfrac", 0.0) if (rollout.planned_updates or 0) > 1 else 0.0
        if not rollout.first or not (math.isfinite(kl) and math.isfinite(clipped)):
            return None
        return max(abs(kl) if abs(kl) > self.TOLERANCE else 0.0, clipped)

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        if value <= 0:  # `standing`: nothing was looked at
            several = (rollout.planned_updates or 0) > 1
            looked = "train/ppo_kl" in rollout.first or (several and "train/pg_clipfrac" in rollout.first)
            return OK if looked else self.standing
        clipped = rollout.first.get("train/pg_clipfrac", 0.0)
        measured: tuple[Measured, ...] = (Measured("clip fraction", last=clipped if clipped > 0 else None, level=0.0),)
        if abs(kl := rollout.first.get("train/ppo_kl", 0.0)) > self.TOLERANCE:
            measured = (Measured("train/ppo_kl", last=kl, level=0.0), *measured)
        return Evaluation(State.FIRING, Evidence(measured))

    def _eases(self, rollout: Rollout, value: float) -> bool:  # noqa: ARG002
        return value <= 0
