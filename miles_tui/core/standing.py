"""What is said of a signal, in the words of an alert's life: the same on the screen and by `check`."""

from __future__ import annotations

from miles_tui.core.alerts import AlertState
from miles_tui.core.conditions.base import Severity, State
from miles_tui.core.ranges import OWN, Learning, Range
from miles_tui.core.run import RunState

MISSING, NOT_JUDGED = "missing", "not judged"
SEVERITIES = (Severity.CRITICAL, Severity.WARNING, Severity.NOTICE)


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
