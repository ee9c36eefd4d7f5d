"""One line -> its metric records, or none; and where a metric line can be at all.

A metric line is `<kind> <number>: {dict}`. Anything may stand before it and after it, so what counts
is the grammar right before the kind (a logger's ` - `, a bracket, a colon, a blank, the line's start;
never an open quote) and the kind itself. Two ways lead to a record and agree: `fast_path` for a line
as Miles prints it, `records_in` for everything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from miles_tui.core.model.records import Record
from miles_tui.core.parsing.dict_parser import TORN, Metrics, TornDict, careful_metrics, fast_metrics
from miles_tui.core.parsing.fast_json import from_json
from miles_tui.core.parsing.fast_path import counts
from miles_tui.core.parsing.line_prefix import is_critic, logger_of, message_of, own_time, source_of, time_of
from miles_tui.core.parsing.line_splitter import Buffer, clean, line_end

_LINE_HEAD = re.compile(r"(?<![\w-])([A-Za-z][\w-]{0,63}) +(\d{1,15}): ?(\{)\s?(?=['\"])", re.ASCII)
_QUOTES = re.compile(r"\\.|[\"']")
# A new writer's words in the middle of a line, after a record or a torn one.
_FRESH = re.compile(r"\((?:[^()]|\([^()]*\)){0,200}?\bpid=|\[\d{4}-\d\d-\d\d \d\d:")
_STRONG = re.compile(r"(?:\.py:\d+ +-|:\w+:\d+ -) *\Z")
_PROSE = re.compile(r"[a-z']+[,;]?|[A-Z][a-z]+|[A-Z]", re.ASCII)
_LEVELS = frozenset({"info", "debug", "warning", "warn", "error", "success", "trace", "critical", "notice"})
_MOST_TRIES = 32  # candidates that fail before a line is given up: keeps the work linear


@dataclass(slots=True)
class Parsed:
    """What a line holds. `torn`: its last dict was well-formed as far as the line went."""

    records: list[Record] = field(default_factory=list)
    torn: bool = False


def records_in(line: bytes | bytearray) -> Parsed:
    """Every metric record of one line, whatever stands around it."""
    text, time = clean(line), None
    wrapped = unwrap(text)
    if wrapped is not None:
        text, time = wrapped[0], time_of(wrapped[1])
    parsed = Parsed()
    quotes = _Quotes(text)
    begin, at, tries = 0, 0, 0
    while tries < _MOST_TRIES and (head := _LINE_HEAD.search(text, at)):
        at = head.start(3) + 1
        strong = _stands_well(text, begin, head.start())
        if strong is None or quotes.open_at(head.start()):
            tries += strong is not None
            continue
        found = _metrics_at(text, head.start(3))
        parsed.torn = found is TORN
        if isinstance(found, TornDict):
            tries += 1
            fresh = _FRESH.search(text, at)
            # What follows in this line counts only behind another writer's own prefix.
            begin = fresh.start() if fresh else len(text)
        else:
            metrics, end = found
            if counts(head[1], metrics, strong=strong) and (strong or _ends_well(text, end)):
                parsed.records.append(_record(head, metrics, text[begin : head.start()], time))
            begin = end
        at = max(at, begin)
        quotes.restart(begin)
    return parsed


def _record(head: re.Match[str], metrics: Metrics, before: str, time: float | None) -> Record:
    """`time` is a transport's, for a line that has no stamp of its own in the text `before` its kind."""
    own = own_time(before)
    source = source_of(before)
    record = Record(head[1], int(head[2]), metrics, time if own is None else own, source, logger_of(before))
    record.critic = is_critic(before, source)
    return record


def _metrics_at(text: str, brace: int) -> tuple[Metrics, int] | TornDict:
    end = text.find("}", brace) + 1
    if end and text.find("{", brace + 1, end) < 0 and (metrics := fast_metrics(text[brace:end].encode())) is not None:
        return metrics, end
    return careful_metrics(text, brace)


def _stands_well(text: str, begin: int, at: int) -> bool | None:
    """How firm the ground before a kind is: True behind a logger's prefix, False elsewhere, None for no ground."""
    if at == begin:
        return False
    before = text[at - 1]
    if not (before.isspace() or before in "])>|:}" or not before.isascii()):
        return None
    start = max(begin, at - 240)
    if _STRONG.search(text, start, at):
        return True
    words = text[start:at]
    loose = words[max(words.rfind(c) for c in "])>|:}") + 1 :].split()
    # `payload says step 9: {...}` is a sentence; `worker perf 0: {...}` is a label.
    if len(loose) > 1 and all(_PROSE.fullmatch(w) and w.lower() not in _LEVELS for w in loose[-2:]):
        return None
    return None if any(len(w) > 80 for w in loose[-1:]) else False


