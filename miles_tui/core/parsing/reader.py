"""Bytes -> records and events, in the order of the log, near the speed of grep.

    chunk -> LineSplitter (complete lines) -> hop from `{` to `{` -> parse the few lines that can be metrics
                                           \\-> the text between records -> events, where they matter

No line is looked at for its own sake: a chunk is searched for braces in C, and only a line with
`<kind> <number>: {'` in it is cut out and parsed.

What is searched where for events (searching every line for words would cost more than all else):
- every line for a key (`leaks`);
- all text before the first record, and between a launch and the next record: everything;
- the text since the last record when the reader is asked (`settle`, `finish`), as far as it was not yet;
- a gap (the text between two records) longer than `GAP` bytes, block by block, as it passes, for the worst only;
- the gap before a record that looks like a restart: its number is not above the last of its kind from
  the same producer (process and logging file), or that producer was never heard before; or it is nobody's (no
  Ray prefix) and the gap holds a sign of a start (`events.START_MARKS`, 0.5 s a gigabyte of such logs): a process
  with a pid that was heard before is the same one, whatever others print;
- every line for the pause pattern, if one was given.
The gap is kept as a copy of at most `GAP` bytes for this, of `KEPT` by a reader at rest (`slim`).
"""

from __future__ import annotations

import re

from miles_tui.core.model.chunks import Cut, Data, Ended, Piece
from miles_tui.core.model.records import Event, EventKind, Item, Record, Source
from miles_tui.core.parsing.brace_scan import is_candidate, next_numbered
from miles_tui.core.parsing.events import START_MARKS, Searcher
from miles_tui.core.parsing.fast_path import Usual
from miles_tui.core.parsing.leaks import Leaks
from miles_tui.core.parsing.line_joiner import PartialLine, Verdict, next_part, split_form, whole_again
from miles_tui.core.parsing.line_prefix import source_of, stamps_before
from miles_tui.core.parsing.line_splitter import MAX_LINE, Buffer, LineSplitter, clean, line_end, line_start, next_line
from miles_tui.core.parsing.metric_line import line_at, records_in
from miles_tui.core.parsing.wrapped import Unwrap

GAP = 1 << 20
KEPT = 1 << 16  # bytes of a gap that a reader at rest keeps
_MOST_PRODUCERS = 4096
_USUAL = 1 << 14  # bytes of a dict as Miles prints it
_FORM_LINES = 8  # at a log's beginning, of which one is a container runtime's if all are; the first may be cut
_FORM_WITHIN = 200  # bytes


