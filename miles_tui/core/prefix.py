"""What stands before a log line's own text: who printed it, when, and through which file.

Ray, kubectl, docker, CRI, journald, srun, grep, loguru and others put their words before a line, in
any mixture, so nothing here is anchored at the line's start: each part is searched for by its shape.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from miles_tui.core.records import NOBODY, Source

Digits = str | bytes

DATE_TIME = r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
# The logger's own stamp stands in brackets; a transport's does not. The logger's is preferred: it
# says when the line was printed, not when it was carried.
_BRACKET_STAMP = re.compile(r"\[" + DATE_TIME)
_ANY_STAMP = re.compile(r"(?<![\w.])(?:[IWEF](?=\d{8} ))?" + DATE_TIME)

# (Class pid=N, ip=A); the class may be missing, have a path, or be a repr with parentheses.
RAY = re.compile(r"\(((?:[^()]|\([^()]*\)){0,200}?) ?\bpid=([^,()\s]+)(?:, ?ip=([^()\s]+))?\) ?")
_RAY_DAEMON = re.compile(r"\((raylet|autoscaler|gcs_server|scheduler)\b[^()]*\) ?")

_LOGGER = re.compile(r"([\w.-]+\.py):\d+")

# Shapes that come before the text of a line, one after the other: labels of srun, torchrun, pdsh,
# compose; grep's file and line; quote marks; stamps; syslog's host and unit; CRI's stream and tag;
# GitHub's commands.
_SHAPES = re.compile(
    r"(?:\[?" + DATE_TIME + r"(?:Z|[+-]\d\d:?\d\d)?(?:[^\]\[|]{0,40}\])?(?: std(?:out|err) [FP](?= ))?"
    r"|<\d{1,3}>\d? ?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]+ [\w./-]+(?:\[\d+\])?:(?= ))?"
    r"|\[(?:pod/|default|rank)[^\]]*\]:?|\d{1,4}: |[\w./-]{1,80}[:-]\d+[:-]|[\w.-]{1,60} *\|(?= )|[\w.-]{1,60} >>(?= )"
    r"|##\[\w+\]|> )"
)


def source_of(head: str) -> Source:
    """The Ray prefix in `head`, or NOBODY."""
    match = RAY.search(head) if "pid=" in head else None
    if match is None:
        return NOBODY
    return source(match[1].strip(), match[2], match[3] or "")


@lru_cache(maxsize=1024)
def source(role: str, pid: str, ip: str) -> Source:
    """One object a writer, however many lines it prints."""
    return Source(role, pid, ip)


def time_of(head: str) -> float | None:
    """The time stamp in `head` in seconds of the log's wall clock, or None; the logger's own before a transport's."""
    match = _BRACKET_STAMP.search(head) or _ANY_STAMP.search(head)
    return None if match is None else seconds(*match.groups())


def last_time(text: str) -> float | None:
    """The time stamp of the last line in `text` that has one."""
    for line in reversed(text.splitlines()):
        time = time_of(line)
        if time is not None:
            return time
    return None


def seconds(
    year: Digits, month: Digits, day: Digits, hour: Digits, minute: Digits, second: Digits, fraction: Digits | None
) -> float | None:
    """A wall clock time in seconds since 1970, counted as if it were UTC; None for a date that does not exist."""
    midnight = _midnight(int(year), int(month), int(day))
    h, m, s = int(hour), int(minute), int(second)
    if midnight is None or h > 23 or m > 59 or s > 60:
        return None
    return midnight + h * 3600 + m * 60 + s + (int(fraction) / 10 ** len(fraction) if fraction else 0.0)


@lru_cache(maxsize=64)
def _midnight(year: int, month: int, day: int) -> float | None:
    try:
        return float((date(year, month, day).toordinal() - 719_163) * 86_400)
    except ValueError:
        return None


def logger_of(head: str) -> str:
    """The file name of the logging prefix nearest to the line's text (`model.py`), or ""."""
    name = ""
    for match in _LOGGER.finditer(head):
        name = match[1]
    return name


def message_of(text: str) -> tuple[str, bool]:
    """The text of a cleaned line without what others put before it, and whether a Ray process's prefix was there.

    One blank belongs to a prefix; the others are the message's own: a traceback's lines stay indented.
    """
    at = 0
    for _ in range(12):
        begin = at
        while text.startswith(" ", begin):
            begin += 1
        match = RAY.match(text, begin) or _RAY_DAEMON.match(text, begin)
        if match:
            return text[match.end() :], True
        match = _SHAPES.match(text, begin)
        if match is None:
            break
        at = match.end() + text.startswith(" ", match.end())
    return text[at:], False