def _ends_well(text: str, end: int) -> bool:
    """Whether a dict is not a part of a sentence or of quoted text that goes on behind it."""
    return text[end : end + 1] not in tuple("\"'`,.;?!\\)")


class _Quotes:
    """Whether a place in a line lies inside quotes; asked for rising places, so the line is walked once."""

    __slots__ = ("_at", "_open", "_text")

    def __init__(self, text: str) -> None:
        self._text, self._at, self._open = text, 0, ""

    def restart(self, at: int) -> None:
        """From here on the line is another writer's: nothing is open."""
        if at > self._at:
            self._at, self._open = at, ""

    def open_at(self, place: int) -> bool:
        text = self._text
        for match in _QUOTES.finditer(text, self._at, place):
            mark, pos = match[0], match.start()
            if len(mark) == 2 or (self._open and mark != self._open):
                continue
            if mark == "'" and not self._turns(text, pos):
                continue
            self._open = "" if self._open else mark
        self._at = max(self._at, place)
        return bool(self._open)

    def _turns(self, text: str, pos: int) -> bool:
        """An apostrophe opens only after a non-letter and closes only before one: `don't` does neither."""
        if self._open:
            return not text[pos + 1 : pos + 2].isalnum()
        return pos == 0 or not text[pos - 1].isalnum()


# -- JSON around a line ----------------------------------------------------------------------------

_TEXT_KEYS = ("log", "message", "msg", "_msg", "MESSAGE", "text", "textPayload", "line", "body", "event", "content")
_TIME_KEYS = ("time", "timestamp", "@timestamp", "ts", "asctime", "date", "_time")
_INNER_KEYS = ("jsonPayload", "record", "fields", "data", "attributes")
# One of these stands beside the text in an object that a transport or a logger made; prompts have none.
_LOGGED_KEYS = frozenset((*_TIME_KEYS, "stream", "level", "levelname", "severity", "logger", "PRIORITY"))
_MOST_LINE = 1 << 16  # bytes of a line that are read at all where it is no metric
_OBJECT = re.compile(r'\{\s?"')


def unwrap(text: str, holding: str = "{") -> tuple[str, str] | None:
    """The log text inside a JSON object (docker's json-file, fluentd, structured loggers) and its printed time.

    None if `text` has no such object with a text that holds `holding`; the time is "" where there is none. What
    stands around the object is left out. A text cut by docker at 16 KiB has no line end of its own; its rest is
    in the next object (see `line_joiner`).
    """
    match = _OBJECT.search(text)
    if match is None:
        return None
    end = text.rfind("}") + 1
    try:
        found = from_json(text[match.start() : end])
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    for inner in (found, *(found[k] for k in _INNER_KEYS if isinstance(found.get(k), dict))):
        for key in _TEXT_KEYS:
            said = inner.get(key)
            if isinstance(said, str) and holding in said:
                return clean(said.encode("utf-8", "replace")).strip("\r\n"), _time_in(found)
    return None


def logged_text(text: str) -> str:
    """The text of a cleaned line, out of its JSON object if it is nothing else; the object's time stands before it.

    It may have several lines then, each with the time. Any other line is given back as it is.
    """
    begin = text.find('{"')
    if begin < 0 or not text.rstrip().endswith("}") or message_of(text[:begin])[0].strip():
        return text
    wrapped = unwrap(text, "")
    if wrapped is None or not any(f'"{key}"' in text for key in _LOGGED_KEYS):
        return text
    head = f"{wrapped[1]} " if wrapped[1] else text[:begin]
    return "\n".join(head + row for row in wrapped[0].split("\n"))


def line_at(text: Buffer, begin: int) -> str:
    """The line that begins at `begin`, clean and out of its JSON object; of several rows then."""
    line = clean(text[begin : line_end(text, begin, min(len(text), begin + _MOST_LINE))])
    return logged_text(line) if '{"' in line else line


def _time_in(found: dict[str, object]) -> str:
    for key in _TIME_KEYS:
        said = found.get(key)
        if isinstance(said, str) and time_of(said) is not None:
            return said
    return ""
