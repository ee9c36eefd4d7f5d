"""Text in cells of a terminal, and times in words. Pure: widths come from Unicode's own tables.

`cells` counts what a terminal shows, not code points: a wide character takes two cells, a combining
mark none. Times of a log are seconds of its own wall clock (`Record.time`), so no zone is applied.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import lru_cache

from miles_tui.core.text.numbers import number, signed

__all__ = [
    "ago", "cell", "cells", "clock", "cut", "date_of", "duration", "fit_path", "fit_text", "middle", "number",
    "of_sure_width", "pad", "signed", "wrap",
]  # fmt: skip

MINUTE, HOUR, DAY = 60, 3600, 86400
_DAY_0 = date(1970, 1, 1).toordinal()
_NUMBER_END = re.compile(r"[+-]?\d[\d.,:]*(?:[eE][+-]?)?$")  # a number at the end of a text, as far as it goes
_ON = re.compile(r"[.,:eE+-]{0,2}\d")  # how it would go on
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@lru_cache(maxsize=4096)
def cell(char: str) -> int:
    """Cells of one character: 2 for wide ones, 0 for combining marks, controls and format characters."""
    if " " <= char <= "~":
        return 1
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Mc", "Cc", "Cf", "Zl", "Zp"):
        return 0
    # What is assigned to nobody is wide in Python 3.11's table.
    return 2 if category != "Cn" and unicodedata.east_asian_width(char) in ("W", "F") else 1


def of_sure_width(text: str) -> str:
    """`text` without what terminals take different widths for: dropped where it shows nothing, else a stand-in.

    Flags become their country's letters, people of any skin the same person, loose parts of Korean syllables and
    what Unicode gave to nobody `?`. Combining marks stay, though some terminals give a cell to a few of them.
    """
    if text.isascii():
        return text
    if re.search(_JAMO, text):
        text = unicodedata.normalize("NFC", text)
    return text.translate(_SURE)


# Parts of Korean syllables. As text: only where one is looked for it is compiled.
_JAMO = "[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
# Unicode's Default_Ignorable_Code_Point beside category Cf, and the skin tones.
_UNSEEN = (
    (0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0), (0x1F3FB, 0x1F3FF), (0xE0000, 0xE0FFF),
)  # fmt: skip
# Loose vowels and final consonants; tri- and hexagrams and counting rods, numbers in black squares: wide to some.
_DISPUTED = (
    (0x1161, 0x11FF), (0xD7B0, 0xD7FF), (0x2630, 0x2637), (0x268A, 0x268F), (0x3248, 0x324F), (0x4DC0, 0x4DFF),
    (0x1D300, 0x1D37F),
)  # fmt: skip


def _in(ranges: tuple[tuple[int, int], ...], code: int) -> bool:
    return any(first <= code <= last for first, last in ranges)


class _Sure(dict[int, str]):
    """What stands for a character, by its code; filled as it is asked, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        if len(self) >= 4096:
            self.clear()
        self[code] = sure = self._of(code)
        return sure

    def _of(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        if category == "Cf" or _in(_UNSEEN, code):
            return ""
        if code in _FLAG_LETTERS:
            return chr(ord("A") + _FLAG_LETTERS.index(code))
        return "?" if category == "Cn" or _in(_DISPUTED, code) else chr(code)


_SURE = _Sure()


def cells(text: str) -> int:
    """How many cells a terminal shows for `text`."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(map(cell, text))


def cut(text: str, width: int) -> str:
    """The longest beginning of `text` that fits `width` cells."""
    if cells(text) <= width:
        return text
    used = 0
    for i, char in enumerate(text):
        used += cell(char)
        if used > width:
            return text[:i]
    return text


def fit_text(text: str, width: int, ellipsis: str = "…") -> str:
    """`text` in at most `width` cells; what is left out is said by `ellipsis` (use `"..."` without UTF-8).

    A number is left out as a whole: half of one is another number.
    """
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    return _without_half(text, cut(text, room)).rstrip() + ellipsis if room > 0 else cut(text, max(width, 0))


def _without_half(text: str, head: str) -> str:
    """`head`, a beginning of `text`, without the number at its end that goes on behind it."""
    half = _NUMBER_END.search(head)
    return head[: half.start()] if half is not None and _ON.match(text, len(head)) else head


def fit_path(path: str, width: int, ellipsis: str = "…") -> str:
    """As `fit_text`, but the end is kept: a file's name says more than its first folders."""
    if cells(path) <= width:
        return path
    room = width - cells(ellipsis)
    if room <= 0:
        return cut(path, max(width, 0))
    return ellipsis + cut(path[::-1], room)[::-1]


def middle(text: str, width: int, ellipsis: str = "…") -> str:
    """As `fit_text`, but both ends are kept: of a metric's long name each says something."""
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    if room <= 0:
        return cut(text, max(width, 0))
    head = cut(text, (room + 1) // 2)
    return head + ellipsis + cut(text[::-1], room - cells(head))[::-1]


def pad(text: str, width: int, align: str = "left", ellipsis: str = "…") -> str:
    """`text` in exactly `width` cells; `align` is `left`, `right` or `centre`."""
    text = fit_text(text, width, ellipsis)
    room = max(0, width - cells(text))
    before = {"left": 0, "right": room, "centre": room // 2}[align]
    return " " * before + text + " " * (room - before)


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width` cells, broken at spaces; later ones begin with `indent`. A longer word is cut."""
    lines: list[str] = []
    line, empty = "", True  # empty: no word on this line yet
    for word in text.split():
        if not empty and cells(line) + 1 + cells(word) > width:
            lines.append(line)
            line, empty = indent, True
        line += word if empty else " " + word
        empty = False
        while cells(line) > width and cells(indent) < width:
            head = cut(line, width) or line[:1]
            lines.append(head)
            line = indent + line[len(head) :]
            empty = line == indent
    return lines if empty and lines else [*lines, line]


def clock(seconds: float, *, exact: bool = False, today: float | None = None) -> str:
    """A time of the log's wall clock as `16:02` (`16:02:38` when exact).

    With `today` (any time of the day that needs no date, usually the newest one of the log), a time of
    another day says so: `15 Oct 16:02`. Both are seconds since 1970 of the log's own clock.
    """
    day, second = divmod(int(seconds), DAY)
    text = f"{second // HOUR:02}:{second % HOUR // MINUTE:02}" + (f":{second % MINUTE:02}" if exact else "")
    if today is not None and int(today) // DAY != day:
        when = date_of(day)
        text = f"{when.day} {MONTHS[when.month - 1]} {text}"
    return text


def date_of(day: int) -> date:
    """The date a count of days after 1970-01-01; held between the years 1 and 9999: a mad stamp ends no program."""
    return date.fromordinal(min(max(_DAY_0 + day, 1), date.max.toordinal()))


def duration(seconds: float) -> str:
    """A length of time in at most two units: `0.63 s`, `47.5 s`, `2 min 33 s`, `1 h 05 min`, `3 d 4 h`."""
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    if whole < DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE:02} min"
    return f"{whole // DAY} d {whole % DAY // HOUR} h"


def ago(seconds: float) -> str:
    """An age in words that change once a minute at most: `under a minute ago`, `4 min ago`, `2 h 05 min ago`."""
    if seconds < MINUTE:
        return "under a minute ago"
    if seconds < HOUR:
        return f"{int(seconds) // MINUTE} min ago"
    return f"{duration(seconds)} ago" if seconds >= DAY else f"{duration(seconds - seconds % MINUTE)} ago"
