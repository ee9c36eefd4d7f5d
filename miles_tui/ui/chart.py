"""The chart of one signal: rollouts as dots, the five-step mean as a line, range, alerts, a cursor.

    draw_chart(width, height, points, means, ...) -> Chart: lines of (style name, text), as rows have them

The one module that knows plotext, and only to set dots and lines on a canvas without axes: each style is a
canvas of its own and they are laid over one another here, so that colours cost a byte sequence a run and
not a cell. Axes, ticks and numbers are ours, as their ends must hold still (see `ui.scale`).
plotext is imported by the first chart (90 ms, 17 MiB). A chart of 118x30
cells takes 8 ms with 100 rollouts and 20 ms with 1,000; a new rollout sends 0.6 KB, a new scale 4 to 7.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from miles_tui.core.numbers import number
from miles_tui.core.series import DEAD, PAUSED, Point
from miles_tui.core.spark import ASCII, BLOCKS, BRAILLE, Glyphs
from miles_tui.ui.scale import Scale, labels, rollout_range, ticks, value_range

Run = tuple[str, str]  # style name, text
Dots = list[tuple[float, float]]  # across and up, in dots
Layer = list[list[int]]  # rows from the top, a braille pattern (0 to 255) a cell
Canvas = Callable[[int, int, Dots, bool], Layer]  # width and height in cells, what to set, joined by lines?

LEAST_WIDTH, LEAST_HEIGHT = 24, 6  # cells below which axes leave no picture
ACROSS, UP = 2, 4  # dots of a cell
TICK_ROWS, TICK_COLUMNS = 4, 12  # cells between two numbers of an axis, at least
BLOB = 3  # dots a rollout has for itself across from which on it is drawn as four, which are seen from afar

# Bits of a braille pattern by (column, row from the top).
_BITS = {(0, 0): 1, (0, 1): 2, (0, 2): 4, (0, 3): 64, (1, 0): 8, (1, 1): 16, (1, 2): 32, (1, 3): 128}
_QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"  # by bits: upper left, upper right, lower left, lower right


@dataclass(slots=True, frozen=True)
class Mark:
    """Something that happened at a rollout: a line through the chart, `glyph` at its top."""

    rollout: int
    style: str = "chart.mark"
    glyph: str = ""  # the glyph set's "above" sign where empty


@dataclass(slots=True)
class Chart:
    """A drawn chart. `lines` are its rows from the top, each of `width` cells in all.

    `span` are the first and last rollout of the x-axis, `bounds` the lowest and highest value of the y-axis, `left`
    the columns before the canvas, `columns` those of the canvas. `note` says what the picture can't show.
    """

    width: int
    height: int
    lines: list[list[Run]] = field(default_factory=list)
    span: tuple[int, int] = (0, 1)
    bounds: tuple[float, float] = (0.0, 1.0)
    left: int = 0
    columns: int = 0
    log: bool = False
    note: str = ""

    def rollout_at(self, column: int) -> int | None:
        """The rollout under a column of the chart (the mouse), None beside the canvas."""
        if not 0 <= column - self.left < self.columns:
            return None
        across = Scale(*self.span, self.columns * ACROSS)
        return round(across.value(ACROSS * (column - self.left) + 0.5))

    def column_of(self, rollout: int) -> int | None:
        """The column of a rollout, None outside the x-range."""
        if not self.span[0] <= rollout <= self.span[1] or not self.columns:
            return None
        return self.left + Scale(*self.span, self.columns * ACROSS).dot(rollout) // ACROSS


def draw_chart(
    width: int,
    height: int,
    points: Sequence[Point],
    means: Sequence[tuple[int, float]],
    *,
    band: tuple[float, float] | None = None,
    marks: Sequence[Mark] = (),
    references: Sequence[Sequence[tuple[int, float]]] = (),
    log: bool = False,
    span: tuple[int, int] | None = None,
    cursor: int | None = None,
    glyphs: Glyphs = BRAILLE,
) -> Chart:
    """Draw a signal on `width` x `height` cells.

    `points` are all rollouts with their flags, `means` and each of `references` (other runs' means) are (rollout,
    value), `band` is the range in force. `span` is the first and last rollout to show (zoom), all without it; `cursor`
    the rollout that is read. Values that are not finite are marked at the lower edge and count for no scale, as
    values of 0 and below on a logarithmic one. Too small a size gives a chart of one plain sentence.
    """
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return _sentence(width, height, "too small for a chart")
    if not points:
        return _sentence(width, height, "no values yet")
    first, last = span or rollout_range(min(p.rollout for p in points), max(p.rollout for p in points))
    span = (first, max(last, first + 1))
    points = [p for p in points if span[0] <= p.rollout <= span[1]]
    means = [(x, y) for x, y in means if span[0] <= x <= span[1]]
    chart, steps = _scaled(width, height, [p.value for p in points] + [y for _, y in means], band, log, span)
    picture = _Picture(chart, height - 2, glyphs)
    picture.behind(band, [p.rollout for p in _restarts(points)], marks)
    for reference in references:
        picture.line(reference, "chart.reference")
    picture.rollouts(points)
    picture.line(means, "chart.mean")
    picture.signs(points)
    if cursor is not None:
        picture.upright([Mark(cursor, "chart.cursor")], "│" if glyphs is not ASCII else "|", over=True)
    chart.lines = _framed(picture, steps, cursor)
    return chart


def _scaled(
    width: int, height: int, values: list[float], band: tuple[float, float] | None, log: bool, span: tuple[int, int]
) -> tuple[Chart, dict[float, str]]:
    """An empty chart with its scales, and the ticks of its y-axis with their text."""
    note = ""
    if log and not any(math.isfinite(v) and v > 0 for v in values):
        log, note = False, "nothing above 0: no log scale"
    count = max(2, (height - 2) // TICK_ROWS)
    bounds = value_range(values, band, count, log=log)
    steps = ticks(*bounds, count, log=log)
    numbers = labels(steps, log=log)
    left = max(map(len, numbers), default=0) + 1
    chart = Chart(width, height, [], span, bounds, left, width - left, log, note)
    return chart, dict(zip(steps, numbers, strict=True))


def readout(points: Sequence[Point], means: Sequence[tuple[int, float]], cursor: int, digits: int = 3) -> str:
    """What the cursor reads: `rollout 31   0.0149   mean 0.0150`, and what is special about the value."""
    value = next((p for p in reversed(points) if p.rollout == cursor and not p.flags & DEAD), None)
    if value is None:
        return f"rollout {cursor}   no value"
    mean = next((y for x, y in reversed(means) if x == cursor), None)
    text = f"rollout {cursor}   {number(value.value, digits)}"
    text += f"   mean {number(mean, digits)}" if mean is not None else ""
    return text + ("   paused" if value.flags & PAUSED else "")


class _Picture:
    """The canvas of a chart: a style and either a character or dots for each cell."""

    def __init__(self, chart: Chart, rows: int, glyphs: Glyphs) -> None:
        self.chart, self.rows, self.glyphs = chart, rows, glyphs
        self.columns = chart.columns
        self.across = Scale(*chart.span, self.columns * ACROSS)
        self.up = Scale(*chart.bounds, rows * UP, chart.log)
        self.style = [["chart.band"] * self.columns for _ in range(rows)]
        self.char = [[" "] * self.columns for _ in range(rows)]
        self.dots = [[0] * self.columns for _ in range(rows)]

    def behind(self, band: tuple[float, float] | None, restarts: Iterable[int], marks: Iterable[Mark]) -> None:
        """What lies behind the values: the range, where attempts begin, alerts."""
        self.flat(band)
        self.upright([Mark(rollout, "chart.axis") for rollout in restarts], self.glyphs.parting)
        self.upright(marks, "╎" if self.glyphs is not ASCII else ":", heads=True)

    def flat(self, band: tuple[float, float] | None) -> None:
        """The edges of the range, where they are in sight."""
        for edge in band or ():
            if self.chart.bounds[0] <= edge <= self.chart.bounds[1]:
                row = self.rows - 1 - self.up.dot(edge) // UP
                self.char[row] = ["-" if self.glyphs is ASCII else "╌"] * self.columns

    def upright(self, marks: Iterable[Mark], char: str, *, heads: bool = False, over: bool = False) -> None:
        """A line through the whole height at each mark; `over`: through what is drawn, too."""
        for mark in marks:
            column = self.chart.column_of(mark.rollout)
            if column is None:
                continue
            column -= self.chart.left
            for row in range(self.rows):
                if over and self.dots[row][column]:
                    self.style[row][column] = mark.style
                else:
                    self._put(row, column, mark.style, char)
            if heads:
                self._put(0, column, mark.style, mark.glyph or self.glyphs.above)

    def line(self, values: Sequence[tuple[int, float]], style: str) -> None:
        """Values joined by a line, those inside the x-range."""
        first, last = self.chart.span
        self._lay([(x, y) for x, y in values if first <= x <= last and self._drawn(y)], style, lines=True)

    def rollouts(self, points: Sequence[Point]) -> None:
        """Single rollouts as dots: what a restart overtook first, so that live ones lie over it."""
        dead = [(p.rollout, p.value) for p in points if p.flags & DEAD and self._drawn(p.value)]
        live = [(p.rollout, p.value) for p in points if not p.flags & (DEAD | PAUSED) and self._drawn(p.value)]
        self._lay(dead, "spark.dead", lines=False)
        self._lay(live, "chart.raw", lines=False)

    def signs(self, points: Sequence[Point]) -> None:
        """What is no dot: paused rollouts hollow, NaN and infinities, values that a log scale can't show."""
        for p in points:
            column = self.across.dot(p.rollout) // ACROSS
            if p.flags & DEAD:
                continue
            if not math.isfinite(p.value):
                self._put(self.rows - 1, column, "spark.bad", self.glyphs.bad)
            elif not self._drawn(p.value):
                self._put(self.rows - 1, column, "chart.raw", self.glyphs.below)
            elif p.flags & PAUSED:
                self._put(self.rows - 1 - self.up.dot(p.value) // UP, column, "spark.paused", self.glyphs.paused)

    def text(self, row: int) -> list[Run]:
        """A row of the canvas."""
        cells: list[Run] = []
        for style, char, dots in zip(self.style[row], self.char[row], self.dots[row], strict=True):
            cells.append((style, _glyph(dots, style, self.glyphs) if dots else char))
        return cells

    def _drawn(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.chart.log)

    def _put(self, row: int, column: int, style: str, char: str) -> None:
        self.style[row][column], self.char[row][column], self.dots[row][column] = style, char, 0

    def _lay(self, values: Sequence[tuple[int, float]], style: str, *, lines: bool) -> None:
        if not values:
            return
        spots: Dots = [(self.across.dot(x), self.up.dot(y)) for x, y in thinned(values, self.across)]
        if not lines and self.across.dots / (self.chart.span[1] - self.chart.span[0]) >= BLOB:
            # Whole pairs of a cell's dots, so that a blob lies in one cell: its neighbours stay as they are.
            spots = [(x // 2 * 2 + i, y // 2 * 2 + j) for x, y in spots for i in (0, 1) for j in (0, 1)]
        layer = canvas()(self.columns, self.rows, spots, lines)
        for row, patterns in enumerate(layer):
            for column, pattern in enumerate(patterns):
                if pattern:
                    self.dots[row][column] |= pattern
                    self.style[row][column] = style


def thinned(values: Sequence[tuple[int, float]], across: Scale) -> list[tuple[int, float]]:
    """At most two values for a column of dots, the lowest and the highest, in their order."""
    columns: dict[int, list[tuple[int, float]]] = {}
    for pair in values:
        columns.setdefault(across.dot(pair[0]), []).append(pair)
    out: list[tuple[int, float]] = []
    for pairs in columns.values():
        low, high = min(pairs, key=lambda p: p[1]), max(pairs, key=lambda p: p[1])
        out += [low] if low[1] == high[1] else sorted((low, high), key=pairs.index)
    return out


def _glyph(dots: int, style: str, glyphs: Glyphs) -> str:
    if glyphs is BLOCKS:
        halves = ((0x03, 0x18), (0x44, 0xA0))  # left and right dots of the upper and of the lower half
        return _QUARTERS[sum(1 << i for i, bits in enumerate(b for half in halves for b in half) if dots & bits)]
    if glyphs is ASCII:
        return {"chart.mean": "*", "chart.cursor": "#"}.get(style, ".")
    return chr(0x2800 + dots)


def _restarts(points: Sequence[Point]) -> list[Point]:
    return [p for before, p in pairwise(points) if p.attempt != before.attempt]


def _framed(picture: _Picture, steps: dict[float, str], cursor: int | None) -> list[list[Run]]:
    """The canvas with its axes: numbers at the left, a line and rollout numbers below."""
    chart, plain = picture.chart, picture.glyphs is ASCII
    beside = {picture.rows - 1 - picture.up.dot(value) // UP: text for value, text in steps.items()}
    lines: list[list[Run]] = []
    for row in range(picture.rows):
        label = beside.get(row, "").rjust(chart.left - 1) + ("|" if plain else "┤" if row in beside else "│")
        lines.append(_runs([("chart.axis", label), *picture.text(row)]))
    rule = ["-" if plain else "─"] * chart.columns
    under = [" "] * chart.width
    for value in ticks(*chart.span, max(2, chart.columns // TICK_COLUMNS)):
        column, text = chart.column_of(round(value)), str(round(value))
        if column is None or value != round(value):
            continue
        rule[column - chart.left] = "+" if plain else "┬"
        start = min(max(0, column - len(text) // 2), chart.width - len(text))
        if all(c == " " for c in under[max(0, start - 1) : start + len(text) + 1]):
            under[start : start + len(text)] = text
    axis = [("chart.axis", " " * (chart.left - 1) + ("+" if plain else "└")), *(("chart.axis", c) for c in rule)]
    at = chart.column_of(cursor) if cursor is not None else None
    if at is not None:
        axis[at - chart.left + 1] = ("chart.cursor", "^" if plain else "▲")
    return [*lines, _runs(axis), [("chart.axis", "".join(under))]]


def _sentence(width: int, height: int, text: str) -> Chart:
    rows = ((text if i == height // 2 else "")[:width].center(width) for i in range(height))
    lines: list[list[Run]] = [[("dim", row)] for row in rows]
    return Chart(width, height, lines, note=text)


def _runs(cells: Iterable[Run]) -> list[Run]:
    out: list[Run] = []
    for style, text in cells:
        if out and out[-1][0] == style:
            out[-1] = (style, out[-1][1] + text)
        else:
            out.append((style, text))
    return out


# -- the canvas: plotext 6, plotext 5, or neither ----------------------------------------------


@lru_cache(maxsize=1)
def canvas() -> Canvas:
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
