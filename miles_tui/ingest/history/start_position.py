"""Where to begin in a log whose whole past nobody wants: `--tail N` rollouts, or `--since` a time or a rollout.

The log is read backwards, a block at a time and through its rotations, until the place is found: its cost is that of
what is shown. A packed file is read forwards: only where its records stand is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from miles_tui.core.model.records import Event, EventKind, Record
from miles_tui.core.parsing.fast_path import Usual
from miles_tui.core.parsing.line_splitter import MAX_LINE, line_end, line_start, without_hole
from miles_tui.core.parsing.metric_line import records_in
from miles_tui.core.parsing.reader import Reader
from miles_tui.errors import UsageError
from miles_tui.files import is_missing, open_plain
from miles_tui.ingest.files.gzip_file import GZIP_MAGIC, is_packed, unpacked
from miles_tui.ingest.files.log_file import STDIN, Log, is_stream, read_all
from miles_tui.ingest.files.open_file import PlainFile, unreadable
from miles_tui.ingest.files.reverse_reader import blocks_backwards

SEARCH_BLOCK = 1 << 17  # a mebibyte costs twice the time: its memory is fetched from the system again and again
STRETCH = 1 << 20  # bytes without a record, from which on text is searched as it is read (`core.reader.GAP`),
SEARCH_FACTOR = 6  # at so many times the price
PIECE = 1 << 16
LAUNCH = 4 << 20  # bytes at the beginning in which the printed arguments are looked for
LAUNCH_WORDS = (
    b"arguments ---",
    b"train.py",
    b"train_async.py",
    b"ray job submit",
)  # without any of these none are there
_NUMBERED_BRACE = re.compile(rb"\d: ?\{")  # without it a line holds no record
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")


class Past(NamedTuple):
    """How much of the past is wanted: the newest `rollouts`, all from rollout `step` on, or all from `time` on.

    `time` is the log's clock in seconds; `clock` a time of day, on the day of the log's last record; `given` how a
    person said it. `most` bounds the bytes before the newest record, those of long stretches without a record counted
    at their price; packed rotations are not looked into then.
    """

    rollouts: int | None = None
    step: int | None = None
    time: float | None = None
    clock: float | None = None
    most: int | None = None
    given: str = ""


# What is judged of a log that only its state is wanted of: 0.16 ms a rollout and 0.7 ms a mebibyte.
NEWEST_ROLLOUTS, NEWEST_MB = 320, 32
NEWEST = Past(rollouts=NEWEST_ROLLOUTS, most=NEWEST_MB << 20)


def parse_since(text: str) -> Past:
    """A rollout number, `HH:MM[:SS]`, or a date and time (`20261015` is a date). Raises UsageError."""
    if text.isascii() and text.isdecimal() and len(text) < 8:
        return Past(step=int(text), given=text)
    clock = _CLOCK.fullmatch(text)
    if clock:
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        if hours < 24 and minutes < 60 and seconds < 60:
            return Past(clock=3600.0 * hours + 60 * minutes + seconds, given=text)
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is not None and moment.tzinfo is not None:
            raise UsageError(f"--since {text}: a log does not say its zone: give the time as the log prints it")
        if moment is not None:
            return Past(time=moment.replace(tzinfo=UTC).timestamp(), given=text)
    raise UsageError(f"--since {text}: give a rollout number, HH:MM, or a date and time such as 2026-10-15T16:30")


def begin_in(parts: Sequence[Path], past: Past) -> tuple[int, int]:
    """Where the first wanted line stands: in which part of the log (oldest first), at which offset of its text.

    (0, 0) where everything is wanted. Raises UnreadableLog, and UsageError where nothing is.
    """
    boundary = _Boundary(past)
    for number in range(len(parts) - 1, -1, -1):
        try:
            with PlainFile(str(parts[number])) as file:
                packed = is_packed(file)
                if packed and past.most is not None and number < len(parts) - 1:
                    return number + 1, 0
                found = _in_packed(file, boundary, number) if packed else _in_plain(file, boundary, number)
        except OSError as error:
            raise unreadable(parts[number], error) from None
        if found:
            return found
    boundary.check_time()
    return 0, 0


def _in_plain(file: PlainFile, boundary: _Boundary, part: int) -> tuple[int, int] | None:
    """The place in this part; None where all of it is wanted."""
    for start, block in blocks_backwards(file.fileno(), SEARCH_BLOCK):
        before = boundary.records
        for at, line in _candidates_backwards(block):
            known = boundary.records
            if boundary.is_before(line):
                return part, start + at + len(line)
            if boundary.records > known:
                boundary.oldest = part, start + at
        if boundary.is_far_enough(len(block), before):
            return boundary.oldest
    return None


def _in_packed(file: PlainFile, boundary: _Boundary, part: int) -> tuple[int, int] | None:
    """As `_in_plain`; kept are the ends of the lines with records, and what these are: 0.2 KB each."""
    found: list[tuple[int, list[Record]]] = []
    at, rest = 0, b""
    for text in unpacked(file.peek):
        lines, newline, more = text.rpartition(b"\n")
        if not newline:
            rest = bytes(without_hole((rest + text)[-MAX_LINE:]))
        else:
            block = rest + lines + newline
            found += reversed(list(_positions_backwards(block, at - len(rest), boundary)))
            rest = more
        at += len(text)
    found += _positions_backwards(rest, at - len(rest), boundary)
    for end, records in reversed(found):
        if boundary.are_before(records):
            return part, end
    return None


def _positions_backwards(block: bytes, at: int, boundary: _Boundary) -> Iterator[tuple[int, list[Record]]]:
    """(offset of the line's end, its records without their metrics), from the last line to the first."""
    for begin, line in _candidates_backwards(block):
        if _NUMBERED_BRACE.search(line) and (records := boundary.records_of(line)):
            yield at + begin + len(line), [replace(record, metrics={}) for record in records]


def is_seekable(path: Path) -> bool:
    """Whether a log has an end to begin at: it is a plain file, neither packed nor a pipe."""
    if str(path) == STDIN or is_stream(str(path)):
        return False
    try:
        with open_plain(path) as file:
            return file.read(2) != GZIP_MAGIC
    except OSError:
        return False


def without_past(log: Log, past: Past) -> Log:
    """The log from the first wanted line on. Raises UnreadableLog, and UsageError for a pipe and where nothing is."""
    if str(log.path) == STDIN or is_stream(str(log.path)):
        raise UsageError(f"{log}: --tail and --since need a file: a pipe has no past")
    if is_missing(log.path):
        return log
    try:
        part, start = begin_in(log.parts, past)
    except UsageError as error:
        raise UsageError(f"{log}: {error}") from None
    if not part and not start:
        return log
    return log._replace(before=log.parts[part:-1], start=start, launch=tuple(launch_facts(log.parts[0])))


def launch_facts(path: Path) -> list[Event]:
    """The printed arguments at the beginning of the log, for a reader that skips it. Raises UnreadableLog.

    A launch is searched at 17 ms a mebibyte: nothing is, up to the piece before the first with one of `LAUNCH_WORDS`.
    """
    reader, before, found, read = Reader(), b"", False, 0
    facts: list[Event] = []
    chunks = read_all(path)
    for piece in (chunk[at : at + PIECE] for chunk in chunks for at in range(0, len(chunk), PIECE)):
        if read >= LAUNCH:
            break
        if not (piece := bytes(without_hole(piece))):
            continue
        read += len(piece)
        if not found and not (found := any(words in before[-64:] + piece for words in LAUNCH_WORDS)):
            if any(records_in(line).records for _, line in _candidates_backwards(piece)):
                return facts
            before = piece
            continue
        for item in (*reader.feed(before), *reader.feed(piece)):
            if isinstance(item, Record):
                return facts  # the launch is over
            if item.kind is EventKind.ARGS:
                facts.append(item)
        before = b""
    return facts


class _Boundary:
    """Tells, line by line from the end, where what is wanted begins."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._time = past.time
        self.records = 0  # seen so far
        self.oldest = (0, 0)  # the part and the offset of the last line that had one
        self._seen: set[int] = set()
        self._usual = Usual()
        self._wanted = False  # something was
        self._newest: Record | None = None  # that could have been
        self._spent = self._empty = 0

    def records_of(self, line: bytes) -> list[Record]:
        line = line.rstrip(b"\r\n")
        usual = self._usual.record(line, 0, len(line))
        return records_in(line).records if usual is None else [usual]

    def is_before(self, line: bytes) -> bool:
        """Whether this line says the newest record that is not wanted. Raises UsageError where none is wanted."""
        return self.are_before(self.records_of(line))

    def are_before(self, records: list[Record]) -> bool:
        self.records += len(records)
        return any(map(self._unwanted, records))

    def is_far_enough(self, size: int, before: int) -> bool:
        """Whether no more may be read. To be told of each block, and how many records were seen before it."""
        self._empty = 0 if self.records > before else self._empty + size
        if self._past.most is not None and before:
            self._spent += size * (SEARCH_FACTOR if self._empty > STRETCH else 1)
            return self._spent >= self._past.most
        return False

    def check_time(self) -> None:
        """Raises UsageError where a time was asked for, and no record has one."""
        if self.records and self._newest is None and (self._past.time, self._past.clock) != (None, None):
            raise UsageError(f"--since {self._past.given}: its lines have no time: give a rollout number")

    def _unwanted(self, record: Record) -> bool:
        past = self._past
        if past.time is not None or past.clock is not None:
            if record.time is None:
                return False
            if self._time is None and past.clock is not None:
                self._time = record.time - record.time % 86_400 + past.clock
                if self._time > record.time:
                    self._time -= 86_400  # later than the log's last word: yesterday's
            return self._decide(record, self._time is None or record.time >= self._time)
        if record.kind not in ("rollout", "perf"):
            return False  # numbers of updates and evaluations are no rollouts
        if past.step is not None:
            return self._decide(record, record.number >= past.step)
        self._seen.add(record.number)
        return past.rollouts is not None and len(self._seen) > past.rollouts

    def _decide(self, record: Record, wanted: bool) -> bool:
        self._newest = self._newest or record
        self._wanted = self._wanted or wanted
        if not self._wanted:
            newest = self._newest
            at = f", {datetime.fromtimestamp(newest.time, UTC):%Y-%m-%d %H:%M:%S}" if newest.time is not None else ""
            raise UsageError(
                f"--since {self._past.given}: nothing is that late: the last is {newest.kind} {newest.number}{at}"
            )
        return not wanted


def _candidates_backwards(block: bytes) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of the lines with a brace in a block of lines, from the last one to the first."""
    end = len(block)
    while (brace := block.rfind(b"{", 0, end)) >= 0:
        begin = line_start(block, 0, brace)
        end = min(line_end(block, brace, len(block)) + 1, len(block))
        yield begin, block[begin:end]
        end = begin
