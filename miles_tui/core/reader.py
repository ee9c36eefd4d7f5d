"""Bytes -> records and facts, in the order of the log, near the speed of grep.

    chunk -> Lines (complete lines) -> hop from `{` to `{` -> parse the few lines that can be metrics
                                    \\-> the text between records -> facts (core.facts), where they matter

No line is looked at for its own sake: a chunk is searched for braces in C, and only a line with
`<kind> <number>: {'` in it is cut out and parsed.

What is searched where for facts (searching every line for words would cost more than all else):
- all text before the first record, and between a launch and the next record: everything, secrets too;
- the text since the last record when the reader is asked (`settle`, `finish`), as far as it was not yet;
- a gap longer than `GAP` bytes, block by block, as it passes;
- the gap before a record that looks like a restart: its number is not above the last of its kind
  from the same producer, its producer was never heard before, or its process is a new one for its role;
- every line for the pause pattern, if one was given.
The gap is kept as a copy of at most `GAP` bytes and a chunk for this.
"""

from __future__ import annotations

import re

from miles_tui.core.facts import Searcher
from miles_tui.core.joins import Torn, Verdict
from miles_tui.core.lines import MAX_LINE, Buffer, Lines, clean, line_end, line_start
from miles_tui.core.parse import NUMBERED_BRACE, fast_record, is_candidate, records_in
from miles_tui.core.prefix import source_of, time_of
from miles_tui.core.records import Fact, FactKind, Item, Record

GAP = 1 << 20
# A hop costs 0.3 µs, the regular expression 4 to 8 ns a byte: below 48 bytes a hop it is cheaper.
_HOPS = 64
_DENSE = _HOPS * 48
_STRETCH = 1 << 16  # bytes searched by the regular expression before hopping is tried again
_MOST_PRODUCERS = 4096


