"""A metric line as Miles prints it -> its record, in 3 µs: one regular expression for the head, JSON in C for the dict.

What this refuses `parse.records_in` reads; where both read a line they agree, key for key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from miles_tui.core.model.records import NOBODY, Record, Source
from miles_tui.core.parsing.brace_scan import FIRST_PAIR
from miles_tui.core.parsing.dict_parser import Metrics, printed_metrics
from miles_tui.core.parsing.line_prefix import is_critic, source_of, time_of
from miles_tui.core.parsing.line_splitter import Buffer

METRIC_KINDS = frozenset({"step", "rollout", "perf", "eval", "multi_turn", "passrate"})
# Numbered things that print dicts and are no metrics: `Ports for engine 3: {...}`, `pid 15277: {...}`.
_NO_KINDS = frozenset(
    {"pid", "rank", "engine", "gpu", "node", "worker", "device", "port", "ports", "id", "line", "job"}
)

# A line's head as Miles prints it, or bare: Ray's prefix (or none), the stamp to the minute, its seconds, and the
# logger's file (or none of these) with the kind, and the number. Few groups: each costs 30 ns a line. The last one is
# there, empty, where the first pair is not the usual one.
_HEAD = re.compile(
    rb"((?:\x1b\[[0-9;]*m)*(?:\([\w./]* ?pid=[0-9]+(?:, ip=[^()\s,]+)?\)(?:\x1b\[[0-9;]*m)* )?)"
    rb"(?:\[(\d{4}-\d\d-\d\d \d\d:\d\d):((?:[0-5]\d|60)(?:[.,]\d{3})?))?"
    rb"((?(2)(?: [\w.-]*)?\] [\w.-]+\.py:[0-9]+ - )[a-z][\w-]* )([0-9]{1,15}): (?=\{(?:'[\w/@.-]+': [-0-9]|()))"
)
_COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
_USUAL_LOGGER = re.compile(rb"\] ([\w.-]+\.py):[0-9]+ - ")
_MOST_WRITERS = 4096


@dataclass(slots=True)
class _Writer:
    """What the words before a number say, however often they are printed."""

    kind: str
    source: Source
    logger: str
    known: bool  # the kind is one of the trainers' own
    critic: bool


class Usual:
    """Reads usual lines, one after another. Megatron prints each step twice: the dict just read is not read again."""

    __slots__ = ("_body", "_metrics", "_printed", "_writers")

    def __init__(self) -> None:
        self._body: Buffer = b""
        self._metrics: Metrics = {}
        self._printed = b""
        self._writers: dict[tuple[bytes, bytes], _Writer] = {}

    def record(self, data: Buffer, start: int, end: int) -> Record | None:
        """The record of the line `data[start:end]` if it is a usual one, whole, and its first `{` its dict's."""
        head = _HEAD.match(data, start, end)
        if head is None or data[end - 1] != 0x7D:
            return None
        body = data[head.end() : end]
        if body != self._body and not self._read(body):
            return None
        ray, minute, second, words, number, other = head.groups()
        if other is not None and FIRST_PAIR.match(data, head.end(), end) is None:
            return None
        writer = self._writers.get((ray, words)) or self._writer(ray, words)
        metrics = self._metrics
        if not writer.known and not counts(writer.kind, metrics, strong=minute is not None):
            return None
        time = None
        if minute is not None and (time := _minute(minute)) is not None:
            time += float(second.replace(b",", b"."))
        return Record(
            writer.kind, int(number), metrics, time, writer.source, writer.logger, self._printed, writer.critic
        )

    def _read(self, body: Buffer) -> bool:
        # What the other way would clean out of keys is left to it; and a CR ends a line.
        if not body.isascii() or 0x7F in body or 0x0D in body or (0x5B in body and _has_bare_colours(body)):
            return False
        found = printed_metrics(body)
        if found is None or not found[0]:
            return False
        self._body, (self._metrics, self._printed) = body, found
        return True

    def _writer(self, ray: bytes, words: bytes) -> _Writer:
        prefix = _COLOURS.sub(b"", ray)
        source = source_of(prefix.decode("utf-8", "replace")) if prefix else NOBODY
        kind = words[words.rfind(b" ", 0, -1) + 1 : -1].decode()
        logger = _USUAL_LOGGER.search(words)
        if len(self._writers) >= _MOST_WRITERS:
            self._writers.clear()
        writer = self._writers[ray, words] = _Writer(
            kind,
            source,
            logger[1].decode() if logger else "",
            kind in METRIC_KINDS,
            is_critic("[2000-01-01 00:00:00" + words.decode(), source),
        )
        return writer


def _has_bare_colours(body: Buffer) -> bool:
    return body.find(b"[0m") >= 0 or body.find(b"^[[") >= 0


@lru_cache(maxsize=256)
def _minute(minute: bytes) -> float | None:
    return time_of(minute.decode() + ":00")


def counts(kind: str, metrics: Metrics, strong: bool) -> bool:
    """Whether the numbers under this kind are metrics.

    The trainers' own kinds and any `<role>-step` count. Another word counts if it is the name space
    of its keys (`<kind>/...`), or if a logger's prefix stands right before it and its keys have one.
    """
    if not metrics:
        return False
    if kind in METRIC_KINDS or kind.endswith(("-step", "_step")):
        return True
    if kind.lower() in _NO_KINDS:
        return False
    space = f"{kind}/"
    return any(k.startswith(space) for k in metrics) or (strong and any("/" in k[1:] for k in metrics))
