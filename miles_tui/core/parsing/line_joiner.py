"""The two halves of a torn metric line, joined only where that is safe.

Three transports tear lines: a container runtime splits a long line into records that say so (CRI's
tag `P`, docker's missing line end); Ray's log monitor publishes what it has at a file's end, so the
rest follows under the same (class, pid) prefix; a terminal wraps at its width, so all pieces but the
last are equally wide. Whatever does not fit one of these is torn for good: a number made of two
lines that do not belong together would be worse than a lost record.
"""

from __future__ import annotations

import re
from enum import Enum

from miles_tui.core.parsing.brace_scan import NUMBERED_BRACE, next_numbered
from miles_tui.core.parsing.line_prefix import DATE_TIME, RAY
from miles_tui.core.parsing.line_splitter import Buffer, clean, line_end, line_start
from miles_tui.core.parsing.metric_line import Parsed, records_in

_CRI = re.compile(rb"(?:\S+ )??\S{19,40} (std(?:out|err)) ([FP]) ")
_CRI_PART = re.compile(rb" std(?:err|out) P ")
_JSON_FILE, _STREAM = b'{"log":"', b'","stream":"'  # before and behind the text in docker's json-file
# By form: a brace that is not the runtime's own, at a line's beginning; then by stream how its whole lines are
# marked, and the parts of others.
_BRACE = {"cri": re.compile(rb"\{"), "docker": re.compile(rb"\{(?:(?<=[^\n\r]\{)|(?!\"log\":\"))")}
_WHOLE: dict[str, dict[bytes, bytes]] = {
    "cri": {b"stdout": b" stdout F ", b"stderr": b" stderr F "},
    "docker": {name: b'\\n","stream":"' + name + b'"' for name in (b"stdout", b"stderr")},
}
_PARTS_OF_OTHERS = {
    "cri": {b"stdout": re.compile(rb" stderr P "), b"stderr": re.compile(rb" stdout P ")},
    "docker": {name: re.compile(rb'(?<!\\n)","stream":"(?!' + name + rb'")') for name in (b"stdout", b"stderr")},
}
_STRANGER = re.compile(rb'","stream":"(?!stdout"|stderr")')
_FRESH_LINE = re.compile(r"\s*(?:\[|\(|[\[<]?" + DATE_TIME + r"|Traceback|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)")
_MOST_LINES = 512  # between the halves; at five lines a second of engine noise more than a minute
_MOST_BYTES = 1 << 20
_MOST_READS = 16  # times that what there is so far is read, which may be whole: a dict of numbers closes once
_MOST_PARTS = 16  # lines from the end that are asked whether all is whole behind them
_NARROWEST = 40  # columns: nobody's terminal is narrower, and shorter torn lines are something else


class Verdict(Enum):
    """What a line is to the torn one before it."""

    TAKEN = 1  # a part of it, or (between the halves) nothing to do with it
    NOT_MINE = 2  # look at this line on its own; the torn one still waits
    JOINED = 3  # its last part: `PartialLine.parsed` has the records
    LOST = 4  # look at this line on its own; the torn one is lost


