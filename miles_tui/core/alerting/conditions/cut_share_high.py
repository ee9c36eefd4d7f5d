"""`cut-share-high`: most answers hit the length limit, or ever more of them do and the reward does not rise."""

from __future__ import annotations

import math
from collections import deque

from miles_tui.core.alerting.conditions.base import OK, Condition, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.latched import LatchedRule
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.stats.baseline import tail_mean
from miles_tui.core.stats.mann_kendall import trend

CONDITION = Condition(
    id="cut-share-high",
    severity=Severity.WARNING,
    title="Most answers hit the length limit",
    signals=("cut share", "answer length"),
    marks=("cut share",),
    likely_cause="The answers no longer fit the limit: the limit is too low for this task, or the model does not stop.",
    first_check="Read a few cut answers. Sensible text: a higher limit. Repetition: the reward function, and when it "
    "began.",
    rule="More than half of the answers are cut in two rollouts in a row and the share is not on its way down; or the "
    "share has risen steadily over the last 12 rollouts to more than a third, and the reward has not.",
)


class CutShareHigh(LatchedRule):
    """A bound of one half, and a tested trend (Mann and Kendall, see `core.trend`) below it."""

    MOST = 0.5
    STAYS = 2  # rollouts in a row
    WINDOW = 12  # rollouts of the trend
    RISEN = 0.35
    AT_START = 8  # rollouts: a run that begins with most answers cut is given these to get away from it
    condition = CONDITION
    signal = "cut share"
    stages = (Stage.SAMPLED,)

    def __init__(self) -> None:
        super().__init__()
        self.shares: deque[float] = deque(maxlen=self.WINDOW)
        self.rewards: deque[float] = deque(maxlen=self.WINDOW)
        self.high = 0
        self.seen_low = 0  # rollouts below the bound so far

    def _take(self, rollout: Rollout, value: float) -> None:
        self.shares.append(value)
        reward = rollout.values.get("reward", math.nan)
        self.rewards.append(reward if math.isfinite(reward) else 0.0)

    def _watch(self, rollout: Rollout, value: float) -> Evaluation:
        self._take(rollout, value)
        self.high = self.high + 1 if value > self.MOST else 0
        self.seen_low += value <= self.MOST
        if self.high >= self.STAYS and (self.seen_low >= 3 or self.high >= self.AT_START):
            if trend(self.shares) >= 0:
                now = tail_mean(self.shares, 5)
                return Evaluation(State.FIRING, Evidence((Measured("cut share", last=value, mean=now, over=5),)))
        elif self.high:
            return Evaluation(State.PENDING, count=min(self.high, self.STAYS - 1), of=self.STAYS)
        if len(self.shares) == self.WINDOW and self._creeps(now := tail_mean(self.shares, 5)):
            first = sum(list(self.shares)[:4]) / 4
            crept = Measured("cut share", mean=now, over=5, level=first)
            return Evaluation(State.FIRING, Evidence((crept,), source="run", facts=(("rollouts", self.WINDOW),)))
        return OK

    def _creeps(self, now: float) -> bool:
        if now < self.RISEN:  # nearly always
            return False
        shares, rewards = list(self.shares), list(self.rewards)
        if now < 1.5 * sum(shares[:4]) / 4:
            return False
        half = self.WINDOW // 2
        return sum(rewards[half:]) <= sum(rewards[:half]) and trend(shares) > 0

    def _eases(self, rollout: Rollout, value: float) -> bool:
        self._take(rollout, value)
        self.high = 0
        now = tail_mean(self.shares, 3)
        return now < 0.8 * self.RISEN or (now < 0.9 * self.MOST and trend(self.shares) <= 0)

    def restarted(self) -> None:
        """See `Rule.restarted`."""
        self.shares.clear()
        self.rewards.clear()
        self.high = self.seen_low = 0

    def rebase(self) -> None:
        """See `Rule.rebase`."""
        super().rebase()
        self.shares.clear()
        self.rewards.clear()
        self.high = self.seen_low = 0
