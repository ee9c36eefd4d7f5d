"""What is written brings the terminal to the same picture, with few bytes, and nothing when nothing changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from miles_tui.core.text.sanitize import plain
from miles_tui.ui.terminal.diff_renderer import DISPUTED, Paper, cells_of

WIDTH, HEIGHT = 24, 5
STYLES = [None, Style.parse("#d5dae3 on #12151b"), Style.parse("bold #ff6a6a on #12151b"), Style.parse("red"),
          Style.parse("underline"), Style.parse("on #262d39"), Style.parse("dim #d5dae3 on #12151b")]  # fmt: skip
TRUE = ColorSystem.TRUECOLOR

texts = st.text(alphabet="ab 0.⣀▲語…", min_size=0, max_size=12)
lines = st.lists(st.tuples(texts, st.sampled_from(STYLES)), max_size=5)
Frame = list[list[tuple[str, Style | None]]]
frames = st.lists(lines, min_size=HEIGHT, max_size=HEIGHT)


def strips_of(frame: Frame) -> list[Strip]:
    return [Strip([Segment(t, s) for t, s in line]).adjust_cell_length(WIDTH, STYLES[1]) for line in frame]


def whole(strips: list[Strip]) -> LayoutUpdate:
    return LayoutUpdate([[strip] for strip in strips], Region(0, 0, WIDTH, HEIGHT))


def partial(strips: list[Strip], rows: list[int], cut: int) -> ChopsUpdate:
    """The rows as two chops each, as widgets beside one another give them."""
    chops = [dict(zip((0, cut), strip.divide([cut, WIDTH]), strict=True)) for strip in strips]
    return ChopsUpdate(chops, [(row, 0, WIDTH) for row in rows], [[cut, WIDTH]] * HEIGHT)


class Terminal:
    def __init__(self) -> None:
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self.screen.reset_mode(pyte.modes.DECAWM)
        self.stream = pyte.Stream(self.screen)

    def picture(self) -> list[list[tuple[object, ...]]]:
        rows = []
        for y in range(HEIGHT):
            row = self.screen.buffer[y]
            rows.append([self._seen(row[x]) for x in range(WIDTH)])
        return rows

    def _seen(self, c: pyte.screens.Char) -> tuple[object, ...]:
        """What can be seen of a cell: an empty one has no ink unless it is underlined."""
        ink = (c.fg, c.bold) if c.data != " " or c.underscore else ()
        return (c.data, c.bg, c.underscore, *ink)


def drawn_at_once(strips: list[Strip]) -> list[list[tuple[object, ...]]]:
    terminal = Terminal()
    terminal.stream.feed(Paper().update(whole(strips), TRUE))
    return terminal.picture()


@given(st.lists(frames, min_size=2, max_size=4), st.integers(1, WIDTH - 1))
def test_changes_lead_to_the_same_picture_as_drawing_it_at_once(sequence: list[Frame], cut: int) -> None:
    terminal, paper = Terminal(), Paper()
    terminal.stream.feed(paper.update(whole(strips_of(sequence[0])), TRUE))
    for i, frame in enumerate(sequence[1:]):
        strips = strips_of(frame)
        update = partial(strips, list(range(HEIGHT)), cut) if i % 2 == 0 else whole(strips)
        terminal.stream.feed(paper.update(update, TRUE))
        wide = any("語" in text for line in frame for text, _ in line)
        if not wide:  # pyte leaves rests of half overwritten wide characters, and a cut may halve one
            assert terminal.picture() == drawn_at_once(strips)
        assert paper.update(whole(strips), TRUE) == "" or wide


@given(frames)
def test_the_same_again_is_no_byte(frame: Frame) -> None:
    paper, strips = Paper(), strips_of(frame)
    paper.update(whole(strips), TRUE)
    assert paper.update(whole(strips), TRUE) == ""


def test_one_changed_cell_is_a_few_bytes() -> None:
    paper = Paper()
    style = STYLES[1]
    before = [[("0.8123  0.79", style)]] * HEIGHT
    after = [[("0.8124  0.79", style)], *before[1:]]
    paper.update(whole(strips_of(before)), TRUE)
    text = paper.update(partial(strips_of(after), [0], 12), TRUE)
    assert text == "\x1b[1;6H\x1b[38;2;213;218;227;48;2;18;21;27m4\x1b[0m"


def test_two_changes_on_a_line_share_their_style() -> None:
    paper = Paper()
    strip = [Strip([Segment("0" * WIDTH, STYLES[1])])] * HEIGHT
    paper.update(whole(strip), TRUE)
    other = Strip([Segment("1" + "0" * 20 + "100", STYLES[1])])
    text = paper.update(whole([other, *strip[1:]]), TRUE)
    assert text.count("m") == 2, "one style, one reset"
    assert "\x1b[20C1" in text


def test_after_forgetting_everything_is_written_again() -> None:
    paper, strips = Paper(), strips_of([[("abc", None)]] * HEIGHT)
    first = paper.update(whole(strips), TRUE)
    paper.forget()
    assert paper.update(whole(strips), TRUE) == first


def test_another_size_is_drawn_whole() -> None:
    paper, strips = Paper(), strips_of([[("abc", None)]] * HEIGHT)
    paper.update(whole(strips), TRUE)
    smaller = LayoutUpdate([[strip.crop(0, 10)] for strip in strips[:3]], Region(0, 0, 10, 3))
    assert paper.update(smaller, TRUE).count("abc") == 3


@given(texts)
def test_ascii_keeps_the_width(text: str) -> None:
    plain = cells_of([Segment(text)], TRUE, ascii_only=True)
    assert all(char.isascii() for char, _ in plain)
    assert len(plain) == len(cells_of([Segment(text)], TRUE))


def test_few_colours_and_none() -> None:
    segment = Segment("x", Style.parse("bold #ff0000 on #000000"))
    assert cells_of([segment], ColorSystem.STANDARD)[0][1] == ("1", "31", "40")
    assert cells_of([segment], None)[0][1] == ("1", "", "")


def test_empty_cells_between_cost_no_style() -> None:
    paper, ink, other = Paper(), Style.parse("#ff0000 on #12151b"), Style.parse("#00ff00 on #12151b")
    line = Strip([Segment(text, style) for text, style in (("x", ink), (" ", other), ("x", ink)) * 8])
    assert paper.update(whole([line] * HEIGHT), TRUE).count("38;2") == 1


class Stubborn:
    """A terminal with its own mind of how wide characters are; half of a wide one that is overwritten is blank."""

    def __init__(self, width: Callable[[str], int]) -> None:
        self.width = width
        self.rows = [["~"] * WIDTH for _ in range(HEIGHT)]  # "~": what somebody else left there
        self.x = self.y = 0

    def feed(self, text: str) -> None:
        for sequence, char in re.findall(r"(\x1b\[[\d;]*[A-Za-z])|(.)", text, re.DOTALL):
            if sequence:
                self._do(sequence[2:-1], sequence[-1])
            else:
                self._put(char)

    def _do(self, parameters: str, final: str) -> None:
        numbers = [int(n or 1) for n in parameters.split(";")]
        if final == "H":
            self.y, self.x = numbers[0] - 1, numbers[1] - 1
        elif final == "C":
            self.x += numbers[0]
        elif final == "G":
            self.x = min(numbers[0], WIDTH) - 1
        assert final in "HCGm"

    def _put(self, char: str) -> None:
        row, width = self.rows[self.y], 1 if char.isascii() else self.width(char)
        if not width:
            row[max(self.x - 1, 0)] += char
            return
        if width == 2 and self.x > WIDTH - 2:
            return  # it doesn't fit, and lines do not wrap: tmux drops it
        self.x = min(self.x, WIDTH - width)
        for at in range(self.x, self.x + width):
            if row[at] == "" and at == self.x:
                row[at - 1] = " "
            if at + 1 < WIDTH and row[at + 1] == "":
                row[at + 1] = " "
        row[self.x : self.x + width] = [char, ""][:width]
        self.x += width

    def wrong(self, strips: list[Strip]) -> list[tuple[int, int]]:
        """Where another picture stands than is meant, but for the cells of disputed characters and of those before."""
        found = []
        for y, strip in enumerate(strips):
            meant = [text for text, _ in cells_of(strip, TRUE)]
            disputed = {x for x, text in enumerate(meant) if DISPUTED.search(text)}
            disputed |= {x + 1 for x in disputed if x + 1 < WIDTH and not meant[x + 1]} | {x - 1 for x in disputed}
            found += [(x, y) for x in range(WIDTH) if x not in disputed and self.rows[y][x] != meant[x]]
        return found


LOG = "".join(
    plain(c) for c in "a\u0301\N{THUMBS UP SIGN}\N{WARNING SIGN}\u20e3\u0915\u093f\u1100\u2800\u2764\u8a9e\ue0a0"
)
log_lines = st.lists(st.tuples(st.text(alphabet="ab 0." + LOG, max_size=9), st.sampled_from(STYLES)), max_size=5)
log_frames = st.lists(log_lines, min_size=HEIGHT, max_size=HEIGHT)


@pytest.mark.parametrize("disputed", [0, 1, 2], ids="disputed characters are {} wide".format)
@given(st.lists(log_frames, min_size=1, max_size=3), st.integers(1, WIDTH - 1))
def test_a_terminal_that_disputes_a_width_is_wrong_in_that_cell_alone(
    disputed: int, sequence: list[Frame], cut: int
) -> None:
    def width(char: str) -> int:
        return disputed if DISPUTED.search(char) else 2 if unicodedata.east_asian_width(char) == "W" else 1

    terminal, paper = Stubborn(width), Paper()
    for i, frame in enumerate(sequence):
        strips = strips_of(frame)
        terminal.feed(paper.update(partial(strips, list(range(HEIGHT)), cut) if i % 2 else whole(strips), TRUE))
        if i % 2 == 0:  # a cut may halve a wide character
            assert not terminal.wrong(strips)
    blank = strips_of([[("abc", STYLES[1])]] * HEIGHT)
    terminal.feed(paper.update(whole(blank), TRUE))
    assert ["".join(row) for row in terminal.rows] == ["abc".ljust(WIDTH)] * HEIGHT, "something is left of it"


def test_our_own_signs_are_disputed_by_nobody() -> None:
    sources = (Path(__file__).resolve().parents[2] / "miles_tui").rglob("*.py")
    ours = set("".join(path.read_text(encoding="utf-8") for path in sources))
    assert not [char for char in ours if DISPUTED.search(char) and char != "\n"]


def test_the_same_log_text_again_is_no_byte() -> None:
    strips, paper = strips_of([[("x \N{THUMBS UP SIGN} y", STYLES[1])]] * HEIGHT), Paper()
    assert "\x1b[5G y" in paper.update(whole(strips), TRUE), "the cursor is set anew behind it"
    assert paper.update(whole(strips), TRUE) == ""


def test_no_text_acts_on_the_terminal() -> None:
    text = "a\x1b]0;x\x07b\x9b31m\x85\x7f\r\n\t\u202e\u2066c"
    cells = cells_of([Segment(text)], None)
    assert "".join(cell[0] for cell in cells) == "a]0;xb31mc"
