"""Several runs as lines of a list: run, verdict, how far, reward, answer length, last line, worst alert. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.core.text.cells import DAY, cells, clock, fit_path, pad
from miles_tui.core.text.numbers import number
from miles_tui.present.layout import margin_of
from miles_tui.present.state_words import how_far
from miles_tui.present.styled_text import Spans
from miles_tui.present.view_models import SHAPES

REWARD, LENGTH = "reward", "answer length"
NUMBER_CELLS = 8  # cells of a number
ALERT_TITLE = "worst alert"
ORDER = ("rollout", "reward", "length", "last line", ALERT_TITLE)  # of the columns behind the verdict
LEAST_ALERT = 12  # cells that say which condition is meant
NO_VALUE = "–"
UNREAD = "not read yet"
WORST = ("critical", "warning", "")  # the order of the list


class RunRow(NamedTuple):
    """A run in the list. Times are the log's own clock; `note` stands in the verdict's place while it is read."""

    name: str
    shape: str = "○"
    style: str = "dim"
    verdict: str = UNREAD
    rollout: int | None = None
    total: int | None = None
    reward: float | None = None
    length: float | None = None
    last: float | None = None
    alert: str = ""
    alert_style: str = "dim"
    followed: bool = True


def run_row(name: str, run: RunSnapshot, *, note: str = "", followed: bool = True) -> RunRow:
    """The row of a run as it stands."""
    firing = run.firing
    worst = firing[0] if firing else None
    shape, style = SHAPES[run.kind]
    more = f" +{len(firing) - 1}" if len(firing) > 1 else ""
    return RunRow(
        name=name,
        shape=shape if not note else "○",
        style=style if not note else "dim",
        verdict=note or run.verdict,
        rollout=run.rollout,
        total=run.planned,
        reward=run.signals[REWARD].values.mean,
        length=run.signals[LENGTH].values.mean,
        last=run.last if run.last is not None else run.clock,
        alert=worst.condition + more if worst is not None else "",
        alert_style="critical" if worst is not None and worst.severity is Severity.CRITICAL else "warning",
        followed=followed,
    )


def severity_of(row: RunRow) -> str:
    """`critical`, `warning`, or "" where nothing wants to be looked at."""
    return row.style if row.style in WORST else ""


class RunColumns(NamedTuple):
    """Cells of the list's columns; `further` has those behind the verdict that fit, by title."""

    name: int
    verdict: int
    further: dict[str, int]
    margin: int


def run_columns(width: int, rows: Sequence[RunRow], today: float | None = None) -> RunColumns:
    """What fits: name and verdict always, then how far, the last line's time, reward, the worst alert, length.

    `today` as in `run_line`.
    """
    margin = margin_of(width)
    widest, verdict, far, alert = (
        max((cells(text) for text in texts), default=0)
        for texts in (
            [row.name for row in rows],
            [row.verdict for row in rows],
            ["rollout", *map(_how_far, rows)],
            [row.alert for row in rows],
        )
    )
    alert = max(alert, cells(ALERT_TITLE)) if alert else 0
    verdict = max(verdict, 8)
    days = {int(time) // DAY for time in (today, *(row.last for row in rows)) if time is not None}
    when = 9 if len(days) < 2 else 12  # 15 Oct 16:02
    room = width - 2 * margin - 2 - verdict - 2
    least = min(widest, max(16, room // 3))
    left = room - least
    wanted = {"rollout": far, "last line": when, "reward": NUMBER_CELLS, ALERT_TITLE: alert, "length": NUMBER_CELLS}
    sizes = {}
    for title, size in wanted.items():
        if title == ALERT_TITLE:
            size = min(size, max(LEAST_ALERT, left - 2))
        if size and left >= size + 2:
            sizes[title] = size
            left -= size + 2
    further = {title: sizes[title] for title in ORDER if title in sizes}
    return RunColumns(min(widest, least + left), verdict, further, margin)


def table_titles(c: RunColumns) -> Spans:
    """The titles of the columns."""
    text = " " * c.margin + "  " + pad("run", c.name) + "  " + pad("verdict", c.verdict)
    return [("dim", text + "".join("  " + _aligned(title, title, size) for title, size in c.further.items()))]


def run_line(row: RunRow, c: RunColumns, today: float | None) -> Spans:
    """A run; `today`: a time of the day that needs no date."""
    out: Spans = [("text", " " * c.margin), (row.style, row.shape + " ")]
    out += [("bright" if row.followed else "text", pad(fit_path(row.name, c.name), c.name)), ("text", "  ")]
    out.append((row.style, pad(row.verdict, c.verdict)))
    values: dict[str, tuple[str, str]] = {
        "rollout": ("text", _how_far(row)),
        "reward": ("text", _figure(row.reward, REWARD)),
        "length": ("text", _figure(row.length, LENGTH)),
        "last line": ("dim", clock(row.last, today=today) if row.last is not None else NO_VALUE),
        ALERT_TITLE: (row.alert_style, row.alert),
    }
    for title, size in c.further.items():
        style, text = values[title]
        out += [("text", "  "), (style, _aligned(title, text, size))]
    return out


def _aligned(title: str, text: str, size: int) -> str:
    return pad(text, size, "left" if title == ALERT_TITLE else "right")


def _how_far(row: RunRow) -> str:
    return how_far(row.rollout, row.total)


def _figure(value: float | None, name: str) -> str:
    return NO_VALUE if value is None else number(value, BY_NAME[name].digits, NUMBER_CELLS)


def names_of(paths: Sequence[str]) -> list[str]:
    """Names that tell the runs apart: the paths without the folders that all have in common."""
    split = [path.split("/") for path in paths]
    common = 0
    while all(len(parts) > common + 1 for parts in split) and len({parts[common] for parts in split}) == 1:
        common += 1
    names = ["/".join(parts[common:]) for parts in split]
    files = {parts[-1] for parts in split}
    if len(files) == 1 and len(split) > 1 and all(len(parts) > common + 1 for parts in split):
        names = [name.rpartition("/")[0] for name in names]  # seed1/train.log, seed2/train.log: the folders say it
    return names
