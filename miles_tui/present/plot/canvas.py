"""The picture of a chart, cell by cell: dots, lines and signs on a canvas that somebody else sets dots on. Pure.

Each style is a canvas of its own and they are laid over one another here, so that colours cost a byte sequence a run
and not a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from miles_tui.core.model.series import DEAD, PAUSED, Point
from miles_tui.present.plot.scale import Scale
from miles_tui.present.plot.sparkline import ASCII_GLYPHS, BLOCKS, Glyphs

StyledRun = tuple[str, str]  # style name, text
Polyline = Sequence[tuple[int, float]]  # (rollout, value)
Dots = list[tuple[float, float]]  # across and up, in dots
Layer = list[list[int]]  # rows from the top, a braille pattern (0 to 255) a cell
Rasterizer = Callable[[int, int, Dots, bool], Layer]  # width and height in cells, what to set, joined by lines?

ACROSS, UP = 2, 4  # dots of a cell
BLOB = 3  # dots a rollout has for itself across from which on it is drawn as four, which are seen from afar

_QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"  # by bits: upper left, upper right, lower left, lower right
_ASCII = {"chart.mean": "*", "chart.cursor": "#", "chart.second": "+", "chart.third": "x"}


class PointMark(NamedTuple):
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
    lines: list[list[StyledRun]] = field(default_factory=list)
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


class Picture:
    """The canvas of a chart: a style and either a character or dots for each cell."""

    def __init__(self, chart: Chart, rows: int, glyphs: Glyphs, canvas: Rasterizer) -> None:
        self.chart, self.rows, self.glyphs, self._canvas = chart, rows, glyphs, canvas
        self.columns = chart.columns
        self.across = Scale(*chart.span, self.columns * ACROSS)
        self.coarse = Scale(*chart.span, self.columns)  # a dot a cell: what a dense picture is thinned by
        self.up = Scale(*chart.bounds, rows * UP, chart.log)
        self.style = [["chart.band"] * self.columns for _ in range(rows)]
        self.char = [[" "] * self.columns for _ in range(rows)]
        self.dots = [[0] * self.columns for _ in range(rows)]
        self._tags: set[tuple[int, int]] = set()

    def behind(self, band: tuple[float, float] | None, restarts: Iterable[int], marks: Iterable[PointMark]) -> None:
        """What lies behind the values: the range, where attempts begin, alerts."""
        self.flat(band)
        self.upright([PointMark(rollout, "chart.axis") for rollout in restarts], self.glyphs.parting)
        self.upright(marks, "╎" if self.glyphs is not ASCII_GLYPHS else ":", heads=True)

    def flat(self, band: tuple[float, float] | None) -> None:
        """The edges of the range, where they are in sight."""
        for edge in band or ():
            if self.chart.bounds[0] <= edge <= self.chart.bounds[1]:
                row = self.rows - 1 - self.up.dot(edge) // UP
                self.char[row] = ["-" if self.glyphs is ASCII_GLYPHS else "╌"] * self.columns

    def upright(self, marks: Iterable[PointMark], char: str, *, heads: bool = False, over: bool = False) -> None:
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

    def line(self, values: Polyline, style: str, up: Scale | None = None, tag: str = "", *, thin: bool = False) -> None:
        """Values joined by a line, those inside the x-range and the scale `up` (the chart's own without it).

        `tag` is a character behind the line's end: which line it is, without colours. `thin`: of many values in one
        column the mean is drawn, where else the lowest and the highest are.
        """
        first, last = self.chart.span
        up = up or self.up
        shown: list[tuple[int, float]] = []
        for piece in _pieces(((x, y) for x, y in values if first <= x <= last), up):
            shown = _averaged(piece, self.coarse) if thin and self.dense else piece
            self._lay(shown, style, up, lines=True)
        if tag and shown:
            x, y = shown[-1]
            self._tag(self.rows - 1 - up.dot(y) // UP, self.across.dot(x) // ACROSS + 2, style, tag)

    def _tag(self, row: int, column: int, style: str, tag: str) -> None:
        """Behind a line's end, beside the tags of others."""
        column = min(self.columns - 1, column)
        places = sorted(range(self.rows), key=lambda r: abs(r - row))
        row = next((r for r in places if (r, column) not in self._tags), row)
        self._tags.add((row, column))
        self._put(row, column, style, tag)

    @property
    def dense(self) -> bool:
        """Are there more rollouts across than dots? Then a column of cells has only its lowest and highest one."""
        return self.chart.span[1] - self.chart.span[0] > self.across.dots

    def rollouts(self, points: Sequence[Point]) -> None:
        """Single rollouts as dots: what a restart overtook first, so that live ones lie over it."""
        dead = [(p.rollout, p.value) for p in points if p.flags & DEAD and self._drawn(p.value)]
        live = [(p.rollout, p.value) for p in points if not p.flags & (DEAD | PAUSED) and self._drawn(p.value)]
        self._lay(dead, "spark.dead", self.up, lines=False)
        self._lay(live, "chart.raw", self.up, lines=False)

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

    def text(self, row: int) -> list[StyledRun]:
        """A row of the canvas."""
        cells: list[StyledRun] = []
        for style, char, dots in zip(self.style[row], self.char[row], self.dots[row], strict=True):
            cells.append((style, _glyph(dots, style, self.glyphs) if dots else char))
        return cells

    def _drawn(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.chart.log)

    def _put(self, row: int, column: int, style: str, char: str) -> None:
        self.style[row][column], self.char[row][column], self.dots[row][column] = style, char, 0

    def _lay(self, values: Polyline, style: str, up: Scale, *, lines: bool) -> None:
        if not values:
            return
        kept = thinned(values, self.coarse if self.dense and not lines else self.across)
        spots: Dots = [(self.across.dot(x), up.dot(y)) for x, y in kept]
        if not lines and self.across.dots / (self.chart.span[1] - self.chart.span[0]) >= BLOB:
            # Whole pairs of a cell's dots, so that a blob lies in one cell: its neighbours stay as they are.
            spots = [(x // 2 * 2 + i, y // 2 * 2 + j) for x, y in spots for i in (0, 1) for j in (0, 1)]
        layer = self._canvas(self.columns, self.rows, spots, lines)
        for row, patterns in enumerate(layer):
            for column, pattern in enumerate(patterns):
                if pattern:
                    self.dots[row][column] |= pattern
                    self.style[row][column] = style


def thinned(values: Polyline, across: Scale) -> list[tuple[int, float]]:
    """At most two values for a column of dots, the lowest and the highest, in their order."""
    columns: dict[int, list[tuple[int, float]]] = {}
    for pair in values:
        columns.setdefault(across.dot(pair[0]), []).append(pair)
    out: list[tuple[int, float]] = []
    for pairs in columns.values():
        low, high = min(pairs, key=lambda p: p[1]), max(pairs, key=lambda p: p[1])
        out += [low] if low[1] == high[1] else sorted((low, high), key=pairs.index)
    return out


def _averaged(values: Polyline, across: Scale) -> list[tuple[int, float]]:
    """One value for a column of dots, their mean, at the last of their rollouts."""
    columns: dict[int, list[tuple[int, float]]] = {}
    for pair in values:
        columns.setdefault(across.dot(pair[0]), []).append(pair)
    return [(pairs[-1][0], sum(y for _, y in pairs) / len(pairs)) for pairs in columns.values()]


def _pieces(values: Iterable[tuple[int, float]], up: Scale) -> Iterator[list[tuple[int, float]]]:
    """The parts of a line that a scale has a place for: a line along its edge would be a value that is none."""
    room = 1e-9 * (up.high - up.low)
    piece: list[tuple[int, float]] = []
    for x, y in values:
        if math.isfinite(y) and up.low - room <= y <= up.high + room:
            piece.append((x, y))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _glyph(dots: int, style: str, glyphs: Glyphs) -> str:
    if glyphs is BLOCKS:
        halves = ((0x03, 0x18), (0x44, 0xA0))  # left and right dots of the upper and of the lower half
        return _QUARTERS[sum(1 << i for i, bits in enumerate(b for half in halves for b in half) if dots & bits)]
    if glyphs is ASCII_GLYPHS:
        return _ASCII.get(style, ".")
    return chr(0x2800 + dots)