class PartialLine:
    """A line whose dict did not close, waiting for the rest; `offer` it every line that follows."""

    __slots__ = ("_bytes", "_end", "_given", "_how", "_key", "_lines", "_pieces", "_reads", "_wide", "parsed")

    def __init__(self, line: bytes, given: int = 0) -> None:
        """`given`: how many whole records the line had before its torn dict; they are not given again."""
        self.parsed = Parsed()
        self._given = given
        self._lines = self._bytes = self._reads = 0
        self._how, self._key, end = _how(line)
        self._pieces, self._end = [line[:end]], line[end:]
        self._wide = 0 if self._how != "wrap" and self._how != "ray" else len(clean(line))

    @staticmethod
    def can_be_joined(line: bytes) -> bool:
        """Whether any transport can have torn `line`: a cheap answer, sometimes a yes too many."""
        return len(line) >= _NARROWEST

    def offer(self, line: bytes) -> Verdict:
        """What `line` is to this torn line. The answer depends on lines alone, never on how they arrived."""
        self._lines += 1
        self._bytes += len(line)
        if self._lines > _MOST_LINES or self._bytes > _MOST_BYTES:
            return Verdict.LOST
        if self._how == "cri":
            return self._offer_cri(line)
        if self._how == "docker":
            return self._offer_docker(line)
        if NUMBERED_BRACE.search(line):
            # A dict of its own: it may be another writer's, but it can't be the rest of this one.
            return Verdict.NOT_MINE if self._other_writer(line) else Verdict.LOST
        if self._how == "ray":
            return self._offer_ray(line)
        return self._offer_wrap(line)

    def _offer_cri(self, line: bytes) -> Verdict:
        match = _CRI.match(line)
        if match is None or match[1] != self._key:
            return Verdict.NOT_MINE
        self._pieces.append(line[match.end() :])
        return Verdict.TAKEN if match[2] == b"P" else self._close()

    def _offer_docker(self, line: bytes) -> Verdict:
        end = line.find(_STREAM)
        if not line.startswith(_JSON_FILE) or _stream(line, end) != self._key:
            return Verdict.NOT_MINE
        whole = line.endswith(b"\\n", 0, end)
        self._pieces.append(line[len(_JSON_FILE) : end])
        return self._close() if whole else Verdict.TAKEN

    def _offer_ray(self, line: bytes) -> Verdict:
        text = clean(line)
        match = RAY.search(text, 0, 300)
        if match is None:
            # No prefix at all: only a terminal's wrap can be the rest, and only at once.
            if self._lines == 1 and text:
                verdict = self._offer_wrap(line)
                if verdict is not Verdict.LOST:
                    self._how = "wrap"
                    return verdict
            return Verdict.NOT_MINE
        if match.groups() != self._key:
            return Verdict.NOT_MINE
        rest = text[match.end() :]
        if _FRESH_LINE.match(rest):
            return Verdict.LOST
        return self._append(rest.encode())

    def _offer_wrap(self, line: bytes) -> Verdict:
        text = clean(line)
        wide = len(text)
        if self._wide < _NARROWEST or wide > self._wide + 1 or _FRESH_LINE.match(text):
            return Verdict.LOST
        last = "}" in text
        # A blank at the wrap may have been stripped, a wide character may not have fitted.
        if not last and wide < self._wide - 1:
            return Verdict.LOST
        return self._append(text.encode())

    def _append(self, piece: bytes) -> Verdict:
        self._pieces.append(piece)
        if b"}" not in piece:
            return Verdict.TAKEN
        self._reads += 1
        if self._reads > _MOST_READS:
            return Verdict.LOST
        parsed = self._read()
        if parsed.records:
            self.parsed = parsed
            return Verdict.JOINED
        return Verdict.TAKEN if parsed.torn else Verdict.LOST

    def _close(self) -> Verdict:
        self.parsed = self._read()
        return Verdict.JOINED

    def _read(self) -> Parsed:
        line = b"".join((*self._pieces, self._end))
        if next_numbered(line, 0, 0, len(line)) < 0:
            return Parsed()
        parsed = records_in(line)
        del parsed.records[: self._given]
        return parsed

    def _other_writer(self, line: bytes) -> bool:
        if self._how != "ray":
            return False
        match = RAY.search(clean(line), 0, 300)
        return match is not None and match.groups() != self._key


def split_form(line: bytes) -> str:
    """`docker` or `cri` if `line` has the form of a container runtime, which splits long lines; else ""."""
    if line.startswith(_JSON_FILE):
        return "docker"
    return "cri" if _CRI.match(line) else ""


