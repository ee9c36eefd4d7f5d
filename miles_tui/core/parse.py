"""One line -> its metric records, or none; and where a metric line can be at all.

A metric line is `<kind> <number>: {dict}`. Anything may stand before it and after it, so what counts
is the grammar right before the kind (a logger's ` - `, a bracket, a colon, a blank, the line's start;
never an open quote) and the kind itself. Two ways lead to a record and agree: `fast_record` for a line
as Miles prints it, `records_in` for everything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pydantic_core import from_json

from miles_tui.core.dicts import TORN, Metrics, Torn, careful_metrics, fast_metrics
from miles_tui.core.lines import Buffer, clean
from miles_tui.core.prefix import logger_of, seconds, source, source_of, time_of
from miles_tui.core.records import NOBODY, Record

KINDS = frozenset({"step", "rollout", "perf", "eval", "multi_turn", "passrate"})
# Numbered things that print dicts and are no metrics: `Ports for engine 3: {...}`, `pid 15277: {...}`.
_NO_KINDS = frozenset(
    {"pid", "rank", "engine", "gpu", "node", "worker", "device", "port", "ports", "id", "line", "job"}
)

# One colour sequence, real or spelled, between the parts of `<kind> <number>: {`.
_SEQ = rb"(?:(?:\x1b|\^\[|\\u001b|\\x1b|\\033|\\e)\[[0-9;:]*[A-Za-z]|\[[0-9;]*m)"
_FEW = _SEQ + rb"{0,3}"
# `[0-9]: {` and nothing before it: the number's last digit is what a search can begin with.
NUMBERED_BRACE = re.compile(rb"[0-9]" + _FEW + rb" ?:" + _FEW + rb" ?" + _FEW + rb"\{")
_NUMBERED_BRACE_BACK = re.compile(NUMBERED_BRACE.pattern + rb"\Z")
_KIND_BACK = re.compile(rb"[A-Za-z]" + _FEW + rb" +" + _FEW + rb"[0-9]{1,15}" + _FEW + rb" ?:[^:]*\Z")
# A first key, complete, and the beginning of a value: most near misses end here, in C.
_FIRST_PAIR = re.compile(
    rb"\{\s?"
    + _FEW
    + rb"(?:'(?:[^'\\\n\r]|\\.)*'|\"(?:[^\"\\\n\r]|\\.)*\"|\\\"(?:[^\"\\\n\r]|\\[^\"])*\\\")"
    + _FEW
    + rb"\s?:\s?"
    rb"(?:[-+.0-9'\"\\\[{(<\x1b]|[A-Za-z_][\w.]*[,}(]|[NnIiTF-])"
)
BACK = 200  # bytes before a brace that can hold kind, number and colours

_DAY = rb"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?"
_PLAIN_HEAD = re.compile(
    rb"(?:\x1b\[[0-9;]*m)*(?:\(([\w./]*) ?pid=([0-9]+)(?:, ip=([^()\s,]+))?\)(?:\x1b\[[0-9;]*m)* )?"
    rb"\[" + _DAY + rb"(?: [\w.-]*)?\] ([\w.-]+\.py):[0-9]+ - ([a-z][\w-]*) ([0-9]{1,15}): "
)

_HEAD = re.compile(r"(?<![\w-])([A-Za-z][\w-]{0,63}) +(\d{1,15}) ?: ?(\{)\s?(?=['\"])", re.ASCII)
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


def is_candidate(data: Buffer, start: int, brace: int, end: int) -> bool:
    """Whether `data[brace]`, a `{` in `data[start:end]`, can open the dict of a metric line.

    Cheap first: nearly every brace of a log ends at the byte comparisons. The regular expression
    `NUMBERED_BRACE` finds the same braces: with it, this is asked for what it found alone.
    """
    before = data[brace - 1] if brace > start else 0
    at = brace - 1
    if before == 0x20 and at > start:
        at -= 1
        before = data[at]
    if before == 0x3A:
        digit = data[at - 1] if at > start else 0
        if not 0x30 <= digit <= 0x39 and not (digit == 0x20 or 0x41 <= digit <= 0x7A):
            return False
    elif not 0x41 <= before <= 0x7A:
        return False
    low = max(start, brace - BACK)
    if _FIRST_PAIR.match(data, brace, end) is None:
        return False
    back = bytes(data[low : brace + 1])
    return (
        _NUMBERED_BRACE_BACK.search(back, len(back) - 64 if len(back) > 64 else 0) is not None
        and _KIND_BACK.search(back) is not None
    )


def fast_record(data: Buffer, start: int, brace: int, end: int) -> Record | None:
    """The record of a line as Miles prints it, whole in `data[start:end]`; None where only `records_in` can tell."""
    head = _PLAIN_HEAD.fullmatch(data, start, brace)
    if head is None:
        return None
    body = bytes(data[brace:end])
    if not body.endswith(b"}"):
        return None
    metrics = fast_metrics(body)
    if not metrics:
        return None
    role, pid, ip, *stamp, logger, kind, number = head.groups()
    name = kind.decode()
    if not _counts(name, metrics, strong=True):
        return None
    return Record(
        name,
        int(number),
        metrics,
        seconds(*stamp),
        NOBODY if pid is None else source(role.decode(), pid.decode(), ip.decode() if ip else ""),
        logger.decode(),
    )


def records_in(line: bytes | bytearray) -> Parsed:
    """Every metric record of one line, whatever stands around it."""
    text = clean(line)
    wrapped = unwrap(text)
    if wrapped is not None:
        text, time = wrapped
    else:
        time = None
    parsed = Parsed()
    quotes = _Quotes(text)
    begin, at, tries = 0, 0, 0
    while tries < _MOST_TRIES and (head := _HEAD.search(text, at)):
        at = head.start(3) + 1
        strong = _stands_well(text, begin, head.start())
        if strong is None or quotes.open_at(head.start()):
            tries += strong is not None
            continue
        found = _metrics_at(text, head.start(3))
        parsed.torn = found is TORN
        if isinstance(found, Torn):
            tries += 1
            fresh = _FRESH.search(text, at)
            # What follows in this line counts only behind another writer's own prefix.
            begin = fresh.start() if fresh else len(text)
        else:
            metrics, end = found
            before = text[begin : head.start()]
            if _counts(head[1], metrics, strong=strong) and (strong or _ends_well(text, end)):
                stamp = time_of(before)
                parsed.records.append(
                    Record(
                        head[1],
                        int(head[2]),
                        metrics,
                        time if stamp is None else stamp,
                        source_of(before),
                        logger_of(before),
                    )
                )
            begin = end
        at = max(at, begin)
        quotes.restart(begin)
    return parsed


def _metrics_at(text: str, brace: int) -> tuple[Metrics, int] | Torn:
    end = text.find("}", brace) + 1
    if end and text.find("{", brace + 1, end) < 0 and (metrics := fast_metrics(text[brace:end].encode())) is not None:
        return metrics, end
    return careful_metrics(text, brace)


def _counts(kind: str, metrics: Metrics, strong: bool) -> bool:
    """Whether the numbers under this kind are metrics.

    The trainers' own kinds and any `<role>-step` count. Another word counts if it is the name space
    of its keys (`<kind>/...`), or if a logger's prefix stands right before it and its keys have one.
    """
    if not metrics:
        return False
    if kind in KINDS or kind.endswith(("-step", "_step")):
        return True
    if kind.lower() in _NO_KINDS:
        return False
    space = f"{kind}/"
    return any(k.startswith(space) for k in metrics) or (strong and any("/" in k[1:] for k in metrics))


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
_OBJECT = re.compile(r'\{\s?"')


def unwrap(text: str) -> tuple[str, float | None] | None:
    """The log text inside a JSON object (docker's json-file, fluentd, structured loggers) and its time; else None.

    What stands before the object (a container's name, a stamp) is kept before the text. A text cut by
    docker at 16 KiB has no line end of its own; its rest is in the next object (see `core.joins`).
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
            if isinstance(said, str) and "{" in said:
                return clean(said.encode("utf-8", "replace")).strip("\r\n"), _time_in(found)
    return None


def _time_in(found: dict[str, object]) -> float | None:
    for key in _TIME_KEYS:
        said = found.get(key)
        if isinstance(said, str) and (time := time_of(said)) is not None:
            return time
    return None
