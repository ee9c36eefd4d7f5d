"""Write only the cells that changed: what the terminal shows is remembered and compared.

Textual repaints from a widget's left edge to the end of its line, and a style costs 40 bytes each
time it is named. Over SSH those bytes are the wire: comparing cells makes a new rollout cost a third,
and a repaint that changes nothing costs nothing at all. Price: 30 us a repainted line.

That holds where the terminal puts each character as wide as we do. Log text has characters of which terminals think
differently. A row with one is written whole whenever something in it changes, the place of such a character is
cleared before it and the cursor is set anew behind it: a dispute costs that one cell its picture, and no other's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby

from rich.cells import cached_cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.strip import Strip

from miles_tui.core.text.ascii import ASCII_STAND_INS, to_ascii
from miles_tui.core.text.sanitize import CONTROLS

Codes = tuple[str, str, str]  # attributes, foreground, background; as parameters of an SGR sequence
Cell = tuple[str, Codes]  # the text of one cell ("" for the right half of a wide character) and its style

PLAIN: Codes = ("", "", "")
BRIDGE = 3  # unchanged cells that are cheaper written again than stepped over: "\x1b[3C" has four bytes

# Alphabets of one cell, lines, blocks and braille, and our own signs: as wide for every terminal. Then what is two
# cells wide for all: kana, Chinese and Korean. Such a row is written whole as well, for half a character can't be.
_NARROW = (
    " -~\xa0-\xac\xae-\u02ff\u0370-\u0377\u037b-\u037f\u0384-\u0482\u048a-\u052f\u2500-\u25fc\u2800-\u28ff"
    + "".join(re.escape(chr(code)) for code in ASCII_STAND_INS)
)
_NOT_NARROW = re.compile(f"[^{_NARROW}]")
DISPUTED = re.compile(f"[^{_NARROW}\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]")

_ACTING = re.compile(f"[\t\n]|{CONTROLS.pattern}")
_INKED = frozenset({"4", "7", "9"})  # attributes that show on an empty cell
_ATTRIBUTES = (("bold", "1"), ("dim", "2"), ("italic", "3"), ("underline", "4"), ("reverse", "7"), ("strike", "9"))


@lru_cache(maxsize=4096)
def codes_of(style: Style | None, system: ColorSystem | None) -> Codes:
    """The SGR parameters of a style on a terminal with these colours (None: no colour at all)."""
    if style is None:
        return PLAIN
    attributes = ";".join(code for name, code in _ATTRIBUTES if getattr(style, name))
    if system is None:
        return _interned((attributes, "", ""))
    colours = []
    for colour, foreground in ((style.color, True), (style.bgcolor, False)):
        codes = colour.downgrade(system).get_ansi_codes(foreground) if colour is not None else ()
        text = ";".join(codes)
        colours.append("" if text in ("39", "49") else text)
    return _interned((attributes, colours[0], colours[1]))


@lru_cache(maxsize=4096)
def _interned(codes: Codes) -> Codes:
    return codes


@lru_cache(maxsize=4096)
def _bare(codes: Codes) -> Codes:
    """The style of an empty cell: its ink is seen only as an underline, a strike or a reversed ground."""
    return codes if _INKED & set(codes[0].split(";")) else _interned(("", "", codes[2]))


@lru_cache(maxsize=4096)
def _has_other(text: str) -> bool:
    return not text.isascii() and _NOT_NARROW.search(text) is not None


def cells_of(segments: Iterable[Segment], system: ColorSystem | None, *, ascii_only: bool = False) -> list[Cell]:
    """The cells of a line. With `ascii_only` every other character becomes a stand-in of the same width."""
    cells: list[Cell] = []
    for text, style, control in segments:
        if control:
            continue
        codes = codes_of(style, system)
        if ascii_only and not text.isascii():
            text = to_ascii(text)
        if not text.isprintable():  # the one way to the terminal, whoever's text it is
            text = _ACTING.sub("", text)
        if not _has_other(text):  # as long as wide is not enough: a mark without a cell and a wide character
            bare = _bare(codes) if " " in text else codes
            cells.extend([(char, codes if char != " " else bare) for char in text])
            continue
        for char in text:
            width = cached_cell_len(char)
            if width:
                cells.append((char, codes))
                cells.extend([("", codes)] * (width - 1))
            elif cells:  # a combining character belongs to the cell before it
                cells[-1] = (cells[-1][0] + char, cells[-1][1])
    return cells


class Paper:
    """What stands on the terminal, row by row; `update` gives the bytes that bring it up to date."""

    def __init__(self, *, ascii_only: bool = False) -> None:
        self.ascii_only = ascii_only
        self._rows: list[list[Cell | None]] = []
        self._width = 0
        self._other: set[int] = set()  # rows that are written whole

    def forget(self) -> None:
        """Somebody else wrote to the terminal: nothing is known of it any more."""
        self._rows = []

    def update(self, update: LayoutUpdate | ChopsUpdate, system: ColorSystem | None) -> str:
        """The escape sequences for what differs; "" when nothing does. The style is plain before and after."""
        pen, whole = _Pen(), set[int]()
        if isinstance(update, LayoutUpdate):
            x, y, width, height = update.region
            self._fit(x + width, y + height)
            for row, strips in enumerate(update.strips, y):
                at = x
                for strip in strips:
                    self._put(pen, at, row, strip, system, whole)
                    at += strip.cell_length
        else:
            self._fit(max((line[-1] for line in update.chop_ends if line), default=0), len(update.chops))
            for row, left, right in update.spans:
                for at, chop in update.chops[row].items():
                    if chop is not None and at < right and at + chop.cell_length > left:
                        self._put(pen, at, row, chop, system, whole)
        for y in sorted(whole):
            self._write_whole(pen, y)
        return pen.finish()

    def _put(self, pen: _Pen, x: int, y: int, strip: Strip, system: ColorSystem | None, whole: set[int]) -> None:
        """Bring a strip up to date, or where its row has other characters than ours put the row into `whole`."""
        cells = cells_of(strip, system, ascii_only=self.ascii_only)
        if y not in self._other and (self.ascii_only or not any(_has_other(text) for text, _, _ in strip)):
            self._lay(pen, x, y, cells)
            return
        row = self._rows[y]
        end = min(len(cells), len(row) - x)
        if row[x : x + end] != cells[:end]:
            row[x : x + end] = cells[:end]
            whole.add(y)
            self._other.add(y)

    def _write_whole(self, pen: _Pen, y: int) -> None:
        """Write what is known of a row, from its left to its right."""
        row = self._rows[y]
        at = 0
        for known, run in groupby(row, lambda cell: cell is not None):
            cells = list(run)
            if known:
                written = [cell for cell in cells if cell is not None]
                pen.write(at, y, written, at_edge=at + len(cells) >= len(row), careful=True)
            at += len(cells)
        if not any(_NOT_NARROW.search(cell[0]) for cell in row if cell is not None):
            self._other.discard(y)

    def _fit(self, width: int, height: int) -> None:
        if width != self._width or height != len(self._rows):
            self._width = width
            self._other.clear()
            self._rows = [[None] * width for _ in range(height)]

    def _lay(self, pen: _Pen, x: int, y: int, cells: list[Cell]) -> None:
        """Bring the cells from (x, y) on up to date."""
        row = self._rows[y]
        end = min(len(cells), len(row) - x)
        old = row[x : x + end]
        if old == cells[:end]:
            return
        at = 0
        while at < end:
            if old[at] == cells[at]:
                at += 1
                continue
            start = at
            while start > 0 and cells[start][0] == "":  # never the right half of a character alone
                start -= 1
            same = 0
            while at < end and same <= BRIDGE:
                same = same + 1 if old[at] == cells[at] else 0
                at += 1
            stop = at - same
            while stop < end and cells[stop][0] == "":
                stop += 1
            pen.write(x + start, y, cells[start:stop], at_edge=x + stop >= len(row))
            at = max(stop, start + 1)
        row[x : x + end] = cells[:end]


class _Pen:
    """Writes runs of cells with as few bytes as the terminal needs."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._x = self._y = -1
        self._codes = PLAIN

    def write(self, x: int, y: int, cells: list[Cell], *, at_edge: bool, careful: bool = False) -> None:
        """Write cells from (x, y) on. `careful`: some may be of a disputed width."""
        if y == self._y and x > self._x >= 0:
            self._out.append(f"\x1b[{x - self._x}C")
        elif (x, y) != (self._x, self._y):
            self._out.append(f"\x1b[{y + 1};{x + 1}H")
        for at, (text, codes) in enumerate(cells, x):
            if codes is not self._codes and not (text == " " and codes is _bare(self._codes)):
                self._change(codes)
            if careful and DISPUTED.search(text):
                behind = at + 1
                while behind - x < len(cells) and not cells[behind - x][0]:
                    behind += 1
                text = f"{' ' * (behind - at)}\x1b[{at + 1}G{text}\x1b[{behind + 1}G"
            self._out.append(text)
        self._y = y
        # Behind the last column a terminal stays on it or not: where the cursor is, is not known then.
        self._x = -1 if at_edge else x + len(cells)

    def _change(self, codes: Codes) -> None:
        attributes, fore, back = codes
        if attributes != self._codes[0]:
            parameters = ["0", *filter(None, codes)]
        else:
            parameters = []
            if fore != self._codes[1]:
                parameters.append(fore or "39")
            if back != self._codes[2]:
                parameters.append(back or "49")
        if parameters:
            self._out.append(f"\x1b[{';'.join(parameters)}m")
        self._codes = codes

    def finish(self) -> str:
        if self._codes != PLAIN:
            self._out.append("\x1b[0m")
        return "".join(self._out)


class Sequence(CompositorUpdate):
    """An update that is escape sequences already."""

    def __init__(self, text: str) -> None:
        self.text = text

    def render_segments(self, console: Console) -> str:
        del console
        return self.text
