"""What a log says besides metrics: launches and arguments, trouble, the job's end, timers.

Text is searched only where `core.reader` hands it over. In it markers are looked for, one C search each
(0.1 to 0.6 s a gigabyte); only lines that hold one are decoded and read. Three sets:

- in text that passes between records (2 s a gigabyte): tracebacks, the worst errors, the job's last word,
  launch lines, Timer lines;
- in text that is looked at closely (5 s a gigabyte): all errors and the generation bar as well;
- in a launch (before the first record, and from a launch line to the next record; at most `LAUNCH_BYTES`,
  8 s a gigabyte more): the lines that the manual explains. Commands that start a run are
  looked for there too, and in the text before a launch line or another sign of a start.

Each search also gives the last time stamp of its text. Lines in JSON objects (docker's json-file, structured
loggers) are taken out of them; tables and tracebacks are read behind whatever prefix their first line has. Times
are those at a line's head: transports' ones until a record has shown that loggers stamp their lines themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from miles_tui.core.model.records import Event, EventKind, Source
from miles_tui.core.parsing.diagnose import diagnose
from miles_tui.core.parsing.last_stamp import last_stamp
from miles_tui.core.parsing.launch_args import cli_arguments, table_row
from miles_tui.core.parsing.line_prefix import RAY, alike, head_time, message_of, source_of
from miles_tui.core.parsing.line_splitter import line_end, line_start, next_line
from miles_tui.core.parsing.metric_line import line_at as _line
from miles_tui.core.text.sanitize import mask, plain

__all__ = ["LAUNCH_BYTES", "START_MARKS", "Searcher", "diagnose"]

LAUNCH_BYTES = 8 << 20  # a start prints less; a log without any metric is not searched to its end
_MOST_TEXT = 400  # characters of a line that a fact keeps
_MOST_HITS = 128  # lines with one marker in one search, from its beginning and again from its end;
_MOST_BEGINS = 32  # of lines that start a run, which are read closer
_TRACEBACK_LINES = 400  # until its exception is given up
_TABLE_LINES = 5000
_LONG_NAME = 46  # characters: the shortest name behind which a table's row has no dots

_TRACEBACK = b"Traceback (most recent"
# As few as can be, each for several words: `rror` is Error and error, `illed` Killed and killed.
_TROUBLE = (
    b"rror", b"xception", b"illed", b"NCCL", b"Fatal ", b"*** SIG", b"core dumped", b"terminate called",
    b"exit code 137",
)  # fmt: skip
_WORST = (b"OutOfMemoryError", b"ray.exceptions.", b"Fatal Python", b"Fatal async misuse")
# The longer a literal, the faster it is found.
_LAUNCH = (
    b"Running entrypoint for job", b"arguments ----", b"Started a local Ray instance", b"successfully loaded checkpoint"
)  # fmt: skip
_COMMANDS = (b"ray job submit", b"train.py", b"train_async.py")
_JOB = b"Job '"
_LAST_WORDS = (EventKind.TROUBLE, EventKind.JOB_FAILED, EventKind.JOB_DONE)
# What says that a run may begin anew, whoever prints the next record.
START_MARKS = (_LAUNCH[0], b"arguments ----------------", *_LAUNCH[2:])
_TIMER = b"Timer "
_BAR = b"Rollout generation"
_MESSAGES = {
    b"unsupported operand type(s) for +: 'NoneType' and 'str'": "wandb-group",
    b"W&B offline mode enabled": "wandb-offline",
    b"Saving tensorboard log to": "tensorboard",
}

# A traceback's last line: the exception at the line's start, alone or with its words.
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*(?=[A-Z])\w*(?:Error|Exception|Interrupt|ExceptionGroup)(?:\([\w.]*\))?(?:: .*|:?\s*\Z)",
    re.DOTALL,
)
# Behind a traceback's header other names count too (`queue.Empty`, `httpx.ReadTimeout: ...`).
_ANY_EXCEPTION = re.compile(
    r"(?:[a-z_]\w*\.)+[A-Z]\w*(?:: .*|\s*\Z)|[A-Z][a-z]\w{0,80}?[A-Z]\w{0,80}: .*"
    r"|(?:StopIteration|KeyboardInterrupt)\Z",
    re.DOTALL,
)
_FATAL_LINE = re.compile(
    r"killed due to memory pressure|NCCL operations have failed or timed out"
    r"|Watchdog caught collective operation timeout|taking the entire process down"
    r"|Fatal Python error:|Fatal async misuse, aborting:"
    r"|terminate called (?:after throwing|without an active)|\bOOMKilled\b|terminated with exit code 137"
    r"|Killed process \d+ \(\S{0,40}(?:python|ray|sglang|miles)"
    r"|SIG(?:SEGV|ABRT)\b.{0,200}?received|core dumped\)|\bKilled +\S*python"
    r"|slurmstepd: error: .{0,300}?(?:CANCELLED|oom|OOM)|srun: error: .{0,300}?(?:Killed|Exited|Out Of Memory|Aborted)"
)
_OF_WORKERS = re.compile(r"\A\s*\[rank\d+\]|ProcessGroupNCCL")
_JOB_LINE = re.compile(r"Job '[^']+' (failed|succeeded|was stopped|submitted successfully)")
_TIMER_LINE = re.compile(r"Timer ([\w./-]{1,80}) (start|end)\b")
_BAR_LINE = re.compile(r"Rollout generation:?.{0,200}?(\d{1,9})/(\d{1,9}) \[")
_TABLE_HEAD = re.compile(r"---- ?arguments ?----")
_TABLE_END = re.compile(r"---- ?end of .{0,80}?----")
_LAUNCH_LINE = re.compile(
    r"Running entrypoint for job|Started a local Ray instance|successfully loaded checkpoint|" + _TABLE_HEAD.pattern
)
# A command as a shell or a launcher prints it before it runs.
_PROMPT = re.compile(r"\+ |EXEC: |\$ ")
_COMMAND = re.compile(r"ray job submit|\btrain(?:_async)?\.py")

EventAt = tuple[int, Event]  # where in the text, and what
Rows = Iterator[tuple[int, str]]  # where a row's line begins, and the row


@dataclass(slots=True)
class _Traceback:
    """One whose exception has not come yet."""

    head: str  # its first row
    source: Source
    alike: re.Pattern[str] | None  # what its writer puts before each line
    left: int = _TRACEBACK_LINES


@dataclass(slots=True)
class _Table:
    """One whose end has not come yet."""

    source: Source
    rows: dict[str, str] = field(default_factory=dict)
    left: int = _TABLE_LINES


class Searcher:
    """Looks for facts in pieces of one log's text, given in order; a traceback or table may go on in the next piece.

    `open`: it wants to be told of the next `record`; without a search since the last one it has nothing to end.
    `launching` is True before the first record and after a launch line, until a record. `bracketed` is set by the
    reader once a record has a logger's own stamp: from then on other stamps are no clock, nor are the `outer` ones
    before it.
    """

    __slots__ = ("_launched", "_table", "_traceback", "bracketed", "launching", "open", "outer")

    def __init__(self) -> None:
        self.launching = self.open = True
        self.bracketed = False
        self.outer = 0
        self._launched = 0  # bytes of launch text that were searched
        self._traceback: _Traceback | None = None
        self._table: _Table | None = None

    def search(self, text: bytes, *, passing: bool = False, starting: bool = False, before: bytes = b"") -> list[Event]:
        """The facts in `text` (complete lines), in its order. `passing`: only what a restart must know, and cheaply.

        `starting`: a run seems to begin behind this text. `before` is what was searched since the last record:
        commands in it count only once a start is known, so that it does not matter in which pieces text comes.
        """
        was = self.launching
        self.open = True
        closely = not passing or (was and self._launched < LAUNCH_BYTES)
        earlier: list[EventAt] = []
        found: list[EventAt] = []
        seen: set[int] = set()
        if self._traceback is not None:
            self._end_traceback(_rows(text, 0), found, seen)
        if self._table is not None:
            self._read_table(_rows(text, 0), found)
        self._core(text, closely, found, seen)
        if (closely and (was or starting)) or _begins(found):
            self._look(text, _COMMANDS, found)
            if not was:
                self._look(before, _COMMANDS, earlier)
        begin = 0 if was else min(_begins(found), default=-1)
        self.launching = was or begin >= 0
        if begin >= 0 and self._launched < LAUNCH_BYTES:
            self._launched += len(text) - begin
            self._launch_only(text, begin, found)
        found.sort(key=_place)
        self._date(text, found)
        facts = [fact for _, fact in (*sorted(earlier, key=_place), *found)]
        if (clock := last_stamp(text, own=self.bracketed, outer=self.outer)) is not None:
            facts.append(clock)
        return facts

    def _date(self, text: bytes, found: list[EventAt]) -> None:
        """Before the first trouble that has no time of its own: the newest one before it."""
        for place, (at, fact) in enumerate(found):
            if fact.kind in _LAST_WORDS:
                if fact.time is None:
                    clock = last_stamp(text, own=self.bracketed, outer=self.outer, end=at)
                    found[place:place] = [(at, clock)] if clock is not None else []
                return

    def record(self) -> list[Event]:
        """A record follows: the launch is over, and what was open in the text before it."""
        self.launching = self.open = False
        self._traceback = None
        return [] if self._table is None else self._closed()

    def finish(self) -> list[Event]:
        """The log's end: a traceback that never reached its exception is trouble as well."""
        facts = [] if self._traceback is None else [self._fact(EventKind.TROUBLE, self._traceback.head)]
        self._traceback = None
        return facts + self._closed()

    def _closed(self) -> list[Event]:
        table, self._table = self._table, None
        return [Event(EventKind.ARGS, data=table.rows)] if table is not None and table.rows else []

    # -- markers that always count -----------------------------------------------------------

    def _core(self, text: bytes, closely: bool, found: list[EventAt], seen: set[int]) -> None:
        for at in _hits(text, _TRACEBACK):
            rows = _rows(text, at)
            head = next((row for _, row in rows if "Traceback (most recent" in row), "")
            before = head[: head.find("Traceback (")]
            if '"' in message_of(before)[0] or len(before) > _MOST_TEXT:
                continue  # somebody's text that tells of one
            self._traceback = _Traceback(head, source_of(head), alike(before))
            self._end_traceback(rows, found, seen)
        for marker in _TROUBLE if closely else _WORST:
            found += ((at, fact) for at in _hits(text, marker) if (fact := self._trouble(text, at, seen)) is not None)
        self._look(text, _LAUNCH, found)
        for at in _hits(text, _JOB):
            found += ((at, fact) for fact in self._job(_line(text, at)))
        for at in _hits(text, _TIMER):
            line = _line(text, at)
            if match := _TIMER_LINE.search(line):
                kind = EventKind.TIMER_START if match[2] == "start" else EventKind.TIMER_END
                found.append((at, Event(kind, match[1], self.time(line), source=source_of(line))))
        if closely:
            found += self._bar(text)

    def _look(self, text: bytes, markers: tuple[bytes, ...], found: list[EventAt]) -> None:
        """Look for lines that start a run; each counts once."""
        known = set(_begins(found))
        for marker in markers:
            for at in _hits(text, marker, most=_MOST_BEGINS):
                if at not in known:
                    known.add(at)
                    self._launch(text, at, found)

    def _launch(self, text: bytes, at: int, found: list[EventAt]) -> None:
        line = _line(text, at)
        if _LAUNCH_LINE.search(line) is None:
            prompt = _PROMPT.search(line)
            if prompt is None or _COMMAND.search(line, prompt.end()) is None:
                return
        found.append((at, self._fact(EventKind.LAUNCH, line)))
        if _TABLE_HEAD.search(line):
            rows = _rows(text, at)
            head = next((row for _, row in rows if _TABLE_HEAD.search(row)), "")
            self._table = _Table(source_of(head))
            self._read_table(rows, found)
        elif arguments := cli_arguments(line):
            found.append((at, Event(EventKind.ARGS, time=self.time(line), data=arguments)))

    def _read_table(self, rows: Rows, found: list[EventAt]) -> None:
        """Read rows until the table's end, or until another begins; other processes' lines are none of it."""
        table = self._table
        if table is None:
            return
        for begin, line in rows:
            table.left -= 1
            if _TABLE_END.search(line) or not table.left or _TABLE_HEAD.search(line):
                found += ((begin, fact) for fact in self._closed())
                return
            row = table_row(line) if ".." in line or len(line) > _LONG_NAME else None
            if row and source_of(line) == table.source:
                table.rows[row[0]] = row[1]

    def _end_traceback(self, rows: Rows, found: list[EventAt], seen: set[int]) -> None:
        """Look for the exception of the traceback that is open; other writers' lines may come in between."""
        open_ = self._traceback
        if open_ is None:
            return
        for begin, line in rows:
            open_.left -= 1
            if source_of(line) == open_.source:
                own = open_.alike.match(line) if open_.alike else None
                message = line[own.end() :] if own else message_of(line)[0]
                if _EXCEPTION.fullmatch(message) or _ANY_EXCEPTION.fullmatch(message):
                    self._traceback = None
                    if begin not in seen:
                        seen.add(begin)
                        found.append((begin, self._fact(EventKind.TROUBLE, line, message)))
                    return
                if message.startswith("Traceback (most recent"):
                    return
            if not open_.left:
                self._traceback = None
                return

    # -- single lines ------------------------------------------------------------------------

    def time(self, line: str) -> float | None:
        """The time of a line by the log's own clock."""
        return head_time(line, own=self.bracketed, outer=self.outer)

    def _launch_only(self, text: bytes, begin: int, found: list[EventAt]) -> None:
        """The lines that the manual explains, from `begin` on."""
        for words, name in _MESSAGES.items():
            for at in _hits(text, words, begin):
                line = _line(text, at)
                said = _harmless(message_of(line)[0].strip())
                found.append((at, Event(EventKind.MESSAGE, said, self.time(line), {"id": name}, source_of(line))))

    def _trouble(self, text: bytes, at: int, seen: set[int]) -> Event | None:
        if at in seen:
            return None
        seen.add(at)
        line = _line(text, at)
        message, _ = message_of(line)
        if _EXCEPTION.fullmatch(message) or _FATAL_LINE.search(line):
            return self._fact(EventKind.TROUBLE, line)
        return None

    def _job(self, line: str) -> Iterator[Event]:
        kinds = {"failed": EventKind.JOB_FAILED, "submitted successfully": EventKind.LAUNCH}
        for row in line.split("\n"):
            if match := _JOB_LINE.search(row):
                yield self._fact(kinds.get(match[1], EventKind.JOB_DONE), row, row[match.start() :])

    def _bar(self, text: bytes) -> Iterator[EventAt]:
        """The newest frame of the generation bar."""
        at = text.rfind(_BAR)
        while at >= 0:
            begin = line_start(text, 0, at)
            line = _line(text, begin)
            if match := _BAR_LINE.search(line):
                done = {"done": match[1], "total": match[2]}
                yield begin, Event(EventKind.PROGRESS, "", self.time(line), done, source_of(line))
                return
            at = text.rfind(_BAR, 0, begin)

    def _fact(self, kind: EventKind, line: str, message: str | None = None) -> Event:
        """A fact with the text of `line`: `message`, a part of it, or what stands behind known prefixes."""
        said, ray = message_of(line)
        if message is not None:
            said = message
            ray = ray or ("pid=" in line and RAY.search(line, 0, len(line) - len(message)) is not None)
        data = {"driver": "" if ray or _OF_WORKERS.search(line) else "1"} if kind is EventKind.TROUBLE else {}
        return Event(kind, _harmless(said.strip()), self.time(line), data, source_of(line))


