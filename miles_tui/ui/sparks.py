"""Sparklines of rows that remember their window, so that a new rollout changes one cell."""

from __future__ import annotations

from miles_tui.ui.spans import Spans
from miles_tui.ui.views import RowView


class Sparks:
    def __init__(self, glyphs: str) -> None:
        self.glyphs = glyphs

    def draw(self, view: RowView, width: int) -> Spans:
        import math

        ys = [p.value for p in view.points if math.isfinite(p.value)][-width:]
        if not ys:
            return [("dim", " " * width)]
        lo, hi = min(ys), max(ys)
        g = "▁▂▃▄▅▆▇█"
        return [("spark.mean", "".join(g[min(7, int((y - lo) / ((hi - lo) or 1) * 8))] for y in ys).ljust(width))]
