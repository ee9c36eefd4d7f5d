"""The browser's list: every metric of a log, grouped by prefix, numbered twins folded into one line. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import NamedTuple, overload

from miles_tui.core.model.series import Series
from miles_tui.core.text.cells import cells, middle, pad
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.present.layout import WIDE_CELLS, margin_of
from miles_tui.present.name_filter import NameTest
from miles_tui.present.signal_rows import ARROWS, Sparkline, figure
from miles_tui.present.styled_text import Spans
from miles_tui.present.view_models import RowView, unit_of

FIRST_GROUPS = ("rollout", "train", "perf", "eval")  # groups that everybody looks for; others follow by name
TWINS = re.compile(r"^(.*\blr-pg_)\d+$")  # learning rates of parameter groups: usually one number many times
NO_GROUP = "other"


class MetricEntry(NamedTuple):
    """A line of the browser: a group (`names` are its metrics), or a metric (`names` are all that it stands for)."""

    label: str
    names: tuple[str, ...]
    group: str
    is_group: bool = False
    closed: bool = False

    @property
    def name(self) -> str:
        """The metric that stands for the line; a group has none."""
        return "" if self.is_group else self.names[0]


class Widths(NamedTuple):
    """Cells of a metric's line; `spark` 0 leaves the sparkline out."""

    name: int
    number: int
    spark: int
    margin: int


class Lazily(Sequence[Spans]):
    """Lines that are made when they are looked at: a thousand metrics cost what is in sight."""

    def __init__(self, count: int, make: Callable[[int], Spans]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Spans: ...
    @overload
    def __getitem__(self, at: slice) -> list[Spans]: ...
    def __getitem__(self, at: int | slice) -> Spans | list[Spans]:
        if isinstance(at, slice):
            return [self._make(i) for i in range(*at.indices(self._count))]
        return self._make(at)


def entries(metrics: Mapping[str, Series], fits: NameTest, closed: Container[str]) -> list[MetricEntry]:
    """The list: groups in their order, the metrics of each that fit, by name; closed groups as one line."""
    groups: dict[str, list[str]] = {}
    for name in metrics:
        if fits(name):
            groups.setdefault(group_of(name), []).append(name)
    order = sorted(
        groups, key=lambda g: (FIRST_GROUPS.index(g) if g in FIRST_GROUPS else len(FIRST_GROUPS), g == NO_GROUP, g)
    )
    out: list[MetricEntry] = []
    for group in order:
        names = sorted(groups[group], key=_natural)
        out.append(MetricEntry(harmless_name(group), tuple(names), group, is_group=True, closed=group in closed))
        if group not in closed:
            out += [_metric_entry(group, twins) for twins in _folded(names, metrics)]
    return out


def group_of(name: str) -> str:
    """What stands before the first slash."""
    prefix, slash, _ = name.partition("/")
    return prefix if slash else NO_GROUP


def widths(width: int, longest: int) -> Widths:
    """The columns for a screen of this width, where the longest label has `longest` cells."""
    margin = margin_of(width)
    number = 9 if width >= WIDE_CELLS else 8
    rest = width - 2 * margin - 3 - 2 * (number + 1) - 3  # two signs and a gap, two numbers, an arrow
    name = min(longest, rest if rest < 24 else max(16, rest * 5 // 9))
    return Widths(name, number, rest - name if rest - name >= 8 else 0, margin)


def group_line(entry: MetricEntry, w: Widths) -> Spans:
    """`rollout 23`, with a sign for whether its metrics are in sight."""
    sign = "▸" if entry.closed else "▾"
    return [("text", " " * w.margin), ("accent", f"{sign} {entry.label}"), ("dim", f"  {len(entry.names)}")]


def metric_line(entry: MetricEntry, view: RowView, w: Widths, spark: Sparkline, *, marked: bool, pinned: bool) -> Spans:
    """A metric: whether it is marked and pinned, name, unit where there is room, last value, mean, trend, sparkline."""
    name = middle(entry.label, w.name)
    room = w.name - cells(name)
    unit = f", {unit_of(entry.name)}" if unit_of(entry.name) else ""
    out: Spans = [
        ("text", " " * w.margin),
        ("accent", ("v" if marked else " ") + ("*" if pinned else " ")),
        ("text", " " + name),
        ("dim", pad(unit if cells(unit) <= room else "", room) + " "),
        ("bright", figure(view.last, w.number, view.digits)),
        ("text", " " + figure(view.mean, w.number, view.digits) + " "),
        ("accent", ARROWS[view.trend]),
    ]
    if w.spark:
        out += [("text", " "), *spark(view, w.spark)]
    return out


def _metric_entry(group: str, names: tuple[str, ...]) -> MetricEntry:
    label = names[0] if group == NO_GROUP else names[0].partition("/")[2]
    if len(names) > 1:
        found = TWINS.match(label)
        label = f"{found[1] if found else label}* ({len(names)} equal)"
    return MetricEntry(harmless_name(label), names, group)


def _folded(names: list[str], metrics: Mapping[str, Series]) -> Iterable[tuple[str, ...]]:
    """The names, those of equal numbered twins together at the place of the first."""
    twins: dict[str, list[str]] = {}
    for name in names:
        found = TWINS.match(name)
        twins.setdefault(found[1] if found else name, []).append(name)
    for members in twins.values():
        first = metrics[members[0]]
        if len(members) > 1 and all(metrics[m].x == first.x and metrics[m].y == first.y for m in members):
            yield tuple(members)
        else:
            yield from ((m,) for m in members)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Numbers inside a name by size: `pass@2` before `pass@16`."""
    parts = re.split(r"(\d{1,18})", name)  # what was split by stands at odd places
    return [(1, int(part), "") if i % 2 else (0, 0, part) for i, part in enumerate(parts)]
