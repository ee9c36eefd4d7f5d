"""What a log says besides metrics: launches and arguments, trouble, the job's end, timers, keys that leaked.

Text is searched only where `core.reader` hands it over. In it markers are looked for, one C search each
(0.1 to 0.6 s a gigabyte); only lines that hold one are decoded and read. Three sets:

- in text that passes between records (2 s a gigabyte): tracebacks, the worst errors, the job's last word,
  launch lines, Timer lines;
- in text that is looked at closely (5 s a gigabyte): all errors and the generation bar as well;
- in a launch (before the first record, and from a launch line to the next record; at most `LAUNCH_BYTES`,
  8 s a gigabyte more): keys and tokens, and the lines that the manual explains.

Each search also gives the last time stamp of its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from miles_tui.core.args import cli_arguments, table_row
from miles_tui.core.diagnose import diagnose
from miles_tui.core.lines import clean, line_end, line_start
from miles_tui.core.plain import mask, plain
from miles_tui.core.prefix import message_of, source_of, time_of
from miles_tui.core.records import Fact, FactKind

__all__ = ["LAUNCH_BYTES", "Searcher", "diagnose", "last_stamp"]

LAUNCH_BYTES = 8 << 20  # a start prints less, and its keys first; a log without any metric is not searched to its end
_MOST_TEXT = 400  # characters of a line that a fact keeps
_MOST_LINE = 1 << 16  # bytes of a line that are read at all
_MOST_HITS = 128  # lines with one marker in one search, from its beginning and again from its end
_MOST_YEARS = 4096  # places with `20` that are looked at for the last time stamp of a text
_TRACEBACK_LINES = 400  # until its exception is given up
_TABLE_LINES = 5000

_TRACEBACK = b"Traceback (most recent"
# As few as can be, each for several words: `rror` is Error and error, `illed` Killed and killed.
_TROUBLE = (b"rror", b"xception", b"illed", b"NCCL", b"Fatal Python", b"*** SIG", b"core dumped")
_WORST = (b"OutOfMemoryError", b"ray.exceptions.", b"Fatal Python")
_LAUNCH = (b"Running entrypoint", b"arguments ---", b"local Ray instance", b"loaded checkpoint", b"ray job submit")
_COMMANDS = (b"train.py", b"train_async.py")
_JOB = b"Job '"
_TIMER = b"Timer "
_BAR = b"Rollout generation"
_MESSAGES = {
    b"unsupported operand type(s) for +: 'NoneType' and 'str'": "wandb-group",
    b"W&B offline mode enabled": "wandb-offline",
    b"Saving tensorboard log to": "tensorboard",
}
_KEYS = (
    b"hf_", b"sk-", b"_KEY", b"_key", b"-key", b"_TOKEN", b"_token", b"-token", b"AKIA", b"ASIA", b"earer ", b"ghp_",
    b"github_pat", b"assw", b"ASSW", b"eyJ", b"xox", b"AIza", b"glpat", b"ecret",
)  # fmt: skip

# A traceback's last line: the exception at the line's start, alone or with its words.
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*(?=[A-Z])\w*(?:Error|Exception|Interrupt|ExceptionGroup)(?:\([\w.]*\))?(?:: .*|:?\s*\Z)",
    re.DOTALL,
)
# Behind a traceback's header other names count too (`queue.Empty`, `httpx.ReadTimeout: ...`).
_ANY_EXCEPTION = re.compile(
    r"(?:[a-z_]\w*\.)+[A-Z]\w*(?:: .*|\s*\Z)|[A-Z][a-z]\w*[A-Z]\w*: .*|(?:StopIteration|KeyboardInterrupt)\Z", re.DOTALL
)
_FATAL = re.compile(
    r"killed due to memory pressure|NCCL operations have failed or timed out"
    r"|Watchdog caught collective operation timeout|taking the entire process down|Fatal Python error:"
    r"|SIG(?:SEGV|ABRT)\b.*received|core dumped\)|\bKilled +\S*python"
    r"|slurmstepd: error: .*(?:CANCELLED|oom|OOM)|srun: error: .*(?:Killed|Exited|Out Of Memory|Aborted)"
)
_OF_WORKERS = re.compile(r"\A\s*\[rank\d+\]|ProcessGroupNCCL")
_JOB_LINE = re.compile(r"Job '[^']+' (failed|succeeded|was stopped|submitted successfully)")
_TIMER_LINE = re.compile(r"Timer ([\w./-]{1,80}) (start|end)\b")
_BAR_LINE = re.compile(r"Rollout generation:?.*?(\d{1,9})/(\d{1,9}) \[")
_LAUNCH_LINE = re.compile(
    r"Running entrypoint for job|-{4,} ?arguments ?-{4,}|Started a local Ray instance|successfully loaded checkpoint"
    r"|(?:\+ |EXEC: |\$ ).*(?:ray job submit|\btrain(?:_async)?\.py)"
)
_TABLE_HEAD = re.compile(r"-{4,} ?arguments ?-{4,}")
_TABLE_END = re.compile(r"-{4,} ?end of .*-{4,}")
_STAMP = re.compile(rb"20\d\d[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d")

Found = tuple[int, Fact]  # where in the text, and what


class Searcher:
    """Looks for facts in pieces of one log's text, given in order; a traceback or table may go on in the next piece.

    `launching` is True before the first record and after a launch line; the reader ends it at a record.
    """

    __slots__ = ("_launched", "_table", "_table_left", "_traceback", "_traceback_left", "launching")

    def __init__(self) -> None:
        self.launching = True
        self._launched = 0  # bytes of launch text that were searched
        self._traceback: Fact | None = None  # a traceback without its exception yet
        self._traceback_left = 0
        self._table: dict[str, str] | None = None
        self._table_left = 0

    def search(self, text: bytes, *, passing: bool = False) -> list[Fact]:
        """The facts in `text` (complete lines), in its order. `passing`: only what a restart must know, and cheaply."""
        closely = not passing or (self.launching and self._launched < LAUNCH_BYTES)
        found: list[Found] = []
        seen: set[int] = set()
        if self._traceback is not None:
            self._end_traceback(text, 0, found, seen)
        if self._table is not None:
            self._read_table(text, 0, found)
        self._core(text, closely, found, seen)
        launches = [at for at, fact in found if fact.kind is FactKind.LAUNCH]
        begin = 0 if self.launching else min(launches, default=-1)
        self.launching = self.launching or bool(launches)
        if begin >= 0 and self._launched < LAUNCH_BYTES:
            self._launched += len(text) - begin
            _launch_only(text, begin, found)
        facts = [fact for _, fact in sorted(found, key=lambda f: f[0])]
        if (clock := last_stamp(text)) is not None:
            facts.append(Fact(FactKind.CLOCK, time=clock))
        return facts

    def finish(self) -> list[Fact]:
        """The log's end: a traceback that never reached its exception is trouble as well."""
        facts = [] if self._traceback is None else [self._traceback]
        if self._table:
            facts.append(Fact(FactKind.ARGS, data=self._table))
        self._traceback = self._table = None
        return facts

    # -- markers that always count -----------------------------------------------------------

    def _core(self, text: bytes, closely: bool, found: list[Found], seen: set[int]) -> None:
        for at in _hits(text, _TRACEBACK):
            self._traceback = _fact(FactKind.TROUBLE, _line(text, at))
            self._traceback_left = _TRACEBACK_LINES
            self._end_traceback(text, line_end(text, at, len(text)) + 1, found, seen)
        for marker in _TROUBLE if closely else _WORST:
            found += ((at, fact) for at in _hits(text, marker) if (fact := _trouble(text, at, seen)) is not None)
        launched: set[int] = set()
        for marker in (*_LAUNCH, *_COMMANDS) if closely else _LAUNCH:
            for at in _hits(text, marker):
                if at not in launched:
                    launched.add(at)
                    self._launch(text, at, found)
        for at in _hits(text, _JOB):
            found += ((at, fact) for fact in _job(_line(text, at)))
        for at in _hits(text, _TIMER):
            line = _line(text, at)
            if match := _TIMER_LINE.search(line):
                kind = FactKind.TIMER_START if match[2] == "start" else FactKind.TIMER_END
                found.append((at, Fact(kind, match[1], time_of(line), source=source_of(line))))
        if closely:
            found += _bar(text)

    def _launch(self, text: bytes, at: int, found: list[Found]) -> None:
        line = _line(text, at)
        if _LAUNCH_LINE.search(line) is None:
            return
        found.append((at, _fact(FactKind.LAUNCH, line)))
        if _TABLE_HEAD.search(line):
            self._table, self._table_left = {}, _TABLE_LINES
            self._read_table(text, line_end(text, at, len(text)) + 1, found)
        elif arguments := cli_arguments(line):
            found.append((at, Fact(FactKind.ARGS, time=time_of(line), data=arguments)))

    def _read_table(self, text: bytes, at: int, found: list[Found]) -> None:
        table = self._table
        if table is None:
            return
        for begin, line in _lines_from(text, at):
            self._table_left -= 1
            if _TABLE_END.search(line) or not self._table_left:
                found.append((begin, Fact(FactKind.ARGS, data=table)))
                self._table = None
                return
            row = table_row(message_of(line)[0])
            if row:
                table[row[0]] = row[1]

    def _end_traceback(self, text: bytes, at: int, found: list[Found], seen: set[int]) -> None:
        """Look for the exception of the traceback that is open; other writers' lines may come in between."""
        head = self._traceback
        if head is None:
            return
        for begin, line in _lines_from(text, at):
            self._traceback_left -= 1
            message, _ = message_of(line)
            if source_of(line) == head.source:
                if _EXCEPTION.fullmatch(message) or _ANY_EXCEPTION.fullmatch(message):
                    self._traceback = None
                    if begin not in seen:
                        seen.add(begin)
                        found.append((begin, _fact(FactKind.TROUBLE, line)))
                    return
                if message.startswith("Traceback (most recent"):
                    return
            if not self._traceback_left:
                self._traceback = None
                return