class Reader:
    """The log of one run, fed in pieces of any size; the pieces' bounds never change the records.

    `pause` marks lines of a planned pause (a `PAUSE` fact each). A line longer than `max_line` bytes
    is lost, alone. Memory: a line, a chunk and a gap. Nothing raises on any bytes.
    """

    def __init__(self, *, pause: re.Pattern[bytes] | None = None, max_line: int = MAX_LINE) -> None:
        self._lines = Lines(max_line)
        # A pattern is a line's: its anchors are the line's ends.
        self._pause = re.compile(pause.pattern, pause.flags | re.MULTILINE) if pause else None
        self._torn: Torn | None = None
        self._searcher = Searcher()
        self._gap = bytearray()  # complete lines since the last record
        self._seen = 0  # bytes of it that were searched
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._pids: dict[str, set[tuple[str, str]]] = {}

    def feed(self, chunk: bytes | bytearray | memoryview) -> list[Item]:
        """The records (and facts found on the way) of the lines that `chunk` completes."""
        items: list[Item] = []
        for data, start, end in self._lines.feed(_buffer(chunk)):
            self._region(data, start, end, items)
        return items

    def settle(self) -> list[Item]:
        """All that was written has been fed: the facts in the text since the last record that was not looked at yet."""
        items: list[Item] = list(self._search(b""))
        return items

    def finish(self) -> list[Item]:
        """The end of a log that is written no more: its last line counts without a line end, then as `settle`."""
        items = self._rest()
        items += self.settle()
        items += self._searcher.finish()
        return items

    def cut(self) -> list[Item]:
        """The file ended here and another begins (rotation, truncation).

        An unfinished last line counts if its dict is complete. Otherwise it is lost: what the writer
        put between the two files is unknown, so the next file's first bytes are never joined to it.
        """
        return self._rest()

    # -- lines and records -------------------------------------------------------------------

    def _rest(self) -> list[Item]:
        items: list[Item] = []
        for data, start, end in self._lines.rest():
            self._region(data, start, end, items)
        self._torn = None
        return items

    def _region(self, data: Buffer, start: int, end: int, items: list[Item]) -> None:
        """Complete lines: `data[start:end]`. `since` is where the text behind the last record begins in it."""
        at = since = start
        while at < end:
            if self._torn is not None:
                stop = line_end(data, at, end)
                verdict = self._torn.offer(bytes(data[at:stop])) if stop > at else Verdict.TAKEN
                if verdict is Verdict.LOST:
                    self._torn = None
                    continue
                if verdict is Verdict.JOINED:
                    records, self._torn = self._torn.parsed.records, None
                    since = self._emit(records, data, since, at, stop, items)
                elif verdict is Verdict.NOT_MINE and _next_candidate(data, at, stop) >= 0:
                    since = self._line(data, at, stop, since, items)
                at = stop + 1
                continue
            brace = _next_candidate(data, at, end)
            if brace < 0:
                break
            begin, stop = line_start(data, at, brace), line_end(data, brace, end)
            since = self._line(data, begin, stop, since, items, brace)
            at = stop + 1
        self._keep_gap(data, since, end, items)

    def _line(self, data: Buffer, start: int, stop: int, since: int, items: list[Item], brace: int = -1) -> int:
        """Parse the line `data[start:stop]`; where the text behind the last record begins now."""
        if stop - start > self._lines.max_line and len(bytes(data[start:stop]).lstrip(b"\0")) > self._lines.max_line:
            return since
        record = fast_record(data, start, brace, stop) if brace >= 0 else None
        if record is not None:
            return self._emit([record], data, since, start, stop, items)
        line = bytes(data[start:stop])
        parsed = records_in(line)
        if parsed.torn:
            self._torn = Torn(line)
        return self._emit(parsed.records, data, since, start, stop, items) if parsed.records else since

    def _emit(self, records: list[Record], data: Buffer, since: int, start: int, stop: int, items: list[Item]) -> int:
        if not records:
            return since
        if self._pause is not None:
            items += self._pauses(data, since, start)
        starts = [self._is_new_start(r) for r in records]  # all of them are noted
        if self._searcher.launching or True in starts:
            items += self._search(bytes(data[since:start]))
        items += records
        self._searcher.launching = False
        if self._gap:
            self._gap.clear()
        self._seen = 0
        return min(stop + 1, len(data))

    def _is_new_start(self, record: Record) -> bool:
        """Whether a new attempt may begin with `record`; also takes note of it."""
        role, pid = record.source.role, record.source.pid
        key = (record.kind, role, record.logger)
        before = self._numbers.get(key)
        # A producer that was never heard before is looked at as well: a replayed tail begins with a
        # line that has lost its prefix.
        fresh = bool(self._numbers) if before is None else record.number <= before
        if before is None and len(self._numbers) >= _MOST_PRODUCERS:
            self._numbers.clear()
        self._numbers[key] = record.number
        if pid:
            pids = self._pids.setdefault(role, set())
            who = (pid, record.source.ip)
            if who not in pids:
                fresh = fresh or bool(pids)
                if len(self._pids) + len(pids) > _MOST_PRODUCERS:
                    self._pids.clear()
                else:
                    pids.add(who)
        return fresh

    # -- the text between records ------------------------------------------------------------

    def _keep_gap(self, data: Buffer, since: int, end: int, items: list[Item]) -> None:
        if since >= end:
            return
        if self._pause is not None:
            items += self._pauses(data, since, end)
        self._gap += data[since:end]
        if len(self._gap) > GAP:
            items += self._search(b"")
            self._gap.clear()
            self._seen = 0

    def _search(self, more: bytes) -> list[Fact]:
        text = bytes(self._gap[self._seen :]) + more
        self._seen = len(self._gap)
        return self._searcher.search(text) if text else []

    def _pauses(self, data: Buffer, start: int, end: int) -> list[Fact]:
        facts: list[Fact] = []
        if self._pause is None:
            return facts
        at = start
        while at < end and (match := self._pause.search(data, at, end)):
            begin = line_start(data, start, match.start())
            stop = line_end(data, match.start(), end)
            line = bytes(data[begin:stop])
            if self._pause.search(line):
                text = clean(line)
                facts.append(Fact(FactKind.PAUSE, text, time_of(text), source=source_of(text)))
            at = max(stop, match.start()) + 1
        return facts


def _buffer(chunk: bytes | bytearray | memoryview) -> Buffer:
    """`chunk` as something that can be searched. A view of a whole buffer costs no copy."""
    if not isinstance(chunk, memoryview):
        return chunk
    whole = chunk.obj
    if isinstance(whole, (bytes, bytearray)) and chunk.nbytes == len(whole) and chunk.contiguous:
        return whole
    return chunk.tobytes()


def _next_candidate(data: Buffer, start: int, end: int) -> int:
    """The first brace in `data[start:end]` that can open a metric line's dict, or -1. `start` begins a line.

    Hops from brace to brace; where they come too thick it goes on by regular expression for a
    stretch. Both find the same braces.
    """
    at, hops, mark = start, 0, start
    while True:
        brace = data.find(b"{", at, end)
        if brace < 0:
            return -1
        if is_candidate(data, start, brace, end):
            return brace
        at = brace + 1
        hops += 1
        if hops < _HOPS:
            continue
        if at - mark < _DENSE:
            stretch = min(end, at + _STRETCH)
            for match in NUMBERED_BRACE.finditer(data, at, stretch):
                if is_candidate(data, start, match.end() - 1, end):
                    return match.end() - 1
            at = stretch
        hops, mark = 0, at
