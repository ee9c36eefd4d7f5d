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

from miles_tui.core.lines import clean
from miles_tui.core.parse import NUMBERED_BRACE, Parsed, records_in
from miles_tui.core.prefix import DATE_TIME, RAY

_CRI = re.compile(rb"(?:\S+ )??\S{19,40} (std(?:out|err)) ([FP]) ")
_DOCKER = re.compile(rb'\{"log":"(.*?)(\\n)?","stream":"(\w+)"', re.DOTALL)
_FRESH = re.compile(r"\s*(?:\[|\(|[\[<]?" + DATE_TIME + r"|Traceback|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)")
_MOST_LINES = 512  # between the halves; at five lines a second of engine noise more than a minute
_MOST_BYTES = 1 << 20
_NARROWEST = 40  # columns: nobody's terminal is narrower, and shorter torn lines are something else


class Verdict(Enum):
    """What a line is to the torn one before it."""

    TAKEN = 1  # a part of it, or (between the halves) nothing to do with it
    NOT_MINE = 2  # look at this line on its own; the torn one still waits
    JOINED = 3  # its last part: `Torn.parsed` has the records
    LOST = 4  # look at this line on its own; the torn one is lost


class Torn:
    """A line whose dict did not close, waiting for the rest; `offer` it every line that follows."""

    __slots__ = ("_bytes", "_head", "_how", "_key", "_lines", "_pieces", "_wide", "parsed")

    def __init__(self, line: bytes) -> None:
        self.parsed = Parsed()
        self._pieces = [line]
        self._lines = self._bytes = 0
        self._how, self._key, self._head = _how(line)
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
        match = _DOCKER.match(line)
        if match is None or match[3] != self._key:
            return Verdict.NOT_MINE
        head = b"".join(self._pieces)
        self._pieces = [head[: self._head], match[1], head[self._head :]]
        self._head += len(match[1])
        return Verdict.TAKEN if match[2] is None else self._close()

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
        if _FRESH.match(rest):
            return Verdict.LOST
        return self._append(rest.encode())

    def _offer_wrap(self, line: bytes) -> Verdict:
        text = clean(line)
        wide = len(text)
        if self._wide < _NARROWEST or wide > self._wide + 1 or _FRESH.match(text):
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
        parsed = records_in(b"".join(self._pieces))
        if parsed.records:
            self.parsed = parsed
            return Verdict.JOINED
        return Verdict.TAKEN if parsed.torn else Verdict.LOST

    def _close(self) -> Verdict:
        self.parsed = records_in(b"".join(self._pieces))
        return Verdict.JOINED

    def _other_writer(self, line: bytes) -> bool:
        if self._how != "ray":
            return False
        match = RAY.search(clean(line), 0, 300)
        return match is not None and match.groups() != self._key


def _how(line: bytes) -> tuple[str, object, int]:
    """Which transport can have torn `line`, whose rest to wait for, and where the rest goes in."""
    cri = _CRI.match(line)
    if cri and cri[2] == b"P":
        return "cri", cri[1], len(line)
    docker = _DOCKER.match(line)
    if docker and docker[2] is None:
        return "docker", docker[3], docker.end(1)
    ray = RAY.search(clean(line), 0, 300)
    return ("ray", ray.groups(), len(line)) if ray else ("wrap", None, len(line))
