"""A screen under test as cells: its text, and a map of its styles, compact and to be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import ascii_letters, digits

from rich.color import ColorSystem
from textual.app import App

from miles_tui.present.styled_text import plain_text, width_of
from miles_tui.ui.terminal.diff_renderer import PLAIN, Cell, Codes, cells_of
from miles_tui.ui.widgets.lines import Lines

LETTERS = ascii_letters + digits + "!#$%&*+<>?@"
ATTRIBUTES = {"1": "bold", "2": "dim", "3": "italic", "4": "underline", "7": "reverse", "9": "strike"}
NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


@dataclass(frozen=True)
class Picture:
    """What a terminal with these colours shows."""

    rows: tuple[tuple[Cell, ...], ...]

    @property
    def text(self) -> list[str]:
        """The lines, without the empty cells at their ends."""
        return ["".join(text for text, _ in row).rstrip() for row in self.rows]

    def styles(self) -> list[Codes]:
        """The styles in the order in which they are met, without that of an empty cell of the ground."""
        ground = self.ground
        return list(dict.fromkeys(codes for row in self.rows for _, codes in row if codes != ground))

    @property
    def ground(self) -> Codes:
        """The style of most empty cells."""
        empty = [codes for row in self.rows for text, codes in row if text == " "]
        return max(dict.fromkeys(empty), key=empty.count, default=PLAIN)

    def map(self) -> list[str]:
        """A letter a cell, the same one for the same style; `.` is the ground."""
        letters = dict(zip(self.styles(), LETTERS, strict=False)) | {self.ground: "."}
        return ["".join(letters[codes] for _, codes in row).rstrip(".") for row in self.rows]

    def legend(self) -> list[str]:
        """What each letter of the map is: attributes, colour, ground."""
        styles = [f"{letter} {spoken(codes)}" for codes, letter in zip(self.styles(), LETTERS, strict=False)]
        return [f". {spoken(self.ground)}", *styles]


def picture(app: App[None], system: ColorSystem | None = ColorSystem.TRUECOLOR, *, plain: bool = False) -> Picture:
    """The screen as it is written to a terminal with these colours; `plain`: one without UTF-8."""
    strips = app.screen._compositor.render_strips()
    return Picture(tuple(tuple(cells_of(strip, system, ascii_only=plain)) for strip in strips))


def spoken(codes: Codes) -> str:
    """`bold #6cb6ff on #12151b`, `reverse red`: an SGR sequence in words."""
    attributes, ink, ground = codes
    words = [ATTRIBUTES[code] for code in attributes.split(";") if code]
    words.append(_colour(ink) or "-")
    return " ".join(words) + (f" on {_colour(ground)}" if ground else "")


def _colour(code: str) -> str:
    parts = [int(part) for part in code.split(";") if part]
    if not parts:
        return ""
    if parts[0] in (38, 48):
        return "#" + "".join(f"{part:02x}" for part in parts[2:]) if parts[1] == 2 else f"colour {parts[2]}"
    bright, name = parts[0] >= 90, NAMES[parts[0] % 10]
    return f"bright {name}" if bright else name


def differing(lines: list[str], others: list[str]) -> list[str]:
    """The lines that are not the same in both, with their numbers."""
    return [f"{n:>3} {line}" for n, (line, other) in enumerate(zip(lines, others, strict=True)) if line != other]


def cropped(app: App[None]) -> Iterator[str]:
    """Lines that their widget is too narrow for, and widgets that are too low for their lines."""
    width, height = app.size
    for lines in _shown(app):
        region = lines.region
        if region.y >= height:
            continue  # below a sentence that takes the whole screen
        if region.right > width or region.bottom > height:
            yield f"#{lines.id} is outside the screen: {region}"
        for line in lines.lines[: region.height]:
            if width_of(line) > region.width:
                yield f"#{lines.id} is {region.width} wide, its line {width_of(line)}: {plain_text(line)!r}"
        if len(lines.lines) > region.height:
            yield f"#{lines.id} shows {region.height} of its {len(lines.lines)} lines"


def _shown(app: App[None]) -> Iterable[Lines]:
    return [lines for lines in app.screen.query(Lines) if lines.display and lines.region.area]
