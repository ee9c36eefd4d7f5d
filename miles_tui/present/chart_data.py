"""What a chart of one or several subjects draws: a curve each, with its words. Pure.

A subject is a signal by its name, or a metric by its log name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from miles_tui.core.alerting.alert import OVER, AlertSnapshot
from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.model.series import DEAD, Point, Series
from miles_tui.core.run.monitor import Curves
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.core.text.numbers import number
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.present.alerts.alert_list import SEVERITY_MARKS
from miles_tui.present.plot.chart import Other, PointMark, readout
from miles_tui.present.signal_rows import range_text
from miles_tui.present.styled_text import Part, Spans
from miles_tui.present.view_models import AlertView, RowView, means_of, row_view

CURVE_STYLES = ("chart.mean", "chart.second", "chart.third")
MARK_STYLES = {"warning": "warning", "notice": "notice"}  # a critical alert's mark has a role of its own
MARK_SIGNS = {severity: sign for severity, sign in SEVERITY_MARKS.items() if severity in MARK_STYLES}
MOST_CURVES = len(
    CURVE_STYLES
)  # curves of one chart: more can't be told apart, and a new scale would send more than 8 KB
PLENTY = 8192  # points that are drawn one by one; of more, blocks' lowest and highest ones


class Curve(NamedTuple):
    """One subject: its values, means, words. `tag` is its number in a chart of several, else empty."""

    name: str
    view: RowView
    points: Sequence[Point]
    means: Sequence[tuple[int, float]]
    style: str = CURVE_STYLES[0]
    tag: str = ""

    @property
    def band(self) -> tuple[float, float] | None:
        """The range in force."""
        low, high = self.view.low, self.view.high
        return (low, high) if low is not None and high is not None else None

    def other(self) -> Other:
        """As a line on another's chart; too few values for a mean are drawn as they are."""
        live = [(p.rollout, p.value) for p in self.points if not p.flags & DEAD]
        return Other(self.means or live, self.style, self.tag)

    def label(self) -> Spans:
        """Its number and name, in its style."""
        return [(self.style, f"{self.tag} " if self.tag else ""), ("bright", harmless_name(self.name))]


def curves_of(run: RunSnapshot, values: Curves, subjects: Sequence[str]) -> list[Curve]:
    """A curve for each of the first `MOST` subjects; the first is the one whose chart it is."""
    shown = subjects[:MOST_CURVES]
    tags = [str(i) for i in range(1, len(shown) + 1)] if len(subjects) > 1 else [""]
    return [
        Curve(name, row_view(run, values, name), *values_of(values, name), style, tag)
        for name, style, tag in zip(shown, CURVE_STYLES, tags, strict=False)
    ]


def values_of(values: Curves, subject: str) -> tuple[list[Point], list[tuple[int, float]]]:
    """Points and means. Of a series beyond `PLENTY` the lowest and highest point of each block, and one mean.

    A chart has some 200 columns of dots, and 100,000 objects would take 0.2 s.
    """
    series = values.of(subject)
    if len(series) <= PLENTY:
        points = series.points()
        return points, means_of(points, values.window)
    return _blocks(series, values.window)


def _blocks(series: Series, window: int) -> tuple[list[Point], list[tuple[int, float]]]:
    size = -(-len(series) // (PLENTY // 4))
    points, means = [], []
    for begin in range(0, len(series), size):
        end = min(len(series), begin + size)
        flags, values = series.flags[begin:end], series.y[begin:end]
        if any(flags) or not math.isfinite(sum(values)):
            chosen = [begin + i for i, f in enumerate(flags) if f or not math.isfinite(values[i])][:2]
            usual = [i for i in range(begin, end) if not series.flags[i] and math.isfinite(series.y[i])]
            chosen += [min(usual, key=series.y.__getitem__), max(usual, key=series.y.__getitem__)] if usual else []
        else:
            chosen = [begin + values.index(min(values)), begin + values.index(max(values))]
        points += [_point(series, i) for i in sorted(set(chosen))]
        recent = [_point(series, i) for i in range(max(0, end - 2 * window), end)]
        means += means_of(recent, window)[-1:]
    if points[-1].rollout != series.x[-1]:
        points.append(_point(series, len(series) - 1))
    return points, means


def _point(series: Series, at: int) -> Point:
    return Point(series.x[at], series.y[at], series.flags[at], series.attempts[at])


def marks_of(run: RunSnapshot, subject: str) -> list[PointMark]:
    """Where alerts of a subject were raised and resolved."""
    return [mark for alert in run.alerts if subject in alert.signals for mark in marks_at(alert)]


def marks_at(alert: AlertSnapshot | AlertView) -> list[PointMark]:
    """Where one alert was raised and resolved: the colour and the sign of its severity, dim when it is over."""
    style = "chart.axis" if alert.state in OVER else MARK_STYLES.get(alert.severity, "chart.mark")
    steps = [(alert.raised_step, MARK_SIGNS.get(alert.severity, "")), (alert.resolved_step, "·")]
    return [PointMark(step, style, glyph) for step, glyph in steps if step is not None]


def partners(run: RunSnapshot, subject: str) -> list[str]:
    """The signals that a condition reads together with this one: those of an open alert first."""
    alerts: Iterable[tuple[str, ...]] = (alert.signals for alert in reversed(run.alerts) if alert.open)
    pairs = [*alerts, *(condition.signals for condition in CONDITIONS.values())]
    found = [other for pair in pairs if subject in pair and len(pair) == 2 for other in pair if other != subject]
    return list(dict.fromkeys(found))


def chart_title(curves: Sequence[Curve], cursor: int | None, window: int, note: str) -> list[Part]:
    """The chart's title: what the cursor reads, or the newest values; the range where it fits."""
    if len(curves) > 1:
        return _words_of_several(curves, cursor)
    (curve,) = curves
    view = curve.view
    unit = f" ({view.unit})" if view.unit else ""
    parts = [Part(0, [*curve.label(), ("dim", unit)], curve.label())]
    if cursor is not None:
        parts.append(Part(1, [("bright", readout(curve.points, curve.means, cursor, view.digits))]))
    else:
        values = [("last", view.last), (f"mean {window}", view.mean)]
        parts += [
            Part(rank, [("dim", f"{word} "), ("bright", number(v, view.digits))])
            for rank, (word, v) in enumerate(values, 1)
            if v is not None
        ]
    if range_text(view, 48):
        parts.append(Part(4, [("dim", f"range {range_text(view, 48)}")]))
    if view.note:
        parts.append(Part(5, [("dim", view.note)]))
    if note:
        parts.append(Part(3, [("watch", note)]))
    return parts


def _words_of_several(curves: Sequence[Curve], cursor: int | None) -> list[Part]:
    """Each curve's number, name, value and whose numbers the axes have."""
    places = ("left", "right", "own scale")
    parts = [Part(0, [("bright", f"rollout {cursor}")])] if cursor is not None else []
    for rank, (curve, place) in enumerate(zip(curves, places, strict=False), 1):
        value = curve.view.mean if cursor is None else _at(curve, cursor)
        said: Spans = [("text", f" {number(value, curve.view.digits)}")] if value is not None else [("dim", " –")]
        parts.append(Part(rank, [*curve.label(), *said, ("dim", f" ({place})")], [*curve.label(), *said]))
    return parts


def _at(curve: Curve, rollout: int) -> float | None:
    """The value that is drawn as a line: the mean, else the rollout's own."""
    mean = next((y for x, y in reversed(curve.means) if x == rollout), None)
    if mean is not None:
        return mean
    return next((p.value for p in reversed(curve.points) if p.rollout == rollout and not p.flags & DEAD), None)
