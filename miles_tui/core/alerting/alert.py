"""The life of an alert: firing, recovering, resolved; seen and snoozed by the person."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from enum import StrEnum

from miles_tui.core.alerting.conditions.base import Condition, Severity

KEPT_TURNS = 64  # of an alert: who watches it looks after every batch


class AlertState(StrEnum):
    """Where an alert is in its life. `pending` and `learning` come before it: see `Judge.states`."""

    FIRING = "firing"
    RECOVERING = "recovering"
    RESOLVED = "resolved"


@dataclass(slots=True)
class Alert:
    """One onset of a condition.

    `raised_step` is the rollout with whose data it was raised, None before the first; `raised_time` the log's clock.
    `resolved_step` is the last rollout that resolving took. `count` is how often it has fired: 1, and one more for
    each time that it came back within a few rollouts, or for each further line of the log that says it. `evidence` is
    of the moment it was raised and stays; `later` says when it came back or became worse last, and with what evidence,
    "" where it did not. `snoozed_until` is a rollout number: before it a screen
    keeps the alert quiet. `turns` are its newest onsets and ends, of `turned` in all, each as it was told then.
    """

    words: Condition
    severity: Severity
    signals: tuple[str, ...]
    evidence: str
    raised_step: int | None
    raised_time: float | None
    attempt: int = 1
    state: AlertState = AlertState.FIRING
    resolved_step: int | None = None
    resolved_time: float | None = None
    count: int = 1
    later: str = ""
    seen: bool = False
    snoozed_until: int | None = None
    explained: tuple[str, str] | None = None  # (likely cause, first check) of one known message
    turns: deque[AlertReport] = field(default_factory=lambda: deque(maxlen=KEPT_TURNS), repr=False, compare=False)
    turned: int = 0

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
    def told(self) -> str:
        """The evidence, and behind it what became of it since."""
        return f"{self.evidence}; {self.later}" if self.later else self.evidence

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
        """Whether it is not resolved."""
        return self.state is not AlertState.RESOLVED

    def snoozed(self, now: int | None) -> bool:
        """Whether it is to be kept quiet at rollout `now`."""
        return self.snoozed_until is not None and (now or 0) < self.snoozed_until

    def resolve(self, step: int | None, time: float | None) -> None:
        """It is over with the rollout `step`."""
        self.state, self.resolved_step, self.resolved_time = AlertState.RESOLVED, step, time
        self._turn()

    def reopen(self, step: int | None, evidence: str) -> None:
        """It came back at rollout `step`, soon after it was resolved: the same alert, counted."""
        self.state, self.resolved_step, self.resolved_time = AlertState.FIRING, None, None
        self.count += 1
        self.seen = False
        self.note("back", step, evidence)
        self._turn()

    def _turn(self) -> None:
        self.turns.append(told_report(self))
        self.turned += 1

    def note(self, what: str, step: int | None, evidence: str) -> None:
        """What became of it at rollout `step`, told behind the evidence."""
        if evidence:
            self.later = f"{what} at rollout {step}: {evidence}"

    def say_again(self) -> None:
        """One more line said it: counted, and told behind the first."""
        said = self.evidence.removesuffix(_more(self.count))
        self.count += 1
        self.evidence = said + _more(self.count)


def _more(count: int) -> str:
    return f" (and {count - 1} more line{'s' if count > 2 else ''})" if count > 1 else ""


@dataclass(slots=True)
class AlertReport:
    """An alert as `check` prints it and `--on-alert` hands it over: these fields in this order."""

    condition: str
    raised_step: int | None  # the rollout with whose data it was raised; None before the first
    resolved_step: int | None
    severity: str
    signals: list[str]
    state: str
    attempt: int
    evidence: str
    likely_cause: str
    first_check: str


def alert_report(alert: Alert) -> AlertReport:
    """An alert as it is told to programs, as it is at this moment."""
    return AlertReport(
        condition=alert.condition,
        raised_step=alert.raised_step,
        resolved_step=alert.resolved_step,
        severity=alert.severity,
        signals=list(alert.signals),
        state=alert.state,
        attempt=alert.attempt,
        evidence=alert.evidence,
        likely_cause=alert.likely_cause,
        first_check=alert.first_check,
    )


def told_report(alert: Alert) -> AlertReport:
    """The same, with what became of it since it was raised."""
    return replace(alert_report(alert), evidence=alert.told)


def acknowledge(alert: Alert) -> None:
    """The person has seen it: shown dim until it changes."""
    alert.seen = True


def snooze(alert: Alert, rollouts: int, now: int | None) -> None:
    """Keep it quiet for that many rollouts from rollout `now` on; 0 wakes it."""
    alert.snoozed_until = (now or 0) + rollouts if rollouts > 0 else None
