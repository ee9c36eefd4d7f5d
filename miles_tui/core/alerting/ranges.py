"""A signal's range as the screen shows it, or how far learning it has come."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from miles_tui.core.model.rollout import Rollout
from miles_tui.core.model.signals import SIGNALS

RANGE_FROM = 10  # rollouts that a run's own range is made from
OWN = f"first {RANGE_FROM}"
# A lone value further from all others than so many times their spread is a pause, not what is normal. The rare spikes
# of a healthy gradient norm stay below: 3 times in the recorded runs.
OUTLIER_GAPS = 4.0


class Range(NamedTuple):
    """What is normal for a signal, and who says so: a profile's name, or `OWN`, the run's own first rollouts."""

    low: float
    high: float
    owner: str


class Learning(NamedTuple):
    """The run's own range is not known yet: `have` of `need` rollouts."""

    have: int
    need: int


class OwnRanges:
    """The range in force for each signal: a profile's, or the smallest and largest of the run's own first values.

    One of these that lies alone is left out. The range is of single rollouts, as the manual's.
    """

    def __init__(self, given: Mapping[str, Range]):
        self.known: dict[str, Range | Learning] = {}
        self._firsts: dict[str, list[float]] = {}
        self._learning: dict[bool, list[str]] = {}  # names by `Signal.from_updates`, until all of the run's are known
        self.forget()
        self.known.update(given)

    def forget(self) -> None:
        """Learn all of them anew, those of a profile too."""
        for signal in SIGNALS:
            self.known[signal.name] = Learning(0, RANGE_FROM)
            self._firsts[signal.name] = []
        self._learning = {updates: [s.name for s in SIGNALS if s.from_updates is updates] for updates in (False, True)}

    def widen(self, rollout: Rollout, updates: bool) -> None:
        """Take in the signals that come from the updates, or the others, of one rollout."""
        if not self._learning[updates]:  # after the first rollouts of a run
            return
        known = self.known
        self._learning[updates] = learning = [n for n in self._learning[updates] if isinstance(known[n], Learning)]
        for name in learning:
            value = rollout.values.get(name)
            if value is not None and math.isfinite(value):
                firsts = self._firsts[name]
                firsts.append(value)
                done = len(firsts) >= RANGE_FROM
                known[name] = Range(*_extremes(firsts), OWN) if done else Learning(len(firsts), RANGE_FROM)


def _extremes(values: list[float]) -> tuple[float, float]:
    """The smallest and the largest value, without the one that lies alone (see `ALONE`)."""
    low, next_low, *_, next_high, high = sorted(values)
    if high - next_high > OUTLIER_GAPS * (next_high - low) > 0:
        return low, next_high
    if next_low - low > OUTLIER_GAPS * (high - next_low) > 0:
        return next_low, high
    return low, high
