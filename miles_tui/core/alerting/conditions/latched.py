"""The part of a rule that is the same everywhere: it fires, it holds, it eases, and missing data change nothing."""

from __future__ import annotations

from math import isfinite

from miles_tui.core.alerting.conditions.base import HOLDS, LEARNING, OK, Condition, Evaluation, State
from miles_tui.core.model.rollout import Rollout, Stage


class LatchedRule:
    """A rule with two thresholds: `_watch` decides when it fires, `_eases` whether a rollout is clear again.

    It is resolved after `need` clear rollouts in a row. A subclass says LEARNING, OK, PENDING or FIRING in
    `_watch`. It reads one `signal`, or says in `_reads` what it reads; what is missing or not finite counts as missing.
    """

    condition: Condition
    stages: tuple[Stage, ...] = (Stage.TRAINED,)
    signal = ""
    need = 3  # rollouts: with the means of five that most rules ease by, a repair is resolved within eight

    def __init__(self) -> None:
        self.on = False
        self.clear = 0
        self.standing = LEARNING

    def judge(self, rollout: Rollout, stage: Stage) -> Evaluation:  # noqa: ARG002
        """See `Rule.judge`."""
        value = rollout.values.get(self.signal) if self.signal else self._reads(rollout)
        if value is None or not isfinite(value):
            return self.standing
        if not self.on:
            self.standing = reading = self._watch(rollout, value)
            if reading is not OK and reading.state is State.FIRING:
                self.on, self.clear = True, 0
            return reading
        self.clear = self.clear + 1 if self._eases(rollout, value) else 0
        if self.clear >= self.need:
            self.on, self.clear = False, 0
            self.standing = OK
            self._over()
        elif self.clear:
            self.standing = Evaluation(State.RECOVERING, count=self.clear, of=self.need)
        else:
            self.standing = HOLDS
        return self.standing

    def _reads(self, rollout: Rollout) -> float | None:
        """The rollout's value, None where it is missing."""
        raise NotImplementedError

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        raise NotImplementedError

    def _eases(self, rollout: Rollout, value: float) -> bool:
        raise NotImplementedError

    def _over(self) -> None:
        """The condition has just been resolved."""

    def restarted(self) -> None:
        """See `Rule.restarted`."""

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        self.on, self.clear = False, 0
        self.standing = LEARNING
