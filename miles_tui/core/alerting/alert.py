"""The life of an alert: firing, recovering, resolved; seen, snoozed and switched off by the person."""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from miles_tui.core.alerting.conditions.base import Condition, Severity
from miles_tui.core.alerting.evidence import Became, Evidence, LaterEvidence

KEPT_TURNS = 64  # of an alert: who watches it looks after every batch


class AlertState(StrEnum):
    """Where an alert is in its life. `pending` and `learning` come before it: see `Judge.states`."""

    FIRING = "firing"
    RECOVERING = "recovering"
    RESOLVED = "resolved"
    SWITCHED_OFF = "switched off"  # it was open when its condition was: what became of it is not said


OVER = (AlertState.RESOLVED, AlertState.SWITCHED_OFF)


@dataclass(slots=True)
class Alert:
    """One onset of a condition.

    `raised_step` is the rollout with whose data it was raised, None before the first; `raised_time` the log's clock.
    `resolved_step` is the last rollout that resolving took. `count` is how often it has fired: 1, and one more for
    each time that it came back within a few rollouts, or for each further line of the log that says it. `evidence` is
    of the moment it was raised and stays; `later` says when it came back or became worse last, and with what evidence.
    `snoozed_until` is a rollout number: before it a screen keeps the alert quiet. `turns` are its newest onsets and
    ends, of `turned` in all, each as the alert was then.
    """

    words: Condition
    severity: Severity
    signals: tuple[str, ...]
    evidence: Evidence
    raised_step: int | None
    raised_time: float | None
    attempt: int = 1
    state: AlertState = AlertState.FIRING
    resolved_step: int | None = None
    resolved_time: float | None = None
    count: int = 1
    later: LaterEvidence | None = None
    seen: bool = False
    snoozed_until: int | None = None
    explained: tuple[str, str] | None = None  # (likely cause, first check) of one known message
    turns: deque[AlertSnapshot] = field(default_factory=lambda: deque(maxlen=KEPT_TURNS), repr=False, compare=False)
    turned: int = 0
    serial: int = field(default=0, repr=False, compare=False)  # which of the run's alerts it is, in the order raised

    def __post_init__(self) -> None:
        self._turn()

    @property
    def condition(self) -> str:
        """The condition's id."""
        return self.words.id

    @property
    def title(self) -> str:
        """The condition in the manual's words."""
        return self.words.title

    @property
    def about(self) -> tuple[str, ...]:
        """The signals whose rows tell of it."""
        return self.words.marks or self.signals

    @property
    def likely_cause(self) -> str:
        """Why this usually happens."""
        return self.explained[0] if self.explained else self.words.likely_cause

    @property
    def first_check(self) -> str:
        """What to look at first."""
        return self.explained[1] if self.explained else self.words.first_check

    @property
    def open(self) -> bool:
        """Whether it is neither resolved nor switched off."""
        return self.state not in OVER

    def snoozed(self, now: int | None) -> bool:
        """Whether it is to be kept quiet at rollout `now`."""
        return _snoozed(self.snoozed_until, now)

    def snooze(self, rollouts: int, now: int | None) -> None:
        """Keep it quiet for that many rollouts from rollout `now` on; 0 wakes it."""
        self.snoozed_until = (now or 0) + rollouts if rollouts > 0 else None

    def snapshot(self) -> AlertSnapshot:
        """The alert as it is at this moment."""
        return AlertSnapshot(**self._facts(), turns=tuple(self.turns), turned=self.turned)

    def resolve(self, step: int | None, time: float | None) -> None:
        """It is over with the rollout `step`."""
        self.state, self.resolved_step, self.resolved_time = AlertState.RESOLVED, step, time
        self._turn()

    def reopen(self, step: int | None, evidence: Evidence | None) -> None:
        """It came back at rollout `step`, soon after it was resolved: the same alert, counted."""
        self.state, self.resolved_step, self.resolved_time = AlertState.FIRING, None, None
        self.count += 1
        self.seen = False
        self.note("back", step, evidence)
        self._turn()

    def twin(self) -> Alert:
        """The same alert with a life of its own from now on."""
        twin = copy(self)
        twin.turns = self.turns.copy()
        return twin

    def become(self, twin: Alert) -> None:
        """Take over what became of a twin."""
        for each in fields(Alert):
            setattr(self, each.name, getattr(twin, each.name))

    def switch_off(self, step: int | None, time: float | None) -> None:
        """Its condition was switched off at the rollout `step`."""
        self.state, self.resolved_step, self.resolved_time = AlertState.SWITCHED_OFF, step, time

    def _facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FACTS}

    def _turn(self) -> None:
        self.turns.append(AlertSnapshot(**self._facts()))
        self.turned += 1

    def note(self, what: Became, step: int | None, evidence: Evidence | None) -> None:
        """What became of it at rollout `step`, told behind the evidence."""
        if evidence is not None:
            self.later = LaterEvidence(what, step, evidence)

    def say_again(self) -> None:
        """One more line said it: counted."""
        self.count += 1


@dataclass(slots=True, frozen=True)
class AlertSnapshot:
    """An alert as it was at one moment: see `Alert`."""

    serial: int
    condition: str
    severity: Severity
    title: str
    signals: tuple[str, ...]
    about: tuple[str, ...]
    state: AlertState
    attempt: int
    evidence: Evidence
    later: LaterEvidence | None
    raised_step: int | None
    raised_time: float | None
    resolved_step: int | None
    resolved_time: float | None
    count: int
    seen: bool
    snoozed_until: int | None
    likely_cause: str
    first_check: str
    turns: tuple[AlertSnapshot, ...] = ()  # its newest onsets and ends, each as it was then
    turned: int = 0  # onsets and ends in all

    @property
    def open(self) -> bool:
        """Whether it is neither resolved nor switched off."""
        return self.state not in OVER

    def snoozed(self, now: int | None) -> bool:
        """Whether it is to be kept quiet at rollout `now`."""
        return _snoozed(self.snoozed_until, now)


_FACTS = tuple(each.name for each in fields(AlertSnapshot) if not each.name.startswith("turn"))


def _snoozed(until: int | None, now: int | None) -> bool:
    return until is not None and (now or 0) < until
