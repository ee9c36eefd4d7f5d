"""Lines of a log as lines of the screen: time, level, who, what; a metric line as its record. Pure.

All log text goes through `harmless` before anything else is done with it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from miles_tui.core.model.records import Record
from miles_tui.core.model.signals import BY_LOG_NAME
from miles_tui.core.parsing.brace_scan import next_numbered
from miles_tui.core.parsing.line_prefix import message_of, source_of, time_of
from miles_tui.core.parsing.line_splitter import clean
from miles_tui.core.parsing.metric_line import records_in
from miles_tui.core.parsing.tail_buffer import LINE, Break, Fold, LogEntry, LogLine
from miles_tui.core.text.cells import cells, clock, fit_text, pad
from miles_tui.core.text.numbers import number
from miles_tui.core.text.sanitize import harmless
from miles_tui.present.styled_text import Spans, fitted, width_of

READ = 4096  # bytes of a line that are decoded: masking costs 0.1 ms there
SHOWN = 1000  # characters of it that are shown: a key that was cut in two at the end is not among them
ROLE = 14  # cells of the column that says who
BETWEEN, MORE = " · ", " …"
CUT = 400  # characters at the end of a line that was cut: a key could be cut in two there, and not be known as one
VALUES = 6  # of a record's metrics that are shown
NEAR_CHARACTERS = 400  # characters kept on each side of a match that the row does not show
VALUE = 24  # cells for what stands behind a match
NO_PROCESS = "no process"

LEVELS = ("all", "warnings", "errors", "records")
_ERROR = re.compile(
    r"\b(?:ERROR|CRITICAL|FATAL|Traceback|Fatal)\b|##\[error\]|\A\s*(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b"
    r"|\[E\]|\bKilled\b"
)
_WARNING = re.compile(r"\bWARN(?:ING)?\b|\b\w*Warning\b|##\[warning\]|\[W\]|\bwarning:")
_LOGGER_DASH = re.compile(r"([\w.-]+\.py):(\d+) +-{1,2} ")
_ACTOR = re.compile(r"(?:Megatron|FSDP)?(Train|Critic)RayActor\w*")


class Row(NamedTuple):
    """One entry as it is shown. `level` is "", "warning", "error", "record" or "fold"; `text` has no control in it."""

    number: int
    text: str
    level: str = ""
    role: str = ""
    time: float | None = None
    short: str = ""  # a record's kind and number


def row_of(entry: LogEntry) -> Row:
    """The row of an entry. Costs 30 to 150 us."""
    if isinstance(entry, Break):
        return Row(entry.number, f"the file was {entry.why} here", "fold")
    if isinstance(entry, Fold):
        return Row(entry.number, fold_text(entry), "fold")
    return line_row(entry.number, entry.raw)


def fold_text(fold: Fold) -> str:
    """How much noise was folded away."""
    return f"{fold.count:,} engine line" + ("s" if fold.count != 1 else "")


def line_row(number_: int, raw: bytes) -> Row:
    """The row of a line's bytes."""
    if records := records_of(raw):
        record = records[-1]
        said = harmless(f"{record.kind} {record.number}")
        role = role_of(harmless(record.source.role))
        return Row(number_, values_text(record), "record", role, record.time, said)
    text = harmless(clean(raw[:READ]))[:SHOWN]
    message, _ = message_of(text)
    message = message_of(message)[0]
    level = "error" if _ERROR.search(message) else "warning" if _WARNING.search(message) else ""
    said = _LOGGER_DASH.sub(r"\1 ", message, count=1).rstrip()
    return Row(number_, said, level, role_of(source_of(text).role), time_of(text))


def records_of(raw: bytes) -> list[Record]:
    """The metric records in a line's bytes."""
    return records_in(raw).records if b"{" in raw and next_numbered(raw, 0, 0, len(raw)) >= 0 else []


def role_of(name: str) -> str:
    """A short name of a process's class: the trainers' own is long."""
    match = _ACTOR.fullmatch(name)
    return match[1] if match else name.removesuffix("WithConcurrencyGroups")


def values_text(record: Record) -> str:
    """The main values of a record: the signals first, by their names, then others in the line's own order."""
    names = sorted(record.metrics, key=lambda name: name not in BY_LOG_NAME)
    parts = []
    for name in names[:VALUES]:
        signal = BY_LOG_NAME.get(name)
        said, digits = (signal.name, signal.digits) if signal else (name, 3)
        parts.append(f"{said} {number(record.metrics[name], digits)}")
    more = len(names) - VALUES
    return harmless(BETWEEN.join(parts)) + (f"{BETWEEN}{more} more" if more > 0 else "")


