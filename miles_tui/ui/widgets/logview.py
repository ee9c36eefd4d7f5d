"""A window on the lines of a log: only those in sight are made into text."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from miles_tui.present.log_rows import LogBook
from miles_tui.present.log_view import row_spans
from miles_tui.present.styled_text import pointed
from miles_tui.ui.widgets.lines import Lines, cursor_keys


class LogView(Lines, can_focus=True):
    """Shows a `LogBook`. Posts `Moved` when the person moved in it."""

    DEFAULT_CSS = """
    LogView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = cursor_keys(
        "log",
        up="The line above; following ends",
        first="The oldest line that is kept",
        last="The newest line, and follow",
        pages=("pageup,ctrl+b", "pagedown,ctrl+f"),
    )

    class Moved(Message):
        """The cursor is on another line, or following ended or began."""

    def __init__(self, book: LogBook, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.book = book
        self.mark: int | None = None  # the entry that was jumped to
        self._top = 0

    def show_all(self) -> None:
        """Show what is in sight now; lines that stay are not painted again."""
        width, height = self.size
        if not height:
            return
        book = self.book
        self._top = min(max(self._top, book.at - height + 1), book.at)
        self._top = max(0, min(self._top, len(book.items) - height))
        lines = []
        for i, item in enumerate(book.items[self._top : self._top + height], self._top):
            spans = row_spans(item.row, width - 2, book.found, item.part(book.found))
            here = self.mark is not None and item.entry.number == self.mark
            chosen = i == book.at and not book.follow
            spans = [("accent", "▸ " if here else "  "), *spans]
            lines.append(pointed(spans) if chosen and self.flat and not here else spans)
        self.show(lines)
        self._ground()

    def ground_of(self, y: int) -> str:
        return "chosen" if y == self._chosen_row else "ground"

    _chosen_row = -1

    def _ground(self) -> None:
        """The chosen line's ground; in the newest line of a log that is followed it would only flicker."""
        before = self._chosen_row
        self._chosen_row = -1 if self.book.follow else self.book.at - self._top
        if before != self._chosen_row:
            self.refresh()  # equal cells are not written again

    def centre(self) -> None:
        """Scroll so that the cursor is in the middle."""
        self._top = self.book.at - self.size.height // 2
        self.show_all()

    def action_move(self, by: int) -> None:
        self.book.choose(self.book.at + by)
        self._moved()

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.size.height - 1))

    def action_first(self) -> None:
        self.book.choose(0)
        self._moved()

    def action_final(self) -> None:
        self.book.end()
        self._moved()

    def on_click(self, event: events.Click) -> None:
        if event.y + self._top < len(self.book.items):
            self.book.choose(event.y + self._top)
            self._moved()

    def on_mouse_scroll_down(self) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-3)

    def on_resize(self) -> None:
        self.show_all()

    def _moved(self) -> None:
        self.show_all()
        self.post_message(self.Moved())
