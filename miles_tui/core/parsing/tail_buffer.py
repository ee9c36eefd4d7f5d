"""The newest lines of a log's text over a bounded ring, with the noise of the engines folded away. Pure.

    bytes -> Ring.add (kept as they are, 20 us a chunk) -> Ring.settle (cut into lines, noise counted) -> entries

Nothing is decoded here, and nothing is cut into lines while a long log is caught up: of that only the
last bytes are kept. Ten thousand lines a second of noise cost 0.5 % of a core.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from miles_tui.core.parsing.brace_scan import next_numbered
from miles_tui.core.parsing.line_prefix import message_of
from miles_tui.core.parsing.line_splitter import clean

RAW = 256 * 1024  # bytes that wait to be cut into lines while nobody looks
PAST_BYTES = 1 << 20  # the same while a long log is read: what was written last, of which most may be noise
KEPT_BYTES = 768 * 1024  # bytes of lines: some hundred rollouts' worth
MOST_ENTRIES = 4096  # entries
LINE = 16 * 1024  # bytes of a line that are kept: a record with 200 metrics has 8 KB
MOST_NOISE = 1024  # bytes: a longer line that speaks of a request is somebody's prompt
SAMPLES = 12  # lines of a fold that are kept to be looked at

_ACCESS = re.compile(rb'"(?:GET|POST|PUT|HEAD|DELETE|OPTIONS) \S+ HTTP/\d(?:\.\d)?" [123]\d\d')
_PROGRESS_BAR = re.compile(rb"\d{1,3}%\||(?<!\d)\d+/\d+ \[\d|\d(?:it/s|s/it|B/s)[\], ]|\?it/s")
_SERIOUS = re.compile(rb"rror|Traceback|xception|WARN|[Ww]arning|illed|FATAL|CRITICAL")
_KEY_BEGIN, _KEY_END = b"PRIVATE KEY", b"-----END"
_KEY_LINES = 120  # that a private key may have, and what others print between them
_KEY_LINE = re.compile(rb"[A-Za-z0-9+/=]+(?=[\s\"',\\]*\Z)")
_PREFIX_ONLY = re.compile(rb"\s*(?:\x1b\[[0-9;]*m|\([^()]*\bpid=[^()]*\)|\s)*\Z")


@dataclass(slots=True)
class LogLine:
    """A line that says something. `number` counts entries from the beginning and never comes twice."""

    number: int
    raw: bytes


@dataclass(slots=True)
class Fold:
    """`count` lines of noise one after another, of which the newest few are in `lines`."""

    number: int
    count: int = 0
    lines: deque[bytes] = field(default_factory=lambda: deque(maxlen=SAMPLES))


@dataclass(slots=True)
class Break:
    """Not a line: the file ended here and another began; `why` in one or two words."""

    number: int
    why: str


LogEntry = LogLine | Fold | Break


def is_noise(line: bytes) -> bool:
    """Whether a line is one of the many that engines print: batches, served requests, progress bars, nothing at all.

    A line with a metric record, an error or a warning in it is none.
    """
    if b"Decode batch" in line or b"Prefill batch" in line:
        noise = len(line) < MOST_NOISE
    elif b"HTTP/" in line:
        noise = len(line) < MOST_NOISE and _ACCESS.search(line) is not None
    elif b"%|" in line or b"it/s" in line or b"s/it" in line:
        noise = _PROGRESS_BAR.search(line) is not None and _SERIOUS.search(line) is None
    else:
        return len(line) < 80 and _PREFIX_ONLY.match(line) is not None
    return noise and (b"{" not in line or next_numbered(line, 0, 0, len(line)) < 0)


class Ring:
    """The end of a log's text. `added` counts its bytes: who shows the ring compares it with what was shown.

    Memory: at most `raw` (or `past`) and `kept` bytes, and `most` entries.
    """

    def __init__(
        self, *, raw: int = RAW, past: int = PAST_BYTES, kept: int = KEPT_BYTES, most: int = MOST_ENTRIES
    ) -> None:
        self.added = 0
        self.entries: deque[LogEntry] = deque()
        self._raw: deque[bytes] = deque()
        self._raw_bytes = 0
        self._raw_most, self._past_most, self._kept_most, self._most = raw, past, kept, most
        self._kept_bytes = 0
        self._number = 0
        self._of_key = 0  # lines that may still be a private key's
        self._headless = False  # the first waiting bytes are the rest of a line whose beginning is gone

    def add(self, data: bytes, *, live: bool = True) -> None:
        """The next bytes. Not `live`: a long log is being read, of which only the end matters."""
        self.added += len(data)
        self._raw.append(data)
        self._raw_bytes += len(data)
        if live:
            if self._raw_bytes > self._raw_most:
                self.settle()
            return
        while self._raw_bytes - len(self._raw[0]) >= self._past_most:
            self._raw_bytes -= len(self._raw.popleft())
            self._headless = True
            self.entries.clear()
            self._kept_bytes = 0

    def cut(self, why: str) -> None:
        """The file ended here, and another begins."""
        self.settle(final=True)
        self._number += 1
        self._append(Break(self._number, why), 0)
        self.added += 1

    def settle(self, *, final: bool = False) -> None:
        """Cut what waits into lines; an unfinished one waits on, unless `final`."""
        if not self._raw:
            return
        data = b"".join(self._raw)
        self._raw.clear()
        self._raw_bytes = 0
        if b"\r" in data:
            data = data.replace(b"\r", b"\n")
        *lines, rest = data.split(b"\n")
        if self._headless and lines:
            del lines[0]
            self._headless = False
        if final:
            lines.append(rest)
        elif rest:
            rest = rest[:LINE]  # of an endless line only the beginning
            self._raw.append(rest)
            self._raw_bytes = len(rest)
        self._take(lines)

    def _take(self, lines: Iterable[bytes]) -> None:
        fold = self.entries[-1] if self.entries and isinstance(self.entries[-1], Fold) else None
        for line in lines:
            if not line:
                continue
            if is_noise(line):
                if fold is None:
                    self._number += 1
                    fold = Fold(self._number)
                    self._append(fold, SAMPLES * 160)
                fold.count += 1
                fold.lines.append(line[:LINE])
                continue
            fold = None
            line = line[:LINE]
            if self._of_key or _KEY_BEGIN in line:
                line = self._without_key(line)
            self._number += 1
            self._append(LogLine(self._number, line), len(line))

    def _without_key(self, line: bytes) -> bytes:
        """The line without what it has of a private key that began before it; no line of it says so by itself."""
        if _KEY_BEGIN in line or _KEY_END in line:
            self._of_key = _KEY_LINES if b"-----BEGIN" in line and _KEY_END not in line else 0
            return line
        self._of_key -= 1
        message = message_of(clean(line))[0].strip().encode()
        return _KEY_LINE.sub(b"***", line) if _KEY_LINE.fullmatch(message) else line

    def _append(self, entry: LogEntry, size: int) -> None:
        self.entries.append(entry)
        self._kept_bytes += size
        while (self._kept_bytes > self._kept_most or len(self.entries) > self._most) and len(self.entries) > 1:
            old = self.entries.popleft()
            self._kept_bytes -= (
                len(old.raw) if isinstance(old, LogLine) else SAMPLES * 160 if isinstance(old, Fold) else 0
            )


def entries_of(text: bytes) -> Iterator[LogEntry]:
    """The entries of a piece of a log that is wanted whole; its first and last line are taken as complete."""
    ring = Ring(raw=len(text), kept=(1 + SAMPLES * 160) * (len(text) + 1), most=len(text) + 1)
    ring.add(text)
    ring.settle(final=True)
    yield from ring.entries