def row_spans(row: Row, width: int, found: str = "", part: str = "") -> Spans:
    """A row in at most `width` cells; `found` is a searched text to be marked (lower case), and is in sight.

    `part` is the piece of the line that has it, where the row's own text does not (see `raw_part`).
    """
    if row.level == "fold":
        return [("dim", fit_text((" " * 9 if width >= 50 else "") + "· " + row.text, width))]
    letter, style = _SIGNS.get(row.level, (" ", "text"))
    when = clock(row.time, exact=True) if row.time is not None else ""
    out: Spans = [("dim", f"{when:8} "), (style, f"{letter} ")] if width >= 50 else [(style, f"{letter} ")]
    if width >= 76:
        out.append(("dim", pad(row.role, ROLE) + " "))
    if row.short:
        out += [*marked(row.short, found, "bright"), ("text", "  ")]
    room = width - width_of(out)
    text = part or row.text
    text = text if row.level != "record" else _whole_values(text, room)
    if found and found not in row.short.lower():
        text = _in_sight(part or row.text, text, found, room)
    out += marked(text, found, "text" if row.level in ("", "record") else style)
    return fitted(out, width)


def _in_sight(whole: str, text: str, found: str, room: int) -> str:
    """`text`, or where its first `room` cells do not show the match, the part of `whole` that does, if there is one."""
    hit = text.lower().find(found)
    if hit >= 0 and cells(text[: hit + len(found)]) < room:
        return text
    hit = whole.lower().find(found)
    if hit < 0:
        return text
    begin = max(0, hit - max(2, min(room // 3, room - len(found) - VALUE)))
    begin = max(begin, whole.find(" ", begin, hit) + 1)  # at a word: half a number would be another number
    return f"… {whole[begin:]}" if begin else whole


def _whole_values(text: str, width: int) -> str:
    """As many values of a record as fit: a number cut in two would be another number."""
    while cells(text) > width and BETWEEN in text:
        text = text.removesuffix(MORE).rpartition(BETWEEN)[0] + MORE
    return text


_SIGNS = {"error": ("E", "critical"), "warning": ("W", "warning"), "record": ("◆", "accent")}


def marked(text: str, found: str, style: str) -> Spans:
    """The text, with what was searched for set off."""
    if not found:
        return [(style, text)]
    out: Spans = []
    at, low = 0, text.lower()
    if len(low) != len(text):  # a letter that is longer in lower case
        return [(style, text)]
    while (hit := low.find(found, at)) >= 0:
        out += [(style, text[at:hit]), ("watch", text[hit : hit + len(found)])]
        at = hit + len(found)
    return [*out, (style, text[at:])]


def matches(row: Row, found: str) -> bool:
    """Whether a row has the searched text (lower case) in it."""
    return found in row.text.lower() or (bool(row.short) and found in row.short.lower())


def raw_part(line: LogLine, found: str) -> str:
    """What a line has of a searched text (lower case): the metrics named so, else the piece around it; "" for nothing.

    What is hidden in it is not found. Only a line whose bytes have it is decoded: 0.4 ms for the longest.
    """
    if found.isascii() and found.encode() not in line.raw.lower():
        return ""
    if records := records_of(line.raw):
        named = {name: value for name, value in records[-1].metrics.items() if found in harmless(name).lower()}
        if named:
            return harmless(BETWEEN.join(f"{name} {number(value)}" for name, value in named.items()))
    text = whole_text(line)
    hit = text.lower().find(found)
    return text[max(0, hit - NEAR_CHARACTERS) : hit + NEAR_CHARACTERS] if hit >= 0 else ""


def folds(fold: Fold, found: str) -> bool:
    """Whether one of the kept lines of a fold has the searched text (lower case)."""
    if found.isascii() and not any(found.encode() in raw.lower() for raw in fold.lines):
        return False
    return any(matches(row, found) for row in unfolded(fold))


def passes(row: Row, level: str, role: str) -> bool:
    """Whether a row is shown under these filters; folds and breaks belong to no process and no level."""
    if role and (row.role or NO_PROCESS) != role:
        return False
    match level:
        case "warnings":
            return row.level in ("warning", "error")
        case "errors":
            return row.level == "error"
        case "records":
            return row.level == "record"
    return not role or row.level != "fold"


def whole_text(entry: LogEntry) -> str:
    """All of an entry that is kept, to be read: the line, or the noise that was folded."""
    if isinstance(entry, LogLine):
        text = harmless(clean(entry.raw))
        return text if len(entry.raw) < LINE else text[: len(text) - CUT]
    if isinstance(entry, Fold):
        last = harmless(clean(entry.lines[-1][:READ]))[:SHOWN] if entry.lines else ""
        return f"{fold_text(entry)}, the last: {last}"
    return f"the file was {entry.why} here"


def unfolded(fold: Fold) -> list[Row]:
    """The newest noise of a fold as rows."""
    return [line_row(fold.number, raw) for raw in fold.lines]
