"""A step's time as one stacked bar, and each phase as a line: sign, seconds, share, usual value, sparkline. Pure."""

from __future__ import annotations

from typing import NamedTuple

from miles_tui.core.model.series import DEAD, PAUSED, SeriesTail
from miles_tui.core.run.step_time import Spent, Split
from miles_tui.core.text.cells import cells, duration, pad
from miles_tui.core.text.numbers import number
from miles_tui.present.signal_rows import Sparkline, figure
from miles_tui.present.styled_text import Part, Spans
from miles_tui.present.view_models import RowView


class Sign(NamedTuple):
    """How a phase looks in the bar: a fill of its own, as colours alone tell nothing, and a letter without UTF-8."""

    fill: str
    letter: str
    style: str


PART_SIGNS: dict[str, Sign] = {
    "waiting": Sign("░", "w", "dim"),
    "update": Sign("▞", "u", "chart.third"),
    "sleep": Sign("▚", "z", "learn"),
    "wake": Sign("▙", "k", "ok"),
    "saving": Sign("▟", "c", "notice"),
    "scoring": Sign("▒", "s", "chart.second"),
    "training": Sign("█", "t", "accent"),
    "rest": Sign("·", ".", "dim"),
    "step": Sign(" ", "=", "dim"),
}
STEP_ORDER = ("waiting", "update", "sleep", "wake", "saving", "scoring", "training", "rest")  # as a step passes
NUMBER, SHARE_CELLS = 8, 6


def sign(spent: Spent, plain: bool) -> str:
    """The phase's fill."""
    known = PART_SIGNS[spent.part.id]
    return known.letter if plain else known.fill


def bar(split: Split, width: int, *, plain: bool) -> list[Spans]:
    """Two lines of exactly `width` cells: the names of the longer phases, and the bar.

    What is timed inside the waiting is taken out of its part of the bar, and follows it; its share is with them.
    """
    shown = {spent.part.id: spent for spent in (*split.phases, split.rest) if spent is not None}
    parts = [shown[id_] for id_ in STEP_ORDER if id_ in shown]
    sizes = shares([spent.alone for spent in parts], width)
    names: Spans = []
    line: Spans = []
    for spent, size in zip(parts, sizes, strict=True):
        style = PART_SIGNS[spent.part.id].style
        line.append((style, sign(spent, plain) * size))
        share = part_percent(spent.mean, split.total)
        label = next((t for t in (f"{spent.part.name} {share}", spent.part.name, share) if cells(t) < size), "")
        names.append((style, pad(label, size)))
    return [names, line]


def shares(values: list[float], width: int) -> list[int]:
    """Whole cells for each value, `width` in all: the largest remainders are rounded up."""
    total = sum(values)
    if total <= 0:
        return [0] * len(values)
    exact = [value / total * width for value in values]
    sizes = [int(size) for size in exact]
    for i in sorted(range(len(exact)), key=lambda i: sizes[i] - exact[i])[: width - sum(sizes)]:
        sizes[i] += 1
    return sizes


def part_percent(value: float, total: float) -> str:
    """`31 %`; what is there and rounds to nothing is `<1 %`."""
    share = 100 * value / total if total else 0.0
    return "<1 %" if 0 < share < 0.5 else f"{share:.0f} %"


def step_time_titles(width: int, margin: int, name: int, window: int) -> Spans:
    """The titles of the columns."""
    text = " " * (margin + 2) + pad("phase", name) + pad(f"mean {window}", NUMBER + 1, "right")
    text += pad("share", SHARE_CELLS + 1, "right")
    return [("dim", text + (pad("usual", NUMBER + 1, "right") if width >= 60 else ""))]


def phase_line(spent: Spent, split: Split, width: int, margin: int, name: int, spark: Sparkline, plain: bool) -> Spans:
    """A phase: sign, name, mean in seconds, share of the step, usual value, sparkline."""
    whole = spent.part.id == "step"
    share = "" if whole else "within" if spent.part.inside else part_percent(spent.mean, split.total)
    style = "bright" if whole else "text"
    out: Spans = [
        ("text", " " * margin),
        (PART_SIGNS[spent.part.id].style, sign(spent, plain)),
        (style, " " + pad(spent.part.name, name)),  # the place of a pointer where there is no margin
        ("bright", " " + figure(spent.mean, NUMBER, 3)),
        ("dim", " " + pad(share, SHARE_CELLS, "right")),
    ]
    left = width - 2 * margin - 2 - name - NUMBER - 1 - SHARE_CELLS - 1
    if width >= 60:
        out.append(("dim", " " + figure(spent.usual, NUMBER, 3)))
        left -= NUMBER + 1
    if left >= 10 and spent.points:
        out += [("text", "  "), *spark(view_of(spent), left - 2)]
    return out


def view_of(spent: Spent) -> RowView:
    """The phase as a row, for its sparkline: steps that don't count are hollow and in no mean."""
    return RowView(name=f"phase {spent.part.id}", tail=SeriesTail.of(spent.points), uncounted=DEAD | PAUSED)


def step_time_title(split: Split) -> list[Part]:
    """The title: how long a step takes, of which steps, and what was left out."""
    whole = split.whole
    if whole is None or not split.steps:
        return [Part(0, [("bright", "where the time goes")]), Part(1, [("dim", _left_out(split) or "no step so far")])]
    mean = f"a step takes {duration(whole.mean)}"
    parts = [Part(0, [("bright", "where the time goes")]), Part(1, [("text", mean)])]
    if whole.usual is not None:
        parts.append(Part(2, [("dim", f"usually {duration(whole.usual)}")]))
    if split.overlap:
        parts.append(Part(3, [("watch", f"phases overlap: {number(split.total)} s together")]))
    if _left_out(split):
        parts.append(Part(4, [("dim", _left_out(split))]))
    return parts


def _left_out(split: Split) -> str:
    out = [f"{n} {word}" for n, word in ((split.warm_up, "of warm-up"), (split.paused, "paused")) if n]
    return f"left out (○): {', '.join(out)}" if out else ""