def _launch_only(text: bytes, begin: int, found: list[Found]) -> None:
    """Keys and tokens, and the lines that the manual explains, from `begin` on."""
    seen: set[int] = set()
    for marker in _KEYS:
        for at in _hits(text, marker, begin):
            if at in seen:
                continue
            seen.add(at)
            line = plain(_line(text, at))
            if (hidden := mask(line)) != line:
                found.append((at, Fact(FactKind.SECRET, _short(hidden), time_of(line), source=source_of(line))))
    for words, name in _MESSAGES.items():
        for at in _hits(text, words, begin):
            line = _line(text, at)
            found.append((at, Fact(FactKind.MESSAGE, _said(line), time_of(line), {"id": name}, source_of(line))))


def _trouble(text: bytes, at: int, seen: set[int]) -> Fact | None:
    if at in seen:
        return None
    seen.add(at)
    line = _line(text, at)
    message, _ = message_of(line)
    if _EXCEPTION.fullmatch(message) or _FATAL.search(line):
        return _fact(FactKind.TROUBLE, line)
    return None


def _job(line: str) -> Iterator[Fact]:
    match = _JOB_LINE.search(line)
    if match:
        kinds = {"failed": FactKind.JOB_FAILED, "submitted successfully": FactKind.LAUNCH}
        yield _fact(kinds.get(match[1], FactKind.JOB_DONE), line)


