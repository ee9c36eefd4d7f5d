"""A printed dict -> its numbers: a fast path for what Python prints, a tokenizer for the rest.

What counts is the same on both ways: ints and floats, NaN and infinities among them, NumPy scalars
and one-element tensors; nested dicts are flattened with `/`; None, text, booleans, lists and
whatever else stands there are left out and cost no other key. Of equal keys the last counts, also where it
is None. A number is complete only if a `,` or `}` follows it, so a torn line never gives a shortened
number: it gives nothing.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from typing import Final

from miles_tui.core.parsing.fast_json import from_json

Metrics = dict[str, float | int]


class TornDict(Enum):
    """Why there are no metrics."""

    TORN = 1  # well-formed as far as it goes, but the text ends first
    BAD = 2  # no dict of this kind


TORN: Final = TornDict.TORN
BAD: Final = TornDict.BAD

_NUMERIC = frozenset((int, float))
_MAX_DEPTH = 8
_MAX_PREFIX = 400  # characters that the names in a nested dict begin with
_MAX_VALUE = 1 << 20  # characters of a value that is skipped: a vector may be long

# What json refuses and Python prints all the time, made json: `np.float64(0.5)`, `nan`, `-inf`,
# `None`. A quote, a colon and a blank before it: inside a key no quote can stand on this path.
_ODD = re.compile(
    rb"(': )(?:(?:np|numpy)\.(?:float|int|uint)\d*\(([-+.\w]+)\)|(-?)(nan|inf)|(None)|(True)|(False))(?=[,}])"
)
# The commonest of them alone, to be taken apart in C: a pass rate is four of these in every rollout.
_NUMPY = re.compile(rb"n(?<=': n)(?:p|umpy)\.(?:float|int|uint)\d*\(([-+.\w]+)\)(?=[,}])")
_JSON_OF = {b"nan": b"NaN", b"inf": b"Infinity"}


def fast_metrics(body: bytes | bytearray) -> Metrics | None:
    """The metrics of a whole dict (from its `{` to its `}`), or None where only the tokenizer can tell."""
    found = printed_metrics(body)
    return None if found is None else found[0]


def printed_metrics(body: bytes | bytearray) -> tuple[Metrics, bytes] | None:
    """As `fast_metrics`, with the JSON text that they were read from as they are; b"" where it says more or less.

    Quotes are replaced and a JSON parser in C does the rest: 0.1 µs a key, a regular expression
    over pairs takes six times that, `ast.literal_eval` forty times. Bytes are looked for as numbers: one that
    is not there takes 20 ns then, and 150 as a `bytes`.
    """
    if 0x5C in body:
        return None
    if 0x22 not in body:
        plain = body if 0x28 not in body else b"".join(_NUMPY.split(body))
        ready = plain.replace(b"'", b'"')
    elif 0x27 in body:
        return None
    else:
        ready = body
    try:
        found = from_json(ready)
    except ValueError:
        return None if ready is body else _odd_metrics(body)
    if type(found) is not dict:
        return None
    try:
        # Both run in C: no loop in Python over the keys of an ordinary line.
        if _NUMERIC.issuperset(map(type, found.values())):
            sum(found.values(), 0.0)
            return found, bytes(ready)
    except OverflowError:
        pass  # an int beyond all floats: `_flatten` knows what to do
    return _flat(found)


def _odd_metrics(body: bytes | bytearray) -> tuple[Metrics, bytes] | None:
    simple = _ODD.sub(_as_json, body)
    if simple == body:
        return None
    try:
        found = from_json(simple.replace(b"'", b'"'))
    except ValueError:
        return None
    return _flat(found) if type(found) is dict else None


def _flat(found: dict[str, object]) -> tuple[Metrics, bytes] | None:
    metrics: Metrics = {}
    return (metrics, b"") if _flatten(found, "", metrics, 0) else None


def _as_json(match: re.Match[bytes]) -> bytes:
    before, number, sign, word, none, true, false = match.groups()
    if number is not None:
        bare = number.lstrip(b"-")
        number = number if bare not in _JSON_OF else number[: len(number) - len(bare)] + _JSON_OF[bare]
        return bytes(before + number)
    if word is not None:
        return bytes(before + (b"" if word == b"nan" else sign) + _JSON_OF[word])
    return bytes(before + (b"null" if none else b"true" if true else b"false" if false else b""))


def _flatten(found: dict[str, object], prefix: str, into: Metrics, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return False
    for key, value in found.items():
        if isinstance(value, dict):
            if len(prefix) + len(key) > _MAX_PREFIX:
                into.pop(prefix + key, None)  # its names would repeat more than the text holds
            elif not _flatten(value, f"{prefix}{key}/", into, depth + 1):
                return False
        elif type(value) is float or type(value) is int:
            into[prefix + key] = _bounded(value)
        else:
            into.pop(prefix + key, None)  # of two with one name the last counts, as everywhere
    return True


def _bounded(value: float | int) -> float | int:
    """An int that no float can hold becomes an infinity: arithmetic on it would raise."""
    if type(value) is int and value.bit_length() > 1023:
        try:
            float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


# -- the tokenizer -------------------------------------------------------------------------------

_SPACE = re.compile(r"\s*")
_STRING = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_NUMBER = re.compile(
    r"([+-]?(?:(?:\d[\d_]*)(\.[\d_]*)?|(\.\d[\d_]*))([eE][+-]?\d+)?|([+-]?(?:nan|inf|infinity))(?![\w.]))",
    re.IGNORECASE | re.ASCII,
)
_SCALAR_CALL = re.compile(
    r"(?:(?:np|numpy|jnp|torch)\.)?(?:float|int|uint|double|longdouble|half|tensor|array|Array|Tensor|Decimal)\d*_?\("
)
_FIRST = re.compile(
    r"\(\s*((?:\[\s*){0,4})['\"]?([^\s,\[\]()'\"]+)['\"]?\s*((?:\]\s*){0,4})(?:,\s*[A-Za-z_]\w*\s*=.*)?\)\Z", re.DOTALL
)
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_MARKS = re.compile(r"[\[\](){},'\"]")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}


def careful_metrics(text: str, start: int) -> tuple[Metrics, int] | TornDict:
    """The metrics of the dict whose `{` is `text[start]`, and the index behind its `}`."""
    found: dict[str, object] = {}
    end = _dict(text, start, found, 0)
    if isinstance(end, TornDict):
        return end
    metrics: Metrics = {}
    _flatten(found, "", metrics, 0)
    return metrics, end


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _dict(text: str, at: int, into: dict[str, object], depth: int) -> int | TornDict:
    """Read a dict as it stands, keys of one name the last for all, as Python and JSON have it."""
    if depth > _MAX_DEPTH:
        return BAD
    at = _skip(text, at + 1)
    while True:
        if at >= len(text):
            return TORN
        if text[at] == "}":
            return at + 1
        key = _key(text, at)
        if isinstance(key, TornDict):
            return key
        name, at = key
        end = _value(text, at, name, into, depth)
        if isinstance(end, TornDict):
            return end
        at = _skip(text, end)
        if at >= len(text):
            return TORN
        if text[at] == ",":
            at = _skip(text, at + 1)
        elif text[at] != "}":
            return BAD


def _key(text: str, at: int) -> tuple[str, int] | TornDict:
    """The key at `at` and where its value begins; a number is a key too (`{1: 0.5}`, nested)."""
    match = _STRING.match(text, at)
    if match:
        name = match[1] if match[1] is not None else match[2]
        if "\\" in name:
            name = _ESCAPE.sub(_unescape, name)
            name = name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    elif text[at] in "'\"":
        return TORN
    else:
        match = _NUMBER.match(text, at)
        if match is None:
            return BAD
        name = match[0]
    at = _skip(text, match.end())
    if at >= len(text):
        return TORN
    return (name, _skip(text, at + 1)) if text[at] == ":" else BAD


def _unescape(match: re.Match[str]) -> str:
    two, four, eight, octal, other = match.groups()
    if octal:
        return chr(int(octal, 8))
    code = two or four or eight
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return _PLAIN_ESCAPES.get(other, other)


def _value(text: str, at: int, name: str, into: dict[str, object], depth: int) -> int | TornDict:
    into[name] = None
    if at >= len(text):
        return TORN
    if text[at] == "{":
        nested: dict[str, object] = {}
        end = _dict(text, at, nested, depth + 1)
        if isinstance(end, int):
            into[name] = nested
            return end
        if end is TORN:
            return TORN
        return _odd(text, at)  # a set, or a dict of something else
    match = _NUMBER.match(text, at)
    if match:
        end = _skip(text, match.end())
        if end >= len(text):
            return TORN
        if text[end] in ",}":
            into[name] = _number(match[0])
            return match.end()
    end = _odd(text, at)
    if isinstance(end, int) and (call := _SCALAR_CALL.match(text, at)):
        first = _FIRST.match(text, call.end() - 1, _trimmed(text, at, end))
        if first and first[1].count("[") == first[3].count("]") and (number := _NUMBER.fullmatch(first[2])):
            into[name] = _number(number[0])
    return end


def _trimmed(text: str, at: int, end: int) -> int:
    while end > at and text[end - 1].isspace():
        end -= 1
    return end


def _number(word: str) -> float | int:
    word = word.replace("_", "")
    if word.lstrip("+-").isdigit():
        # int() of more than 4,300 digits raises; none of them is a metric.
        if len(word) < 4000:
            return _bounded(int(word))
        return -math.inf if word[0] == "-" else math.inf
    value = float(word)
    return math.nan if math.isnan(value) else value


def _odd(text: str, at: int) -> int | TornDict:
    """Where a value that is no number ends: at the `,` or `}` that closes it on its own level.

    A comma must be followed by a key, else this is text of another writer in the middle of a line.
    """
    closers: list[str] = []
    pos, limit = at, at + _MAX_VALUE
    while match := _MARKS.search(text, pos):
        mark, pos = match[0], match.end()
        if pos > limit:
            return BAD
        if mark in "'\"":
            string = _STRING.match(text, pos - 1)
            if string is None:
                return TORN
            pos = string.end()
        elif mark in _CLOSERS:
            closers.append(_CLOSERS[mark])
        elif closers:
            if mark == closers[-1]:
                closers.pop()
            elif mark != ",":
                return BAD
        elif mark == "}":
            return pos - 1
        elif mark != ",":
            return BAD
        else:
            return _before_key(text, pos)
    return TORN if len(text) - at <= _MAX_VALUE else BAD


def _before_key(text: str, pos: int) -> int | TornDict:
    """The index of the comma before `pos` if a key follows it (or the text ends there)."""
    key = _skip(text, pos)
    if key >= len(text) or text[key] in "'\"}":
        return pos - 1
    return BAD
