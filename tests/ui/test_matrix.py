"""Every screen at every size class, as text; at two sizes also its styles: dark, light, 16 colours, none, ASCII.

A size is opened afresh once and reached by a resize once; the smallest, that says one sentence, is only resized to.
The files are in `snapshots/matrix`: the text, then for each kind of terminal a letter a cell, the legend of these
letters and the lines that are not as they are in the dark theme. UPDATE_SCREENS=1 writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pictured import Picture, cropped, differing, picture
from rich.cells import cell_len
from rich.color import ColorSystem
from ways import WAYS

from miles_tui.core.text.ascii import to_ascii

Opened = Callable[..., Any]
Same = Callable[[str, str], None]
Size = tuple[int, int]
See = Callable[[Size, Any], None]
SIZES = [(120, 40), (120, 36), (80, 24), (60, 15), (40, 10), (30, 8)]
STYLED = [(120, 36), (80, 24)]
UNSTYLED = [size for size in SIZES if size not in STYLED]
NARROW = (60, 15)
WHOLE = (400, 100)
SCROLLED = ("metrics", "log-line")
FILES = Path(__file__).parent / "snapshots" / "matrix"
EVERY = pytest.mark.parametrize("name", list(WAYS))


def spoken(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def wear(screen: Any, look: str) -> None:
    screen.app.use_look(screen.app.looks.all()[look])


async def styles(screen: Any) -> tuple[list[str], Picture]:
    """The maps of an app that can show all colours, and its picture in the dark theme."""
    out: list[str] = []
    dark = picture(screen.app)
    for title, look, system in (
        ("dark", "dark", ColorSystem.TRUECOLOR),
        ("light", "light", ColorSystem.TRUECOLOR),
        ("16 colours", "sixteen", ColorSystem.STANDARD),
    ):
        wear(screen, look)
        await screen.pilot.pause()
        out += section(title, picture(screen.app, system), dark)
    wear(screen, "dark")
    return out, dark


def section(title: str, found: Picture, dark: Picture) -> list[str]:
    """One kind of terminal: the legend, the lines of text and of the map that differ from the dark theme."""
    lines = [f"=== {title}", *found.legend()]
    text = differing(found.text, dark.text)
    if text:
        lines += ["--- text", *text]
    marks = found.map() if found is dark or title == "dark" else differing(found.map(), dark.map())
    return [*lines, *(["--- map", *marks] if marks else [])]


async def at_sizes(shown: Opened, name: str, sizes: Sequence[Size], see: See, **options: object) -> None:
    """`see` the screen at these sizes: opened at the first and resized; opened at each where resizing scrolls."""
    if name in SCROLLED and sizes[1:]:
        for size in sizes:
            await at_sizes(shown, name, [size], see, **options)
        return
    async with shown(name, sizes[0], **options) as screen:
        see(sizes[0], screen)
        for size in sizes[1:]:
            await screen.pilot.resize_terminal(*size)
            await screen.pilot.pause()
            see(size, screen)


async def poor(
    shown: Opened, name: str, texts: dict[Size, str], darks: dict[Size, Picture], monkeypatch: pytest.MonkeyPatch
) -> dict[Size, list[str]]:
    """The same screen without colour, and without UTF-8: what is said of it at the sizes of these pictures."""
    out: dict[Size, list[str]] = {}

    def without_colour(size: Size, screen: Any) -> None:
        bare = picture(screen.app, None)
        assert not any(ink or ground for row in bare.rows for _, (_, ink, ground) in row), "colour in spite of NO_COLOR"
        same = [line.replace("▸", " ").replace("monochrome", "dark") for line in bare.text]
        if name != "themes":
            assert same == texts[size].replace("▸", " ").split("\n"), "the words are the same without colour"
        if size in darks:
            out[size] = section("no colour", bare, darks[size])

    def without_utf8(size: Size, screen: Any) -> None:
        unknown = {char for char in screen.text if not char.isascii() and to_ascii(char).startswith("?")}
        assert not unknown, "characters without a stand-in"
        plain = picture(screen.app, plain=True)
        assert all(line.isascii() for line in plain.text)
        out[size] += ["=== ASCII", *plain.text]

    with monkeypatch.context() as m:
        m.setenv("NO_COLOR", "1")
        await at_sizes(shown, name, [SIZES[0], *darks], without_colour)
    await at_sizes(shown, name, [*darks], without_utf8, glyphs="ascii")
    return out


def half_numbers(text: str, whole: str) -> list[str]:
    """Numbers before an ellipsis that go on in the same screen with all the room there is."""
    found = []
    for cut in re.finditer(r"\S[^…\n]{0,14}\d(?=…)", text):
        said = cut[0].rpartition("  ")[2]
        ends = [m.end() for m in re.finditer(re.escape(said), whole)]
        if not any(not re.match(r"[.,:eE+-]{0,2}\d", whole[end:]) for end in ends):
            found.append(said)
    return found


@EVERY
async def test_every_size(shown: Opened, same_screen: Same, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    texts: dict[Size, str] = {}
    rest: dict[Size, list[str]] = {}
    darks: dict[Size, Picture] = {}

    def see(size: Size, screen: Any) -> None:
        texts[size] = text = screen.text
        lines = text.splitlines()
        assert list(cropped(screen.app)) == []
        assert len(lines) <= size[1]
        assert all(cell_len(line) <= size[0] for line in lines)
        assert "needs 38x10" in text or size[0] >= 38

    await at_sizes(shown, name, [NARROW, *(size for size in UNSTYLED if size != NARROW), WHOLE], see)
    for size in STYLED:
        async with shown(name, size) as screen:
            see(size, screen)
            rest[size], darks[size] = await styles(screen)
    for size, lines in (await poor(shown, name, texts, darks, monkeypatch)).items():
        rest[size] += lines
    for size in SIZES:
        assert half_numbers(texts[size], texts[WHOLE]) == []
        same_screen(f"matrix/{name}-{spoken(size)}", "\n".join([*texts[size].splitlines(), *rest.get(size, [])]))


@EVERY
async def test_a_pane_that_is_resized_looks_as_one_that_was_opened_so(shown: Opened, name: str) -> None:
    """A list that is longer than the pane stays where it was scrolled to: only its frame is the same."""
    async with shown(name, SIZES[-2]) as screen:
        for size in (*SIZES[-2:], *SIZES[-2::-1], *SIZES[1:-2]):
            await screen.pilot.resize_terminal(*size)
            file = FILES / f"{name}-{spoken(size)}.txt"
            fresh = file.read_text(encoding="utf-8").partition("\n===")[0].rstrip().splitlines()
            same = ends if name in SCROLLED else list
            await screen.wait(lambda text, fresh=fresh, same=same: same(text.rstrip().splitlines()) == same(fresh))
            assert list(cropped(screen.app)) == []


def ends(lines: list[str]) -> list[str]:
    return [*lines[:2], *lines[-1:]]
