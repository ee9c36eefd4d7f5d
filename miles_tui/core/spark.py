"""The sparkline of a row: single rollouts and the five-step mean in one line of cells.

    frame = Frame()                                              # a row keeps it
    frame.follow(points, means, width, glyphs, low, high)        # True: the whole line moves
    spark(points, means, frame) -> [(style name, text), ...]     # exactly `width` cells

A cell on the wire costs 3 bytes and moving the cursor 8, so the line is drawn to stay as it is: the window
stands still until it is full and then moves by a quarter, the y-range is set anew only when the window
moves or the mean leaves it. A new rollout then changes one cell, or two.

Braille: one cell a rollout. A dot at the left is the rollout, two dots side by side are the mean, which so
becomes a line; where both are at one height the line covers the dot. The first cell is a bar over the heights
inside the range; a rollout outside is always beyond that bar, or `▲` `▼`, as is one far off the scale.
Blocks, ASCII: after five rollouts comes one mark that is their mean, of another shape (a bar, a digit).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from miles_tui.core.series import DEAD, PAUSED, Point

Run = tuple[str, str]  # style name, text

GROUP = 5  # rollouts between two marks of the mean where it has cells of its own
TAIL = 0.1  # part of the rollouts at each end that does not set the scale: four heights are few, the mean needs them
FAR_OUT, FEW = 3.0, 0.25  # means so many interquartile ranges off (Tukey's "far out", 1977) don't, if so few
WIDE = 1.5  # a range this many times wider than the data would press the line flat: then it does not set the scale
HOLD = 0.125  # part of the height by which a mean may leave the y-range before that is set anew
FAR = 1.0  # heights beyond the y-range from which on a rollout is marked; nearer ones are drawn at its edge
BLANK: Run = ("spark.mean", " ")


@dataclass(slots=True, frozen=True)
class Glyphs:
    """A set of characters. `steps` and `means` are levels from low to high; `joint`: one cell holds both.

    Without `joint` the mean has a cell of its own after every fifth rollout.
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
ASCII = Glyphs("ascii", "_.-'", "0123456789", "^", "v", "!", "o", "|")
GLYPHS = {glyphs.name: glyphs for glyphs in (BRAILLE, BLOCKS, ASCII)}

# Braille patterns: the dots of the left column from the bottom up, and those of both columns.
_LEFT = (0x40, 0x04, 0x02, 0x01)
_BOTH = (0xC0, 0x24, 0x12, 0x09)


def usual_glyphs(*, utf8: bool, term: str = "") -> Glyphs:
    """The richest set that a terminal shows for certain; `term` is its `TERM`.

    The fonts of the Linux console and of hardware terminals have no braille and few blocks; those of old Windows
    consoles have blocks only.
    """
    if not utf8 or term in ("", "dumb", "linux", "ansi") or term.startswith(("vt", "cons")):
        return ASCII
    return BLOCKS if term == "cygwin" else BRAILLE


