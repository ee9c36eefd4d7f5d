"""The sparklines of a screen: each signal keeps its frame, so that a new rollout changes one cell."""

from __future__ import annotations

from collections.abc import Sequence

from miles_tui.core.text.cells import pad
from miles_tui.present.plot.sparkline import GLYPHS, GROUP, Frame, slots_of, spark
from miles_tui.present.plot.sparkline_axis import Axis, Span, axis_of, columns_of
from miles_tui.present.styled_text import Spans
from miles_tui.present.view_models import RowView


class Sparks:
    """Draws a row's sparkline; `glyphs` is `braille`, `blocks` or `ascii`, `window` the rollouts of the mean."""

    def __init__(self, glyphs: str, window: int = 5) -> None:
        self.glyphs = glyphs
        self._glyphs = GLYPHS[glyphs]
        self._window = window
        self._frames: dict[str, Frame] = {}

    def reset(self) -> None:
        """Another run: its frames begin anew."""
        self._frames.clear()

    def axis(self, spans: Sequence[Span], width: int) -> Axis:
        """The axis of a run with these attempts on `width` cells."""
        return axis_of(spans, slots_of(width, self._glyphs), 1 if self._glyphs.joint else GROUP)

    def draw(self, view: RowView, width: int) -> Spans:
        """Exactly `width` cells."""
        if view.note:
            return [("dim", pad(view.note, width))]
        frame = self._frames.setdefault(view.name, Frame())
        axis = view.axis or self.axis(view.tail.spans(), width)
        columns = columns_of(view.tail, axis, self._window, view.uncounted)
        low, high = (view.low, view.high) if view.normal else (None, None)
        frame.follow(columns, axis, width, self._glyphs, low, high)
        return spark(columns, frame)


def scale_words(axis: Axis, width: int) -> str:
    """`2 rollouts a column`, and from which on where not the whole run is in sight; as much as fits."""
    long = f"{axis.per} rollout{'s' if axis.per > 1 else ''} a column"
    short = f"{axis.per} a column"
    since = "" if axis.whole else f", from {axis.first}"
    return next((text for text in (long + since, short + since, long, short) if len(text) <= width), "")
