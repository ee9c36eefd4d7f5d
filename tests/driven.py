"""An app under test: keys in, text out."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.pilot import Pilot
from textual.screen import Screen

from miles_tui.ui.app import MilesApp
from miles_tui.ui.widgets.listing import Listing

# A key and the one that takes it back; others are their own, as a switch is.
PAIRS = ("up down", "k j", "home end", "g G", "pageup pagedown", "left right", "shift+left shift+right", "n N", "v V",
         "plus minus", "left_curly_bracket right_curly_bracket",
         "left_square_bracket right_square_bracket")  # fmt: skip
BACK = dict(way for pair in PAIRS for a, b in (pair.split(),) for way in ((a, b), (b, a)))


class Driven:
    """The dashboard behind a pilot; every wait has a deadline."""

    def __init__(self, app: MilesApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    def state(self) -> tuple[object, ...]:
        """What a key changes for a person: what is shown, where one is in it, and whether the program ends."""
        app, chosen = self.app, [listing.at for listing in self.app.screen.query(Listing)]
        return self.text, chosen, len(app.screen_stack), app.focused, app.look.name, app.return_value, app._exit

    async def is_again(self, state: tuple[object, ...], pressed: str = "") -> bool:
        """Whether this is that state, or the key back from `pressed`, or Esc, leads to it: another can be pressed."""
        for back in (BACK.get(pressed, pressed), "escape"):
            if self.state() == state or self.app._exit:
                break
            if back == "escape" or (back and len(self.app.screen_stack) == state[2]):
                await self.press(back)
        return self.state() == state

    def is_on(self, kind: type[Screen[None]]) -> bool:
        """Whether the screen on top is of that kind."""
        return isinstance(self.app.screen, kind)

    async def press(self, *keys: str) -> str:
        await self.pilot.press(*keys)
        await self.pilot.pause()
        return self.text

    async def wait(self, until: Callable[[str], bool], seconds: float = 20) -> str:
        deadline = time.monotonic() + seconds
        while not until(text := self.text):
            assert time.monotonic() < deadline, f"not within {seconds} s:\n{text}"
            await self.pilot.pause()
        return text
