"""`miles-tui export`: every record of a log as printed, in its order, as JSON Lines or CSV."""

from __future__ import annotations

import csv
import gc
import io
import json
import math
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from miles_tui.commands.arguments import add_past, given_name, only, parser, wanted
from miles_tui.core.model.records import EventKind, Item, Record
from miles_tui.core.run.attempts import Attempts, Continuation
from miles_tui.core.run.line_schema import is_train_side
from miles_tui.core.text.sanitize import harmless, mask
from miles_tui.stdio import complain, not_all

if TYPE_CHECKING:
    from miles_tui.ingest.files.log_file import Log

MOST_HARMLESS_NAMES = 10_000  # metric names that are remembered as harmless
CSV_HEADER = ("kind", "step", "attempt", "time", "metric", "value")


def run(argv: Sequence[str]) -> int:
    """Write the records; exit status 2 where a part can't be read, 3 where there is none."""
    p = parser("export", "The records of a log, one a metric line, in its order.")
    p.add_argument("log", type=given_name, metavar="LOG")
    p.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")
    p.add_argument("--follow", action="store_true", help="go on as the log grows, until interrupted")
    add_past(p)
    p.add_argument("--rotated", action="store_true", help="read the rotations beside it first (train.log.1, ...)")
    a = p.parse_args(argv)
    exporter = Exporter(sys.stdout.write, a.format)
    if a.follow:
        from miles_tui.ingest.discovery import find_logs

        log = only(find_logs([a.log], must_exist=False, rotations=a.rotated), a.log)
        return export_follow(wanted([log], a)[0], exporter)
    from miles_tui.ingest.discovery import find_logs
    from miles_tui.ingest.history.log_items import read_items

    for log in wanted(find_logs([a.log], rotations=a.rotated), a):
        for items in read_items(log, keys=False):  # not ahead: a record is written in less time than it crosses in
            exporter.take(items)
    sys.stdout.flush()
    whole = not_all(exporter.cut_short)
    if not exporter.records:
        complain(f"{a.log}: {exporter.why_empty}")
        return 3
    return whole


def export_follow(log: Log, exporter: Exporter) -> int:
    """Write records as the log grows, each batch flushed at once, until SIGINT or SIGTERM."""
    from miles_tui.core.model.chunks import Ended, Missing
    from miles_tui.core.parsing.reader import Reader
    from miles_tui.ingest.follow.follower import follow_blocking
    from miles_tui.ingest.follow.watcher import Stop

    gc.enable()  # this one goes on for days
    stop, reader, status = Stop(), Reader(keys=False), 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    for batch in follow_blocking(log, stop=stop, before=log.before, start=log.start):
        for piece in batch.pieces:
            exporter.take(reader.apply(piece))
            match piece:
                case Missing(why):
                    complain(f"{log}: {why}")
                case Ended(wrong):
                    status = not_all([f"{log}: {wrong}"] if wrong else [])
        sys.stdout.flush()
    exporter.take(reader.cut())  # a last line that has its whole dict, and not yet its line end
    sys.stdout.flush()
    return status


def stamp(time: float | None) -> str | None:
    """The log's own time stamp again, to the millisecond: the log's clock is kept as if it were UTC."""
    if time is None:
        return None
    whole = int(time)
    micro = round((time - whole) * 1e6)  # a stamp's milliseconds are not exact in a float
    if micro == 1_000_000:
        whole, micro = whole + 1, 0
    return f"{_second(whole)}.{str(1000 + micro // 1000)[1:]}"


@lru_cache(maxsize=256)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).replace(tzinfo=None).isoformat()


def plain_number(value: float) -> float | int | str:
    """NaN and infinities as the strings "nan", "inf", "-inf": JSON has no word for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


class Exporter:
    """Turns records into text, a record a metric line (twins too). It keeps the count of attempts."""

    def __init__(self, write: Callable[[str], object], form: str = "jsonl") -> None:
        self.records = 0
        self.cut_short: list[str] = []  # what of the log could not be read, a line each
        self.why_empty = ""  # why the log has no record
        self._write = write
        self._row = self._json if form == "jsonl" else self._csv
        self._shown: Callable[[str], str] = mask if form == "jsonl" else harmless  # JSON spells what acts on a terminal
        self._attempts = Attempts()
        self._attempt = 1
        self._harmless: set[str] = set()
        if form == "csv":
            write(",".join(CSV_HEADER) + "\n")

    def take(self, items: Iterable[Item]) -> None:
        """Write what is new. One write a batch: the caller flushes."""
        out: list[str] = []
        for item in items:
            if not isinstance(item, Record):
                self._attempts.note(item)
                self.cut_short += [item.text] if item.kind is EventKind.CUT_SHORT else []
                self.why_empty = item.text if item.kind is EventKind.NO_METRIC else self.why_empty
                continue
            if self._attempts.place(item, is_train_side(item.kind, item.metrics)) is Continuation.RESTART:
                self._attempt += 1
            out.append(self._row(item if self._harmless.issuperset(item.metrics) else self._without_keys(item)))
            self.records += 1
        if out:
            self._write("".join(out))

    def _without_keys(self, record: Record) -> Record:
        """The record with names in which no key can be read; mostly the same one.

        In CSV nothing in them acts on a terminal or ends a line either.
        """
        names = " ".join(record.metrics)
        same = self._shown(names) == names  # all at once: a tenth of the time
        shown = {} if same else _told_apart(record.metrics, self._shown)
        if all(name == text for name, text in shown.items()):
            if len(self._harmless) > MOST_HARMLESS_NAMES:
                self._harmless.clear()
            self._harmless.update(record.metrics)
            return record
        return replace(record, metrics={shown[name]: value for name, value in record.metrics.items()}, printed=b"")

    def _json(self, record: Record) -> str:
        time = "null" if record.time is None else f'"{stamp(record.time)}"'
        head = f'"kind": "{record.kind}", "step": {record.number}, "attempt": {self._attempt}, "time": {time}'
        return f'{{{head}, "metrics": {_printed(record) or _dumped(record)}}}\n'

    def _csv(self, record: Record) -> str:
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        head = (record.kind, record.number, self._attempt, stamp(record.time) or "")
        rows.writerows((*head, name, plain_number(value)) for name, value in record.metrics.items())
        return text.getvalue()


def _told_apart(names: Iterable[str], show: Callable[[str], str]) -> dict[str, str]:
    """Each name as it may be shown; two that differ only in what is not shown stay two."""
    shown: dict[str, str] = {}
    taken: dict[str, int] = {}  # what is shown, and the last number behind it
    for name in names:
        text = masked = show(name)
        while text in taken:
            taken[masked] += 1
            text = f"{masked} ({taken[masked]})"
        taken[text] = 1
        shown[name] = text
    return shown


def _printed(record: Record) -> str:
    """The record's own JSON text, its numbers to the last digit as printed; "" where it would say something else.

    It is JSON but for NaN and infinities, of which a sum is one too. A key that is twice in it has a colon too many;
    so has one with a colon in it, which is only slower. A tenth of the time of writing every number anew.
    """
    printed, metrics = record.printed, record.metrics
    if printed and printed.count(b":") == len(metrics) and math.isfinite(sum(metrics.values(), 0.0)):
        return printed.decode()
    return ""


def _dumped(record: Record) -> str:
    text = json.dumps({name: plain_number(value) for name, value in record.metrics.items()})
    return text.replace("\x7f", "\\u007f")  # all others it spells by itself