def _bar(text: bytes) -> Iterator[Found]:
    """The newest frame of the generation bar."""
    at = text.rfind(_BAR)
    while at >= 0:
        begin = line_start(text, 0, at)
        line = _line(text, begin)
        if match := _BAR_LINE.search(line):
            yield (
                begin,
                Fact(FactKind.PROGRESS, "", time_of(line), {"done": match[1], "total": match[2]}, source_of(line)),
            )
            return
        at = text.rfind(_BAR, 0, at)


def _fact(kind: FactKind, line: str) -> Fact:
    message, ray = message_of(line)
    data = {"driver": "" if ray or _OF_WORKERS.search(line) else "1"} if kind is FactKind.TROUBLE else {}
    return Fact(kind, _short(mask(plain(message.strip()))), time_of(line), data, source_of(line))


def _said(line: str) -> str:
    return _short(mask(plain(message_of(line)[0].strip())))


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "..."


def _hits(text: bytes, marker: bytes, begin: int = 0) -> Iterator[int]:
    """Where the lines begin that hold `marker`, rising; of very many the first and the last ones."""
    at = text.find(marker, begin)
    for _ in range(_MOST_HITS):
        if at < 0:
            return
        yield line_start(text, 0, at)
        stop = line_end(text, at, len(text))
        at = text.find(marker, stop)
    newest: list[int] = []
    at = len(text)
    while len(newest) < _MOST_HITS and (at := text.rfind(marker, stop, at)) >= 0:
        at = line_start(text, stop, at)
        newest.append(at)
    yield from reversed(newest)


def _line(text: bytes, begin: int) -> str:
    return clean(text[begin : line_end(text, begin, min(len(text), begin + _MOST_LINE))])


def _lines_from(text: bytes, at: int) -> Iterator[tuple[int, str]]:
    while at < len(text):
        stop = line_end(text, at, len(text))
        if stop > at:
            yield at, _line(text, at)
        at = stop + 1


def last_stamp(text: bytes) -> float | None:
    """The last time stamp in `text`, in seconds; the logger's own where its line has two."""
    at = len(text)
    for _ in range(_MOST_YEARS):
        at = text.rfind(b"20", 0, at)
        if at < 0:
            break
        if _STAMP.match(text, at):
            time = time_of(_line(text, line_start(text, 0, at)))
            if time is not None:
                return time
    return None
