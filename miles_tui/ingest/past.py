"""Where to begin in a log whose whole past nobody wants: `--tail N` rollouts, or `--since` a time or a rollout.

The log is read backwards, a block at a time, until the place is found: its cost is that of what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from miles_tui.core.parse import records_in
from miles_tui.core.reader import Reader
from miles_tui.core.records import Fact, FactKind, Record
from miles_tui.core.usual import Usual
from miles_tui.errors import UnreadableLog, UsageError
from miles_tui.ingest.backwards import blocks_backwards
from miles_tui.ingest.read import STDIN, Log, is_stream
from miles_tui.ingest.source import GZIP_MAGIC

BLOCK = 1 << 17  # a mebibyte costs twice the time: its memory is fetched from the system again and again
STRETCH = 1 << 20  # bytes without a record, from which on text is searched as it is read (`core.reader.GAP`),
SEARCHED = 6  # at so many times the price
PIECE = 1 << 16
LAUNCH = 4 << 20  # bytes at the beginning in which the printed arguments are looked for
ARGUMENTS = (b"arguments ---", b"train.py", b"train_async.py", b"ray job submit")  # without any of these none are there
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")


@dataclass(slots=True, frozen=True)
class Past:
    """How much of the past is wanted: the newest `rollouts`, all from rollout `step` on, or all from `time` on.

    `time` is the log's clock in seconds; `clock` a time of day, on the day of the log's last record. `most` bounds
    the bytes before the newest record, those of long stretches without a record counted at their price.
    """

    rollouts: int | None = None
    step: int | None = None
    time: float | None = None
    clock: float | None = None
    most: int | None = None


def parse_since(text: str) -> Past:
    """A rollout number, `HH:MM[:SS]`, or a date and time. Raises UsageError."""
    if text.isdigit():
        return Past(step=int(text))
    clock = _CLOCK.fullmatch(text)
    if clock:
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        if hours < 24 and minutes < 60 and seconds < 60:
            return Past(clock=3600.0 * hours + 60 * minutes + seconds)
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is not None:
            return Past(time=moment.replace(tzinfo=UTC).timestamp())
    raise UsageError(f"--since {text}: give a rollout number, HH:MM, or a date and time such as 2026-10-15T16:30")


def begin_at(path: Path, past: Past) -> int:
    """The offset of the first line that is wanted; 0 where everything is. Raises UnreadableLog, UsageError."""
    try:
        with path.open("rb") as file:
            if file.read(2) == GZIP_MAGIC:
                raise UsageError(f"{path}: --tail and --since need a plain file, not a packed one")
            return _begin_in(file, past)
    except OSError as error:
        raise UnreadableLog(f"{path} can't be read: {error.strerror or error}") from None


def _begin_in(file: BinaryIO, past: Past) -> int:
    boundary = _Boundary(past)
    begin = spent = empty = 0
    for start, block in blocks_backwards(file, BLOCK):
        before = boundary.records
        for at, line in _candidates_backwards(block):
            known = boundary.records
            if boundary.is_before(line):
                return start + at + len(line)
            if boundary.records > known:
                begin = start + at
        empty = 0 if boundary.records > before else empty + len(block)
        if past.most is not None and before:
            spent += len(block) * (SEARCHED if empty > STRETCH else 1)
            if spent >= past.most:
                return begin
    return 0


def is_seekable(path: Path) -> bool:
    """Whether a log has an end to begin at: it is a plain file, neither packed nor a pipe."""
    if str(path) == STDIN or is_stream(str(path)):
        return False
    try:
        with path.open("rb") as file:
            return file.read(2) != GZIP_MAGIC
    except OSError:
        return False


def without_past(log: Log, past: Past) -> Log:
    """The log from the first wanted line on. Raises UnreadableLog, and UsageError for what can't be read backwards."""
    if str(log.path) == STDIN or is_stream(str(log.path)):
        raise UsageError(f"{log}: --tail and --since need a file: a pipe has no past")
    start = begin_at(log.path, past)
    if not start:
        return log
    return replace(log, before=(), start=start, launch=tuple(launch_facts(log.before[0] if log.before else log.path)))


def launch_facts(path: Path) -> list[Fact]:
    """The printed arguments at the beginning of the log, for a reader that skips it. Raises UnreadableLog.

    A launch is searched at 17 ms a mebibyte: nothing is, up to the piece before the one that has `ARGUMENTS` in it.
    """
    reader, before, found = Reader(), b"", False
    facts: list[Fact] = []
    try:
        with path.open("rb") as file:
            while file.tell() < LAUNCH and (piece := file.read(PIECE)):
                if not found and not (found := any(words in before[-64:] + piece for words in ARGUMENTS)):
                    if any(records_in(line).records for _, line in _candidates_backwards(piece)):
                        return facts
                    before = piece
                    continue
                for item in (*reader.feed(before), *reader.feed(piece)):
                    if isinstance(item, Record):
                        return facts  # the launch is over
                    if item.kind is FactKind.ARGS:
                        facts.append(item)
                before = b""
    except OSError as error:
        raise UnreadableLog(f"{path} can't be read: {error.strerror or error}") from None
    return facts


class _Boundary:
    """Tells, line by line from the end, where what is wanted begins."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._time = past.time
        self.records = 0  # seen so far
        self._seen: set[int] = set()
        self._usual = Usual()

    def is_before(self, line: bytes) -> bool:
        """Whether this line says the newest record that is not wanted."""
        line = line.rstrip(b"\r\n")
        usual = self._usual.record(line, 0, len(line))
        records = records_in(line).records if usual is None else [usual]
        self.records += len(records)
        return any(map(self._unwanted, records))

    def _unwanted(self, record: Record) -> bool:
        past = self._past
        if past.clock is not None and self._time is None and record.time is not None:
            self._time = record.time - record.time % 86_400 + past.clock
            if self._time > record.time:
                self._time -= 86_400  # later than the log's last word: yesterday's
        if self._time is not None:
            return record.time is not None and record.time < self._time
        if record.kind not in ("rollout", "perf"):
            return False  # numbers of updates and evaluations are no rollouts
        if past.step is not None:
            return record.number < past.step
        self._seen.add(record.number)
        return past.rollouts is not None and len(self._seen) > past.rollouts


def _candidates_backwards(block: bytes) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of the lines with a brace in a block of lines, from the last one to the first."""
    end = len(block)
    while (brace := block.rfind(b"{", 0, end)) >= 0:
        begin = block.rfind(b"\n", 0, brace) + 1
        end = block.find(b"\n", brace) + 1 or len(block)
        yield begin, block[begin:end]
        end = begin
