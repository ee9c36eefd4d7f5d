"""What is said of a run and of a signal: the same on the screen, in the title, by `status` and by `check`."""

from __future__ import annotations

from miles_tui.core.alerting.alert import AlertState
from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.conditions.base import Severity, State
from miles_tui.core.alerting.engine import PATIENCE
from miles_tui.core.alerting.ranges import OWN, Learning, Range
from miles_tui.core.run.design import Meaning
from miles_tui.core.run.run_state import RunState

MISSING, NOT_JUDGED, HELD, NOT_MEASURED = "missing", "not judged", "held back", "not measured"
WORST_FIRST = (Severity.CRITICAL, Severity.WARNING, Severity.NOTICE)

# What a verdict looks like, by its kind: one sign, one meaning, wherever a run is spoken of.
VERDICT_SIGNS: dict[str, str] = {
    "healthy": "●",
    "finished": "✓",
    "learning": "○",
    "waiting": "○",
    "watching": "◐",
    "not judged": "○",
    "stalled": "■",
    "crashed": "✖",
    "alert": "▲",
    "warned": "△",
}


def kind_of(run: RunState) -> str:
    """The verdict as a key of `SIGNS`: its word, or whether the worst alert is critical (`alert`) or not (`warned`)."""
    verdict, firing = run.verdict(), run.firing
    if verdict in VERDICT_SIGNS:
        return verdict
    return "alert" if firing and firing[0].severity is Severity.CRITICAL else "warned"


def standing(run: RunState, name: str) -> tuple[str, Severity | None]:
    """The most serious word that any condition has on a signal; with `firing` comes the worst severity.

    firing · not measured (see `not_measured`) · missing (the log has no value) · recovering · held back (see `held_by`)
    · pending · learning · ok · not judged (no condition reads it, or it has had nothing to judge by for five
    rollouts). `ok` says that a condition or a profile judges the signal, none of them still learns, and all of them
    find nothing. A signal that a condition only reads beside another is not marked by it.
    """
    open_ = [a for a in run.alerts if a.open and name in a.about]
    firing = {a.severity for a in open_ if a.state is AlertState.FIRING}
    if firing:
        return State.FIRING, next(severity for severity in WORST_FIRST if severity in firing)
    if not_measured(run, name):
        return NOT_MEASURED, None
    if run.signals[name].last is None:
        return MISSING, None
    if open_:
        return State.RECOVERING, None
    if held_by(run, name):
        return HELD, None
    said = {reading.state for reading in run.judge.readings_of(name)} - {State.OFF}
    if _away(run, name) or (run.ended and State.LEARNING in said):
        return NOT_JUDGED, None  # nothing more will be learned
    for state in (State.PENDING, State.LEARNING):
        if state in said:
            return state, None
    if said and learned(run, name) is not None:
        return State.LEARNING, None
    known = run.judge.ranges.get(name)
    judged = said or (isinstance(known, Range) and known.owner != OWN)
    return State.OK if judged else NOT_JUDGED, None


def not_measured(run: RunState, name: str) -> Meaning | None:
    """The setting by which the newest value of a signal says nothing of the run, or that there is none; else None."""
    meaning = run.design.meanings.get(name)
    last = run.signals[name].last
    if meaning is None or (meaning.absent if last is None else not run.design.measures(name, last.value)):
        return meaning
    return None


def learned(run: RunState, name: str) -> tuple[int, int] | None:
    """(have, need) rollouts of a signal's range while it is being learned; None also where its values stay away."""
    known = run.judge.ranges.get(name)
    return (known.have, known.need) if isinstance(known, Learning) and not run.ended and not _away(run, name) else None


def _away(run: RunState, name: str) -> bool:
    """Whether a signal whose range is not known had no value for as long as a rule waits for one."""
    if not isinstance(run.judge.ranges.get(name), Learning):
        return False
    last = run.signals[name].last
    return (run.pace.count if last is None else (run.judge.at or 0) - last.rollout) >= PATIENCE


def held_by(run: RunState, name: str) -> str:
    """The condition whose open alert keeps another from raising one on this signal, or ""."""
    return next((by for held, by in run.judge.held.items() if name in CONDITIONS[held].about), "")