@dataclass(slots=True)
class Frame:
    """Where a sparkline stands: its size, the x-window and the y-range. `follow` sets it, `spark` draws in it.

    `start` is the position of the first slot and `slots` their number (see `places`); `low` and `high` the
    y-range, `edges` the range of the signal.
    """

    width: int = 0
    glyphs: Glyphs = BRAILLE
    start: int = 0
    slots: int = 0
    low: float = 0.0
    high: float = 1.0
    edges: tuple[float, float] | None = None

    def follow(
        self,
        points: Sequence[Point],
        means: Sequence[tuple[int, float]],
        width: int,
        glyphs: Glyphs = BRAILLE,
        low: float | None = None,
        high: float | None = None,
    ) -> bool:
        """Fit the frame to the data; True when old cells move, so that the whole line must be painted.

        `points` are oldest first, as `Series.points`; `means` as `Series.means`. Give at least `width` of each.
        `low` and `high` are the range in force, None where there is none.
        """
        edges = (low, high) if low is not None and high is not None else None
        new = width != self.width or glyphs is not self.glyphs or edges != self.edges
        self.width, self.glyphs, self.edges = width, glyphs, edges
        self.slots = max(1, width - 1 if glyphs.joint else _slots_beside_means(width))
        at = places(points)
        start = self._start(at)
        shown = bisect_left(at, start)
        steps = [p.value for p in points[shown:] if not p.flags & (DEAD | PAUSED) and math.isfinite(p.value)]
        # Live rollouts only, whose numbers rise: those of the window are the ones from the first shown on.
        first = min((p.rollout for p in points[shown:] if not p.flags & DEAD), default=0)
        levels = [m for x, m in means if x >= first and math.isfinite(m)]
        moved = new or start != self.start
        self.start = start
        if moved or self._left(levels or steps):
            scale = y_range(steps, levels, edges)
            moved |= scale != (self.low, self.high)
            self.low, self.high = scale
        return moved

    def _start(self, at: Sequence[int]) -> int:
        """The window's first position: it stands still until the newest is beyond it, then moves by a quarter.

        It follows from the data alone, so that it is the same after a restart of the program.
        """
        if not at:
            return 0
        jump = max(1, self.slots // 4)
        if not self.glyphs.joint:
            jump = max(GROUP, jump // GROUP * GROUP)
        start = ((at[-1] - self.slots) // jump + 1) * jump
        first = at[0] if self.glyphs.joint else at[0] // GROUP * GROUP
        return max(start, first)

    def _left(self, levels: Sequence[float]) -> bool:
        hold = HOLD * (self.high - self.low)
        return any(not self.low - hold <= value <= self.high + hold for value in levels)

    def level(self, value: float, count: int) -> int:
        """The level of a value, 0 to count - 1; values beyond the y-range are at its ends."""
        part = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return min(count - 1, int(part * count))


def places(points: Sequence[Point]) -> list[int]:
    """The position of each point on the x-axis, rising; a slot is left free between two attempts.

    Positions of the newest attempt are its rollout numbers: they stay when old values are dropped, and the rows of
    a screen are in line. Earlier attempts stand before it, shifted so that they end two slots before it begins.
    """
    out = [0] * len(points)
    shift = 0
    for i in range(len(points) - 1, -1, -1):
        point = points[i]
        if i + 1 < len(points) and points[i + 1].attempt != point.attempt:
            shift = out[i + 1] - 2 - point.rollout
        out[i] = point.rollout + shift
    return out


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


def spark(points: Sequence[Point], means: Sequence[tuple[int, float]], frame: Frame) -> list[Run]:
    """The line as runs of (style name, text), `frame.width` cells in all. Arguments as for `Frame.follow`.

    Styles: `spark.mean` `spark.step` (no mean there) `spark.out` (outside the range) `spark.bad` (not finite)
    `spark.paused` `spark.dead` `spark.break` (between attempts) `spark.range` (the bar).
    """
    if frame.width <= 0:
        return []
    row = [BLANK] * frame.width
    offset = 1 if frame.glyphs.joint else 0
    if offset and frame.edges:
        row[0] = ("spark.range", _bar(frame))
    at = places(points)
    mean_of = dict(means[-2 * frame.slots :])
    for i in range(bisect_left(at, frame.start), len(points)):
        point, slot = points[i], at[i] - frame.start
        mean = None if point.flags & DEAD else mean_of.get(point.rollout)
        cell = slot + offset if frame.glyphs.joint else slot + slot // GROUP
        if cell >= frame.width:
            break
        row[cell] = _cell(point, mean, frame)
        if i and points[i - 1].attempt != point.attempt and cell > offset:
            row[cell - 1] = ("spark.break", frame.glyphs.parting)
        if not frame.glyphs.joint and mean is not None and slot % GROUP == GROUP - 1 and cell + 1 < frame.width:
            marks = frame.glyphs.means
            row[cell + 1] = ("spark.mean", marks[frame.level(mean, len(marks))])
    return _runs(row)


def _cell(point: Point, mean: float | None, frame: Frame) -> Run:
    glyphs = frame.glyphs
    if not math.isfinite(point.value):
        return "spark.bad", glyphs.bad
    if point.flags & DEAD:
        return "spark.dead", glyphs.steps[frame.level(point.value, len(glyphs.steps))]
    if point.flags & PAUSED:
        return "spark.paused", glyphs.paused
    level, side = _height(point.value, frame)
    style = "spark.out" if _outside(point.value, frame.edges) else "spark.step" if mean is None else "spark.mean"
    if side:
        return style if style == "spark.out" else "spark.step", glyphs.above if side > 0 else glyphs.below
    if not glyphs.joint:
        return style if style == "spark.out" else "spark.step", glyphs.steps[level]
    dots = _LEFT[level] | (0 if mean is None else _BOTH[frame.level(mean, 4)])
    return style, chr(0x2800 + dots)


def _outside(value: float, edges: tuple[float, float] | None) -> int:
    """1 above the range, -1 below it, 0 inside or without one."""
    return 0 if edges is None else (value > edges[1]) - (value < edges[0])


def _height(value: float, frame: Frame) -> tuple[int, int]:
    """(level, side) of a rollout; side is 1 or -1 where only a mark can say that it is above or below.

    A value outside the range never has a level that belongs to the range: it goes to the next one, or is marked.
    """
    count = len(frame.glyphs.steps)
    far = FAR * (frame.high - frame.low)
    if value > frame.high + far or value < frame.low - far:
        return 0, 1 if value > frame.high else -1
    level, side = frame.level(value, count), _outside(value, frame.edges)
    if frame.edges is None or not side:
        return level, 0
    if not frame.glyphs.joint:  # no bar there that could show it
        return level, side
    level = max(level, frame.level(frame.edges[1], count) + 1) if side > 0 else level
    level = min(level, frame.level(frame.edges[0], count) - 1) if side < 0 else level
    return (level, 0) if 0 <= level < count else (0, side)


def _bar(frame: Frame) -> str:
    """The heights inside the range as dots of a right column, beside the line."""
    assert frame.edges is not None
    low, high = (frame.level(edge, 4) for edge in frame.edges)
    if frame.edges[1] < frame.low or frame.edges[0] > frame.high:  # all of the line is outside
        return frame.glyphs.below if frame.edges[1] < frame.low else frame.glyphs.above
    return chr(0x2800 + sum(_BOTH[level] & ~_LEFT[level] for level in range(low, high + 1)))


def _slots_beside_means(width: int) -> int:
    """How many rollouts fit where every fifth is followed by a mark."""
    groups, rest = divmod(width, GROUP + 1)
    return groups * GROUP + rest


def _runs(row: Sequence[Run]) -> list[Run]:
    out: list[Run] = []
    for style, text in row:
        if out and out[-1][0] == style:
            out[-1] = (style, out[-1][1] + text)
        else:
            out.append((style, text))
    return out
