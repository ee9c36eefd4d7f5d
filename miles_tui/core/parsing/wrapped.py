"""A log that a service handed out as JSON -> its plain lines, piece by piece and linear in bytes.

    [{"line": "...", ...}, ...]           Grafana, Datadog, gcloud (also with a field a line)
    {"resourceLogs": [{... "body": {"stringValue": "..."}}]}    OpenTelemetry, an object a line
    {"logs": "...\\n...\\n"}                Ray's REST interface: one string
    {"events": [{"message": "..."}]}      CloudWatch; Loki's and Elasticsearch's answers, Azure's tables

Objects a line whose text is a field of their own (docker's json-file, structured loggers) are none: `parse.unwrap`
reads those, and their time. Of the others the time is that of the text itself.
"""

from __future__ import annotations

import re

from miles_tui.core.parsing.line_splitter import Buffer

_UNSURE = 256  # bytes of a log's beginning after which it is plain
_BLANK = b" \t\r\n\0\xef\xbb\xbf"
# What such a value begins with, where its first field is not a log line's own.
_OUTER = frozenset(
    {b"resourceLogs", b"logs", b"events", b"status", b"data", b"hits", b"tables", b"results", b"result", b"entries",
     b"took", b"nextForwardToken", b"nextToken", b"searchedLogStreams"}
)  # fmt: skip
_FIRST_KEY = re.compile(rb'\s*"([^"\\]{0,64})"\s*:')
_MESSAGE_KEYS = frozenset(
    {b"log", b"logs", b"message", b"Message", b"msg", b"_msg", b"MESSAGE", b"@message", b"text", b"textPayload",
     b"line", b"lines", b"body", b"event", b"content", b"LogEntry", b"LogMessage", b"raw", b"_raw", b"values", b"rows"}
)  # fmt: skip
_WRAP_MARK = re.compile(rb'["{}\[\],:]')
_INSIDE = re.compile(rb'[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+')  # of a string, up to its quote or the end
_JSON_ESCAPE = re.compile(rb"\\u([dD][89abAB]\w\w)\\u([dD][c-fC-F]\w\w)|\\u([0-9a-fA-F]{4})|\\(.)")
# An escape that may go on in the next piece; the backslash before it is no escaped one.
_HALF = re.compile(rb"(?<!\\)(?:\\\\)*((?:\\u[dD][89abAB]\w\w)?\\(?:u\w{0,3})?|\\u[dD][89abAB]\w\w)\Z")
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b""}
_MOST_KEY = 64
_MOST_DEEP = 256
_NEXT = re.compile(rb"[^\s,\0]")


def is_wrapped(head: bytes) -> bool | None:
    """Whether a log that begins so is one JSON value after another around its lines; None where that is open."""
    head = head.lstrip(_BLANK)
    if not head:
        return None
    inner = head[1:].lstrip()
    if head[:1] == b"[":
        field = inner[1:].lstrip()
        if inner[:1] not in (b"", b"{") or (field and field[:1] != b'"'):
            return False
        return True if field else None
    if head[:1] != b"{" or inner[:1] not in (b"", b'"'):
        return False
    key = _FIRST_KEY.match(inner)
    if key is None:
        return None
    return head[1 : len(head) - len(inner)].find(b"\n") >= 0 or key[1] in _OUTER


