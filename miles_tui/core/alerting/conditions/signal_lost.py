"""`signal-lost`: a signal that every rollout had is logged no more."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.model.signals import SIGNALS

CONDITION = Condition(
    id="signal-lost",
    severity=Severity.WARNING,
    title="A signal is logged no more",
    signals=(),
    likely_cause="The part of the job that prints it has stopped or was restarted with other settings.",
    first_check="Look for the last line that had it, and for what the log says after it; compare the arguments of this "
    "attempt with the last one's.",
    rule="A signal that was logged in five rollouts in a row is missing in three in a row, while others are still "
    "logged.",
)


class SignalLost:
    """Counts, a signal: seen in a row, then missing in a row. Missing is not zero, and a gap of two is an accident."""

    SEEN, MISSING = 5, 3  # rollouts
    condition = CONDITION
    stages = (Stage.TRAINED,)

    def __init__(self) -> None:
        self.seen = dict.fromkeys((s.name for s in SIGNALS), 0)
        self.missing = dict.fromkeys(self.seen, 0)
        self.last = dict.fromkeys(self.seen, 0)
        self.on = False
        self.lost: list[str] = []  # the signals that `word` speaks of
        self.word = OK
        self._steady: frozenset[str] | None = None  # the signals, while each has been there, or not, long enough
        self._newest = 0  # the last rollout of a steady stretch, not yet in `last`

    def judge(self, rollout: Rollout, stage: Stage) -> Evaluation:  # noqa: ARG002
        """See `Rule.judge`."""
        if not rollout.values:
            return Evaluation(State.FIRING if self.on else State.OK)
        if rollout.values.keys() == self._steady:  # counting on would decide nothing
            self._newest = rollout.number
            return OK
        self._end_steady()
        seen, missing = self.seen, self.missing
        for name in seen:
            if name in rollout.values:
                seen[name] = seen[name] + 1 if not missing[name] else max(seen[name], 1)
                missing[name] = 0
                self.last[name] = rollout.number
            elif seen[name] >= self.SEEN:
                missing[name] += 1
            else:
                seen[name] = 0
        lost = [name for name, count in missing.items() if count >= self.MISSING]
        if lost:
            if not self.on or lost != self.lost:
                self.lost = lost
                measured = tuple(Measured(name, rollout=self.last[name]) for name in lost)
                evidence = Evidence(measured, facts=(("rollouts", self.MISSING),))
                self.word = Evaluation(State.FIRING, evidence, signals=tuple(lost))
            self.on = True
            return self.word
        self.on = False
        waiting = max(missing.values())
        if waiting:
            return Evaluation(State.PENDING, count=waiting, of=self.MISSING)
        if all(count == 0 or count >= self.SEEN for count in seen.values()):
            self._steady = frozenset(name for name, count in seen.items() if count)
            self._newest = rollout.number
        return OK

    def _end_steady(self) -> None:
        """Note in `last` what the steady stretch had in its last rollout."""
        for name in self._steady or ():
            self.last[name] = self._newest
        self._steady = None

    def restarted(self) -> None:
        """See `Rule.restarted`."""
        for name in self.missing:
            self.missing[name] = 0

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        self.__init__()  # type: ignore[misc]
