"""What is said of a run and of a signal: the same on the screen, in the title, by `status` and by `check`."""

from __future__ import annotations

from miles_tui.core.alerts import AlertState
from miles_tui.core.conditions.base import Severity, State
from miles_tui.core.ranges import OWN, Learning, Range
from miles_tui.core.run import RunState

MISSING, NOT_JUDGED = "missing", "not judged"
SEVERITIES = (Severity.CRITICAL, Severity.WARNING, Severity.NOTICE)

# What a verdict looks like, by its kind: one sign, one meaning, wherever a run is spoken of.
SIGNS: dict[str, str] = {
    "healthy": "●",
    "finished": "✓",
    "learning": "○",
    "waiting": "○",
    "watching": "◐",
    "stalled": "■",
    "crashed": "✖",
    "alert": "▲",
    "warned": "△",
}


def kind_of(run: RunState) -> str:
    """The verdict as a key of `SIGNS`: its word, or whether the worst alert is critical (`alert`) or not (`warned`)."""
    verdict, firing = run.verdict(), run.firing
    if verdict in SIGNS:
        return verdict
    return "alert" if firing and firing[0].severity is Severity.CRITICAL else "warned"


def standing(run: RunState, name: str) -> tuple[str, Severity | None]:
    """The most serious word that any condition has on a signal; with `firing` comes the worst severity.

    firing · missing (the log has no value) · recovering · pending · learning · ok · not judged. `ok` says that a
    condition or a profile judges the signal, none of them still learns, and all of them find nothing.
    """
    open_ = [a for a in run.alerts if a.open and name in a.signals]
    firing = {a.severity for a in open_ if a.state is AlertState.FIRING}
    if firing:
        return State.FIRING, next(severity for severity in SEVERITIES if severity in firing)
    if run.signals[name].last is None:
        return MISSING, None
    if open_:
        return State.RECOVERING, None
    said = {reading.state for reading in run.judge.readings_of(name)} - {State.OFF}
    known = run.judge.ranges.get(name)
    for state in (State.PENDING, State.LEARNING):
        if state in said:
            return state, None
    if said and isinstance(known, Learning):
        return State.LEARNING, None
    judged = said or (isinstance(known, Range) and known.owner != OWN)
    return State.OK if judged else NOT_JUDGED, None
