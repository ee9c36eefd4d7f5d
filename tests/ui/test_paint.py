"""What is written brings the terminal to the same picture, with few bytes, and nothing when nothing changed."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from miles_tui.ui.paint import Paper, cells_of

WIDTH, HEIGHT = 24, 5
STYLES = [None, Style.parse("#d5dae3 on #12151b"), Style.parse("bold #ff6a6a on #12151b"), Style.parse("red"),
          Style.parse("underline"), Style.parse("on #262d39"), Style.parse("dim #d5dae3 on #12151b")]  # fmt: skip
TRUE = ColorSystem.TRUECOLOR

texts = st.text(alphabet="ab 0.⣀▲語…", min_size=0, max_size=12)
lines = st.lists(st.tuples(texts, st.sampled_from(STYLES)), max_size=5)
frames = st.lists(lines, min_size=HEIGHT, max_size=HEIGHT)


def strips_of(frame: list[list[tuple[str, Style | None]]]) -> list[Strip]:
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
def test_changes_lead_to_the_same_picture_as_drawing_it_at_once(sequence: list, cut: int) -> None:
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
def test_the_same_again_is_no_byte(frame: list) -> None:
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
