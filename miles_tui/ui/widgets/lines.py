"""Lines of text drawn by Textual's line API: a change repaints its own lines and lays nothing out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from miles_tui.present.styled_text import Spans
from miles_tui.ui.theming.theme import Theme


class Themed:
    """An app with a theme of ours in use. A class: `isinstance` of a protocol is slow, and each line asks for it."""

    look: Theme


class Lines(Widget):
    """A block of lines. `show` compares with what is there and repaints what differs.

    Text comes as spans and never as markup: log text can't act on the screen.
    """

    DEFAULT_CSS = """
    Lines { width: 1fr; height: 1; }
    """
    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[Spans] = []

    @property
    def look(self) -> Theme:
        """The theme in use."""
        app = self.app
        if not isinstance(app, Themed):
            raise TypeError(f"{app} has no theme of ours")
        return app.look

    @property
    def flat(self) -> bool:
        """Whether a chosen line has no ground of its own: then a sign must tell it."""
        return self.app.no_color or self.look.grounds["chosen"] == self.look.grounds["ground"]

    @property
    def lines(self) -> Sequence[Spans]:
        """What is shown."""
        return self._lines

    def show(self, lines: list[Spans]) -> None:
        """Show these lines; those that are the same as before are not painted again."""
        before, self._lines = self._lines, lines
        width = self.size.width
        for y in range(max(len(before), len(lines))):
            old = before[y] if y < len(before) else None
            new = lines[y] if y < len(lines) else None
            if old != new:
                self.refresh(Region(0, y, width, 1))

    def render_line(self, y: int) -> Strip:
        """One line, filled up with its ground."""
        spans = self._lines[y] if y < len(self._lines) else []
        return strip_of(spans, self.size.width, self.look, self.ground_of(y))

    def ground_of(self, y: int) -> str:
        """The theme's ground behind a line: `ground`, `raised` or `chosen`."""
        del y
        return "ground"


def strip_of(spans: Spans, width: int, look: Theme, ground: str) -> Strip:
    """Spans as a strip of exactly `width` cells on a ground of the theme."""
    segments = [Segment(text, look.style(f"{role} on {ground}")) for role, text in spans if text]
    return Strip(segments).adjust_cell_length(width, look.style(f"text on {ground}"))


def cursor_keys(
    name: str,
    up: str = "The line above",
    down: str = "The line below",
    first: str = "The first line",
    last: str = "The last line",
    pages: tuple[str, str] = ("pageup", "pagedown"),
) -> list[BindingType]:
    """The keys that move a cursor through lines, with ids `name.up` and so on.

    They ask for the actions `move(by)`, `page(by)`, `first` and `final`; the rest are the sentences that help says.
    """
    return [
        Binding("up,k", "move(-1)", "Up", id=f"{name}.up", show=False, tooltip=up),
        Binding("down,j", "move(1)", "Down", id=f"{name}.down", show=False, tooltip=down),
        Binding(pages[0], "page(-1)", "Page up", id=f"{name}.page-up", show=False, tooltip="A page up"),
        Binding(pages[1], "page(1)", "Page down", id=f"{name}.page-down", show=False, tooltip="A page down"),
        Binding("home,g", "first", "First", id=f"{name}.first", show=False, tooltip=first),
        Binding("end,G", "final", "Last", id=f"{name}.last", show=False, tooltip=last),
    ]
