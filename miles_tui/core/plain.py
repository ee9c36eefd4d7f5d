"""Log text made harmless: no byte of it can act on a terminal, no key in it is shown.

`plain` is for every piece of log text that reaches a terminal or a file; `mask` hides keys and
tokens. Whatever is shown has been through both: `harmless(text)`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from miles_tui.core.text import of_sure_width

# CSI, then OSC and the other strings that end with BEL or ST (bounded: an unfinished one must not
# swallow a line), then two-byte sequences, then an ESC that stands alone.
SEQUENCES = re.compile(
    r"[\x1b]\[[0-?]*[ -/]*(?:[@-~]|\Z)|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]|\x1b"
)
# The same as other programs spell them: cat -v, JSON, repr, shells.
_SPELLED = re.compile(r"(?:\^\[|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-?]*[ -/]*[@-~]")
# What is left of a colour code where the ESC byte was dropped on the way (web views of logs). Only
# where a reset is among them: `eval/time[3m]` is somebody's name for a metric.
_BARE = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3}){0,5})?m")
_BARE_RESET = "[0m"
# C0 without the tab, DEL, C1, line and paragraph separators, bidirectional and invisible
# formatting characters, tags, lone surrogates.
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
BREAKS = re.compile("[\t\n\r\x0b\x0c\x85\u2028\u2029]+")

_HIDDEN = "***"
# Tokens that say themselves what they are. The first ones are told wherever they stand: a colour code or an
# invisible character that was between a token and the word before it is dropped by now, and says of no boundary.
_TOKENS = re.compile(
    r"(?:(hf_)[A-Za-z0-9]{30,}|(gh[pousr]_)[A-Za-z0-9]{36,}|(glpat-|nvapi-|github_pat_|wandb_v1_)[\w-]{20,}"
    r"|(?<![A-Z0-9])(AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"
    r"|(?<![A-Za-z0-9_-])(?:"
    r"(sk-)(?=[\w-]*\d|(?:[a-z]{1,8}-){0,2}[A-Za-z]{20})[\w-]{20,}"
    r"|(gh[pousr]_|gsk_|r8_)[\w-]{20,}"
    r"|(xox[abeprs]-)[\w-]{10,}"
    r"|(AIza)[\w-]{35}"
    r"|(eyJ)[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
    r"))",
    re.ASCII,  # a word begins at the same places for the last parts, so that each word is looked at once
)
# What such a token has in it. Looking for these takes 1 us where the expression takes 30.
_TOKEN_SIGNS = (
    "hf_", "sk-", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gsk_", "r8_",
    "nvapi-", "wandb_v1_", "xox", "AIza", "eyJ",
)  # fmt: skip
# A name that says that its value is a key: NAME=value, --name value, "name": "value", pairs, lists of arguments,
# rows of tables. The value has a digit (`None`, `EMPTY`, a path's name and prose have none or do not match) and is
# no reference such as $NAME or <your key>; one that begins with / is a path unless it is as long as AWS's keys.
# Only the name's end is looked for, and the digit not far: long words of underscores and names in a row must cost
# no more than other text.
_NAMED = re.compile(
    r"(?P<name>key(?:[_-]?id)?|token|secret|passw(?:or)?d)"
    r"(?P<sep>\\{0,7}['\"]?\]?(?:\s*(?:[=:|]{1,2}>?|%3[AD])\s*|\s+\.{2,}\s+|\s+|(?<=['\"])\s*,\s*)\\{0,7}['\"]?)"
    r"(?P<value>(?=[^\s'\",;]{0,256}?\d)(?:[^\s'\",;\\$<*{}()/|](?:[^\s'\",;\\$<*{}()]|\\++(?!['\"])){7,}"
    r"|/[A-Za-z0-9+/]{39}(?![\w+/.=-])))",
    re.IGNORECASE,
)
_NAME_SIGNS = ("key", "token", "secret", "passw")
# What follows is rarely needed, and compiled where it is (0.1 to 0.4 ms each).
# Names of nothing but a key, as far as they stand before that end.
_SURE = (
    r"(?i)(?:(?:api|secret|access|master|private|account|storage|wandb)[_-]?key|access[_-]?key[_-]?id|passw(?:or)?d"
    r"|(?:auth|access|api|hf|hub|github|gitlab|wandb|session|security)[_-]?token|client[_-]?secret)\Z"
)
_MOST_SURE = 16  # characters of it before that end
_FLAG_BEFORE = r"(?<![A-Za-z0-9])--[A-Za-z0-9_-]*\Z"
_MOST_NAME = 80
_RANDOM = r"(?=[A-Za-z]{0,40}\d)(?=\d{0,40}[A-Za-z])[A-Za-z0-9]{16}"  # no word, no number, no date
_MOST_RANDOM = 256
_LOGIN = r"(?i)(\bwandb\W{1,6}login\b[^\n]{0,80}?)(?<![A-Za-z0-9])[0-9a-f]{40,}"
_BEARER = r"(?i)\b(Bearer|Basic)(\s+)(?=[\w.~+/=-]*\d)[\w.~+/-]{16,}=*"
_IN_URL = r"(://[^\s:/@'\"]{1,64}:)[^\s:/@'\"]{3,200}(@)"


def without_sequences(text: str) -> str:
    """`text` without escape sequences, real, spelled, or bare."""
    text = _SPELLED.sub("", SEQUENCES.sub("", text))
    return _BARE.sub("", text) if _BARE_RESET in text else text


def plain(text: str) -> str:
    """`text` without escape sequences, control, bidirectional and invisible characters, on one line.

    All terminals give it the same width, but for a few combining marks (`text.of_sure_width`).
    """
    if text.isascii() and text.isprintable() and "[" not in text:
        return text
    return of_sure_width(CONTROLS.sub("", BREAKS.sub(" ", without_sequences(text))))


def mask(text: str) -> str:
    """`text` with keys, tokens and passwords replaced by `***`; the same text where there are none."""
    if any(sign in text for sign in _TOKEN_SIGNS):
        text = _TOKENS.sub(_keep_prefix, text)
    lower = text.lower()
    if any(sign in lower for sign in _NAME_SIGNS):
        text = _without_named(text)
    if "login" in lower:
        text = re.sub(_LOGIN, rf"\1{_HIDDEN}", text)
    if "bearer" in lower or "basic" in lower:
        text = re.sub(_BEARER, rf"\1\2{_HIDDEN}", text)
    return re.sub(_IN_URL, rf"\1{_HIDDEN}\2", text) if "://" in text else text


def harmless(text: str) -> str:
    """`mask(plain(text))`: what may be shown of a log."""
    return mask(plain(text))


@lru_cache(maxsize=1024)  # 8 us each, and a screen has the same ones again
def harmless_name(name: object) -> str:
    """A path, or a metric's name, as it may be shown: it holds whatever a log does. No UTF-8 is `?` a byte."""
    return harmless(str(name).encode(errors="replace").decode())


