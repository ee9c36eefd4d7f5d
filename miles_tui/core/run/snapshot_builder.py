"""A run's state as a snapshot: what is said of each signal and condition is decided here, once for everybody."""

from __future__ import annotations

import math
from types import MappingProxyType

from miles_tui.core.alerting.alert import AlertState
from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.conditions.base import OFF, OK, Severity, State
from miles_tui.core.alerting.engine import PATIENCE, Judge
from miles_tui.core.alerting.ranges import OWN, Learning, Range
from miles_tui.core.model.series import Series
from miles_tui.core.model.signals import SIGNALS, Signal, scores_of
from miles_tui.core.run.design import Meaning
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot import (
    HELD,
    MISSING,
    NOT_JUDGED,
    NOT_MEASURED,
    ConditionSnapshot,
    PhaseSnapshot,
    RunSnapshot,
    SignalSnapshot,
    Values,
)

OF_ONE_WORD = frozenset({"healthy", "finished", "learning", "waiting", "watching", "not judged", "stalled", "crashed"})


def snapshot_of(run: RunState) -> RunSnapshot:
    """What is known of a run now. Costs 0.2 ms."""
    verdict, judge, pace = run.verdict(), run.judge, run.pace
    profile = judge.profile
    alerts = tuple(alert.snapshot() for alert in run.alerts)
    critical = any(alert.severity is Severity.CRITICAL for alert in run.firing)
    return RunSnapshot(
        verdict=verdict,
        kind=verdict if verdict in OF_ONE_WORD else "alert" if critical else "warned",
        ended=run.ended,
        records=run.records,
        rollouts=pace.count,
        first=pace.first,
        rollout=pace.number,
        planned=run.total,
        attempt=run.attempt,
        updates_per_rollout=run.updates_per_rollout,
        window=run.window,
        phase=_phase(run),
        last=pace.last,
        clock=pace.clock,
        usual=pace.usual,
        left=pace.left(run.total),
        learning=run.learning,
        grace=judge.grace,
        judged=judge.at,
        signals=MappingProxyType({signal.name: _signal(run, signal) for signal in SIGNALS}),
        scores=MappingProxyType({name: values_of(run.metrics[name], run.window) for name in scores_of(run.metrics)}),
        metrics_left_out=run.metrics_left_out,
        conditions=MappingProxyType({name: _condition(judge, name) for name in {**judge.states, **CONDITIONS}}),
        alerts=alerts,
        off=frozenset(judge.off),
        rebased_at=judge.rebased_at,
        can_undo_rebase=judge.can_undo_rebase,
        profile=profile.name if profile is not None else "",
        profile_warning=profile.warning if profile is not None else "",
        misfit=tuple(profile.differences(run.args)) if profile is not None else (),
        arguments=MappingProxyType(dict(run.args)),
        why_empty=run.why_empty,
        cut_short=tuple(run.cut_short),
    )


def values_of(series: Series, window: int) -> Values:
    """A series in five numbers."""
    last, extent = series.last, series.extent
    finite = math.isfinite(extent.low)
    return Values(
        last=last.value if last is not None else None,
        rollout=last.rollout if last is not None else None,
        mean=series.mean(window),
        low=extent.low if finite else None,
        high=extent.high if finite else None,
        swing=extent.swing if extent.count > 1 else None,
        count=extent.count,
    )


def _phase(run: RunState) -> PhaseSnapshot:
    phase = run.phase
    if run.ended:
        return PhaseSnapshot(done=phase.done, total=phase.total)
    return PhaseSnapshot(phase.name, phase.since, phase.usual_end, phase.done, phase.total)


def _condition(judge: Judge, name: str) -> ConditionSnapshot:
    off = name in judge.off
    word = OFF if off else judge.states.get(name, OK)
    held = judge.held.get(name, "")
    return ConditionSnapshot(name, word.state, word.count, word.of, word.severity, held, off, word.idle)


# -- signals -------------------------------------------------------------------------------------


def _signal(run: RunState, signal: Signal) -> SignalSnapshot:
    name = signal.name
    state, severity = _standing(run, name)
    known = run.judge.ranges.get(name)
    return SignalSnapshot(
        name=name,
        log_name=run.log_names.get(name, signal.log_names[0]),
        values=values_of(run.signals[name], run.window),
        state=state,
        severity=severity,
        held_by=_held_by(run, name),
        range=known if isinstance(known, Range) else None,
        learning=_learned(run, name),
        meaning=run.design.meanings.get(name),
        measured=_not_measured(run, name) is None,
    )


def _standing(run: RunState, name: str) -> tuple[str, Severity | None]:
    """The word of `SignalSnapshot.state`; with `firing` comes the worst severity."""
    open_ = [a for a in run.alerts if a.open and name in a.about]
    firing = {a.severity for a in open_ if a.state is AlertState.FIRING}
    if firing:
        return State.FIRING, max(firing, key=lambda severity: severity.rank)
    if _not_measured(run, name):
        return NOT_MEASURED, None
    if run.signals[name].last is None:
        return MISSING, None
    if open_:
        return State.RECOVERING, None
    if _held_by(run, name):
        return HELD, None
    said = {reading.state for reading in run.judge.readings_of(name)} - {State.OFF}
    if _away(run, name) or (run.ended and State.LEARNING in said):
        return NOT_JUDGED, None  # nothing more will be learned
    for state in (State.PENDING, State.LEARNING):
        if state in said:
            return state, None
    if said and _learned(run, name) is not None:
        return State.LEARNING, None
    known = run.judge.ranges.get(name)
    judged = said or (isinstance(known, Range) and known.owner != OWN)
    return State.OK if judged else NOT_JUDGED, None


def _not_measured(run: RunState, name: str) -> Meaning | None:
    """The setting by which the newest value of a signal says nothing of the run, or that there is none; else None."""
    meaning = run.design.meanings.get(name)
    last = run.signals[name].last
    if meaning is None or (meaning.absent if last is None else not run.design.measures(name, last.value)):
        return meaning
    return None


def _learned(run: RunState, name: str) -> tuple[int, int] | None:
    """(have, need) rollouts of a signal's range while it is being learned; None also where its values stay away."""
    known = run.judge.ranges.get(name)
    return (known.have, known.need) if isinstance(known, Learning) and not run.ended and not _away(run, name) else None


def _away(run: RunState, name: str) -> bool:
    """Whether a signal whose range is not known had no value for as long as a rule waits for one."""
    if not isinstance(run.judge.ranges.get(name), Learning):
        return False
    last = run.signals[name].last
    return (run.pace.count if last is None else (run.judge.at or 0) - last.rollout) >= PATIENCE


def _held_by(run: RunState, name: str) -> str:
    """The condition whose open alert keeps another from raising one on this signal, or ""."""
    return next((by for held, by in run.judge.held.items() if name in CONDITIONS[held].about), "")