def _begins(found: list[EventAt]) -> list[int]:
    return [at for at, fact in found if fact.kind is EventKind.LAUNCH]


def _place(found: EventAt) -> int:
    return found[0]


@lru_cache(maxsize=64)  # ranks print the same: 12 µs each, and lines of at most 64 KiB
def _harmless(text: str) -> str:
    return _short(mask(plain(text)))


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "..."


def _hits(text: bytes, marker: bytes, begin: int = 0, most: int = _MOST_HITS) -> Iterator[int]:
    """Where the lines begin that hold `marker`, rising; of very many the first and the last ones."""
    at = text.find(marker, begin)
    for _ in range(most):
        if at < 0:
            return
        yield line_start(text, 0, at)
        stop = line_end(text, at, len(text))
        at = text.find(marker, stop)
    newest: list[int] = []
    at = len(text)
    while len(newest) < most and (at := text.rfind(marker, stop, at)) >= 0:
        at = line_start(text, stop, at)
        newest.append(at)
    yield from reversed(newest)


def _rows(text: bytes, at: int) -> Rows:
    """The rows of all lines from the one that begins at `at` on."""
    while at < len(text):
        stop = line_end(text, at, len(text))
        if stop > at:
            line = _line(text, at)
            if "\n" in line:
                yield from ((at, row) for row in line.split("\n"))
            else:
                yield at, line
        at = next_line(text, stop, len(text))
