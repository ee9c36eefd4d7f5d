"""`reward-down-length-up`: the model has learned to talk longer instead of better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import itemgetter, neg
from typing import NamedTuple

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.stats.baseline import Norm
from miles_tui.core.stats.robust import ROUNDING, mean, noise_of_steps

CONDITION = Condition(
    id="reward-down-length-up",
    severity=Severity.WARNING,
    title="The reward falls and the length rises",
    signals=("reward", "answer length"),
    likely_cause="The model has learned to talk longer instead of better.",
    first_check="Check the reward function (does it pay for length?) and the cut share.",
    rule="Both must hold, over the same five or more rollouts: the reward falls below the level that it had before, "
    "and the length rises above its own (and above its earlier trend, where it was rising anyway: reasoning runs do). "
    "Each is tested as a straight line that begins at the same rollout; one of them alone is never enough.",
)


class Turn(NamedTuple):
    """Both signals have turned `length` rollouts ago: scores in deviations, and the levels before."""

    fall: float
    rise: float
    length: int
    reward: float
    tokens: float

    @property
    def both(self) -> float:
        """The two scores together, as the length of a vector."""
        return math.hypot(max(self.fall, 0.0), max(self.rise, 0.0))


class Track:
    """One signal's last values, spikes held back, and the noise around its curve.

    A value further than 3.5 deviations from the median of the five before it is pulled in (Hampel's filter);
    the noise comes from differences of neighbours, so that learning is not taken for noise. 2 µs a value.
    """

    KEPT = 72
    EVERY = 6  # values, once there are 24: the noise costs 5 µs
    ASKED = 4  # values after which the run is asked whether it begins where the profile's runs began

    def __init__(self, norm: Norm | None):
        self.values: list[float] = []  # the newest `KEPT`
        self.steps: list[float] = []  # how far each of them is from the one before
        self.eights: list[float] = []  # for each of them the mean of the eight that end with it, or of all there were
        self.now = math.nan  # the mean of the newest five
        self.norm = norm
        self.noise = norm.scale if norm else 0.0
        self.known_start = norm is not None
        self._due = 0

    def add(self, value: float) -> None:
        """Take a value in."""
        values = self.values
        if len(values) >= 5:
            reach, middle = 3.5 * self.noise, sorted(values[-5:])[2]
            if value < middle - reach:
                value = middle - reach
            elif value > middle + reach:
                value = middle + reach
        if values:
            self.steps.append(abs(value - values[-1]))
        values.append(value)
        newest = values[-8:]
        self.eights.append(sum(newest) / len(newest))
        if len(values) > self.KEPT:
            del values[0], self.steps[0], self.eights[0]
        if self.known_start and len(values) == self.ASKED and self._contradicts():
            self.known_start = False
        self._due -= 1
        if self._due <= 0:
            self._measure()
        newest = newest[-5:]
        self.now = now = sum(newest) / len(newest)
        least = 1e-3 * abs(now)
        if self.noise < least or self.noise < 1e-9:
            self.noise = max(least, 1e-9)

    def _measure(self) -> None:
        """Work the noise out again: every value at first, then every sixth."""
        self._due = 1 if len(self.values) < 24 else self.EVERY
        own, n = noise_of_steps(self.steps), len(self.steps)
        if n > 1:
            weight, scale = (self.norm.count, self.norm.scale) if self.norm else (0.0, 0.0)
            self.noise = math.sqrt((n * own * own + weight * scale * scale) / (n + weight))

    def _contradicts(self) -> bool:
        norm, n = self.norm, len(self.values)
        apart = 3.0 * self.noise * math.sqrt(1 / n + 1 / max(norm.count, 1.0)) if norm else 0.0
        return norm is not None and abs(mean(self.values) - norm.center) > apart

    def restart(self, keep: int) -> None:
        """Begin anew with the last `keep` values: the levels from before were chosen for being extreme.

        The noise stands until there are twelve values again.
        """
        self.values = self.values[len(self.values) - keep :] if keep else []
        self.steps = [abs(b - a) for a, b in pairwise(self.values)]
        self.eights = [mean(self.values[: i + 1][-8:]) for i in range(len(self.values))]
        self.norm, self.known_start, self._due = None, False, 12

    def tail(self, count: int) -> float:
        """The mean of the newest `count` values."""
        return mean(self.values[-count:])


LENGTHS = (5, 6, 7, 8, 9, 10, 12, 14, 16, 19, 22, 26, 31, 37)  # of the turn, in rollouts
BEFORE = (4, 8, 16, 32)  # rollouts that make a level
ENDS = (5, 9, 13, 21, 29)  # rollouts ago that an older level ended
_at_ends = itemgetter(*(-end - 1 for end in ENDS))


def _older(eights: Sequence[float]) -> Sequence[float]:
    """The older levels, of those that are there."""
    if len(eights) >= ENDS[-1] + 4:
        found: tuple[float, ...] = _at_ends(eights)
        return found
    return [eights[-end - 1] for end in ENDS if len(eights) >= end + 4]


def _ramp(k: int) -> tuple[float, float]:
    """The sum of 1 to k, and that of their squares."""
    return k * (k + 1) / 2, k * (k + 1) * (2 * k + 1) / 6


# length of a turn -> the sum of its ramp, and the least root that any score of it is divided by
LEAST_ROOTS = {k: (g, math.sqrt(gg + g * g / BEFORE[-1])) for k in LENGTHS for g, gg in [_ramp(k)]}


def _bounds(values: list[float], lengths: list[int], noise: float) -> list[float]:
    """For a rise over each of the `lengths`: what its score over the levels before it can't exceed; at least 0.

    Every length leaves four values or more before it. Rounding is made up for: sums of 72 values that are weighted
    with up to 37 err by less than 1e-9 of the largest.
    """
    if not lengths:
        return []
    sums = [0.0, *accumulate(values)]
    ramps = list(accumulate(accumulate(values[: -lengths[-1] - 1 : -1])))  # sum of j * value, at k - 1
    slack = 1e-9 * math.hypot(*values) / noise  # their root of squares is above the largest, at a quarter of the cost
    found = []
    for k in lengths:
        start = len(values) - k
        until = sums[start]
        level = min([(until - sums[start - m]) / m for m in BEFORE if m < start] + [until / start])
        g, root = LEAST_ROOTS[k]
        gain = ramps[k - 1] - level * g
        found.append(slack if gain <= 0.0 else gain / (noise * root) + slack)
    return found


class RewardDownLengthUp(LatchedRule):
    """A kink at the same rollout in both signals: an intersection-union test (Berger, Technometrics 24, 1982).

    The null is a learning curve, not a flat line: the reward before the kink may have risen, so its level there is
    at least the mean of the 4, 8, 16 or 32 values before, whichever tells most (each is a valid bound for a rising
    curve). The same holds for a length that fell; one that rose is expected to go on, at the upper end of its slope.
    Each score must reach `EACH`, and the root of the sum of their squares `BOTH`: one false alarm in some 10,000
    rollouts over all families that were tried.
    """

    LEAST = 9  # rollouts: four for a level, five for the means
    EACH, BOTH = 2.2, 5.0
    # The longer one signal has been sure of a turn alone, the more the other must bring: it has had that many chances.
    FREE, SPENT, LATE = 1, 0.25, 3.6  # rollouts without; what each further one costs; the most

    condition = CONDITION
    stages = (Stage.SAMPLED,)

    def __init__(self, reward: Norm | None = None, length: Norm | None = None):
        super().__init__()
        self.reward, self.tokens = Track(reward), Track(length)
        self.turn = Turn(0, 0, 0, 0, 0)
        self.worst = (0.0, 0.0)
        self.alone = 0  # rollouts that one signal alone has been sure of a turn

    def _reads(self, rollout: Rollout) -> float | None:
        reward, length = rollout.values.get("reward"), rollout.values.get("answer length")
        if reward is None or length is None or not (math.isfinite(reward) and math.isfinite(length)):
            return None
        return reward

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        self.reward.add(value)
        self.tokens.add(rollout.values["answer length"])
        have = len(self.reward.values)
        least = 5 if self.reward.norm else self.LEAST
        if have < least:
            return Evaluation(State.LEARNING, count=have, of=least)
        turn = self._look()
        if turn is None:
            return OK
        self.turn = turn
        self.worst = (self.reward.now, self.tokens.now)
        return Evaluation(State.FIRING, self._evidence(rollout.number - turn.length + 1))

    def _look(self) -> Turn | None:
        reward, tokens = self.reward, self.tokens
        rewards, lengths = reward.values, tokens.values
        # four of five healthy rollouts end here: the reward now is not below, or the length not above, any older level
        if reward.norm is None:  # then there are `LEAST` values: four before the newest five
            falls = reward.now <= max(_older(reward.eights)) - 0.5 * reward.noise
            if not (falls or self.alone):
                return None
            rises = tokens.now >= min(_older(tokens.eights)) + 0.5 * tokens.noise
            if not (falls or rises):
                self.alone = 0
            if not (falls and rises):
                return None
        if reward.norm and (reward.now > max(rewards[:3]) or tokens.now < min(lengths[:3])):
            return None  # unlike the profile's runs all along, but nothing has turned in this one
        losses = list(map(neg, rewards))
        turns = [self._turn(losses, lengths, k) for k in self._within_reach(losses, lengths)]
        top = max((turn.both for turn in turns), default=0.0)
        self.alone = self.alone + 1 if top >= self.BOTH else 0
        if not self.alone:
            return None
        each = min(self.EACH + self.SPENT * max(self.alone - self.FREE, 0), self.LATE)
        sure = [t for t in turns if t.both >= self.BOTH and t.fall >= each and t.rise >= each]
        return max(sure, key=lambda t: t.both, default=None)

    def _within_reach(self, losses: list[float], lengths: list[float]) -> list[int]:
        """The `LENGTHS` of a turn whose two scores could together reach `BOTH`: nearly always none.

        From the lowest of the levels and the least root of any of them, with the length's drift left out, both
        scores come out too high, never too low. Sums of all values make that O(1) for each length: 20 µs where
        working all turns out costs 200, which would make all the rules together 40 % slower.
        """
        size, norm = len(losses), self.reward.norm
        known = self.reward.known_start and norm and size < Track.KEPT
        start = norm.count if known and norm else 0.0
        tried = [k for k in LENGTHS if size - k + start >= 4] if size < LENGTHS[-1] + 4 else list(LENGTHS)
        if known or (self.tokens.known_start and self.tokens.norm and size < Track.KEPT):
            return tried  # a profile's start stands in for values: not in the sums
        falls = _bounds(losses, tried, self.reward.noise)
        rises = _bounds(lengths, tried, self.tokens.noise)
        enough = self.BOTH * self.BOTH * (1.0 - ROUNDING)
        # "not below" and no "above": a bound that overflowed to NaN rules nothing out
        return [k for k, fall, rise in zip(tried, falls, rises, strict=True) if not fall * fall + rise * rise < enough]

    def _turn(self, losses: list[float], lengths: list[float], k: int) -> Turn:
        fall, level = self._score(losses, k, self.reward, -1.0)
        rise, tokens = self._score(lengths, k, self.tokens, 1.0)
        return Turn(fall, rise, k, -level, tokens)

    def _score(self, values: list[float], k: int, track: Track, sign: float) -> tuple[float, float]:
        """The best score of a ramp of k values over the levels before it, and that level."""
        now = values[-k:]
        old = values[:-k]
        weighted = sum([j * v for j, v in enumerate(now, 1)])
        g, gg = _ramp(k)
        drift = self._drift(old, track.noise) if sign > 0 else 0.0
        best, best_level = -math.inf, 0.0
        for m in BEFORE:
            part = old[-m:]
            n, total = float(len(part)), sum(part)
            if (
                track.norm and track.known_start and len(old) < m
            ):  # what the profile's runs began with stands in for what is not there yet
                n, total = n + track.norm.count, total + sign * track.norm.count * track.norm.center
            if n < 4:
                continue
            level = total / n
            # a level n/2 values before the turn's start has moved on by then
            grown = drift * (gg + g * n / 2)
            score = (weighted - level * g - grown) / (track.noise * math.sqrt(gg + g * g / n))
            if score > best:
                best, best_level = score, level
            if len(old) <= m:
                break
        return best, best_level

    @staticmethod
    def _drift(old: list[float], noise: float) -> float:
        """The upper end of the slope that the length had: least squares over 24 values and a deviation; at least 0."""
        part = old[-24:]
        n = len(part)
        if n < 8:
            return 0.0
        middle = (n - 1) / 2
        squares = n * (n * n - 1) / 12
        slope = sum([(i - middle) * v for i, v in enumerate(part)]) / squares
        return max(slope + noise / math.sqrt(squares), 0.0)

    def _evidence(self, since: int) -> Evidence:
        norm = self.reward.norm if self.reward.known_start else None
        return Evidence(
            (
                Measured("reward", mean=self.reward.now, over=5, level=self.turn.reward),
                Measured("answer length", mean=self.tokens.now, over=5, level=self.turn.tokens),
            ),
            since,
            f"profile {norm.whose}" if norm else "run",
        )

    def _eases(self, rollout: Rollout, value: float) -> bool:
        self.reward.add(value)
        self.tokens.add(rollout.values["answer length"])
        reward, tokens = self.reward.tail(4), self.tokens.tail(4)
        self.worst = (min(self.worst[0], reward), max(self.worst[1], tokens))
        back = reward >= (self.turn.reward + self.worst[0]) / 2
        short = tokens <= (self.turn.tokens + self.worst[1]) / 2
        return back or short

    def _over(self) -> None:
        for track in (self.reward, self.tokens):
            track.restart(self.need)

    def restarted(self) -> None:
        """See `Rule.restarted`: the curve goes on from an earlier point, which is no fall."""
        for track in (self.reward, self.tokens):
            track.restart(0)
        self.alone = 0

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.reward, self.tokens = Track(None), Track(None)
