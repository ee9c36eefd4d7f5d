"""A small chart of the selected row, where a high terminal has lines to spare: what is drawn of it follows the row."""

from __future__ import annotations

from collections.abc import Sequence

from miles_tui.core.model.series import Point
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.present.plot.sparkline import ASCII_GLYPHS, GLYPHS
from miles_tui.present.styled_text import Spans, fitted
from miles_tui.present.view_models import AlertView, RowView, means_of
from miles_tui.ui.widgets.lines import Lines


class Glance(Lines):
    """The selected row's rollouts, mean, range and alerts. Drawn from the row's view: a paused one stands still.

    Its dots are set here, not by plotext, whose import alone takes 90 ms and 17 MiB: a main screen must open at once.
    """

    def __init__(self, glyphs: str, window: int = 5, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = GLYPHS[glyphs]
        self._window = window
        self._view: RowView | None = None
        self._alerts: Sequence[AlertView] = ()
        self._margin = 0
        self._drawn: object = None

    def put(self, view: RowView | None, alerts: Sequence[AlertView], margin: int) -> None:
        """Show this row and where the alerts of its signal were raised."""
        self._view, self._alerts, self._margin = view, alerts, margin
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        """A rollout's lines say mostly nothing of this row: the same view is not drawn again."""
        view, width, height = self._view, self.size.width - 2 * self._margin, self.size.height - 1
        if view is None or height < 1:
            return
        from miles_tui.present.chart_data import marks_at
        from miles_tui.present.plot.chart import (  # 10 ms that a screen without room for it saves
            draw_chart,
            plain_canvas,
        )

        marks = [mark for alert in self._alerts if view.name in alert.signals for mark in marks_at(alert)]
        drawn = (view, marks, width, height)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        tail = view.tail
        points = list(map(Point, tail.x, tail.y, tail.flags, tail.attempts))
        band = (view.low, view.high) if view.low is not None and view.high is not None else None
        means = means_of(points, self._window)
        chart = draw_chart(width, height, points, means, band=band, marks=marks, glyphs=self._glyphs, dots=plain_canvas)
        edge: Spans = [("text", " " * self._margin)]
        self.show([edge + fitted(self._title(view, band is not None), width), *(edge + line for line in chart.lines)])

    def _title(self, view: RowView, ranged: bool) -> Spans:
        line, rim = ("*", "-") if self._glyphs is ASCII_GLYPHS else ("─", "╌")
        signs = f"   · rollout  {line} mean of {self._window}" + (f"  {rim} range" if ranged else "")
        unit = f", {view.unit}" if view.unit else ""
        return [("bright", harmless_name(view.name)), ("dim", unit + signs)]
