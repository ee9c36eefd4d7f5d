"""A line to type into, without a cursor that blinks: idle it writes nothing (a stock Input sends 2.5 KB/s)."""

from __future__ import annotations

from textual import events
from textual.message import Message

from miles_tui.core.text.cells import cells, cut
from miles_tui.present.styled_text import Spans, StyledSpan, between, fitted
from miles_tui.ui.widgets.lines import Lines

MOST_CHARACTERS = 200  # characters
CURSOR = "▏"


class Field(Lines, can_focus=True):
    """One line of text. Posts `Typed` at every change, `Left` when the keys are to go elsewhere again.

    Printable keys write while it has the focus; Backspace, Ctrl+W and Ctrl+U delete; Enter leaves with the text, Esc
    without it. `label` stands before the text, `aside` at the other end.
    """

    DEFAULT_CSS = """
    Field { height: 1; }
    """

    class Typed(Message):
        """The text changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Enter, Esc or an arrow: `key` says which."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.text = text
        self._label: Spans = []
        self._aside: Spans = []

    def put(self, label: Spans, aside: Spans) -> None:
        """Show this around the text."""
        self._label, self._aside = label, aside
        self._arrange()

    def on_key(self, event: events.Key) -> None:
        """Take what is text; every key that this line uses ends here.

        Keys that came in one burst behind the one that leaves were sent here, too: they are for the screen.
        """
        if self.screen.focused is not self:
            return
        key, before = event.key, self.text
        if key in ("enter", "escape", "down", "up", "tab"):
            if key == "escape":
                self._set("")
            self.screen.set_focus(None)
            self.post_message(self.Left(key))
        elif key in ("backspace", "ctrl+h"):
            self._set(before[:-1])
        elif key == "ctrl+w":
            self._set(before.rstrip().rpartition(" ")[0])
        elif key == "ctrl+u":
            self._set("")
        elif event.is_printable and event.character is not None:
            self.type(event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def type(self, text: str) -> None:
        """Write as if it was typed."""
        self._set((self.text + text)[:MOST_CHARACTERS])

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is one line here."""
        event.stop()
        self.type("".join(c for c in event.text if c.isprintable()))

    def watch_has_focus(self, _: bool) -> None:
        super().watch_has_focus(_)
        self._arrange()

    def on_resize(self) -> None:
        self._arrange()

    def _set(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self._arrange()
            self.post_message(self.Typed(text))

    def _arrange(self) -> None:
        width = self.size.width
        room = max(4, width - sum(cells(text) for _, text in self._label) - 2)
        end: list[StyledSpan] = [("accent", CURSOR)] if self.has_focus else []
        shown = self.text if cells(self.text) <= room else cut(self.text[::-1], room)[::-1]  # the end is being typed
        line: Spans = [*self._label, ("bright", shown), *end]
        self.show([fitted(between(line, self._aside, width), width)] if width else [])
