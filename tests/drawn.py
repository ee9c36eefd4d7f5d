"""A drawn chart as text, as styles, and as the bytes that it costs."""

from __future__ import annotations

from rich.color import ColorSystem
from rich.segment import Segment

from miles_tui.config.paths import bundled_themes
from miles_tui.core.model.series import Series
from miles_tui.present.plot.chart import Chart, draw_chart
from miles_tui.ui.terminal.diff_renderer import Paper, _Pen, cells_of
from miles_tui.ui.theming.theme import load_theme


def series(values: list[float]) -> Series:
    out = Series()
    for rollout, value in enumerate(values):
        out.set(rollout, value)
    return out


def rows(chart: Chart) -> list[str]:
    return ["".join(text for _, text in line) for line in chart.lines]


def styled(chart: Chart) -> list[list[tuple[str, str]]]:
    """(style, character) of every cell."""
    return [[(style, char) for style, text in line for char in text] for line in chart.lines]


def wire(values: list[Series], width: int, height: int, **options: object) -> list[int]:
    """Bytes that each of these pictures costs after the one before, as the screen writes them."""
    theme, paper, out = load_theme(bundled_themes() / "dark.toml"), Paper(), []
    paper._fit(width, height)
    for s in values:
        pen = _Pen()
        chart = draw_chart(width, height, s.points(), s.means(), **options)  # type: ignore[arg-type]
        for y, line in enumerate(chart.lines):
            segments = [Segment(text, theme.style(f"{style} on ground")) for style, text in line]
            paper._lay(pen, 0, y, cells_of(segments, ColorSystem.TRUECOLOR))
        out.append(len(pen.finish().encode()))
    return out