class Unwrap:
    """Gives the plain lines of a wrapped log, and any other log as it is. Memory: what is undecided, a key, a depth."""

    def __init__(self) -> None:
        self._head = b""
        self.plain: bool | None = None  # None: not known yet
        self._begin()

    def _begin(self) -> None:
        """No value is open."""
        self._open: list[tuple[bytes, bool]] = []  # of what is open: the key that it stands under, is it an array
        self._key = b""  # the newest key; of an array that under which it stands
        self._wants_key = False
        self._inside = ""  # of a string: `key`, `text` or `other`
        self._ends = False  # a text, with a line end
        self._rest = b""  # what can't be told without the next piece
        self._field = b""  # the newest value that is no text

    def feed(self, chunk: Buffer) -> Buffer:
        """The lines in `chunk`, as far as they are known to be plain or were taken out."""
        if self.plain is None:
            chunk = self._head + bytes(chunk)
            wrapped = is_wrapped(chunk[:_UNSURE])
            if wrapped is None and len(chunk) < _UNSURE:
                self._head = chunk
                return b""
            self._head, self.plain = b"", not wrapped
        return chunk if self.plain else self._take(bytes(chunk))

    def rest(self) -> bytes:
        """The log is at its end: what was held back. The next one may be of another form."""
        head, self._head = self._head, b""
        if not self.plain:
            self.plain = None
            self._begin()
        return head

    # -- taking strings out ----------------------------------------------------------------------

    def _take(self, chunk: bytes) -> bytes:
        data, at = self._rest + chunk, 0
        self._rest = b""
        out: list[bytes] = []
        while at < len(data):
            if self._inside:
                at = self._string(data, at, out)
            elif not self._open and (at := self._between(data, at, out)) >= len(data):
                break
            elif mark := _WRAP_MARK.search(data, at):
                at = mark.end()
                self._see(mark[0])
            else:
                break
        return b"".join(out)

    def _between(self, data: bytes, at: int, out: list[bytes]) -> int:
        """Where the next value begins. What is none is the log itself: only its beginning looked wrapped."""
        found = _NEXT.search(data, at)
        if found is None:
            return len(data)
        at = found.start()
        wrapped = is_wrapped(data[at : at + _UNSURE])
        if wrapped is None and len(data) - at < _UNSURE:
            self._rest = data[at:]
            return len(data)
        if not wrapped:
            self.plain = True
            out.append(data[at:])
            return len(data)
        return at

    def _see(self, mark: bytes) -> None:
        if mark == b'"':
            self._inside = self._kind()
            self._ends = False
            if self._inside == "key":
                self._key = b""
            elif self._inside == "other":
                self._field = b""
        elif mark in b"{[":
            if len(self._open) < _MOST_DEEP:
                self._open.append((self._key, mark == b"["))
            self._wants_key = mark == b"{"
            if self._wants_key:
                self._key = self._field = b""
        elif mark in b"}]":
            self._key = self._open.pop()[0]
            self._wants_key = False
        else:
            self._wants_key = mark == b"," and not self._open[-1][1]

    def _kind(self) -> str:
        """What a string that begins now is."""
        if self._wants_key:
            return "key"
        key, parent = self._key, self._open[-1][0]
        wanted = key in _MESSAGE_KEYS or (key == b"stringValue" and parent == b"body")
        return "text" if wanted or (key == b"value" and self._field == b"@message") else "other"

    def _string(self, data: bytes, at: int, out: list[bytes]) -> int:
        """Read on in a string from `at`; where to go on. A line end in one says that it was torn: all begins anew."""
        found = _INSIDE.match(data, at)
        end = found.end() if found else at
        over = data[end : end + 1] in (b'"', b"\n") or data[end : end + 2] == b"\\\n"
        stop = end
        if not over:
            half = _HALF.search(data, max(at, len(data) - _MOST_KEY))
            stop = max(at, half.start(1)) if half else len(data)
            self._rest = data[stop:]
        piece = data[at:stop]
        if self._inside == "text":
            text = _JSON_ESCAPE.sub(_meant, piece) if b"\\" in piece else piece
            out.append(text)
            self._ends = text.endswith(b"\n") if text else self._ends
            if over and not self._ends:
                out.append(b"\n")
        elif self._inside == "key":
            self._key = (self._key + piece)[:_MOST_KEY]
        else:
            self._field = (self._field + piece)[:_MOST_KEY]
        if not over:
            return len(data)
        self._inside, self._wants_key = "", False
        if data[end : end + 1] != b'"':
            self._begin()
        return end + 1


def _meant(escape: re.Match[bytes]) -> bytes:
    high, low, code, letter = escape.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    if code is not None:
        return chr(int(code, 16)).encode("utf-8", "replace")
    return chr(0x10000 + (int(high, 16) - 0xD800 << 10) + int(low, 16) - 0xDC00).encode()
