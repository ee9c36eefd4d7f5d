"""`no-signal`: there is nothing to learn from."""

from __future__ import annotations

import math

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout

CONDITION = Condition(
    id="no-signal",
    severity=Severity.WARNING,
    title="Nothing to learn from",
    signals=("reward", "gradient norm"),
    likely_cause="Every answer of a group gets the same reward: the reward function or the answer extraction returns "
    "one value, or the task is too hard or too easy for the model.",
    first_check="Read a few answers with their rewards. If they are judged rightly, change the mix of the data.",
    rule="The gradient norm is exactly 0, or every group of answers has one reward, three rollouts in a row. One such "
    "rollout can be chance.",
)
COUNT = "zero_std/count_"  # in the names of metrics that count the groups with one reward


class NoSignal(LatchedRule):
    """An identity: equal rewards in a group give advantages of 0 (Shao et al., GRPO, 2024), and those no gradient."""

    STAYS = 3  # rollouts in a row
    condition = CONDITION
    need = 2

    def __init__(self) -> None:
        super().__init__()
        self.empty = 0
        self.names: set[str] = set()  # of the metrics of the rollout before: mostly the same, and some thirty
        self.counters: list[str] = []  # those of them that count groups

    def _reads(self, rollout: Rollout) -> float | None:
        """1 where there was nothing to learn from, else 0."""
        norm = rollout.values.get("gradient norm")
        groups = self._equal_groups(rollout)
        if norm is None and groups is None:
            return None
        return 1.0 if norm == 0 or groups else 0.0

    def _equal_groups(self, rollout: Rollout) -> bool | None:
        """Whether every group had one reward; None where the log does not tell."""
        metrics = rollout.metrics
        if not rollout.groups:
            return None
        if metrics.keys() != self.names:
            self.names = set(metrics)
            self.counters = [name for name in metrics if COUNT in name]
        counts = [count for name in self.counters if math.isfinite(count := metrics[name])]
        return sum(counts) >= rollout.groups if counts else None

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        self.empty = self.empty + 1 if value else 0
        if not self.empty:
            return OK
        if self.empty < self.STAYS:
            return Evaluation(State.PENDING, count=self.empty, of=self.STAYS)
        self.empty = 0
        reward = rollout.values.get("reward", math.nan)
        measured: tuple[Measured, ...] = (Measured("reward", last=reward),)
        if rollout.values.get("gradient norm") == 0:
            measured = (Measured("gradient norm", last=0.0), *measured)
        return Evaluation(State.FIRING, Evidence(measured, facts=(("rollouts", self.STAYS),)))

    def _eases(self, rollout: Rollout, value: float) -> bool:  # noqa: ARG002
        return not value

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.empty = 0
