"""What an alert was raised upon, as numbers. The words are made last, by `present.alerts.evidence_words`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Became = Literal["back", "worse"]


@dataclass(slots=True, frozen=True)
class Measured:
    """What a rule measured, and what it compared that with.

    `name` is a signal's, a metric's log name, or `silence` (seconds). Values have the signal's unit; NaN and
    infinities are values too. None: the rule does not look at it.
    """

    name: str
    last: float | None = None  # in the rollout with which the alert was raised
    mean: float | None = None  # of the newest `over` rollouts
    over: int = 0  # rollouts
    level: float | None = None  # what is usual
    scale: float | None = None  # one deviation of what is usual
    low: float | None = None  # the usual range
    high: float | None = None
    rollout: int | None = None  # the last rollout that had it, where that is not the newest


@dataclass(slots=True, frozen=True)
class Evidence:
    """Why a rule fires: what it measured, since when, against whose level.

    `since` is the onset: the first rollout of the change, where the rule knows it. `source` says where the level comes
    from: `run` (its own rollouts so far) or `profile NAME`; "" where nothing is compared. `facts` are further numbers
    and words of the rule by name (`rollouts`: how many in a row it has held). `text` is what the log itself says.
    """

    measured: tuple[Measured, ...] = ()
    since: int | None = None
    source: str = ""
    facts: tuple[tuple[str, str | int | float], ...] = ()
    text: str = ""
    held_until: int | None = None  # the rollout up to which another alert held this one back


@dataclass(slots=True, frozen=True)
class LaterEvidence:
    """An alert came back, or became worse, at a rollout."""

    what: Became
    rollout: int | None
    evidence: Evidence


NO_EVIDENCE = Evidence()
