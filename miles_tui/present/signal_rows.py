"""A signal as one line of text: letter, name, numbers, arrow, sparkline, range. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.ranges import OWN
from miles_tui.core.model.glossary import Meaning
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.text.cells import cells, fit_text, middle, pad
from miles_tui.core.text.numbers import fit_number, number, signed
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.present.layout import Columns
from miles_tui.present.styled_text import Part, Spans, packed
from miles_tui.present.view_models import NOT_JUDGED_LIGHT, RowView

Sparkline = Callable[[RowView, int], Spans]  # a row and a width in cells -> the runs of its sparkline

MARKED = "◆"  # this row shares a chart with others
MOST_DECIMALS = 6
ARROWS = {-1: "↓", 0: " ", 1: "↑"}
NO_NUMBER = "–"
JUDGED = frozenset(name for condition in CONDITIONS.values() for name in condition.about)
STARRED = f"*{OWN}"  # whose the ranges are where a profile has some: a star marks the run's own


def title_row(columns: Columns, owner: str, window: int, scale: str = "") -> Spans:
    """The titles; `owner` is whose ranges these are, as of `common_owner`, `scale` the sparklines'."""
    c, gap = columns, " " * columns.gap
    text = " " * c.margin + " " + gap + pad("signal", c.name) + gap + pad("last", c.number, "right")
    text += gap + pad(f"mean {window}", c.number, "right")
    if c.change:
        text += gap + pad("change", c.change, "right")
    text += gap + " "
    if c.spark:
        text += gap + pad(scale, c.spark)
    if c.range:
        whose = f", {owner}" if owner == STARRED else f" ({owner})" if owner else ""
        text += gap + pad("range" + whose, c.range)
    return [("dim", text)]


def signal_row(
    view: RowView,
    columns: Columns,
    spark: Sparkline,
    *,
    owner: str = "",
    selected: bool = False,
    marked: bool = False,
) -> Spans:
    """The row of a signal. `owner` as in `title_row`; `marked`: it shares a chart with others."""
    c, gap = columns, " " * columns.gap
    light = view.light
    out: Spans = [("text", " " * c.margin), (light.style, light.letter), ("text", gap)]
    out += _label(view, c, "bright" if selected else "text", marked=marked)
    out += [(_value_style(view), figure(view.last, c.number, view.digits))]
    out += [("text", gap), ("text", figure(view.mean, c.number, view.digits))]
    if c.change:
        out += [("text", gap), ("dim", change_text(view, c.change))]
    out += [("text", gap), ("accent", ARROWS[view.trend])]
    if c.spark:
        out += [("text", gap), *spark(view, c.spark)]
    if c.range:
        out += [("text", gap), ("dim", pad(range_text(view, c.range, owner), c.range))]
    return out


def label_cells(name: str, unit: str) -> int:
    """The cells of a name with its unit."""
    return cells(harmless_name(name)) + (2 + cells(unit) if unit else 0)


def _label(view: RowView, c: Columns, style: str, *, marked: bool) -> Spans:
    """The name, its unit and the sign of a marked row as far as there is room, and the gap behind them."""
    name = middle(harmless_name(view.name), c.name)
    unit = f", {view.unit}" if view.unit and label_cells(view.name, view.unit) <= c.name else ""
    used = cells(name) + cells(unit)
    sign = (" " + MARKED)[-min(2, c.name + c.gap - used) :] if marked else ""
    return [(style, name), ("dim", unit), ("accent", sign), ("text", " " * (c.name + c.gap - used - len(sign)))]


def change_text(view: RowView, width: int) -> str:
    """The change in exactly `width` cells: two digits, in the form of the mean beside it and no finer than that."""
    if view.change is None or view.mean is None:
        return NO_NUMBER.rjust(width)
    mean = number(view.mean, view.digits)
    if not math.isfinite(view.change) or "e" in mean or abs(view.change) >= 100:
        return signed(view.change, 2, width)
    decimals = len(mean.partition(".")[2]) if view.mean else MOST_DECIMALS
    own = 1 - math.floor(math.log10(abs(view.change))) if view.change else 0
    text = f"{view.change:+.{max(0, min(decimals, own, width - 3))}f}"
    return (text if any(char in "123456789" for char in text) else "0").rjust(width)


def figure(value: float | None, width: int, digits: int) -> str:
    """A number in exactly `width` cells, flush right, never cut."""
    return NO_NUMBER.rjust(width) if value is None else number(value, digits, width)


def range_text(view: RowView, width: int, owner: str = "") -> str:
    """`0.0136 to 0.0164`, `learning 6 of 10`, or nothing where there is no range; `(manual)` where no title says it."""
    if view.learning is not None:
        have, need = view.learning
        return f"learning {have} of {need}"
    if view.low is None or view.high is None:
        return ""
    whose = "" if view.owner in ("", owner) else f" ({view.owner})"
    if owner == STARRED:
        whose = "*" if view.owner == OWN else ""
    if view.low == view.high:
        return f"always {fit_number(view.low, 8)}" + whose
    # Two digits still tell the ends of a range apart, one does not: `0.0007 to 0.0007` says nothing.
    for tail in (whose, "") if whose else ("",):
        for digits, to in (
            ((3, " to "), (3, "–"), (2, " to "), (2, "–")) if tail else ((3, " to "), (2, " to "), (2, "–"))
        ):
            text = f"{number(view.low, digits)}{to}{number(view.high, digits)}{tail}"
            if len(text) <= width:
                return text
    half = (width - 1) // 2
    return f"{fit_number(view.low, half, 2)}–{fit_number(view.high, half, 2)}"


def detail_row(view: RowView, meaning: Meaning | None, width: int, margin: int) -> Spans:
    """What the selected signal is, what is healthy, and its range in full; whole pieces only."""
    name = harmless_name(view.name)
    parts = [Part(0, [("bright", name)])]
    if meaning is not None:
        said = fit_text(meaning.said, width - 2 * margin - cells(name) - 3)
        parts += [Part(1, [("dim", meaning.said)], [("dim", said)])]
        if meaning.healthy:
            parts.append(Part(3, [("dim", f"healthy: {meaning.healthy}")]))
        if meaning.manual:
            parts.append(Part(4, [("dim", f"manual: {meaning.manual}")]))
    if view.note:
        parts.append(Part(2, [("watch", view.note)]))
    if view.held:
        parts.append(Part(1, [("watch", f"held back by {view.held}")]))
    if view.low is not None:
        parts.append(Part(5, [("dim", f"range {range_text(view, 60)}")]))  # the row has it, if shorter
    if view.light is NOT_JUDGED_LIGHT and view.name in BY_NAME:
        why = "no condition has enough to judge by" if view.name in JUDGED else "no condition reads it"
        parts.append(Part(2, [("dim", f"not judged: {why}")], [("dim", "not judged")]))
    return [("text", " " * margin), *packed(parts, width - 2 * margin, gap=" · ")]


def common_owner(views: Sequence[RowView]) -> str:
    """Whose the ranges are: the owner of all, or that a star marks the run's own among a profile's."""
    owners = {view.owner for view in views if view.owner}
    return STARRED if len(owners) > 1 else owners.pop() if owners else ""


def _value_style(view: RowView) -> str:
    return view.light.style if view.light.style in ("critical", "warning") else "bright"
