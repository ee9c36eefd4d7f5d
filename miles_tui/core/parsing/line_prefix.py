"""What stands before a log line's own text: who printed it, when, and through which file.

Ray, kubectl, docker, CRI, journald, srun, grep, loguru and others put their words before a line, in
any mixture, so nothing here is anchored at the line's start: each part is searched for by its shape.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from miles_tui.core.model.records import NOBODY, Source

Digits = str | bytes

DATE_TIME = r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
# The logger's own stamp stands in brackets as a rule, and nearest to its text; a transport's (`ts`, kubectl, docker)
# before it. The logger's is preferred: it says when the line was printed, not when it was carried.
_BRACKET_STAMP = re.compile(r"\[" + DATE_TIME)
_ANY_STAMP = re.compile(r"(?<![\w.])(?:[IWEF](?=\d{8} ))?" + DATE_TIME)

# (Class pid=N, ip=A); the class may be missing, have a path, or be a repr with parentheses.
RAY = re.compile(r"\(((?:[^()]|\([^()]*\)){0,200}?) ?\bpid=([^,()\s]+)(?:, ?ip=([^()\s]+))?\) ?")
_RAY_DAEMON = re.compile(r"\((raylet|autoscaler|gcs_server|scheduler)\b[^()]*\) ?")

# The labels of a stream, as logcli prints them.
_LABELS = (
    r"\{[A-Za-z_][\w.]{0,80}=\"(?:[^\"\\]|\\.){0,200}\"(?:, ?[A-Za-z_][\w.]{0,80}=\"(?:[^\"\\]|\\.){0,200}\"){0,40}\}"
)

_LOGGER = re.compile(r"(?<![\w.-])([\w.-]+\.py):\d+")  # it begins where the word does: each word is read once

# Shapes that come before the text of a line, one after the other: labels of srun, torchrun, pdsh, stern,
# compose; grep's, awk's and nl's line numbers, grep's files; quote marks; stamps; loguru's level and place;
# syslog's host and unit; CRI's stream and tag; GitHub's commands. A host and a pod have a digit in their
# names: `warning: ` and `wandb: ` are words of a message.
_FIRM = r"(?=[\s(\[]|-{4}|\d{4}-\d\d-|Traceback|[\w.]{0,80}(?:Error|Exception)\b)"
_SHAPES = re.compile(
    r"(?:\[?" + DATE_TIME + r"(?:Z|[+-]\d\d:?\d\d)?(?:[^\]\[|]{0,40}\])?(?: std(?:out|err) [FP](?= ))?"
    r"|<\d{1,3}>\d? ?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]+ [\w./-]+(?:\[\d+\])?:(?= ))?"
    r"|\[(?:pod/|default|rank)[^\]]*\]:?|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?= )"
    r"|\d{1,9}(?:\t|:(?=\D|\d{4}[-/]\d\d[-/]\d\d|\Z)|-" + _FIRM + r")"
    r"|[\w./-]{1,80}[:-]\d+[:-]|[\w.-]{1,60} *\|(?= )|[\w.-]{1,60} >>(?= )"
    r"|\| ?[A-Z]{4,8} *\|(?: ?[\w.<>]{1,80}:[\w.<>]{1,80}:\d+ -(?= ))?"
    r"|(?=[a-z.-]*\d)[a-z][a-z0-9.-]{0,60}:(?= )"
    r"|(?=[a-z.-]*\d)[a-z][a-z0-9.]{0,60}(?:-[a-z0-9.]{1,60}){1,8} [a-z][a-z0-9-]{0,60} "
    + _FIRM
    + r"|##\[\w+\]|> |"
    + _LABELS
    + r")"
)
_STAMP = re.compile(r"\[?" + DATE_TIME)
# Behind words that are no known prefix a stamp is the logger's own if the logger goes on behind it.
_LOGGER_STAMP = re.compile(
    r"[^'\"`]{0,200}?\[" + DATE_TIME + r"[^\]\[]{0,60}\] (?:[\w./-]+\.py:\d+ -|[A-Z]{4,8}:|\w+ batch\b)"
)
_HEAD_CHARACTERS = 400  # characters of a line in which its own stamp begins
# A logger's name in its stamp's brackets, or Miles's own name of a trainer wherever a logger puts it.
_CRITIC = re.compile(r"\[" + DATE_TIME + r" +critic|(?<![\w./-])critic_cell\d+_rank\d+\b", re.IGNORECASE)
_NUMBERS_AND_BLANKS = re.compile(r"(\d+[:-]?|\s+)")
_MOST_PREFIX = 200


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


def own_time(head: str) -> float | None:
    """The time stamp in a metric line's head, the nearest to its text: whatever stands before carried the line."""
    found = _BRACKET_STAMP.findall(head) or _ANY_STAMP.findall(head)
    return seconds(*found[-1]) if found else None


