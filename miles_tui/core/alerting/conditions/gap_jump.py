"""`gap-jump`: the engine and the trainer no longer give the same log probabilities."""

from __future__ import annotations

from collections import deque

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout
from miles_tui.core.stats.baseline import Baseline, Norm, in_a_row, tail_mean
from miles_tui.core.stats.robust import RAMP_SHAPE, STEP_SHAPE, Match, median, step_noise

CONDITION = Condition(
    id="gap-jump",
    severity=Severity.CRITICAL,
    title="The gap jumps and stays high",
    signals=("gap",),
    likely_cause="The engine and the trainer no longer work with the same weights.",
    first_check="Read the weight update lines of the log: did every update reach every engine? "
    "Then section 5.2 of the manual.",
    rule="The gap is compared with its own level in the run's earlier rollouts (or in the profile). A jump must "
    "last three rollouts in a row: one high step says nothing. A slow climb counts once it stands a quarter above "
    "the level. Both are decided by a likelihood ratio test of every start that the change could have had.",
)


class GapJump(LatchedRule):
    """A step or a ramp in the gap, by the generalized likelihood ratio of `stats.best_match`.

    A level of exactly 0 (true on-policy) has the scale `NOTHING`: what float32 can tell from 0 is a jump then.
    """

    STAYS = 3  # rollouts in a row: the manual's "stays high"
    LEAST = 6  # values: with fewer a jump would have to be of 12 deviations
    BASE = 4.3  # score
    LONGEST = 32  # rollouts that a climb is looked for
    JUMP, CLIMB = 0.12, 0.25  # least rise worth a person's time, as a share of the level
    WELL_ABOVE = 1.5  # times the run's first level: a climb this slow has become the baseline itself by then
    HELD = -3.0, 3.0  # deviations that a value counts for at most
    NOTHING = 1e-6  # nats: the rounding of a log probability in float32
    HIGH, FAR = 1.0, 4.0  # deviations above the center: from HIGH a rollout is high, three beyond FAR need no test

    condition = CONDITION
    signal = "gap"

    def __init__(self, norm: Norm | None = None):
        super().__init__()
        self.baseline = Baseline(self.LEAST, hold=4, norm=norm, floor=0.004, absolute=self.NOTHING)
        self.last: deque[float] = deque(maxlen=5)
        self.level = self.scale = self.worst = 0.0  # of the alert that is on
        self.firsts: list[float] = []  # the first `LEAST` values, where no profile knows the level

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        base = self.baseline
        self.last.append(value)
        base.add(value)
        if base.norm is None and len(self.firsts) < self.LEAST:
            self.firsts.append(value)
        if not base.ready:
            return Evaluation(State.LEARNING, count=base.count, of=base.least)
        if value <= base.center + self.HIGH * base.scale or (high := self._in_a_row(self.HIGH)) < 2:
            return OK
        if high < self.STAYS or (found := self._match()) is None:
            return Evaluation(State.PENDING, count=min(high, self.STAYS - 1), of=self.STAYS)
        match, self.level = found
        self.scale, self.worst = base.scale, tail_mean(self.last, self.STAYS)
        from_start = match.length >= len(base.values)
        base.forget_last(match.length)
        return Evaluation(State.FIRING, self._evidence(rollout.number - match.length + 1, from_start))

    def _match(self) -> tuple[Match, float] | None:
        """The change that is sure enough and large enough, with the level before it."""
        base, norm = self.baseline, self.baseline.norm
        far = self._in_a_row(self.FAR)
        if far >= self.STAYS and tail_mean(self.last, far) - base.center > self.JUMP * abs(base.center):
            return Match(self.FAR, far), base.center
        first = norm.center if norm else median(self.firsts)
        noise = max(step_noise(base.values), base.absolute)
        if min(list(self.last)[-self.STAYS :]) > max(self.WELL_ABOVE * first, first + 6 * noise):
            return Match(0.0, self.STAYS), first
        residuals = base.residuals(*self.HELD)
        for shape, least in ((STEP_SHAPE, self.JUMP), (RAMP_SHAPE, self.CLIMB)):
            match = base.rise(residuals, self.HELD, shape, (self.STAYS, self.LONGEST), 3, self.BASE)
            if match is None:
                continue
            before = base.center + match.before * base.scale
            if tail_mean(self.last, self.STAYS) - before > max(least * abs(before), self.NOTHING):
                return match, before
        return None

    def _in_a_row(self, deviations: float) -> int:
        return in_a_row(self.last, self.baseline.center + deviations * self.baseline.scale)

    def _evidence(self, since: int, from_start: bool) -> Evidence:
        mean = tail_mean(self.last, 3)
        gap = Measured("gap", last=self.last[-1], mean=mean, over=3, level=self.level, scale=self.scale)
        return Evidence((gap,), since, self.baseline.source, (("from start", True),) if from_start else ())

    def _eases(self, rollout: Rollout, value: float) -> bool:  # noqa: ARG002
        self.last.append(value)
        self.worst = max(self.worst, tail_mean(self.last, 3))
        return value <= self.level + max(2.5 * self.scale, (self.worst - self.level) / 3)

    def restarted(self) -> None:
        """See `Rule.restarted`."""
        self.last.clear()

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.baseline.rebase()
        self.firsts.clear()
        self.last.clear()
