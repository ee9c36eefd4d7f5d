"""What the screen shows of a run, taken at one moment: plain values, no Textual.

A paused view keeps the old ones while the run goes on. Taking all rows costs under 1 ms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from miles_tui.core.alerting.alert import OVER, AlertSnapshot, AlertState
from miles_tui.core.alerting.ranges import OWN
from miles_tui.core.model.glossary import Meaning, meaning_of
from miles_tui.core.model.series import DEAD, Point, Series, SeriesTail
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.run.monitor import Curves
from miles_tui.core.run.snapshot import RunSnapshot, SignalSnapshot
from miles_tui.core.stats.mann_kendall import trend
from miles_tui.core.text.sanitize import harmless
from miles_tui.present.alerts.evidence_words import evidence_of
from miles_tui.present.plot.sparkline_axis import Axis, Span, joined
from miles_tui.present.state_words import VERDICT_SIGNS

KEPT_POINTS = 64  # newest rollouts that the trend and the change look at
CHANGE_OVER = 10  # rollouts
TREND_OVER = 24  # rollouts that the arrow's test looks at: the trend of now, not of the whole run

# A range of the run's own first rollouts is no norm for what is to move as the model learns.
FLAT = frozenset({"gap", "KL to the engine", "clip fraction"})


class Light(NamedTuple):
    """A state as shown: by a letter, a word and the name of a style."""

    letter: str
    word: str
    style: str


LIGHTS: dict[str, Light] = {
    "critical": Light("▲", "firing, critical", "critical"),
    "warning": Light("△", "firing, a warning", "warning"),
    "notice": Light("i", "firing, a notice", "notice"),
    "recovering": Light("r", "recovering", "watch"),
    "held back": Light("h", "held back, by the alert that says it already", "watch"),
    "pending": Light("p", "pending", "watch"),
    "learning": Light("l", "learning", "learn"),
    "missing": Light("-", "missing", "dim"),
    "ok": Light("·", "ok", "ok"),
    "not measured": Light("n", "not measured, by design of the run's settings", "dim"),
    "not judged": Light(" ", "not judged", "dim"),
}

NO_VALUES = SeriesTail.of(())

NOT_JUDGED_LIGHT = LIGHTS["not judged"]  # no condition reads it, or none has anything to judge by
TELLS_NOTHING = "not informative: 0 all along"

# The verdict by shape and style; the word is the run's own.
VERDICT_STYLES = {"healthy": "ok", "finished": "ok", "learning": "learn", "waiting": "dim", "watching": "watch"}
VERDICT_STYLES |= {"not judged": "dim"}
VERDICT_STYLES |= {"stalled": "critical", "crashed": "critical", "alert": "critical", "warned": "warning"}
SHAPES: dict[str, tuple[str, str]] = {kind: (sign, VERDICT_STYLES[kind]) for kind, sign in VERDICT_SIGNS.items()}


class RowView(NamedTuple):
    """One signal. `low`, `high` and `owner` are the range in force, `learning` is (have, need) until there is one."""

    name: str
    unit: str = ""
    digits: int = 3
    last: float | None = None
    mean: float | None = None
    change: float | None = None
    trend: int = 0
    tail: SeriesTail = NO_VALUES  # what the sparkline shows
    axis: Axis | None = None  # on which; None: on one of its own
    uncounted: int = DEAD  # values with such a flag are in no mean of the sparkline
    low: float | None = None
    high: float | None = None
    owner: str = ""
    learning: tuple[int, int] | None = None
    normal: bool = False  # is a value outside the range something to look at?
    light: Light = LIGHTS["ok"]
    held: str = ""  # the condition whose alert holds back another on this signal
    note: str = ""  # stands in the sparkline's place


@dataclass(slots=True, frozen=True)
class AlertView:
    """One alert, its words and its life."""

    condition: str
    severity: str
    state: str
    title: str
    evidence: str
    likely_cause: str
    first_check: str
    raised_step: int | None
    raised_time: float | None
    resolved_step: int | None
    resolved_time: float | None
    count: int
    signals: tuple[str, ...]
    seen: bool
    snoozed: bool
    serial: int
    attempt: int
    accepted: bool = False  # it is over since the person said that what came was expected

    @property
    def over(self) -> bool:
        """Whether nothing of it is open: it is resolved, or its condition is switched off."""
        return self.state in OVER


def spans_of(values: Curves, names: Iterable[str] = ()) -> list[Span]:
    """The attempts of a run, each with its first and last rollout: of the signals and these metrics together."""
    return joined(series.spans() for series in (*values.signals.values(), *map(values.of, names)))


def row_views(
    run: RunSnapshot, values: Curves, names: Iterable[str] = tuple(BY_NAME), axis: Axis | None = None
) -> list[RowView]:
    """A row for each of these; `axis` is the one of their sparklines."""
    return [row_view(run, values, name, axis) for name in names]


def row_view(run: RunSnapshot, values: Curves, name: str, axis: Axis | None = None) -> RowView:
    """A signal, or a metric by its log name, as it stands. Costs 0.1 ms: its newest values become objects."""
    signal, series, said = BY_NAME.get(name), values.of(name), run.signals.get(name)
    points = series.points(KEPT_POINTS + run.window)
    means = means_of(points, run.window)
    last = series.last
    mean = means[-1][1] if means else None
    bounds = said.range if said is not None and said.measured else None
    meaning = None if signal else meaning_of(name)
    return RowView(
        name=name,
        unit=unit_of(name),
        digits=signal.digits if signal else 3,
        last=last.value if last is not None else None,
        mean=mean,
        change=mean - means[-1 - CHANGE_OVER][1] if mean is not None and len(means) > CHANGE_OVER else None,
        trend=trend([p.value for p in points if not p.flags][-TREND_OVER:]),
        tail=series.tail(axis.reach + run.window) if axis is not None else NO_VALUES,
        axis=axis,
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
        owner=bounds.owner if bounds else "",
        learning=said.learning if said is not None else None,
        normal=bounds is not None and (bounds.owner != OWN or name in FLAT),
        light=light_of(said) if said is not None else NOT_JUDGED_LIGHT,
        held=said.held_by if said is not None else "",
        note=note_of(said) if said is not None else TELLS_NOTHING if tells_nothing(series, meaning) else "",
    )


def note_of(signal: SignalSnapshot) -> str:
    """What the run's settings make of a signal, or ""."""
    meaning = signal.meaning
    if meaning is None:
        return ""
    if not signal.measured:
        return f"not measured: {meaning.why} ({meaning.flag})"
    return f"{meaning.why} ({meaning.flag})" if meaning.judged else ""


