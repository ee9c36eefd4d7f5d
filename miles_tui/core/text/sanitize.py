"""Log text made harmless: no byte of it can act on a terminal, no key in it is shown.

`plain` is for every piece of log text that reaches a terminal or a file; `mask` (`text.secrets`) hides keys and
tokens. Whatever is shown has been through both: `harmless(text)`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from miles_tui.core.text.cells import of_sure_width
from miles_tui.core.text.secrets import mask

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


def safe_lines(text: str) -> str:
    """Text of several lines without what acts on a terminal and without keys; newlines and tabs stay."""
    text = re.sub("[\r\x0b\x0c\x85\u2028\u2029]+", " ", SEQUENCES.sub("", text))
    return "\n".join(map(mask, CONTROLS.sub("", text).split("\n")))


def harmless(text: str) -> str:
    """`mask(plain(text))`: what may be shown of a log."""
    return mask(plain(text))


@lru_cache(maxsize=1024)  # 8 us each, and a screen has the same ones again
def harmless_name(name: object) -> str:
    """A path, or a metric's name, as it may be shown: it holds whatever a log does. No UTF-8 is `?` a byte."""
    return harmless(str(name).encode(errors="replace").decode())


__all__ = [
    "BREAKS",
    "CONTROLS",
    "SEQUENCES",
    "harmless",
    "harmless_name",
    "mask",
    "plain",
    "safe_lines",
    "without_sequences",
]