def next_part(form: str, data: Buffer, start: int, end: int) -> int:
    """Where the first line begins in `data[start:end]` of which the runtime says that it goes on, or -1.

    A part may end before anything in it looks like a metric, so it is looked for by its own form: 0.1 us a
    line of docker's, 0.3 of CRI's.
    """
    # A line is asked once: its beginning tells, however often the mark stands in it.
    if form == "cri":
        part = _CRI_PART.search(data, start, end)
        while part:
            begin = line_start(data, start, part.start())
            cri = _CRI.match(data, begin, end)
            if cri and cri[2] == b"P":
                return begin
            part = _CRI_PART.search(data, line_end(data, part.end(), end), end)
    elif form == "docker":
        mark = data.find(_STREAM, start, end)
        while mark >= 0:
            if data[mark - 1] != 0x6E or data[mark - 2] != 0x5C:  # `\n`
                begin = line_start(data, start, mark)
                if data.startswith(_JSON_FILE, begin):
                    return begin
                mark = line_end(data, mark, end)
            mark = data.find(_STREAM, mark + 1, end)
    return -1


def whole_again(form: str, data: Buffer, at: int, end: int) -> tuple[int, int]:
    """Where the line begins from which on parts in `data[at:end]` matter; and up to where that is known.

    Nothing waits for a rest at `at`. What is joined without a brace holds no metrics: before the first line with one
    only a part that is still open there counts, so all up to a line behind which nothing waits is left out. Where a
    runtime calls each redraw of a progress bar a part (conmon), that halves the time of a long log.
    """
    brace = _BRACE[form].search(data, at, end)
    until = line_start(data, at, brace.start()) if brace else end
    if form == "docker" and _STRANGER.search(data, at, until):
        return at, until
    behind = until
    for _ in range(_MOST_PARTS):
        stream, begin, stop = _last_whole(form, data, at, behind)
        if not stream:
            break
        # Behind a stream's whole line nothing of it waits; of another one only what has begun since its own last.
        since = at
        for other in _WHOLE[form]:
            if other != stream:
                since = max(since, _last_whole(form, data, at, begin, other)[2])
        if _PARTS_OF_OTHERS[form][stream].search(data, since, begin) is None:
            return min(stop + 1, until), until
        behind = begin
    return at, until


def _last_whole(form: str, data: Buffer, at: int, end: int, only: bytes = b"") -> tuple[bytes, int, int]:
    """(its stream, its begin, its end) of the last line in `data[at:end]` that is no part, of any stream or of one."""
    marks = {mark: end for name, mark in _WHOLE[form].items() if only in (b"", name)}
    while True:
        for words, last in marks.items():
            if last + len(words) > end:  # the others are still the last ones
                marks[words] = data.rfind(words, at, end)
        mark = max(marks.values())
        if mark < 0:
            return b"", at, at
        begin, stop = line_start(data, at, mark), line_end(data, mark, end)
        stream = _whole_stream(form, bytes(data[begin:stop]))
        if stream and (not only or stream == only):
            return stream, begin, stop
        end = begin


def _whole_stream(form: str, line: bytes) -> bytes:
    """The stream of a line that does not go on in another, or b""."""
    if form == "cri":
        match = _CRI.match(line)
        return match[1] if match and match[2] == b"F" else b""
    end = line.find(_STREAM)
    if not line.startswith(_JSON_FILE) or not line.endswith(b"\\n", 0, end):
        return b""
    stream = _stream(line, end)
    return stream if stream in _WHOLE[form] else b""


def _stream(line: bytes, end: int) -> bytes:
    """The stream's name behind a text that ends at `end`."""
    begin = end + len(_STREAM)
    return line[begin : line.find(b'"', begin)]


def _how(line: bytes) -> tuple[str, object, int]:
    """Which transport can have torn `line`, whose rest to wait for, and where the rest goes in."""
    cri = _CRI.match(line)
    if cri and cri[2] == b"P":
        return "cri", cri[1], len(line)
    end = line.find(_STREAM) if line.startswith(_JSON_FILE) else -1
    if end >= 0 and not line.endswith(b"\\n", 0, end):
        return "docker", _stream(line, end), end
    ray = RAY.search(clean(line), 0, 300)
    return ("ray", ray.groups(), len(line)) if ray else ("wrap", b"", len(line))