def unit_of(name: str) -> str:
    """The unit of a signal or metric, empty where it has none."""
    named = BY_NAME.get(name) or meaning_of(name)
    return named.unit if named else ""


def tells_nothing(series: Series, meaning: Meaning | None) -> bool:
    """Constant 0 all along, and not because 0 is what is healthy."""
    extent = series.extent
    healthy = meaning is not None and meaning.healthy.startswith("0")
    return extent.count > 1 and extent.low == extent.high == 0.0 and not healthy


def means_of(points: list[Point], window: int) -> list[tuple[int, float]]:
    """(rollout, mean of the newest `window` live finite values), as `Series.means` but of these points only."""
    out: list[tuple[int, float]] = []
    recent: list[float] = []
    for point in points:
        if point.flags & DEAD or not math.isfinite(point.value):
            continue
        recent.append(point.value)
        if len(recent) > window:
            del recent[0]
        if len(recent) == window:
            out.append((point.rollout, sum(recent) / window))
    return out


def light_of(signal: SignalSnapshot) -> Light:
    """The state of a signal."""
    return LIGHTS[signal.severity or signal.state]


LIVES = (AlertState.FIRING, AlertState.RECOVERING, AlertState.SWITCHED_OFF, AlertState.RESOLVED)


def alert_views(run: RunSnapshot) -> list[AlertView]:
    """Firing first (worst first), then recovering, then switched off, then resolved, newest first within each."""

    def order(alert: AlertSnapshot) -> tuple[int, bool, int]:
        life = LIVES.index(alert.state)
        severity = -alert.severity.rank if life < 2 else 0
        return life, alert.seen and life == 0, severity

    newest_first = run.alerts[::-1]
    return [alert_view(alert, run) for alert in sorted(newest_first, key=order)]


def alert_view(alert: AlertSnapshot, run: RunSnapshot) -> AlertView:
    """One alert."""
    return AlertView(
        condition=alert.condition,
        severity=alert.severity.value,
        state=alert.state.value,
        title=alert.title,
        evidence=harmless(evidence_of(run, alert)),
        likely_cause=alert.likely_cause,
        first_check=alert.first_check,
        raised_step=alert.raised_step,
        raised_time=alert.raised_time,
        resolved_step=alert.resolved_step,
        resolved_time=alert.resolved_time,
        count=alert.count,
        signals=tuple(name for name in alert.signals if name in BY_NAME),
        seen=alert.seen,
        snoozed=alert.snoozed(run.rollout),
        serial=alert.serial,
        attempt=alert.attempt,
        accepted=alert.state is AlertState.RESOLVED and alert.resolved_step == run.rebased_at is not None,
    )
