"""What every screen of ours does with events."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.screen import Screen

from miles_tui.runs.session import Session
from miles_tui.ui.host import Host

SAID_SECONDS = 6.0  # how long the footer shows what a key did


class OurScreen(Screen[None]):
    """A screen that hears of nothing once it was closed, or the app ends.

    Keys in one burst can do both before its first events came; it never gets widgets then, or loses them one by one.
    """

    passing: ClassVar[bool] = False  # it tells of the screen below, and never lies below another

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__()
        self.host = host
        self.session = session  # the run that it is about
        self._said = ""  # what a key did, while the footer shows it

    def key_pressed(self) -> None:
        """A key, before its action."""

    async def on_event(self, event: events.Event) -> None:
        alive = self.is_attached or bool(self.children)  # as the app ends a screen gets no widgets any more
        if isinstance(event, events.Unmount) or (alive and self in self.app.screen_stack):
            await super().on_event(event)

    def say(self, text: str, seconds: float = SAID_SECONDS) -> None:
        """Show a short message in the footer for a moment."""
        self._said = text
        self._frame()
        self.set_timer(seconds, lambda: self._unsay(text))

    def _unsay(self, text: str) -> None:
        if self._said == text:
            self._said = ""
            self._frame()

    def _frame(self) -> None:
        """Show what stands around the content: the head, and the keys or what one did."""

    def leave(self) -> None:
        """Close this screen, if it is still the one that is seen."""
        if self.is_current:
            self.app.pop_screen()
