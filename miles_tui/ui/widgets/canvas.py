"""The lines of a chart, and what the mouse does on them: a click, a drag, the wheel."""

from __future__ import annotations

from textual import events
from textual.message import Message

from miles_tui.ui.widgets.lines import Lines


class Canvas(Lines, can_focus=True):
    """The chart's lines. Columns are counted from its left edge."""

    class Picked(Message):
        """A click, without a drag."""

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    class Dragged(Message):
        """The mouse went on by so many columns with its button held."""

        def __init__(self, columns: int) -> None:
            super().__init__()
            self.columns = columns

    class Turned(Message):
        """The wheel at column `x`: by 1 (up, or to the right where `aside`) or -1."""

        def __init__(self, x: int, by: int, *, aside: bool) -> None:
            super().__init__()
            self.x, self.by, self.aside = x, by, aside

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._held: int | None = None  # the column that the mouse has hold of
        self._dragged = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button == 1:
            self._held, self._dragged = event.x, False
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held is not None and event.x != self._held:
            self.post_message(self.Dragged(event.x - self._held))
            self._held, self._dragged = event.x, True

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._held is None:
            return
        self._held = None
        self.release_mouse()
        if not self._dragged:
            self.post_message(self.Picked(event.x))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._turn(event, -1 if event.shift else 1, aside=event.shift)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._turn(event, 1 if event.shift else -1, aside=event.shift)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        self._turn(event, -1, aside=True)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        self._turn(event, 1, aside=True)

    def _turn(self, event: events.MouseEvent, by: int, *, aside: bool) -> None:
        event.stop()
        self.post_message(self.Turned(event.x, by, aside=aside))
