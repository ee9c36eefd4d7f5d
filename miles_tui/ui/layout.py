"""What fits on a screen of a given size: the most important first. Pure.

Verdict, alerts and the eight numbers always; then sparklines, then ranges, then the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from miles_tui.core.signals import SIGNALS

LEAST_WIDTH, LEAST_HEIGHT = 38, 10
NAME = max(len(s.name) for s in SIGNALS)


@dataclass(slots=True, frozen=True)
class Columns:
    """Cells of a signal's row: 0 leaves a column out. `margin` is on both sides, `gap` between columns."""

    name: int = NAME
    number: int = 8
    change: int = 0
    spark: int = 0
    range: int = 0
    margin: int = 0
    gap: int = 1


@dataclass(slots=True, frozen=True)
class Plan:
    """Rows of a screen: each count is lines, 0 leaves a part out; the alert pane gets the rest."""

    width: int
    height: int
    too_small: bool = False
    header: int = 2
    gaps: int = 0  # empty lines between the parts
    titles: int = 0
    detail: int = 0
    footer: int = 0
    alerts: int = 1
    columns: Columns = Columns()


def plan(width: int, height: int) -> Plan:
    """The layout for a terminal of this size."""
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return Plan(width, height, too_small=True)
    rows = len(SIGNALS)
    gaps = 2 if height >= 30 else 0
    header = 2 if height >= 13 else 1
    titles = int(height >= 16)
    detail = int(height >= 20)
    footer = int(height >= 13)
    alerts = height - rows - header - titles - detail - footer - gaps
    return Plan(width, height, False, header, gaps, titles, detail, footer, alerts, columns(width))


def columns(width: int) -> Columns:
    """The columns of the signals in a row of this width; what is left over goes to the sparkline."""
    if width >= 110:
        given = Columns(number=8, change=9, range=24, margin=2, gap=2)
    elif width >= 79:
        given = Columns(number=8, change=8, range=16, margin=1)
    elif width >= 50:
        given = Columns(number=8)
    else:
        return Columns(number=min(8, (width - NAME - 6) // 2))
    return Columns(given.name, given.number, given.change, _left(width, given), given.range, given.margin, given.gap)


def _left(width: int, c: Columns) -> int:
    """Cells for the sparkline: letter, name, two numbers, arrow, and the gaps between what there is."""
    gaps = 5 + bool(c.change) + bool(c.range)
    change = c.change
    return width - 2 * c.margin - 1 - c.name - 2 * c.number - change - 1 - c.range - gaps * c.gap
