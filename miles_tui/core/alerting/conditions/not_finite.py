"""`not-finite`: NaN or infinity in a signal or in the loss."""

from __future__ import annotations

import math
from collections import Counter

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.model.signals import SIGNALS

CONDITION = Condition(
    id="not-finite",
    severity=Severity.CRITICAL,
    title="A signal is not a number",
    signals=(),
    likely_cause="An overflow or a division by zero in the loss or the backward pass; if an update was made with it, "
    "the weights are lost from here on.",
    first_check="Look whether the update was skipped, and go back to the last checkpoint before this rollout; then the "
    "precision, the loss terms and the longest samples of this rollout.",
    rule="Any NaN or infinity in one of the signals or in the loss, at once. A missing value is none.",
)
MOST_NAMED = 16  # that are named: a log can print thousands
LOSSES = ("train/loss", "train/pg_loss")
_OF_OTHERS = tuple(f"/{name}" for name in (*LOSSES, *(name for s in SIGNALS for name in s.log_names)))


def _matters(name: str) -> bool:
    """Whether a metric is a loss, or a signal of another model of the run (`beta/train/grad_norm`)."""
    return name in LOSSES or name.endswith(_OF_OTHERS)


class NotFinite:
    """Looks at both stages of a rollout; resolved after three whole rollouts of finite values."""

    NEED = 3
    condition = CONDITION
    stages = (Stage.SAMPLED, Stage.TRAINED)

    def __init__(self) -> None:
        self.on, self.clear = False, 0
        self.bad: list[str] = []  # the names that `word` speaks of
        self.word = OK

    def judge(self, rollout: Rollout, stage: Stage) -> Evaluation:
        """See `Rule.judge`."""
        if not self.on and math.isfinite(sum(rollout.values.values()) + sum(rollout.metrics.values())):
            return OK  # nearly always, at a tenth of a look at each: one that is not finite makes the sum so
        bad = [name for name, value in rollout.values.items() if not math.isfinite(value)]
        bad += [name for name, value in rollout.metrics.items() if not math.isfinite(value) and _matters(name)]
        if bad:
            if not self.on or bad != self.bad:  # the same names in the next rollout say nothing more
                self.bad = bad
                self.word = Evaluation(State.FIRING, self._evidence(rollout, bad), signals=tuple(bad[:MOST_NAMED]))
            self.on, self.clear = True, 0
            return self.word
        if not self.on:
            return OK
        if stage is Stage.TRAINED and rollout.values:
            self.clear += 1
            if self.clear >= self.NEED:
                self.on = False
                return OK
        if self.clear:
            return Evaluation(State.RECOVERING, count=self.clear, of=self.NEED)
        return Evaluation(State.FIRING)

    @staticmethod
    def _evidence(rollout: Rollout, names: list[str]) -> Evidence:
        """The first `MOST_NAMED` with their values; `nan`, `inf` and `-inf` count all of them."""
        values = [rollout.values.get(n, rollout.metrics.get(n, math.nan)) for n in names]
        measured = tuple(Measured(n, last=v) for n, v in zip(names[:MOST_NAMED], values, strict=False))
        return Evidence(measured, facts=(("rollout", rollout.number), *sorted(Counter(map(str, values)).items())))

    def restarted(self) -> None:
        """See `Rule.restarted`."""

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        self.on, self.clear = False, 0
