"""`miles-tui export`: every record of a log as printed, in its order, as JSON Lines or CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from miles_tui.core.attempts import Attempts, Place
from miles_tui.core.layout import is_train_side
from miles_tui.core.records import Item, Record

CSV_HEADER = ("kind", "step", "attempt", "time", "metric", "value")


def stamp(time: float | None) -> str | None:
    """The log's own time stamp again, to the millisecond: the log's clock is kept as if it were UTC."""
    if time is None:
        return None
    return datetime.fromtimestamp(time, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


def plain_number(value: float) -> float | int | str:
    """NaN and infinities as the strings "nan", "inf", "-inf": JSON has no word for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


class Exporter:
    """Turns records into text, a record a metric line (twins too). It keeps the count of attempts."""

    def __init__(self, write: Callable[[str], object], form: str = "jsonl") -> None:
        self.records = 0
        self._write = write
        self._row = self._json if form == "jsonl" else self._csv
        self._attempts = Attempts()
        self._attempt = 1
        if form == "csv":
            write(",".join(CSV_HEADER) + "\n")

    def take(self, items: Iterable[Item]) -> None:
        """Write what is new. One write a batch: the caller flushes."""
        out: list[str] = []
        for item in items:
            if not isinstance(item, Record):
                self._attempts.note(item)
                continue
            if self._attempts.place(item, is_train_side(item.kind, item.metrics)) is Place.RESTART:
                self._attempt += 1
            out.append(self._row(item))
            self.records += 1
        if out:
            self._write("".join(out))

    def _json(self, record: Record) -> str:
        metrics = {name: plain_number(value) for name, value in record.metrics.items()}
        row = {
            "kind": record.kind,
            "step": record.number,
            "attempt": self._attempt,
            "time": stamp(record.time),
            "metrics": metrics,
        }
        return json.dumps(row) + "\n"

    def _csv(self, record: Record) -> str:
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        head = (record.kind, record.number, self._attempt, stamp(record.time) or "")
        rows.writerows((*head, name, plain_number(value)) for name, value in record.metrics.items())
        return text.getvalue()
