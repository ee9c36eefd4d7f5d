"""One signal as a chart: rollouts, the five-step mean, the range, alerts, a cursor that reads values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.widget import Widget

from miles_tui.core.alerts import Alert
from miles_tui.core.numbers import number
from miles_tui.core.run import Change
from miles_tui.core.series import DEAD, Point
from miles_tui.core.signals import SIGNALS
from miles_tui.core.spark import GLYPHS
from miles_tui.ui.chart import Chart, Mark, draw_chart, readout
from miles_tui.ui.rows import range_text
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.session import Session
from miles_tui.ui.spans import Part
from miles_tui.ui.views import means_of, row_view
from miles_tui.ui.widgets.lines import Lines

if TYPE_CHECKING:
    from miles_tui.ui.app import MilesApp

NAMES = tuple(signal.name for signal in SIGNALS)
LEAST_SPAN = 8  # rollouts: closer is no picture


class Canvas(Lines, can_focus=True):
    """The chart's lines."""


class ChartScreen(SubScreen):
    """A signal over the rollouts. New rollouts redraw it; the cells that stay are not sent again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "read(-1)", "Read", id="chart.left", tooltip="The cursor to the rollout before"),
        Binding("right", "read(1)", "Read", id="chart.right", show=False, tooltip="The cursor to the next rollout"),
        Binding("shift+left", "read(-10)", "Read", id="chart.far-left", show=False, tooltip="Ten rollouts back"),
        Binding("shift+right", "read(10)", "Read", id="chart.far-right", show=False, tooltip="Ten rollouts on"),
        Binding("plus,equals_sign", "zoom(2)", "Zoom", id="chart.in", key_display="+", tooltip="Zoom in"),
        Binding("minus", "zoom(0.5)", "Zoom out", id="chart.out", show=False, key_display="-", tooltip="Zoom out"),
        Binding("0", "whole", "Whole", id="chart.whole", show=False, tooltip="The whole run, no cursor"),
        Binding("s", "scale", "Log scale", id="chart.scale", tooltip="Logarithmic scale, or linear again"),
        Binding("l", "lines", "Log lines", id="chart.lines", show=False,
                tooltip="The lines of the log around the cursor's rollout, or the newest alert's"),
        Binding("up,k", "signal(-1)", "Signal", id="chart.up", show=False, tooltip="The signal above"),
        Binding("down,j", "signal(1)", "Signal", id="chart.down", show=False, tooltip="The signal below"),
    ]
    FOOTER = (("Esc", "back", 0), ("←→", "read", 1), ("↑↓", "signal", 3), ("+ -", "zoom", 2), ("s", "log scale", 4),
              ("0", "whole run", 5))  # fmt: skip
    DEFAULT_CSS = """
    ChartScreen #title { margin-bottom: 0; }
    """

    def __init__(self, session: Session, name: str, glyphs: str) -> None:
        super().__init__(session, name)
        self.signal = name
        self.cursor: int | None = None
        self.logarithmic = False
        self.span: tuple[int, int] | None = None
        self._glyphs = GLYPHS[glyphs]
        self._chart: Chart | None = None
        self._drawn: object = None

    def body(self) -> Widget:
        return Canvas(id="body")

    def grew(self, change: Change) -> None:
        if self.signal in change.signals or change.alerts:
            self.fill()
        self._frame()

    def fill(self) -> None:
        body = self.query_one("#body", Canvas)
        view = row_view(self.session.run, self.signal)
        band = (view.low, view.high) if view.low is not None and view.high is not None else None
        series, marks = self.session.run.signals[self.signal], self._marks()
        drawn = (series, len(series), series.last, marks, band, self.span, self.cursor, self.logarithmic, body.size)
        if drawn == self._drawn:
            return  # most of a rollout's lines say nothing of this signal, and drawing takes 8 ms
        self._drawn = drawn
        points, means = self._data()
        self._chart = draw_chart(
            body.size.width, body.size.height, points, means,
            band=band, marks=marks, log=self.logarithmic, span=self.span, cursor=self.cursor,
            glyphs=self._glyphs,
        )  # fmt: skip
        body.show(self._chart.lines)
        self.retitle(self._words(points, means))

    def _words(self, points: list[Point], means: list[tuple[int, float]]) -> list[Part]:
        """The second line: what the cursor reads, or the newest values; the range where it fits."""
        view = row_view(self.session.run, self.signal)
        unit = f" ({view.unit})" if view.unit else ""
        parts = [Part(0, [("bright", self.signal), ("dim", unit)], [("bright", self.signal)])]
        if self.cursor is not None:
            parts.append(Part(1, [("bright", readout(points, means, self.cursor, view.digits))]))
        else:
            values = [("last", view.last), (f"mean {self.session.run.window}", view.mean)]
            parts += [
                Part(rank, [("dim", f"{word} "), ("bright", number(v, view.digits))])
                for rank, (word, v) in enumerate(values, 1)
                if v is not None
            ]
        if range_text(view, 48):
            parts.append(Part(4, [("dim", f"range {range_text(view, 48)}")]))
        if self.logarithmic and self._chart is not None:
            parts.append(Part(3, [("watch", self._chart.note or "log scale")]))
        return parts

    def _data(self) -> tuple[list[Point], list[tuple[int, float]]]:
        points = self.session.run.signals[self.signal].points()
        return points, means_of(points, self.session.run.window)

    def _marks(self) -> list[Mark]:
        return [mark for alert in self.session.run.alerts if self.signal in alert.signals for mark in _marks_of(alert)]

    def on_click(self, event: events.Click) -> None:
        """A click reads the rollout under it."""
        body = self.query_one("#body", Canvas)
        if self._chart is not None and event.widget is body:
            at = self._chart.rollout_at(event.x)
            if at is not None:
                self._read(at)

    def action_read(self, by: int) -> None:
        """Move the cursor; the first press puts it on the newest rollout in sight."""
        first, last = self._extent()
        self._read(last if self.cursor is None else max(first, min(self.cursor + by, last)))

    def _read(self, rollout: int) -> None:
        self.cursor = rollout
        if self.span is not None and not self.span[0] <= rollout <= self.span[1]:
            half = (self.span[1] - self.span[0]) // 2
            self.span = self._clamped(rollout - half, 2 * half)
        self.fill()

    def action_zoom(self, times: float) -> None:
        """Show a part: around the cursor, else the newest."""
        first, last = self._extent()
        length = (self.span[1] - self.span[0]) if self.span else last - first
        length = max(LEAST_SPAN, math.ceil(length / times))  # so that in and out again is the whole run
        if length >= last - first:
            self.span = None
        else:
            centre = self.cursor if self.cursor is not None else last - length // 2
            self.span = self._clamped(centre - length // 2, length)
        self.fill()

    def action_whole(self) -> None:
        self.span = self.cursor = None
        self.fill()

    def action_lines(self) -> None:
        """The log around the cursor, else around the newest alert, else around the newest rollout."""
        cast("MilesApp", self.app).open_place(*self._place())

    def _place(self) -> tuple[int, float | None]:
        if self.cursor is not None:
            return self.cursor, None
        raised = [a for a in self.session.run.alerts if self.signal in a.signals and a.raised_step is not None]
        if raised:
            return raised[-1].raised_step or 0, raised[-1].raised_time
        return self._extent()[1], None

    def action_scale(self) -> None:
        self.logarithmic = not self.logarithmic
        self.fill()

    def action_signal(self, by: int) -> None:
        """The next signal, with the same part and cursor: rollouts stay in line."""
        self.signal = NAMES[(NAMES.index(self.signal) + by) % len(NAMES)]
        self.fill()

    def _extent(self) -> tuple[int, int]:
        points = [p.rollout for p in self._data()[0] if not p.flags & DEAD]
        return (min(points), max(points)) if points else (0, 1)

    def _clamped(self, start: int, length: int) -> tuple[int, int]:
        first, last = self._extent()
        start = max(first, min(start, last - length))
        return start, start + length


def _marks_of(alert: Alert) -> list[Mark]:
    """Where an alert was raised, and where it was resolved."""
    style = "chart.mark" if alert.open else "chart.axis"
    steps = [(alert.raised_step, ""), (alert.resolved_step, "·")]
    return [Mark(step, style, glyph) for step, glyph in steps if step is not None]
