"""Alerts as lines of text: what fires first, each with evidence, cause and check. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from miles_tui.core.text.cells import cells, clock, fit_text, wrap
from miles_tui.present.state_words import since_words
from miles_tui.present.styled_text import Part, Spans, packed, width_of
from miles_tui.present.view_models import AlertView

SEVERITY_MARKS = {"critical": "▲", "warning": "△", "notice": "i"}
INDENT = 2


class Note(NamedTuple):
    """One entry of the pane: its lines, and the place of its alert among those shown (-1: no alert)."""

    at: int
    lines: list[Spans]


def notes(
    alerts: Sequence[AlertView],
    current: int,
    width: int,
    room: int,
    today: float | None,
    *,
    whole: bool = False,
    unfolded: tuple[int, Sequence[tuple[str, str]]] | None = None,
) -> list[Note]:
    """An entry for each alert: in full where there is room, else the current one beside the titles of the others.

    The current one is cut so that every title is in sight, unless the person reads it (`whole`) and scrolls.
    `unfolded` is one that shows its numbers, too: lines with a label.
    """
    full = [
        note(alert, i, width, today, full=True, numbers=unfolded[1] if unfolded and unfolded[0] == alert.serial else ())
        for i, alert in enumerate(alerts)
    ]
    firing = sum(len(n.lines) for n, a in zip(full, alerts, strict=True) if not a.over)
    if firing <= room:
        return full
    titles = [note(alert, i, width, today, full=False) for i, alert in enumerate(alerts)]
    open_ = sum(not a.over for a in alerts)
    left = max(room - open_ + 1, 1) if open_ > 1 and not whole else None
    return [Note(i, _cut(full[i].lines, left, width)) if i == current else titles[i] for i in range(len(alerts))]


def tally(alerts: Sequence[AlertView]) -> str:
    """How many there are, as the verdict counts them: `1 firing, 2 notices, 1 resolved`; `none`."""
    names = [a.state if a.state != "firing" or a.severity != "notice" else "notice" for a in alerts]
    count = {name: names.count(name) for name in ("firing", "recovering", "notice", "switched off", "resolved")}
    words = (f"{n} {name}{'s' if name == 'notice' and n > 1 else ''}" for name, n in count.items() if n)
    return ", ".join(words) or "none"


def _cut(lines: list[Spans], left: int | None, width: int) -> list[Spans]:
    """The first `left` lines; a paragraph that goes on says so."""
    if left is None or left >= len(lines):
        return lines
    return [*lines[: left - 1], unfinished(lines[left - 1], width)] if left > 1 else lines[:left]


def unfinished(line: Spans, width: int) -> Spans:
    """A line behind which more was left out: it ends in an ellipsis."""
    if not line or width_of(line) + 2 <= width:
        return [*line, ("dim", " …")]
    style, text = line[-1]
    return [*line[:-1], (style, fit_text(text + "  ", cells(text)))]


def note(
    alert: AlertView,
    at: int,
    width: int,
    today: float | None,
    *,
    full: bool,
    numbers: Sequence[tuple[str, str]] = (),
) -> Note:
    """One alert in lines of at most `width` cells: all of it, or its title alone; `numbers` are lines with a label."""
    over = alert.over
    quiet = over or alert.seen or alert.snoozed
    mark, style = ("·", "dim") if over else (SEVERITY_MARKS[alert.severity], alert.severity)
    name: Spans = [(style, f"{mark} {alert.condition}")]
    said = "dim" if quiet else "text"
    long, short = life(alert, today), life(alert, today, short=True)
    middle = short if over else f"{severity_or_state(alert)}, {short}".removesuffix(", ")
    words = next((text for text in (long, middle) if width_of(name) + 2 + cells(text) <= width), short)
    lines = [packed([Part(0, name), Part(1, [(said, words)])], width, gap="  ")]
    if not full:
        return Note(at, lines)
    lines += _paragraph("", alert.evidence, width, "dim" if quiet else "bright")
    for label, text in numbers:
        lines += _paragraph(label, text, width, said)
    if not over or numbers:
        lines += _paragraph("likely cause: ", alert.likely_cause, width, said)
        lines += _paragraph("first check: ", alert.first_check, width, said)
    return Note(at, lines)


def severity_or_state(alert: AlertView) -> str:
    """What an open alert is first of all: `critical` while it fires, `recovering`."""
    return alert.severity if alert.state == "firing" else alert.state


def life(alert: AlertView, today: float | None, *, short: bool = False) -> str:
    """`critical, since rollout 23, 16:41`, `resolved, rollout 23 to 31`; short: `since 23`."""
    step, over = alert.raised_step, alert.over
    if over:
        begin = "the start" if step is None else str(step)
        end = f" to {alert.resolved_step}" if alert.resolved_step is not None else ""
        words = ["resolved", f"rollout {begin}{end}"]
        if alert.accepted:
            words = [f"accepted as expected at rollout {alert.resolved_step}", f"raised at {begin}"]
        if alert.state == "switched off":
            at = "" if alert.resolved_step is None else f" at rollout {alert.resolved_step}"
            words = [f"switched off{at}", f"raised at {begin}"]
    else:
        words = [severity_or_state(alert), since_words(step)]
    if short:
        return ("accepted" if alert.accepted else alert.state) if over else "" if step is None else f"since {step}"
    time = alert.resolved_time if over else alert.raised_time
    if time is not None:
        words.append(clock(time, today=today))
    if alert.count > 1:
        words.append(f"{alert.count} times")
    if not over and (alert.snoozed or alert.seen):
        words.append("snoozed" if alert.snoozed else "seen")
    return ", ".join(words)


def as_text(alert: AlertView, log: str, today: float | None = None) -> str:
    """An alert for a chat message; `today` as in `clock`."""
    return (
        f"{alert.condition} ({life(alert, today)}) in {log}\n"
        f"{alert.title}: {alert.evidence}\n"
        f"Likely cause: {alert.likely_cause}\n"
        f"First check: {alert.first_check}"
    )


def _paragraph(label: str, text: str, width: int, style: str) -> list[Spans]:
    pad = " " * INDENT
    lines = wrap(label + text, max(8, width - INDENT))
    out: list[Spans] = [[("text", pad), (style, line)] for line in lines]
    if label and lines and lines[0].startswith(label.strip()):
        first = lines[0]
        out[0] = [("text", pad), ("dim", first[: len(label)]), (style, first[len(label) :])]
    return out
