"""`rollout-slowdown`: the rollout takes longer than the answers explain."""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.stats.baseline import tail_mean
from miles_tui.core.stats.duration_model import TimeLaw, TimeNorm
from miles_tui.core.stats.robust import Match, Shape, best_match, clip, threshold

CONDITION = Condition(
    id="rollout-slowdown",
    severity=Severity.WARNING,
    title="The rollout time grows with flat length",
    signals=("rollout time", "answer length"),
    marks=("rollout time",),
    likely_cause="The engine or the GPU has become slower.",
    first_check="Look at the heat log (temperature, clock, power cap) and at the engine's log.",
    rule="How the rollout time follows the answer length is learned in this run (or from the profile). What the length "
    "does not explain is tested for a rise over the last four or more rollouts, and the usual swing from "
    "one rollout to the next is taken out first. Warm-up, pauses and one or two slow rollouts are left out.",
)


class RolloutSlowdown(LatchedRule):
    """A ramp in the time that the length does not explain, by `stats.best_match` on whitened residuals.

    The rest of `timelaw` is autocorrelated; its quasi-differences are not, and a ramp in it is a ramp of another
    shape in them. The uncertainty of the length's share goes into the score where the length has moved.
    """

    LEAST = 8  # rollouts after the warm-up
    WARM_UP = 2  # rollouts of an attempt: compiling, cold caches
    BASE = 3.75  # score: with RISE, one false alarm in some 10,000 rollouts over all families that were tried
    SHORTEST, LONGEST = 4, 40
    STEADY = 0.1  # of log(seconds): five in a row this far up, and four deviations, have grown by a jump
    FAR, PAUSED = 4.5, 2  # deviations: one or two such rollouts are a pause, not a trend
    HELD = 3.0  # deviations that one rollout counts for at most
    SWINGS = 2.75  # deviations of the rest itself that the newest three must be above the law
    NEW_GROUND = 1.3  # times the longest rollouts known: the law does not reach that far, so it is learned, not judged
    RISE = 0.06  # least rise of log(seconds), mean of three, that is worth a person's time

    condition = CONDITION
    stages = (Stage.SAMPLED,)

    def __init__(self, norm: TimeNorm | None = None):
        super().__init__()
        self.law = TimeLaw(self.LEAST, hold=5, norm=norm)
        self.last: deque[float] = deque(maxlen=5)  # the newest rests
        self.doubts: list[tuple[float, float]] = []  # far rollouts that the next ones must confirm
        self.fresh: list[tuple[float, float]] = []  # rollouts of a length that the law does not know
        self.worst = 0.0

    def _reads(self, rollout: Rollout) -> float | None:
        seconds, length = rollout.values.get("rollout time"), rollout.values.get("answer length")
        if seconds is None or length is None or not (0 < seconds < math.inf and 0 < length < math.inf):
            return None
        if rollout.paused or rollout.rank < self.WARM_UP:
            return None
        return seconds

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        law, fit, length = self.law, self.law.fit, rollout.values["answer length"]
        if fit is None:
            law.add(length, value)
            return OK if law.fit else self._learning()
        if self._on_new_ground(length, value):
            return self.standing if law.fit else self._learning()
        rest = law.rest(length, value)
        if self._is_far(rest):
            self.doubts.append((length, value))
            if len(self.doubts) <= self.PAUSED:
                return self.standing
        else:
            self.doubts = [(length, value)]
        for point in self.doubts:
            law.add(*point)
            if law.fit is None:  # the profile was of another machine
                return self._learning()
            self.last.append(rest if law.fit is fit and point == self.doubts[-1] else law.rest(*point))
        self.doubts = []
        match = self._match()
        if match is None:
            return OK
        self.worst = tail_mean(self.last, 5)
        evidence = self._evidence(value, length, rollout.number - match.length + 1)
        law.forget_last(match.length)
        return Evaluation(State.FIRING, evidence)

    def _learning(self) -> Evaluation:
        need = self.LEAST + self.law.hold
        return Evaluation(State.LEARNING, count=min(len(self.law.logs), need), of=need)

    def _on_new_ground(self, length: float, seconds: float) -> bool:
        """Whether the length is beyond what the law reaches; five such rollouts in a row begin another law."""
        law = self.law
        typical = law.fit.typical if law.fit else math.inf
        known = length <= self.NEW_GROUND * typical  # cheap, and true of nearly every rollout
        if known or not law.lengths or length <= self.NEW_GROUND * max(law.lengths):
            self.fresh.clear()
            return False
        self.fresh.append((length, seconds))
        if len(self.fresh) >= 5:
            law.rebase()
            for point in self.fresh:
                law.add(*point)
            self.fresh.clear()
            self.last.clear()
        return True

    def _is_far(self, rest: float) -> bool:
        fit = self.law.fit
        assert fit is not None
        if rest <= self.FAR * fit.noise:
            return False
        before = self.last[-1] if self.last else 0.0
        return rest - before > self.FAR * fit.noise * 1.3

    def _match(self) -> Match | None:
        law, fit, norm = self.law, self.law.fit, self.law.norm
        last = self.last
        assert fit is not None
        if len(last) >= 3 and (last[-3] + last[-2] + last[-1]) / 3 < self.RISE:
            return None  # nearly always
        now = tail_mean(last, 3)
        usual = fit.noise / math.sqrt(1.0 - fit.rho * fit.rho)  # how far the rest swings by itself
        if now < self.RISE or now < self.SWINGS * usual:
            return None
        rests = law.rests()
        if norm and now - min(rests[:3]) < self.RISE:
            return None  # slower than the profile's runs all along: another machine, but nothing grows
        rho, noise = fit.rho, fit.noise
        white = [clip((b - rho * a) / noise, -2.5, self.HELD) for a, b in pairwise(rests)]
        if norm:  # the first rollout has no neighbour: its own rest, in units of the stationary deviation
            white.insert(0, clip(rests[0] * math.sqrt(1 - rho * rho) / noise, -2.5, 2.5))
        shape = Shape(rho, 1.0 - rho)
        weight = norm.count if norm else 0.0
        trust = 8.0 + weight
        match = best_match(white, shape, self.SHORTEST, self.LONGEST, 4, prior=weight, trust=trust, need=self.BASE)
        if len(self.last) == 5 and min(self.last) > max(self.STEADY, 4.0 * usual):
            return Match(4.0, 5, n=len(rests) - 5)
        if not match.length:
            return None
        score = match.score / math.sqrt(1.0 + self._share_doubt(shape, match.length))
        return match if score >= threshold(self.BASE, match.n + trust - 1) else None

    def _share_doubt(self, shape: Shape, length: int) -> float:
        """The variance that an unsure share of the length adds to the score, in units of the score's own."""
        fit = self.law.fit
        assert fit is not None
        lean = list(map(fit.lean, self.law.lengths))
        old = lean[:-length]
        center = sum(old) / len(old) if old else 0.0
        bend = squares = 0.0
        for j, (a, b) in enumerate(zip(lean[-length - 1 : -1], lean[-length:], strict=False), 1):
            g = shape.offset + shape.slope * j
            bend += g * ((b - center) - fit.rho * (a - center))
            squares += g * g
        return (bend * fit.share_sd / fit.noise) ** 2 / squares if squares else 0.0

    def _evidence(self, seconds: float, length: float, since: int) -> Evidence:
        usual = seconds * math.exp(-self.law.rest(length, seconds))
        slower = [math.expm1(rest) for rest in self.last]
        measured = (Measured("rollout time", last=seconds, level=usual), Measured("answer length", last=length))
        return Evidence(measured, since, self.law.source, (("slower", sum(slower) / len(slower)),))

    def _eases(self, rollout: Rollout, value: float) -> bool:
        rest = self.law.rest(rollout.values["answer length"], value)
        self.last.append(rest)
        fit = self.law.fit
        assert fit is not None
        now = tail_mean(self.last, 4)
        self.worst = max(self.worst, now)
        return now <= max(2.0 * fit.noise, self.worst / 3)

    def restarted(self) -> None:
        """See `Rule.restarted`."""
        self.last.clear()
        self.doubts = []

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.law.rebase()
        self.last.clear()
        self.doubts = []
