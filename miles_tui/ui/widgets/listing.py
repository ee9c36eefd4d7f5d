"""A list of lines with a cursor, taller than the screen if need be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from miles_tui.present.styled_text import Spans, pointed
from miles_tui.ui.widgets.lines import Lines, cursor_keys


class Listing(Lines, can_focus=True):
    """Lines of which one is chosen (`cursor`), or that are only scrolled. Posts `Moved` and `Picked`."""

    DEFAULT_CSS = """
    Listing { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = cursor_keys("list")

    class Moved(Message):
        """The cursor is on another line."""

    class Picked(Message):
        """A line was clicked twice."""

    def __init__(self, *, cursor: bool = True, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: Sequence[Spans] = []
        self._drawn = -1  # the line whose ground is painted as chosen
        self._cursor = cursor
        self._top = 0
        self.at = 0

    @property
    def below(self) -> int:
        """How many lines follow below those in sight."""
        return max(0, len(self._items) - self._top - self.size.height)

    def put(self, items: Sequence[Spans]) -> None:
        """Show these lines, of which only those in sight are asked for; the cursor stays where it is."""
        self._items = items
        self.at = max(0, min(self.at, len(items) - 1)) if self._cursor else self.at
        self._arrange()

    def choose(self, at: int) -> None:
        """Move the cursor, or scroll where there is none."""
        last = len(self._items) - 1 if self._cursor else max(0, len(self._items) - self.size.height)
        at = max(0, min(at, last))
        moved, self.at = at != self.at, at
        if moved:
            self._arrange()
            self.post_message(self.Moved())

    def ground_of(self, y: int) -> str:
        return "chosen" if self._cursor and y + self._top == self.at else "ground"

    def action_move(self, by: int) -> None:
        self.choose(self.at + by)

    def action_page(self, pages: int) -> None:
        self.choose(self.at + pages * max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.choose(0)

    def action_final(self) -> None:
        self.choose(len(self._items))

    def on_click(self, event: events.Click) -> None:
        if self._cursor and event.y + self._top < len(self._items):
            again = event.chain > 1 and event.y + self._top == self.at
            self.choose(event.y + self._top)
            if again:
                self.post_message(self.Picked())

    def on_mouse_scroll_down(self) -> None:
        self.choose(self.at + 2)

    def on_mouse_scroll_up(self) -> None:
        self.choose(self.at - 2)

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        height = self.size.height
        if not height:
            return
        before = self._top
        if self._cursor:
            self._top = min(max(self._top, self.at - height + 1), self.at)
        else:
            self._top = self.at = min(self.at, max(0, len(self._items) - height))
        self._top = max(0, min(self._top, len(self._items) - height))
        shown = list(self._items[self._top : self._top + height])
        if self._cursor and self.flat and shown:
            shown[self.at - self._top] = pointed(shown[self.at - self._top])
        self.show(shown)
        if (self._drawn, before) != (self.at, self._top):
            self._drawn = self.at
            self.refresh()  # grounds moved with the cursor; equal cells are not written anyway
