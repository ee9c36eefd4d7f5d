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

BLOCK = 1 << 20
PIECE = 1 << 16
LAUNCH = 4 << 20  # bytes at the beginning in which the printed arguments are looked for
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")


@dataclass(slots=True, frozen=True)
class Past:
    """How much of the past is wanted: the newest `rollouts`, all from rollout `step` on, or all from `time` on.

    `time` is the log's clock in seconds; `clock` a time of day, on the day of the log's last record.
    """

    rollouts: int | None = None
    step: int | None = None
    time: float | None = None
    clock: float | None = None


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
            boundary = _Boundary(past)
            for end, line in _candidates_backwards(file):
                if boundary.is_before(line):
                    return end
    except OSError as error:
        raise UnreadableLog(f"{path} can't be read: {error.strerror or error}") from None
    return 0


def without_past(log: Log, past: Past) -> Log:
    """The log from the first wanted line on. Raises UnreadableLog, and UsageError for what can't be read backwards."""
    if str(log.path) == STDIN or is_stream(str(log.path)):
        raise UsageError(f"{log}: --tail and --since need a file: a pipe has no past")
    start = begin_at(log.path, past)
    if not start:
        return log
    return replace(log, before=(), start=start, launch=tuple(launch_facts(log.before[0] if log.before else log.path)))


def launch_facts(path: Path) -> list[Fact]:
    """The printed arguments at the beginning of the log, for a reader that skips it. Raises UnreadableLog."""
    reader, left = Reader(), LAUNCH
    facts: list[Fact] = []
    try:
        with path.open("rb") as file:
            while left > 0 and (head := file.read(PIECE)):
                left -= len(head)
                for item in reader.feed(head):
                    if isinstance(item, Record):
                        return facts  # the launch is over
                    if item.kind is FactKind.ARGS:
                        facts.append(item)
    except OSError as error:
        raise UnreadableLog(f"{path} can't be read: {error.strerror or error}") from None
    return facts


class _Boundary:
    """Tells, line by line from the end, where what is wanted begins."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._time = past.time
        self._seen: set[int] = set()
        self._usual = Usual()

    def is_before(self, line: bytes) -> bool:
        """Whether this line says the newest record that is not wanted."""
        line = line.rstrip(b"\r\n")
        usual = self._usual.record(line, 0, len(line))
        return any(map(self._unwanted, records_in(line).records if usual is None else [usual]))

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


def _candidates_backwards(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(offset behind it, line) of the lines with a brace, from the last one to the first."""
    for start, block in blocks_backwards(file, BLOCK):
        end = len(block)
        while (brace := block.rfind(b"{", 0, end)) >= 0:
            begin = block.rfind(b"\n", 0, brace) + 1
            end = block.find(b"\n", brace) + 1 or len(block)
            yield start + end, block[begin:end]
            end = begin
