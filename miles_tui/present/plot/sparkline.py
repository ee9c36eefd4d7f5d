"""The sparkline of a row: the run and its five-step mean in one line of cells.

    frame = Frame()                                     # a row keeps it
    frame.follow(columns, axis, width, glyphs, low, high)   # True: the whole line moves
    spark(columns, frame) -> [(style name, text), ...]      # exactly `width` cells

`sparkline_axis.py` tells how many rollouts a column stands for. A cell on the wire costs 3 bytes and moving the cursor
8, so the line is drawn to stay as it is: the axis stands still until the run has outgrown it, the y-range is set anew
only with the axis, or when the mean leaves it or takes less than half of it. A rollout then changes a cell or two.

Braille: one cell a column. A dot at the left is the rollout (the mean of those that share the column), two dots side
by side are the five-step mean, which so becomes a line; where both are at one height the line covers the dot. The
first cell is a bar over the heights inside the range; what is outside is beyond that bar, or where the scale ends there
`▲` `▼` if it is off the scale, as is a column with a single rollout that is far off.
Blocks, ASCII: after five columns comes one mark that is their mean, of another shape (a bar, a digit). What is outside
the range keeps its height and its colour; `▲` `▼` stand where it begins and at the newest column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from miles_tui.present.plot.sparkline_axis import Axis, Column

Run = tuple[str, str]  # style name, text

GROUP = 5  # columns between two marks of the mean where it has cells of its own
TAIL = 0.1  # part of the rollouts at each end that does not set the scale: four heights are few, the mean needs them
FAR_OUT, FEW = 3.0, 0.25  # means so many interquartile ranges off (Tukey's "far out", 1977) don't, if so few
WIDE = 1.5  # a range this many times wider than the data would press the line flat: then it does not set the scale
HOLD = 0.125  # part of the height by which a mean may leave the y-range before that is set anew, a rollout unmarked
LOOSE = 2.0  # times that the y-range may be as high as it must be: a run's first rollout says little of its noise
FAR_HEIGHTS = (
    1.0  # heights beyond the y-range from which on a single rollout is marked; nearer ones are drawn at its edge
)
BLANK: Run = ("spark.mean", " ")
AXIS = Axis()


class Glyphs(NamedTuple):
    """A set of characters. `steps` and `means` are levels from low to high; `joint`: one cell holds both.

    Without `joint` the mean has a cell of its own after every fifth column.
    """

    name: str
    steps: str
    means: str
    above: str
    below: str
    bad: str
    paused: str
    parting: str
    joint: bool = False


BRAILLE = Glyphs("braille", "⡀⠄⠂⠁", "⣀⠤⠒⠉", "▲", "▼", "×", "○", "┊", joint=True)
BLOCKS = Glyphs("blocks", "▁▂▃▄▅▆▇█", "_─¯", "▲", "▼", "×", "○", "│")
ASCII_GLYPHS = Glyphs("ascii", "_.-'", "0123456789", "^", "v", "!", "o", "|")
GLYPHS = {glyphs.name: glyphs for glyphs in (BRAILLE, BLOCKS, ASCII_GLYPHS)}

# Braille patterns: the dots of the left column from the bottom up, and those of both columns.
_LEFT = (0x40, 0x04, 0x02, 0x01)
_BOTH = (0xC0, 0x24, 0x12, 0x09)


def slots_of(width: int, glyphs: Glyphs) -> int:
    """How many columns fit: beside the bar of the range, or where every fifth is followed by a mark of the mean."""
    if glyphs.joint:
        return max(1, width - 1)
    groups, rest = divmod(width, GROUP + 1)
    return max(1, groups * GROUP + rest)


@dataclass(slots=True)
class Frame:
    """Where a sparkline stands: its size, the x-axis and the y-range. `follow` sets it, `spark` draws in it.

    `low` and `high` are the y-range, `edges` the range of the signal.
    """

    width: int = 0
    glyphs: Glyphs = BRAILLE
    axis: Axis = AXIS
    start: int = 0
    low: float = 0.0
    high: float = 1.0
    edges: tuple[float, float] | None = None

    def follow(
        self,
        columns: Sequence[Column],
        axis: Axis,
        width: int,
        glyphs: Glyphs = BRAILLE,
        low: float | None = None,
        high: float | None = None,
    ) -> bool:
        """Fit the frame to the data; True when old cells move, so that the whole line must be painted.

        `columns` are oldest first, on `axis`, which has `slots_of(width, glyphs)` slots. `low` and `high` are the
        range in force, None where there is none.
        """
        edges = (low, high) if low is not None and high is not None else None
        # A signal may be ahead of the others that the axis was made of.
        start = max(axis.start, columns[-1].at - axis.slots + 1) if columns else axis.start
        moved = (width, glyphs, edges, axis, start) != (self.width, self.glyphs, self.edges, self.axis, self.start)
        self.width, self.glyphs, self.edges, self.axis, self.start = width, glyphs, edges, axis, start
        shown = [c for c in columns if c.at >= start]
        drawn = [c for c in shown if not c.mark]
        values = [value for c in drawn for value in c.singles]
        levels = [c.line for c in shown if c.line is not None]
        scale = y_range(values, levels, edges)
        if moved or self._left(levels or values) or self.high - self.low > LOOSE * (scale[1] - scale[0]):
            moved |= scale != (self.low, self.high)
            self.low, self.high = scale
        return moved

    def _left(self, levels: Sequence[float]) -> bool:
        hold = HOLD * (self.high - self.low)
        return any(not self.low - hold <= value <= self.high + hold for value in levels)

    def level(self, value: float, count: int) -> int:
        """The level of a value, 0 to count - 1; values beyond the y-range are at its ends."""
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return min(count - 1, int(part * count))


def y_range(steps: Sequence[float], means: Sequence[float], edges: tuple[float, float] | None) -> tuple[float, float]:
    """The heights that are drawn: all means but those of one spike, most rollouts, the range unless it is far wider.

    All values finite. Never empty: a constant is drawn in the middle, a constant 0 at the bottom.
    """
    ordered = sorted(steps)
    skip = int(TAIL * len(ordered))
    values = [*_usual(means), *ordered[skip : len(ordered) - skip]]
    if not values:
        return edges if edges and edges[0] < edges[1] and math.isfinite(edges[1] - edges[0]) else (0.0, 1.0)
    low, high = min(values), max(values)
    if edges and all(map(math.isfinite, edges)) and edges[1] - edges[0] <= WIDE * (high - low):
        low, high = min(low, edges[0]), max(high, edges[1])
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        if low == high == 0:
            return 0.0, 1.0
        low, high = low - abs(low) / 8, high + abs(high) / 8
    return (low, high) if low < high and math.isfinite(high - low) else (-8e307, 8e307)


def _usual(means: Sequence[float]) -> Sequence[float]:
    """The means without those that one spike lifted: far out, and too few to be a new level."""
    ordered = sorted(means)
    first, third = (ordered[len(ordered) // 4], ordered[3 * len(ordered) // 4]) if ordered else (0.0, 0.0)
    reach = FAR_OUT * (third - first)
    usual = [value for value in ordered if first - reach <= value <= third + reach]
    return usual if len(usual) >= (1 - FEW) * len(ordered) and len(ordered) >= 2 * GROUP else means


def spark(columns: Sequence[Column], frame: Frame) -> list[Run]:
    """The line as runs of (style name, text), `frame.width` cells in all. `columns` as for `Frame.follow`.

    Styles: `spark.mean` `spark.step` (no mean there) `spark.out` (outside the range) `spark.bad` (not finite)
    `spark.paused` `spark.dead` `spark.break` (between attempts) `spark.range` (the bar).
    """
    if frame.width <= 0:
        return []
    row = [BLANK] * frame.width
    joint = frame.glyphs.joint
    offset = 1 if joint else 0
    if offset and frame.edges:
        row[0] = ("spark.range", _bar(frame))
    attempt, side = columns[0].attempt if columns else 0, 0
    for column in columns:
        slot = column.at - frame.start
        cell = slot + offset if joint else slot + slot // GROUP
        parted, attempt = column.attempt != attempt, column.attempt
        if slot < 0:
            continue
        if cell >= frame.width:
            break
        now = 0 if column.mark else _outside(column.value, frame.edges)
        marked = now != side or column is columns[-1]
        row[cell], side = _cell(column, frame, marked=marked), now
        if parted and cell > offset:
            row[cell - 1] = ("spark.break", frame.glyphs.parting)
        if not joint and column.line is not None and slot % GROUP == GROUP - 1 and cell + 1 < frame.width:
            marks = frame.glyphs.means
            row[cell + 1] = ("spark.mean", marks[frame.level(column.line, len(marks))])
    return _styled_runs(row)


def _cell(column: Column, frame: Frame, *, marked: bool = True) -> Run:
    """One column. `marked`: may a sign stand for its height, where only that says that it is outside the range?"""
    glyphs = frame.glyphs
    if column.mark == "bad":
        return "spark.bad", glyphs.bad
    if column.mark == "dead":
        return "spark.dead", glyphs.steps[frame.level(column.value, len(glyphs.steps))]
    if column.mark == "paused":
        return "spark.paused", glyphs.paused
    far = FAR_HEIGHTS * (frame.high - frame.low)
    if column.high > frame.high + far:
        return "spark.out" if _outside(column.high, frame.edges) else "spark.step", glyphs.above
    if column.low < frame.low - far:
        return "spark.out" if _outside(column.low, frame.edges) else "spark.step", glyphs.below
    level, side = _height(column.value, frame)
    out = bool(_outside(column.value, frame.edges))
    if side and (marked or glyphs.joint):
        return "spark.out", glyphs.above if side > 0 else glyphs.below
    if not glyphs.joint:
        return "spark.out" if out else "spark.step", glyphs.steps[level]
    dots = _LEFT[level] | (0 if column.line is None else _BOTH[frame.level(column.line, 4)])
    return "spark.out" if out else "spark.step" if column.line is None else "spark.mean", chr(0x2800 + dots)


def _outside(value: float, edges: tuple[float, float] | None) -> int:
    """1 above the range, -1 below it, 0 inside or without one."""
    return 0 if edges is None else (value > edges[1]) - (value < edges[0])


def _height(value: float, frame: Frame) -> tuple[int, int]:
    """(level, side) of a value; side is 1 or -1 where only a mark can say that it is above or below the range.

    A value outside the range goes to the next level that is none of the range's. Where there is none it is marked if it
    is off the scale; what is a hair outside is drawn at the edge, and its colour says so.
    """
    count = len(frame.glyphs.steps)
    level, side = frame.level(value, count), _outside(value, frame.edges)
    if frame.edges is None or not side:
        return level, 0
    if not frame.glyphs.joint:  # no bar there that could show it
        return level, side
    beyond = level
    beyond = max(beyond, frame.level(frame.edges[1], count) + 1) if side > 0 else beyond
    beyond = min(beyond, frame.level(frame.edges[0], count) - 1) if side < 0 else beyond
    if 0 <= beyond < count:
        return beyond, 0
    off = max(value - frame.high, frame.low - value)
    return level, side if off > HOLD * (frame.high - frame.low) else 0


def _bar(frame: Frame) -> str:
    """The heights inside the range as dots of a right column, beside the line."""
    assert frame.edges is not None
    low, high = (frame.level(edge, 4) for edge in frame.edges)
    if frame.edges[1] < frame.low or frame.edges[0] > frame.high:  # all of the line is outside
        return frame.glyphs.below if frame.edges[1] < frame.low else frame.glyphs.above
    return chr(0x2800 + sum(_BOTH[level] & ~_LEFT[level] for level in range(low, high + 1)))


def _styled_runs(row: Sequence[Run]) -> list[Run]:
    out: list[Run] = []
    for style, text in row:
        if out and out[-1][0] == style:
            out[-1] = (style, out[-1][1] + text)
        else:
            out.append((style, text))
    return out
