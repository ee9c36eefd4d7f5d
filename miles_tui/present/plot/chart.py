"""The chart of a signal: rollouts as dots, the five-step mean as a line, range, alerts, a cursor; others on its x-axis.

    draw_chart(width, height, points, means, ...) -> Chart: lines of (style name, text), as rows have them

The one module that knows plotext, and only to set dots and lines on a canvas without axes (`ui.picture` lays them over
one another). Axes, ticks and numbers are ours, as their ends must hold still (see `ui.scale`).
plotext is imported by the first chart (90 ms, 17 MiB). A chart of 118x30 cells takes 5 ms with 100 rollouts, 9 with
1,000 and 15 with 4,000; a new rollout sends 0.1 KB, a new scale 2 to 8, however many rollouts and lines there are.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from miles_tui.core.model.series import DEAD, PAUSED, Point
from miles_tui.core.text.numbers import number
from miles_tui.present.plot.canvas import (
    ACROSS,
    UP,
    Chart,
    Dots,
    Layer,
    Picture,
    PointMark,
    Polyline,
    Rasterizer,
    StyledRun,
    thinned,
)
from miles_tui.present.plot.scale import WIDE_BAND, Scale, labels, rollout_range, ticks, value_range
from miles_tui.present.plot.sparkline import ASCII_GLYPHS, BRAILLE, Glyphs

CHART_LEAST_WIDTH, CHART_LEAST_HEIGHT = 24, 6  # cells below which axes leave no picture
LABEL, ROOMY = 8, 60  # cells of a y-axis, kept on roomy charts: a longer number would move the whole picture
LEAST_CANVAS = 16  # columns that a right axis must leave
TICK_ROWS, TICK_COLUMNS = 4, 12  # cells between two numbers of an axis, at least

# Bits of a braille pattern by (column, row from the top).
_BITS = {(0, 0): 1, (0, 1): 2, (0, 2): 4, (0, 3): 64, (1, 0): 8, (1, 1): 16, (1, 2): 32, (1, 3): 128}

__all__ = ["Chart", "Other", "PointMark", "Rasterizer", "canvas", "draw_chart", "plain_canvas", "readout", "thinned"]


class Other(NamedTuple):
    """Another signal on the same x-axis: its mean as a line of this style, on a scale of its own; `tag` names it."""

    means: Polyline
    style: str = "chart.second"
    tag: str = ""


class _Axis(NamedTuple):
    """A y-axis: its scale, and the numbers beside it by value."""

    up: Scale
    steps: dict[float, str]
    least: int = 0

    @property
    def width(self) -> int:
        return max(self.least, max(map(len, self.steps.values()), default=0) + 1)

    def beside(self, rows: int) -> dict[int, str]:
        """The numbers by row."""
        return {rows - 1 - self.up.dot(value) // UP: text for value, text in self.steps.items()}


def draw_chart(
    width: int,
    height: int,
    points: Sequence[Point],
    means: Polyline,
    *,
    band: tuple[float, float] | None = None,
    marks: Sequence[PointMark] = (),
    references: Sequence[Polyline] = (),
    others: Sequence[Other] = (),
    tag: str = "",
    log: bool = False,
    span: tuple[int, int] | None = None,
    cursor: int | None = None,
    glyphs: Glyphs = BRAILLE,
    dots: Rasterizer | None = None,
) -> Chart:
    """Draw a signal on `width` x `height` cells.

    `points` are all rollouts with their flags, `means` and each of `references` (other runs' means) are (rollout,
    value), `band` is the range in force. The first of `others` has its numbers at the right, a second one has
    a scale of its own without numbers; `tag` is the sign of the signal itself beside them. `span` is the first and
    last rollout to show (zoom), all without it; `cursor` the rollout that is read. Values that are not finite are
    marked at the lower edge and count for no scale, as values of 0 and below on a logarithmic one. References that
    would press the signal flat are drawn as far as they are in sight. `dots` sets the dots,
    plotext without it. Too small a size gives one plain sentence.
    """
    if width < CHART_LEAST_WIDTH or height < CHART_LEAST_HEIGHT:
        return _sentence(width, height, "too small for a chart", "too small")
    if not points:
        return _sentence(width, height, "no values yet")
    first, last = span or rollout_range(min(p.rollout for p in points), max(p.rollout for p in points))
    span, rows = (first, max(last, first + 1)), height - 2
    points = [p for p in points if span[0] <= p.rollout <= span[1]]
    values = [p.value for p in points] + _in_span(means, span)
    note = ""
    if log and not any(math.isfinite(v) and v > 0 for v in values):
        log, note = False, "nothing above 0: no log scale"
    values = _with_references(values, [v for line in references for v in _in_span(line, span)])
    least = LABEL if width >= ROOMY else 0
    every = [(values, band, log), *((_in_span(o.means, span), None, False) for o in others)]
    left, *further = [_axis(*given, rows, least) for given in every]
    right = further[0] if further and width - left.width - further[0].width >= LEAST_CANVAS else None
    columns = width - left.width - (right.width if right else 0)
    bounds = (left.up.low, left.up.high)
    chart = Chart(width, height, [], span, bounds, left.width, columns, left.up.log, note)
    picture = Picture(chart, rows, glyphs, dots or canvas())
    picture.behind(band if len(others) < 2 else None, [p.rollout for p in _restarts(points)], marks)
    for reference in references:
        picture.line(reference, "chart.reference", thin=True)
    if not others or (len(others) < 2 and not picture.dense):  # several lines in a cloud of dots are not told apart
        picture.rollouts(points)
    for other, axis in zip(others, further, strict=True):
        picture.line(other.means, other.style, axis.up, other.tag, thin=True)
    picture.line(means, "chart.mean", tag=tag, thin=picture.dense)
    picture.signs(points)
    if cursor is not None:
        picture.upright([PointMark(cursor, "chart.cursor")], "│" if glyphs is not ASCII_GLYPHS else "|", over=True)
    chart.lines = _framed(picture, left, right, others[0].style if others else "", cursor)
    return chart


def _in_span(line: Polyline, span: tuple[int, int]) -> list[float]:
    return [y for x, y in line if span[0] <= x <= span[1]]


def _with_references(values: list[float], others: list[float]) -> list[float]:
    """The values that set the scale: references are among them unless they would press the signal flat."""
    own, all_ = ([v for v in some if math.isfinite(v)] for some in (values, [*values, *others]))
    if own and all_ and max(all_) - min(all_) <= WIDE_BAND * (max(own) - min(own)):
        return all_
    return values


def _axis(values: Iterable[float], band: tuple[float, float] | None, log: bool, rows: int, least: int) -> _Axis:
    """A scale for these values, and its ticks with their text."""
    count = max(2, rows // TICK_ROWS)
    low, high = value_range(values, band, count, log=log)
    steps = ticks(low, high, count, log=log)
    return _Axis(Scale(low, high, rows * UP, log), dict(zip(steps, labels(steps, log=log), strict=True)), least)


def readout(points: Sequence[Point], means: Polyline, cursor: int, digits: int = 3) -> str:
    """What the cursor reads: `rollout 31   0.0149   mean 0.0150`, and what is special about the value."""
    value = next((p for p in reversed(points) if p.rollout == cursor and not p.flags & DEAD), None)
    if value is None:
        return f"rollout {cursor}   no value"
    mean = next((y for x, y in reversed(means) if x == cursor), None)
    text = f"rollout {cursor}   {number(value.value, digits)}"
    text += f"   mean {number(mean, digits)}" if mean is not None else ""
    return text + ("   paused" if value.flags & PAUSED else "")


def _restarts(points: Sequence[Point]) -> list[Point]:
    return [p for before, p in pairwise(points) if p.attempt != before.attempt]


def _framed(
    picture: Picture, left: _Axis, right: _Axis | None, right_style: str, cursor: int | None
) -> list[list[StyledRun]]:
    """The canvas with its axes: numbers at the left, perhaps at the right, a line and rollout numbers below."""
    chart, plain, rows = picture.chart, picture.glyphs is ASCII_GLYPHS, picture.rows
    beside = left.beside(rows)
    beyond = right.beside(rows) if right else {}
    lines: list[list[StyledRun]] = []
    for row in range(rows):
        label = beside.get(row, "").rjust(chart.left - 1) + ("|" if plain else "┤" if row in beside else "│")
        cells = [("chart.axis", label), *picture.text(row)]
        if right:
            text = ("|" if plain else "├" if row in beyond else "│") + beyond.get(row, "")
            cells.append((right_style, text.ljust(right.width)))
        lines.append(_joined_runs(cells))
    rule, under = _below(chart, plain)
    axis = [("chart.axis", " " * (chart.left - 1) + ("+" if plain else "└")), *(("chart.axis", c) for c in rule)]
    at = chart.column_of(cursor) if cursor is not None else None
    if at is not None:
        axis[at - chart.left + 1] = ("chart.cursor", "^" if plain else "▲")
    if right:
        axis.append((right_style, ("+" if plain else "┘").ljust(right.width)))
    return [*lines, _joined_runs(axis), [("chart.axis", under)]]


def _below(chart: Chart, plain: bool) -> tuple[list[str], str]:
    """The x-axis: its line with ticks, a cell each, and the rollout numbers below."""
    rule, under = ["-" if plain else "─"] * chart.columns, [" "] * chart.width
    for value in ticks(*chart.span, max(2, chart.columns // TICK_COLUMNS)):
        column, text = chart.column_of(round(value)), str(round(value))
        if column is None or value != round(value):
            continue
        rule[column - chart.left] = "+" if plain else "┬"
        start = min(max(0, column - len(text) // 2), chart.width - len(text))
        if all(c == " " for c in under[max(0, start - 1) : start + len(text) + 1]):
            under[start : start + len(text)] = text
    return rule, "".join(under)


def _sentence(width: int, height: int, *texts: str) -> Chart:
    """The first of these that fits, nothing where none does."""
    text = next((text for text in texts if len(text) <= width), "")
    rows = ((text if i == height // 2 else "").center(width) for i in range(height))
    lines: list[list[StyledRun]] = [[("dim", row)] for row in rows]
    return Chart(width, height, lines, note=texts[0])


def _joined_runs(cells: Iterable[StyledRun]) -> list[StyledRun]:
    out: list[StyledRun] = []
    for style, text in cells:
        if out and out[-1][0] == style:
            out[-1] = (style, out[-1][1] + text)
        else:
            out.append((style, text))
    return out


# -- the canvas: plotext 6, plotext 5, or neither ----------------------------------------------


@lru_cache(maxsize=1)
def canvas() -> Rasterizer:
    """What sets dots. plotext 6 needs a compiled part that some platforms lack; then the dots are set here."""
    try:
        plotext = importlib.import_module("plotext")
    except ImportError:
        return plain_canvas
    if hasattr(plotext, "figure") and hasattr(plotext.figure, "signal"):
        return _plotext_6
    return _plotext_5 if hasattr(plotext, "plot_size") else plain_canvas


def _plotext_6(width: int, height: int, spots: Dots, lines: bool) -> Layer:
    plotext = importlib.import_module("plotext")
    plotext.terminal.limit(False, False)  # the chart's size is ours, not that of the terminal it finds
    figure = plotext.figure
    figure.clear()
    figure.plot_size(width, height)
    figure.axes(False)
    figure.canvas("default")
    figure.ruler("both", "both").frequency(0)
    figure.ruler("both", "both").alignment("edge")
    figure.ruler("x").lim(-0.5, ACROSS * width - 0.5)
    figure.ruler("y").lim(-0.5, UP * height - 0.5)
    signal = figure.signal([x for x, _ in spots], [y for _, y in spots], marker="braille")
    figure.draw(signal.lines(lines))
    return _patterns(figure.build().string(True), width, height)


def _plotext_5(width: int, height: int, spots: Dots, lines: bool) -> Layer:
    plotext = importlib.import_module("plotext")
    plotext.clear_figure()
    plotext.limit_size(False, False)
    plotext.plot_size(width, height)
    plotext.xaxes(False, False)
    plotext.yaxes(False, False)
    plotext.xfrequency(0)
    plotext.yfrequency(0)
    plotext.theme("clear")
    plotext.xlim(0, ACROSS * width - 1)
    plotext.ylim(0, UP * height - 1)
    draw = plotext.plot if lines else plotext.scatter
    draw([x for x, _ in spots], [y for _, y in spots], marker="braille")
    return _patterns(plotext.uncolorize(plotext.build()), width, height)


def _patterns(text: str, width: int, height: int) -> Layer:
    rows = text.split("\n")[:height]
    return [[ord(c) - 0x2800 if "\u2800" <= c <= "\u28ff" else 0 for c in row[:width]] for row in rows]


def plain_canvas(width: int, height: int, spots: Dots, lines: bool) -> Layer:
    """The same without plotext: a line takes as many dots as its longer side has."""
    layer = [[0] * width for _ in range(height)]
    before: tuple[float, float] | None = None
    for x, y in spots:
        fro = before if lines and before is not None else (x, y)
        count = max(1, math.ceil(max(abs(x - fro[0]), abs(y - fro[1]))))
        for i in range(count + 1):
            across = round(fro[0] + (x - fro[0]) * i / count)
            up = height * UP - 1 - round(fro[1] + (y - fro[1]) * i / count)
            if 0 <= across < width * ACROSS and 0 <= up < height * UP:
                layer[up // UP][across // ACROSS] |= _BITS[across % ACROSS, up % UP]
        before = (x, y)
    return layer
