"""What stands for the signs of this program where an output has no UTF-8: on the screen and in text alike."""

from __future__ import annotations

from functools import lru_cache

from miles_tui.core.text.cells import cell

ASCII_STAND_INS = str.maketrans(
    {
        "·": ".", "–": "-", "—": "-", "…": "~", "▲": "A", "●": "*", "○": "o", "◐": "~", "■": "#", "✖": "x", "✕": "x",
        "✓": "=", "↑": "^", "↓": "v", "→": ">", "←": "<", "│": "|", "─": "-", "╭": "+", "╮": "+", "╰": "+", "╯": "+",
        "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+", "▌": "|", "▐": "|",
        "█": "#", "▁": "_", "▔": "-", "▏": "|", "▎": "|", "▍": "|", "▊": "|", "▉": "|", "▶": ">", "◀": "<", "▸": ">",
        "×": "x", "≤": "<", "≥": ">", "±": "~", "◆": "*", "◇": "o", "▼": "v", "▾": "v", "△": "!",
        "▽": "v", "▂": "_", "▃": "_", "▄": "_", "▅": "#", "▆": "#", "▇": "#", "▀": "-", "▋": "|", "▕": "|",
        "“": '"', "”": '"',
    }
)  # fmt: skip


def spelled(text: str) -> str:
    """What no single cell stands for written out. The text may become longer: to be done before it is laid out."""
    return text.replace("±", "+/-")


def to_ascii(text: str) -> str:
    """The text with a stand-in of the same width for what is no ASCII."""
    return "".join(map(_to_ascii, text))


@lru_cache(maxsize=1024)
def _to_ascii(char: str) -> str:
    if char.isascii():
        return char
    known = char.translate(ASCII_STAND_INS)
    return known if known.isascii() else "?" * cell(char)
