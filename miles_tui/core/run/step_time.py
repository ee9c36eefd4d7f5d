"""Where a step's time goes: its phases from the log's `perf/*` metrics, as means over counted steps. Pure.

The trainer's cycle is `step_time = train_wait_time + train_time`. What it does between two trainings (weight update,
sleep, wake-up, saving) is timed inside the waiting; scoring and the updates are inside the training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from miles_tui.core.model.series import DEAD, PAUSED, Point, Series
from miles_tui.core.stats.robust import median

WARM_UP = (
    2  # rollouts of an attempt whose times are of starting: the manual's sleep time is 1.9 to 3.7 s there, then 0.76
)
KEPT_ROLLOUTS = 512  # newest rollouts that are looked at


class StepPart(NamedTuple):
    """A phase: its log names, whose times add up; `inside`: it is timed inside the waiting."""

    id: str
    name: str
    metrics: tuple[str, ...]
    inside: bool = False


STEP_METRIC, WAIT, TRAIN = "perf/step_time", "perf/train_wait_time", "perf/train_time"
WAITING = StepPart("waiting", "waiting for samples", (WAIT,))
PARTS: tuple[StepPart, ...] = (
    WAITING,
    StepPart("scoring", "scoring", ("perf/log_probs_time", "perf/ref_log_probs_time")),
    StepPart("training", "training", ("perf/actor_train_time",)),
    StepPart("update", "weight update", ("perf/update_weights_time",), inside=True),
    StepPart("sleep", "sleep", ("perf/sleep_time",), inside=True),
    StepPart("wake", "wake-up", ("perf/wake_up_time",), inside=True),
    StepPart("saving", "saving", ("perf/save_model_time",), inside=True),
)
REST = StepPart("rest", "the rest", ())
WHOLE = StepPart("step", "the whole step", (STEP_METRIC,))


class Spent(NamedTuple):
    """A phase's seconds: the mean over the newest counted steps, the usual (median) value, and every step's.

    `points` of steps that don't count have `PAUSED` set. `alone` is the part of the mean that is in no other phase.
    """

    part: StepPart
    mean: float
    alone: float
    usual: float | None
    points: tuple[Point, ...] = ()


class Split(NamedTuple):
    """A step's time: its phases, what is left (`rest`), and the whole. `steps` were taken the mean of.

    `warm_up` and `paused` are how many steps of those looked at were left out. `overlap`: the phases together are
    longer than the step, as in an asynchronous run.
    """

    phases: tuple[Spent, ...] = ()
    rest: Spent | None = None
    whole: Spent | None = None
    steps: int = 0
    warm_up: int = 0
    paused: int = 0
    overlap: bool = False

    @property
    def total(self) -> float:
        """Seconds that the phases and the rest have together."""
        return sum(spent.alone for spent in self.phases) + (self.rest.alone if self.rest else 0.0)


@dataclass(slots=True)
class _Steps:
    """The steps that are looked at, by rollout: the whole time, the attempt, and why one is left out."""

    time: dict[int, float] = field(default_factory=dict)
    attempt: dict[int, int] = field(default_factory=dict)
    warm_up: set[int] = field(default_factory=set)
    paused: set[int] = field(default_factory=set)

    def counts(self, rollout: int) -> bool:
        return rollout in self.time and rollout not in self.warm_up and rollout not in self.paused


def split(metrics: Mapping[str, Series], window: int) -> Split | None:
    """How the newest `window` counted steps were spent; None while the log tells no step's time."""
    steps = _steps(metrics)
    if not steps.time:
        return None
    newest = [rollout for rollout in steps.time if steps.counts(rollout)][-window:]
    found = [s for part in PARTS if (s := _spent(part, metrics, steps, newest)) is not None]
    tail = sum(s.mean for s in found if s.part.inside)
    waited = next((s.mean for s in found if s.part is WAITING), 0.0)
    inside = tail <= waited  # else this log times them elsewhere, and nothing is taken off the waiting
    phases = tuple(_less(s, tail) if s.part is WAITING and inside else s for s in found)
    mean = _mean([steps.time[rollout] for rollout in newest])
    known = sum(s.alone for s in phases)
    whole = _whole_step(WHOLE, steps, mean)
    rest = Spent(REST, max(0.0, mean - known), max(0.0, mean - known), None)
    overlap = known > mean * 1.01
    return Split(phases, rest, whole, len(newest), len(steps.warm_up), len(steps.paused - steps.warm_up), overlap)


def _steps(metrics: Mapping[str, Series]) -> _Steps:
    steps = _Steps()
    series = metrics.get(STEP_METRIC)
    series = series if series is not None else metrics.get(TRAIN)
    if series is None:
        return steps
    waits = {} if STEP_METRIC in metrics else _values(metrics.get(WAIT))
    points = series.points(KEPT_ROLLOUTS)
    cut_off = len(series) > KEPT_ROLLOUTS or series.extent.count > len(
        series
    )  # the first of them is not where the run began
    seen: dict[int, int] = {points[0].attempt: WARM_UP} if cut_off and points else {}
    for point in points:
        rank = seen[point.attempt] = seen.get(point.attempt, 0) + 1
        if point.flags & DEAD or not math.isfinite(point.value):
            continue
        steps.time[point.rollout] = point.value + waits.get(point.rollout, 0.0)
        steps.attempt[point.rollout] = point.attempt
        if rank <= WARM_UP:
            steps.warm_up.add(point.rollout)
        if point.flags & PAUSED:
            steps.paused.add(point.rollout)
    return steps


def _values(series: Series | None) -> dict[int, float]:
    """The newest live finite values by rollout."""
    points = series.points(KEPT_ROLLOUTS) if series is not None else []
    return {p.rollout: p.value for p in points if not p.flags & DEAD and math.isfinite(p.value)}


def _spent(part: StepPart, metrics: Mapping[str, Series], steps: _Steps, newest: Sequence[int]) -> Spent | None:
    """A phase's time; None where the log has none of its metrics."""
    sums: dict[int, float] = {}
    for name in part.metrics:
        for rollout, value in _values(metrics.get(name)).items():
            if rollout in steps.time:
                sums[rollout] = sums.get(rollout, 0.0) + value
    if not sums:
        return None
    # A phase that a step did not have (saving, for one) took no time of it.
    mean = _mean([sums.get(rollout, 0.0) for rollout in newest])
    return Spent(part, mean, mean, *_past(sums, steps))


def _whole_step(part: StepPart, steps: _Steps, mean: float) -> Spent:
    return Spent(part, mean, mean, *_past(steps.time, steps))


def _past(values: Mapping[int, float], steps: _Steps) -> tuple[float | None, tuple[Point, ...]]:
    """The usual value, and a point for each step."""
    counted = [value for rollout, value in values.items() if steps.counts(rollout)]
    points = (Point(r, v, 0 if steps.counts(r) else PAUSED, steps.attempt[r]) for r, v in sorted(values.items()))
    return (median(counted) if counted else None), tuple(points)


def _less(spent: Spent, seconds: float) -> Spent:
    return Spent(spent.part, spent.mean, max(0.0, spent.mean - seconds), spent.usual, spent.points)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
