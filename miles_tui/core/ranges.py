"""A signal's range as the screen shows it, or how far learning it has come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, frozen=True)
class Range:
    """What is normal for a signal, and who says so: a profile's name, or "this run"."""

    low: float
    high: float
    owner: str


@dataclass(slots=True, frozen=True)
class Learning:
    """The run's own range is not known yet: `have` of `need` rollouts."""

    have: int
    need: int
