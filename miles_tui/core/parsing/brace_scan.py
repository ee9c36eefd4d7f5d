"""Where a metric line's dict can begin: at a `{` behind `<number>:` and before a pair. No line is looked at for it."""

from __future__ import annotations

import re

from miles_tui.core.parsing.line_splitter import Buffer, line_end

# One colour sequence, real or spelled, between the parts of `<kind> <number>: {`; it ends with `m`.
_SEQ = rb"(?:(?:\x1b|\^\[|\\u001b|\\x1b|\\033|\\e)?\[[0-9;:]*m)"
_FEW = rb"(?:(?=[\x1b^\\\[])" + _SEQ + rb"{1,3})?"
_NUMBERED = rb"[0-9](?=[:\x1b^\\\[])" + _FEW + rb":" + _FEW + rb" ?" + _FEW
NUMBERED_BRACE = re.compile(_NUMBERED + rb"\{")
_NUMBERED_BRACE_BACK = re.compile(_NUMBERED + rb"\{\Z")
_KIND_BACK = re.compile(rb"[A-Za-z]" + _FEW + rb" +" + _FEW + rb"[0-9]{1,15}" + _FEW + rb":[^:]*\Z")
# A first key, complete, and the beginning of a value: most near misses end here, in C. What was taken is
# not given back (`*+`): a key that does not end costs its length once. Only of single characters: before 3.11.5
# possessive groups match wrongly.
_PAIR = (
    rb"\s?+" + _FEW + rb"(?:'[^'\\\n\r]*+(?:\\.[^'\\\n\r]*+)*'|\"[^\"\\\n\r]*+(?:\\.[^\"\\\n\r]*+)*\""
    rb"|\\\"[^\"\\\n\r]*+(?:\\[^\"][^\"\\\n\r]*+)*\\\")" + _FEW + rb"\s?+:\s?+" + _FEW + rb"(?:[-+.0-9'\"\\\[{(<]"
    rb"|(?=[NnTtFfIi])(?:[Nn](?:one|ull|a[Nn])\b|[Tt]rue\b|[Ff]alse\b|[Ii]nf)|[A-Za-z_][\w.]*+\()"
)
FIRST_PAIR = re.compile(rb"\{(?:'[\w/@.-]+': [-0-9]|" + _PAIR + rb")")  # the usual one first: it takes half the time
# The same as a search, for text that is too rich in braces to hop: a literal is what a search can begin with
# quickly, and the rarer it is the better. The number before the colon may end with a colour.
_KEY_AHEAD = rb"(?=[\s'\"\\\x1b^\[])"
# Keys' quotes stand before most braces of other dicts: one look at three places before the ones at each way.
_BY_BRACE = re.compile(
    rb"\{" + _KEY_AHEAD + rb"(?<=[^'\"][^'\"][ :m]\{)(?:(?<=[0-9m]: \{)|(?<=[0-9m]:\{)|(?<=m\{))" + _PAIR
)
_BY_COLON = re.compile(
    rb":(?<=[0-9m]:) ?+(?:(?=\{" + _KEY_AHEAD + rb")|(?=[\x1b^\\\[])" + _FEW + rb" ?+" + _FEW + rb")(\{)" + _PAIR
)
# A hop costs 0.3 µs, a search 1 to 5 ns a byte: it is cheaper where braces stand nearer than that.
_HOPS = 64
_DENSE = _HOPS * 160
_BLOCK = 1 << 16  # bytes that are searched in one way,
_SAMPLE = 1 << 12  # and of these the ones in which braces and colons are counted
BACK = 200  # bytes before a brace that can hold kind, number and colours


def next_numbered(data: Buffer, start: int, at: int, end: int) -> int:
    """The first `{` in `data[at:end]` behind `<number>:` and before a pair, or -1. A line begins at `start` <= `at`.

    Hops from brace to brace; where they come too thick it goes on by regular expression. The bytes
    compared here let through whatever that would find, and `is_candidate` has the last word on both,
    so the way never changes a record.
    """
    hops, mark = 0, at
    while True:
        brace = data.find(b"{", at, end)
        if brace < 0:
            return -1
        place = brace - 1
        if place > start and data[place] == 0x20:
            place -= 1
        if place > start:
            before = data[place - 1] if data[place] == 0x3A else 0
            # 0x6D: the last letter of a colour sequence.
            numbered = 0x30 <= before <= 0x39 or before == 0x6D or data[place] == 0x6D
        else:
            numbered = False
        if numbered and FIRST_PAIR.match(data, brace, end):
            return brace
        hops += 1
        if hops == _HOPS:
            if brace - mark < _DENSE:
                return _search(data, brace, end)
            hops, mark = 0, brace
        at = brace + 1


def _search(data: Buffer, at: int, end: int) -> int:
    """As `next_numbered`, by regular expression, from `at` on."""
    while at < end:
        stop = line_end(data, min(at + _BLOCK, end), end)
        some = min(at + _SAMPLE, stop)
        by_brace = data.count(b"{", at, some) <= data.count(b":", at, some)
        match = (_BY_BRACE if by_brace else _BY_COLON).search(data, at, stop)
        if match:
            return match.start() if by_brace else match.start(1)
        at = stop + 1
    return -1


def is_candidate(data: Buffer, start: int, brace: int, end: int) -> bool:
    """Whether the `{` at `brace` can open a metric line's dict: kind and number before it, a first pair behind it."""
    if FIRST_PAIR.match(data, brace, end) is None:
        return False
    back = bytes(data[max(start, brace - BACK) : brace + 1])
    return _NUMBERED_BRACE_BACK.search(back, max(0, len(back) - 64)) is not None and _KIND_BACK.search(back) is not None
