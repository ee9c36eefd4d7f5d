"""What fits on a screen of a given size: the most important first. Pure.

Verdict, alerts and the eight numbers always; then sparklines, then ranges, then the rest.
"""

from __future__ import annotations

from typing import NamedTuple

from miles_tui.core.model.signals import SIGNALS

LEAST_WIDTH, LEAST_HEIGHT = 38, 10
LEAST_ALERTS = 8  # lines: of an alert with its title; with fewer an alert that is read gets the rows' lines
ALERTS, LEAST_GLANCE = 13, 10  # lines: of two alerts and their title; of a chart with its title and axis
WIDE_CELLS = 110  # cells from which on a row has room for all
NAME = max(len(s.name) for s in SIGNALS)


class Columns(NamedTuple):
    """Cells of a signal's row: 0 leaves a column out. `margin` is on both sides, `gap` between columns."""

    name: int = NAME
    number: int = 8
    change: int = 0
    spark: int = 0
    range: int = 0
    margin: int = 0
    gap: int = 1


class Plan(NamedTuple):
    """Rows of a screen: each count is lines, 0 leaves a part out; the alert pane gets the rest."""

    width: int
    height: int
    too_small: bool = False
    header: int = 2
    gaps: int = 0  # empty lines between the parts
    titles: int = 0
    detail: int = 0
    footer: int = 0
    rows: int = len(SIGNALS)  # of the table that are in sight at once
    alerts: int = 1
    columns: Columns = Columns()


def margin_of(width: int) -> int:
    """Cells at both sides of a screen of this width."""
    return 2 if width >= WIDE_CELLS else 1 if width >= 76 else 0


def plan(width: int, height: int, rows: int = len(SIGNALS), longest: int = NAME) -> Plan:
    """The layout for a terminal of this size, `rows` lines to show, the longest name of `longest` cells.

    Rows beyond the eight signals take what the alerts can spare; where that is too little, the table scrolls.
    """
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return Plan(width, height, too_small=True)
    gaps = 2 if height >= 30 else 0
    header = 2 if height >= 13 else 1
    titles = int(height >= 16)
    detail = int(height >= 20)
    footer = int(height >= 13)
    room = height - header - titles - detail - footer - gaps
    rows = min(rows, max(len(SIGNALS), room - (8 if height >= 30 else 6)))
    return Plan(width, height, False, header, gaps, titles, detail, footer, rows, room - rows, columns(width, longest))


def filled(p: Plan) -> Plan:
    """The same screen while an alert is read: the pane has the lines of the rows, too."""
    room = p.rows + p.titles + p.detail + p.gaps
    return p._replace(rows=0, titles=0, detail=0, gaps=0, alerts=p.alerts + room)


def glance_lines(p: Plan, open_alerts: int) -> int:
    """Lines for a small chart of the selected row below the alerts, 0 where they would be no picture.

    The alerts keep what two of them take in full; more of them get it all.
    """
    spare = p.alerts - ALERTS
    return spare if spare >= LEAST_GLANCE and p.columns.spark and open_alerts <= 2 else 0


def columns(width: int, longest: int = NAME) -> Columns:
    """The columns of the signals in a row of this width; what is left over goes to the sparkline.

    The names of metrics are longer than those of signals: they get more room where a sparkline can spare it.
    """
    if width >= WIDE_CELLS:
        given = Columns(name=max(NAME, min(longest, 28)), number=8, change=9, range=24, margin=2, gap=2)
    elif width >= 79:
        given = Columns(name=max(NAME, min(longest, 20)), number=8, change=8, range=16, margin=1)
    elif width >= 50:
        given = Columns(number=8)
    else:
        return Columns(number=min(8, (width - NAME - 6) // 2))
    return given._replace(spark=_left(width, given))


def _left(width: int, c: Columns) -> int:
    """Cells for the sparkline: letter, name, two numbers, arrow, and the gaps between what there is."""
    gaps = 5 + bool(c.change) + bool(c.range)
    change = c.change
    return width - 2 * c.margin - 1 - c.name - 2 * c.number - change - 1 - c.range - gaps * c.gap