def _keep_prefix(match: re.Match[str]) -> str:
    return f"{match[match.lastindex or 0]}{_HIDDEN}"


def _without_named(text: str) -> str:
    out, copied, at = [], 0, 0
    while (match := _NAMED.search(text, at)) is not None:
        at = match.end("sep")  # what is no key may hold another name and its key
        if _is_key(match):
            out.append(f"{text[copied:at]}{_HIDDEN}")
            at = copied = match.end()
    return "".join(out) + text[copied:] if out else text


def _is_key(match: re.Match[str]) -> bool:
    """Whether the value is a key.

    No blank alone says so ("the api key 12345678"), nor a name that is a token's or a secret's of any kind
    ("#cached-token: 12345678"): such a value has to look like a key.
    """
    at, text = match.start(), match.string
    said = match["sep"].strip("\\'\" ") or re.search(_FLAG_BEFORE, text[max(0, at - _MOST_NAME) : at])
    sure = re.search(_SURE, text[max(0, at - _MOST_SURE) : match.end("name")])
    if said and sure:
        return True
    if not sure and (match["name"][-1] not in "nNtT" or text[at - 1 : at].isalnum()):
        return False
    value = match["value"][:_MOST_RANDOM]
    if said and match["name"].isupper():  # TOKEN=..., a variable of the environment
        return any(map(str.isalpha, value))
    return re.search(_RANDOM, value) is not None
