"""What a condition is: words for a person, and a rule that reads one rollout after the other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.model.rollout import Rollout, Stage


class Severity(StrEnum):
    """How much an alert matters; above `NOTICE` it decides the exit status."""

    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """How bad it is: 0 a notice, 1 a warning, 2 critical."""
        return tuple(Severity).index(self)


class State(StrEnum):
    """What a rule says of its condition after a rollout."""

    LEARNING = "learning"  # no baseline yet: no claim
    OK = "ok"
    PENDING = "pending"  # `count` of `of` rollouts towards firing
    FIRING = "firing"
    RECOVERING = "recovering"  # `count` of `of` rollouts towards resolved
    OFF = "off"  # switched off, or it can't apply to this run


@dataclass(slots=True, frozen=True)
class Evaluation:
    """A rule's word on one rollout. `evidence` comes with the FIRING that begins, or that has more to say."""

    state: State
    evidence: Evidence | None = None
    count: int = 0
    of: int = 0
    severity: Severity | None = None  # where it differs from the condition's own
    signals: tuple[str, ...] | None = None  # where it differs from the condition's own
    idle: bool = False  # OFF because nothing has come to judge by


# One object each for what nearly every rollout gets: a frozen dataclass costs 1 µs to make, and a dozen rules speak.
OK = Evaluation(State.OK)
LEARNING = Evaluation(State.LEARNING)
OFF = Evaluation(State.OFF)
HOLDS = Evaluation(State.FIRING)  # fires on: the evidence is the alert's already


class Condition(NamedTuple):
    """The words of a condition. `title` is the manual's; `rule` says in a person's words what is compared with what.

    `signals` are all that it reads; `marks` those of them that it is about, where some are only read beside them.
    """

    id: str
    severity: Severity
    title: str
    signals: tuple[str, ...]
    likely_cause: str
    first_check: str
    rule: str
    marks: tuple[str, ...] = ()

    @property
    def about(self) -> tuple[str, ...]:
        """The signals whose rows tell its state."""
        return self.marks or self.signals


class Rule(Protocol):
    """A condition's test on a stream of rollouts; it keeps its own state and never looks ahead."""

    condition: Condition

    @property
    def stages(self) -> tuple[Stage, ...]:
        """When it is asked; a rule of two stages is asked twice a rollout."""
        ...

    def judge(self, rollout: Rollout, stage: Stage) -> Evaluation:
        """The state after this rollout. A missing value moves nothing, and resolves nothing."""
        ...

    def restarted(self) -> None:
        """A new attempt begins: baselines stand, trends begin anew."""
        ...

    def rebase(self) -> None:
        """The person said: what comes now is the new normal."""
        ...