def stamps_before(head: str) -> tuple[bool, int]:
    """Whether a metric line's logger stamps it in brackets, and how many stamps of that kind stand before its own."""
    bracketed = _BRACKET_STAMP.findall(head)
    return bool(bracketed), max(len(bracketed or _ANY_STAMP.findall(head)) - 1, 0)


def head_time(line: str, *, own: bool = False, outer: int = 0) -> float | None:
    """The time at the head of a line, before its message; with `own` a logger's or engine's bracketed stamp only.

    Without `own` a transport's stamp (kubectl, docker, CRI), or one without brackets (Ray's own lines have the
    host's clock), is taken where there is no bracketed one. A date inside a message is nobody's clock. `outer` stamps
    of the kind that counts are a transport's, and stand before the logger's.
    """
    text, at = line[:_HEAD_CHARACTERS], 0
    carried: float | None = None
    for _ in range(12):
        while text.startswith(" ", at):
            at += 1
        if stamp := _STAMP.match(text, at):
            time, bracketed = seconds(*stamp.groups()), text[at] == "["
            if outer and (bracketed or not own):
                outer -= 1
            elif bracketed:
                return time
            else:
                carried = time if carried is None else carried
        match = RAY.match(text, at) or _RAY_DAEMON.match(text, at) or _SHAPES.match(text, at)
        if match is None:
            break
        at = match.end()
    if stamp := _LOGGER_STAMP.match(text):
        return seconds(*stamp.groups())
    return None if own else carried


def seconds(
    year: Digits, month: Digits, day: Digits, hour: Digits, minute: Digits, second: Digits, fraction: Digits | None
) -> float | None:
    """A wall clock time in seconds since 1970, counted as if it were UTC; None for one that does not exist.

    A leap second is the next minute's first. Years before 1970 and from 9999 on are no clock's, and local
    time of theirs could be no date at all.
    """
    midnight = _midnight(int(year), int(month), int(day))
    h, m, s = int(hour), int(minute), int(second)
    if midnight is None or h > 23 or m > 59 or s > 60:
        return None
    return midnight + h * 3600 + m * 60 + s + (int(fraction) / 10 ** len(fraction) if fraction else 0.0)


@lru_cache(maxsize=64)
def _midnight(year: int, month: int, day: int) -> float | None:
    if not 1970 <= year < 9999:
        return None
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


def is_critic(head: str, source: Source) -> bool:
    """Whether PPO's critic printed the line with this head: its class or its logger is named so."""
    return "critic" in source.role.lower() or ("ritic" in head and _CRITIC.search(head) is not None)


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


@lru_cache(maxsize=64)
def alike(before: str) -> re.Pattern[str] | None:
    """What the writer that put `before` before one line puts before its others: the same but for numbers.

    None where there is nothing, or too much for a prefix. For what has no known shape (`wandb: `, `host: `).
    """
    words = before.rstrip()
    if not words or len(before) > _MOST_PREFIX:
        return None
    alike = "".join(_likeness(part) for part in _NUMBERS_AND_BLANKS.split(words))
    return re.compile(r"\s*+" + alike + re.escape(before[len(words) :]))


def _likeness(part: str) -> str:
    """A number and what follows it: grep puts `:` behind the lines that it found, and `-` behind those around."""
    if part.isspace():
        return r"\s*+"  # what is taken is not given back: two in a row would take the square of a long indent
    return r"\d+[:-]" if part[-1:] in (":", "-") and part[:-1].isdecimal() else re.sub(r"\d+", r"\\d+", re.escape(part))
