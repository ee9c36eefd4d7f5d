"""Log text made harmless: no byte of it can act on a terminal, no key in it is shown.

`plain` is for every piece of log text that reaches a terminal or a file; `mask` hides keys and
tokens. Use both on whatever is shown or exported: `mask(plain(text))`.
"""

from __future__ import annotations

import re

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
# Tokens that say themselves what they are.
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"(hf_)[A-Za-z0-9]{30,}"
    r"|(sk-)(?=[\w-]*\d)[\w-]{20,}"
    r"|(AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"
    r"|(gh[pousr]_|github_pat_|glpat-|gsk_|r8_|nvapi-|wandb_v1_)[\w-]{20,}"
    r"|(xox[abeprs]-)[\w-]{10,}"
    r"|(AIza)[\w-]{35}"
    r"|(eyJ)[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"
    r")",
    re.ASCII,  # a word begins at the same places for all parts, so that each word is looked at once
)
# A name that says that its value is a key: NAME=value, --name value, "name": "value" and the rows
# of an argument table. The value has a digit (`None`, `EMPTY`, a path's name and prose have none
# or do not match) and is no reference such as $NAME or <your key>. Only the name's end is looked for, and
# the digit not far: long words of underscores and names in a row must cost no more than other text.
_NAMED = re.compile(
    r"(?P<name>(?:api[_-]?key|secret[_-]?(?:access[_-]?)?key|access[_-]?key(?:[_-]?id)?|wandb[_-]?key|passw(?:or)?d"
    r"|(?:auth|access|api|hf|hub|github|gitlab|wandb|session|security)[_-]?token|client[_-]?secret))"
    r"(?P<sep>(?:['\"]?\s*[=:]\s*|\s+\.{2,}\s+|\s+)['\"]?)"
    r"(?P<value>(?=[^\s'\",;]{0,256}?\d)[^\s'\",;$<*{}()/][^\s'\",;$<*{}()]{7,})",
    re.IGNORECASE,
)
_FLAG_BEFORE = re.compile(r"(?<![A-Za-z0-9])--[A-Za-z0-9_-]*\Z")
_MOST_NAME = 80
_BEARER = re.compile(r"\b(Bearer|Basic)(\s+)(?=[\w.~+/=-]*\d)[\w.~+/-]{16,}=*", re.IGNORECASE)
_IN_URL = re.compile(r"(://[^\s:/@'\"]{1,64}:)[^\s:/@'\"]{3,200}(@)")


def without_sequences(text: str) -> str:
    """`text` without escape sequences, real, spelled, or bare."""
    text = _SPELLED.sub("", SEQUENCES.sub("", text))
    return _BARE.sub("", text) if _BARE_RESET in text else text


def plain(text: str) -> str:
    """`text` without escape sequences, control, bidirectional and invisible characters, on one line."""
    if text.isascii() and text.isprintable() and "[" not in text:
        return text
    return CONTROLS.sub("", BREAKS.sub(" ", without_sequences(text)))


def mask(text: str) -> str:
    """`text` with keys, tokens and passwords replaced by `***`; the same text where there are none."""
    text = _TOKENS.sub(_keep_prefix, text)
    text = _NAMED.sub(_keep_name, text)
    text = _BEARER.sub(rf"\1\2{_HIDDEN}", text)
    return _IN_URL.sub(rf"\1{_HIDDEN}\2", text)


def _keep_prefix(match: re.Match[str]) -> str:
    return f"{match[match.lastindex or 0]}{_HIDDEN}"


def _keep_name(match: re.Match[str]) -> str:
    # A blank alone separates a flag from its value; elsewhere it is prose ("the api key 12345678").
    if match["sep"].isspace():
        at = match.start()
        if _FLAG_BEFORE.search(match.string[max(0, at - _MOST_NAME) : at]) is None:
            return match[0]
    return f"{match['name']}{match['sep']}{_HIDDEN}"
