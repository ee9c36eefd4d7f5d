"""`reward-down-length-up`: the model has learned to talk longer instead of better."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from miles_tui.core.baseline import Norm
from miles_tui.core.conditions.base import Condition, Reading, Severity, State
from miles_tui.core.conditions.latched import LatchedRule
from miles_tui.core.numbers import number
from miles_tui.core.rollouts import Rollout, Stage
from miles_tui.core.stats import clip, mean, median, step_noise

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


@dataclass(slots=True, frozen=True)
class Turn:
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
    the noise comes from differences of neighbours, so that learning is not taken for noise.
    """

    KEPT = 72
    ASKED = 4  # values after which the run is asked whether it begins where the profile's runs began

    def __init__(self, norm: Norm | None):
        self.values: deque[float] = deque(maxlen=self.KEPT)
        self.norm = norm
        self.noise = norm.scale if norm else 0.0
        self.known_start = norm is not None
        self._due = 0

    def add(self, value: float) -> None:
        """Take a value in."""
        if self.noise > 0 and len(self.values) >= 5:
            middle = median(list(self.values)[-5:])
            value = clip(value, middle - 3.5 * self.noise, middle + 3.5 * self.noise)
        self.values.append(value)
        self.known_start = self.known_start and not (len(self.values) == self.ASKED and self._contradicts())
        self._due -= 1
        if self._due <= 0:
            self._due = 1 if len(self.values) < 24 else 6
            own, n = step_noise(list(self.values)), len(self.values) - 1
            weight = self.norm.count if self.norm else 0.0
            if n > 1:
                scale = self.norm.scale if self.norm else 0.0
                self.noise = math.sqrt((n * own * own + weight * scale * scale) / (n + weight))
        self.noise = max(self.noise, 1e-3 * abs(mean(list(self.values)[-5:])), 1e-9)

    def _contradicts(self) -> bool:
        norm, n = self.norm, len(self.values)
        apart = 3.0 * self.noise * math.sqrt(1 / n + 1 / max(norm.count, 1.0)) if norm else 0.0
        return norm is not None and abs(mean(list(self.values)) - norm.center) > apart

    def restart(self, keep: int) -> None:
        """Begin anew with the last `keep` values: the levels from before were chosen for being extreme.

        The noise stands until there are twelve values again.
        """
        self.values = deque(list(self.values)[len(self.values) - keep :] if keep else (), maxlen=self.KEPT)
        self.norm, self.known_start, self._due = None, False, 12

    def tail(self, count: int = 5) -> float:
        """The mean of the newest `count` values."""
        return mean(list(self.values)[-count:])


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
    LENGTHS = (5, 6, 7, 8, 9, 10, 12, 14, 16, 19, 22, 26, 31, 37)  # of the turn, in rollouts
    BEFORE = (4, 8, 16, 32)  # rollouts that make a level

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

    def _watch(self, rollout: Rollout, value: float) -> Reading:
        self.reward.add(value)
        self.tokens.add(rollout.values["answer length"])
        have = len(self.reward.values)
        least = 5 if self.reward.norm else self.LEAST
        if have < least:
            return Reading(State.LEARNING, count=have, of=least)
        turn = self._look()
        if turn is None:
            return Reading(State.OK)
        self.turn = turn
        self.worst = (self.reward.tail(), self.tokens.tail())
        return Reading(State.FIRING, self._evidence(rollout.number - turn.length + 1))

    def _look(self) -> Turn | None:
        rewards, lengths = list(self.reward.values), list(self.tokens.values)
        # nine of ten healthy rollouts end here: the reward now is not below, or the length not above, any older level
        ends = [e for e in (5, 9, 13, 21, 29) if len(rewards) >= e + 4]
        if ends and self.reward.norm is None:
            highest = max(mean(rewards[-e - 8 : -e]) for e in ends)
            lowest = min(mean(lengths[-e - 8 : -e]) for e in ends)
            falls = self.reward.tail() <= highest - 0.5 * self.reward.noise
            rises = self.tokens.tail() >= lowest + 0.5 * self.tokens.noise
            if not (falls or rises):
                self.alone = 0
            if not (falls and rises):
                return None
        if self.reward.norm and (self.reward.tail() > max(rewards[:3]) or self.tokens.tail() < min(lengths[:3])):
            return None  # unlike the profile's runs all along, but nothing has turned in this one
        turns = []
        for k in self.LENGTHS:
            turn = self._turn(rewards, lengths, k)
            if turn is None:
                break
            turns.append(turn)
        top = max((turn.both for turn in turns), default=0.0)
        self.alone = self.alone + 1 if top >= self.BOTH else 0
        if not self.alone:
            return None
        each = min(self.EACH + self.SPENT * max(self.alone - self.FREE, 0), self.LATE)
        sure = [t for t in turns if t.both >= self.BOTH and t.fall >= each and t.rise >= each]
        return max(sure, key=lambda t: t.both, default=None)

    def _turn(self, rewards: list[float], lengths: list[float], k: int) -> Turn | None:
        before = len(rewards) - k
        known = self.reward.known_start and self.reward.norm and len(rewards) < self.reward.KEPT
        start = self.reward.norm.count if known and self.reward.norm else 0.0
        if before + start < 4:
            return None
        fall, level = self._score([-v for v in rewards], k, self.reward, -1.0)
        rise, tokens = self._score(lengths, k, self.tokens, 1.0)
        return Turn(fall, rise, k, -level, tokens)

    def _score(self, values: list[float], k: int, track: Track, sign: float) -> tuple[float, float]:
        """The best score of a ramp of k values over the levels before it, and that level."""
        now = values[-k:]
        old = values[:-k]
        weighted = sum([j * v for j, v in enumerate(now, 1)])
        g, gg = k * (k + 1) / 2, k * (k + 1) * (2 * k + 1) / 6
        drift = self._drift(old, track.noise) if sign > 0 else 0.0
        best, best_level = -math.inf, 0.0
        for m in self.BEFORE:
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

    def _evidence(self, since: int) -> str:
        return (
            f"since rollout {since}: reward {number(self.reward.tail())} (mean of five), "
            f"{number(self.turn.reward)} before; "
            f"answer length {number(self.tokens.tail())}, {number(self.turn.tokens)} before"
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
