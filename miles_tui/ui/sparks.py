"""The sparklines of a screen: each signal keeps its frame, so that a new rollout changes one cell."""

from __future__ import annotations

from miles_tui.core.spark import GLYPHS, Frame, spark
from miles_tui.core.text import pad
from miles_tui.ui.spans import Spans
from miles_tui.ui.views import RowView

MARGIN = 8  # more points than cells are given: where a row begins must not depend on it


class Sparks:
    """Draws a row's sparkline; `glyphs` is `braille`, `blocks` or `ascii`."""

    def __init__(self, glyphs: str) -> None:
        self._glyphs = GLYPHS[glyphs]
        self._frames: dict[str, Frame] = {}

    def reset(self) -> None:
        """Another run: its frames begin anew."""
        self._frames.clear()

    def draw(self, view: RowView, width: int) -> Spans:
        """Exactly `width` cells."""
        if view.note:
            return [("dim", pad(view.note, width))]
        frame = self._frames.setdefault(view.name, Frame())
        points, means = view.points[-width - MARGIN :], view.means[-width - MARGIN :]
        low, high = (view.low, view.high) if view.normal else (None, None)
        frame.follow(points, means, width, self._glyphs, low, high)
        return spark(points, means, frame)