class Reader:
    """The log of one run, fed in pieces of any size; the pieces' bounds never change the records.

    `pause` marks lines of a planned pause (a `PAUSE` fact each). A line longer than `max_line` bytes
    is lost, alone. Without `keys` nobody wants to hear of keys in the text: a quarter of the time of a long log.
    Memory: a line, a chunk and a gap. Nothing raises on any bytes.
    """

    def __init__(self, *, pause: re.Pattern[bytes] | None = None, max_line: int = MAX_LINE, keys: bool = True) -> None:
        self._lines = LineSplitter(max_line)
        # A pattern is a line's: its anchors are the line's ends.
        self._pause = re.compile(pause.pattern, pause.flags | re.MULTILINE) if pause else None
        self._unwrap: Unwrap | None = Unwrap()  # None where the log is plain: nearly always
        self._torn: PartialLine | None = None
        self._form, self._unsure = "", _FORM_LINES  # the container runtime whose lines these are, if any
        self._whole_until = 0  # of the region at hand: up to where it is known that no part can be left out
        self._searcher = Searcher()
        self._leaks, self._keys = Leaks(), keys
        self._usual = Usual()
        # Complete lines since the last record, `_held` bytes of them, `_seen` of these searched. One buffer, as long
        # as the longest gap: to grow and free one with every record costs more than all the copying.
        self._gap = bytearray()
        self._held = self._seen = 0
        self._numbers: dict[tuple[str, Source, str], int] = {}
        self._in_line = False  # what was fed last ends inside a line

    def apply(self, piece: Piece) -> list[Item]:
        """What a piece of the log says, whatever it is."""
        match piece:
            case Data(data):
                return self.feed(data)
            case Cut():
                return self.seam() if piece.goes_on else self.cut()
            case Ended():
                return self.finish()
            case _:
                return []

    def feed(self, chunk: bytes | bytearray | memoryview) -> list[Item]:
        """The records (and facts found on the way) of the lines that `chunk` completes."""
        items: list[Item] = []
        text = _buffer(chunk)
        if text:
            self._in_line = text[-1] != 0x0A
        if self._unwrap is not None:
            text = self._unwrap.feed(text)
            if self._unwrap.plain:
                self._unwrap = None
        for data, start, end in self._lines.feed(text):
            self._region(data, start, end, items)
        return items

    def settle(self) -> list[Item]:
        """All that was written has been fed: the facts in the text since the last record that was not looked at yet."""
        items: list[Item] = list(self._search(b""))
        return items

    def slim(self) -> None:
        """After `settle`, where nothing is fed for a while: keep no more of the text since the last record than `KEPT`.

        What a restart's launch said before that is no longer read for its arguments; its launch lines were heard.
        """
        drop = max(0, self._held - KEPT)
        self._gap = self._gap[drop : self._held]
        self._held -= drop
        self._seen = max(0, self._seen - drop)

    def finish(self) -> list[Item]:
        """The end of a log that is written no more: its last line counts without a line end, then as `settle`."""
        items = self._rest()
        items += self.settle()
        items += self._searcher.finish()
        return items

    def seam(self) -> list[Item]:
        """The file ended here, and the next one begins with what was written next (a rotation).

        An unfinished last line is ended. Of a record that was torn there the rest may follow: `PartialLine` tells
        whether it does, as of any two lines.
        """
        return self.feed(b"\n") if self._in_line else []

    def cut(self) -> list[Item]:
        """The file ended here and another begins (truncation, replacement).

        An unfinished last line counts if its dict is complete. Otherwise it is lost: what the writer
        put between the two files is unknown, so the next file's first bytes are never joined to it.
        """
        self._in_line = False
        return self._rest()

    # -- lines and records -------------------------------------------------------------------

    def _rest(self) -> list[Item]:
        items: list[Item] = []
        if self._unwrap is not None and (head := self._unwrap.rest()):
            for data, start, end in self._lines.feed(head):
                self._region(data, start, end, items)
        for data, start, end in self._lines.rest():
            self._region(data, start, end, items)
        self._torn = None
        return items

    def _region(self, data: Buffer, start: int, end: int, items: list[Item]) -> None:
        """Complete lines: `data[start:end]`. `since` is where the text behind the last record begins in it."""
        at = since = start
        if self._unsure:
            self._see_form(data, start, end)
        if self._keys:
            self._leaks.look(data, start, end)
        self._whole_until = start
        usual, most = self._usual.record, self._lines.max_line
        part = next_part(self._form, data, start, end)
        while at < end:
            if self._torn is not None:
                at, since = self._offer(data, at, end, since, items)
                continue
            if 0 <= part < at:
                part = next_part(self._form, data, at, end)
            brace = data.find(b"{", at, end if part < 0 else part)
            if brace >= 0 and data[brace - 2 : brace] == b": ":
                begin = data.rfind(b"\n", at, brace) + 1 or at
                # A line that ends further on (or with a CR) is read by `_line`: no LF is looked for far away.
                stop = data.find(b"\n", brace, brace + _USUAL)
                if stop < 0 and end - brace <= _USUAL:
                    stop = end
                if begin < stop <= begin + most and (record := usual(data, begin, stop)) is not None:
                    since = self._emit(record, data, since, begin, stop, items)
                    at = stop + 1
                    continue
            if brace >= 0:
                brace = next_numbered(data, at, brace, end if part < 0 else part)
            if brace >= 0:
                begin, stop = line_start(data, at, brace), line_end(data, brace, end)
                since = self._line(data, begin, brace, stop, since, items)
                at = stop + 1
            elif part >= 0:
                at, since = self._part(data, part, end, since, items)
            else:
                break
        if self._leaks.waiting:
            items += self._leaks.before(data, end, self._searcher.time)
        self._keep_gap(data, since, end, items)

    def _see_form(self, data: Buffer, start: int, end: int) -> None:
        at = start
        while at < end and self._unsure:
            stop = line_end(data, at, end)
            if stop > at:
                self._unsure -= 1
                self._form = split_form(bytes(data[at : min(stop, at + _FORM_WITHIN)]).lstrip(b"\0"))
                if self._form:
                    self._unsure = 0
            at = next_line(data, stop, end)

    def _offer(self, data: Buffer, at: int, end: int, since: int, items: list[Item]) -> tuple[int, int]:
        """Offer the line at `at` to the torn one; where the next line and the text behind the last record begin."""
        stop = line_end(data, at, end)
        if stop == at or self._torn is None:
            return next_line(data, stop, end), since
        verdict = self._torn.offer(bytes(data[at:stop]))
        if verdict is Verdict.LOST:
            self._torn = None
            return at, since
        if verdict is Verdict.JOINED:
            records, self._torn = self._torn.parsed.records, None
            for record in records:
                since = self._emit(record, data, since, at, stop, items)
        elif verdict is Verdict.NOT_MINE and (brace := next_numbered(data, at, at, stop)) >= 0:
            since = self._line(data, at, brace, stop, since, items)
        return stop + 1, since

    def _line(self, data: Buffer, start: int, brace: int, stop: int, since: int, items: list[Item]) -> int:
        """Parse the line `data[start:stop]`; where the text behind the last record begins now."""
        length = stop - start
        if length > self._lines.max_line and len(data[start:stop].lstrip(b"\0")) > self._lines.max_line:
            return since
        record = self._usual.record(data, start, stop)
        if record is not None:
            return self._emit(record, data, since, start, stop, items)
        while not is_candidate(data, start, brace, stop):
            brace = next_numbered(data, start, brace + 1, stop)
            if brace < 0:
                return since
        line = bytes(data[start:stop])
        if b"}" not in line[brace - start :]:
            # It can only be a first half: there is nothing to parse before the rest is there.
            self._torn = PartialLine(line) if PartialLine.can_be_joined(line) else None
            return since
        parsed = records_in(line)
        if parsed.torn:
            self._torn = PartialLine(line, len(parsed.records))
        for record in parsed.records:
            since = self._emit(record, data, since, start, stop, items)
        return since

    def _part(self, data: Buffer, start: int, end: int, since: int, items: list[Item]) -> tuple[int, int]:
        """Read the line at `start`, which goes on in another; where to go on, and as `_line`."""
        if start >= self._whole_until:
            at, self._whole_until = whole_again(self._form, data, start, end)
            if at > start:
                return at, since
        stop = line_end(data, start, end)
        at = stop + 1
        if stop - start > self._lines.max_line:
            return at, since
        line = bytes(data[start:stop])
        records = records_in(line).records if next_numbered(line, 0, 0, len(line)) >= 0 else []
        self._torn = PartialLine(line, len(records))
        for record in records:
            since = self._emit(record, data, since, start, stop, items)
        return at, since

    def _emit(self, record: Record, data: Buffer, since: int, start: int, stop: int, items: list[Item]) -> int:
        if self._pause is not None:
            items += self._pauses(data, since, start)
        searcher = self._searcher
        if self._leaks.waiting:
            items += self._leaks.before(data, start, searcher.time)
        self._leaks.launching = False
        starting = self._is_new_start(record) or (not record.source.pid and self._is_marked(data, since, start))
        if starting or searcher.launching:
            items += self._search(data[since:start], starting=starting)
        if searcher.open:
            items += searcher.record()
        if not searcher.bracketed and record.time is not None:
            searcher.bracketed, searcher.outer = stamps_before(line_at(data, start).partition("{'")[0])
        items.append(record)
        self._held = self._seen = 0
        return stop + 1

    def _is_new_start(self, record: Record) -> bool:
        """Whether a new attempt may begin with `record`; also takes note of it.

        A producer that was never heard before counts: a new process has another pid, and a replayed
        tail begins with a line that has lost its prefix.
        """
        producer = (record.kind, record.source, record.logger)
        numbers = self._numbers
        before = numbers.get(producer)
        if before is None and len(numbers) >= _MOST_PRODUCERS:
            numbers.clear()
        numbers[producer] = record.number
        return len(numbers) > 1 if before is None else record.number <= before

    def _is_marked(self, data: Buffer, since: int, start: int) -> bool:
        """Whether the text since the last record says that a run begins."""
        if self._held and any(self._gap.find(mark, 0, self._held) >= 0 for mark in START_MARKS):
            return True
        return since < start and any(data.find(mark, since, start) >= 0 for mark in START_MARKS)

    # -- the text between records ------------------------------------------------------------

    def _keep_gap(self, data: Buffer, since: int, end: int, items: list[Item]) -> None:
        if since >= end:
            return
        if self._pause is not None:
            items += self._pauses(data, since, end)
        size = end - since
        if self._held + size > GAP:
            items += self._search(data[since:end] if size > GAP else b"", passing=True)
            self._held = self._seen = 0
            if size > GAP:
                return
        with memoryview(data) as view:
            self._gap[self._held : self._held + size] = view[since:end]
        self._held += size

    def _search(self, more: Buffer, *, passing: bool = False, starting: bool = False) -> list[Event]:
        with memoryview(self._gap) as gap:  # a slice of a bytearray would be one more copy
            text = bytes(gap[self._seen : self._held]) + more
            if not text and not (starting and self._seen):
                return []
            before = bytes(gap[: self._seen])
        self._seen = self._held
        return self._searcher.search(text, passing=passing, starting=starting, before=before)

    def _pauses(self, data: Buffer, start: int, end: int) -> list[Event]:
        facts: list[Event] = []
        if self._pause is None:
            return facts
        at = start
        while at < end and (match := self._pause.search(data, at, end)):
            begin = line_start(data, start, match.start())
            stop = line_end(data, match.start(), end)
            line = bytes(data[begin:stop])
            if self._pause.search(line):
                text = clean(line)
                facts.append(Event(EventKind.PAUSE, text, self._searcher.time(text), source=source_of(text)))
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
