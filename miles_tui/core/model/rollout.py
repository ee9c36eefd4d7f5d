"""One turn of the loop: everything that the log said of a rollout, merged from its lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Stage(Enum):
    """How much of a rollout is known; a rule is asked once a rollout, at its own stage.

    SAMPLED: the answers are there (reward, answer length, cut share, rollout time are final).
    TRAINED: the updates are done as well (gap, KL, gradient norm, clip fraction are final), or the
    rollout is over without them.
    """

    SAMPLED = 1
    TRAINED = 2


@dataclass(slots=True)
class Rollout:
    """A rollout as rules see it.

    `values` maps a signal's name to its value, the mean over the updates where there are several;
    a missing signal is absent, NaN and infinities are kept. `metrics` is the same for every log
    name. `first` holds the log names of the rollout's first update only. `updates` counts the
    updates seen, `planned_updates` is k (None while it is unknown). `rank` counts the rollouts of
    this attempt from 0: a grace after a resume is told by it. `groups` is the printed number of prompts a
    rollout, where it is known. `time` is the log's clock, in seconds.
    """

    number: int
    attempt: int = 1
    rank: int = 0
    values: dict[str, float] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    updates: int = 0
    planned_updates: int | None = None
    paused: bool = False
    time: float | None = None
    groups: int | None = None
