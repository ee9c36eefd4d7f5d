"""The app and what is around it: the terminal's title and clipboard, its mouse, signals, messages that pass."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

from textual.driver import Driver

from miles_tui.core.text.sanitize import safe_lines
from miles_tui.ui.navigation import SeveralRuns
from miles_tui.ui.notify.notifier import Noticing
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.terminal.clipboard import PASTES, give_to_tmux, is_tmux
from miles_tui.ui.terminal.tty import TITLE_WAITING, end_on_signals, give_back, is_behind, is_gone, switch_mouse

TERMINAL_SECONDS = 10.0  # how often the terminal is looked at: 3 us
NOTE_SECONDS = 6.0  # how long a message in a box stays, where there is room for one
BOX_WIDTH, BOX_HEIGHT = 76, 20  # smaller than this a box would cover numbers


class Outside(SeveralRuns):
    """What an app of several runs has to do with its surroundings."""

    noticing: Noticing
    mouse: bool

    def get_driver_class(self) -> type[Driver]:
        """The usual one of this platform, as ours where it is a terminal's."""
        usual = super().get_driver_class()
        from miles_tui.ui.terminal.input_driver import SturdyDriver

        return SturdyDriver if usual in SturdyDriver.__bases__ else usual

    def meet_surroundings(self) -> None:
        """Once, when the app runs."""
        # At once: what is put off to the next message comes when the person is back from the shell.
        self.app_suspend_signal.subscribe(
            self, lambda _: self.to_terminal(self.noticing.herald.restore()), immediate=True
        )
        self.app_resume_signal.subscribe(self, lambda _: self._resumed())
        self._catch_signals()
        if not self.is_headless:
            self.set_interval(TERMINAL_SECONDS, self.leave_if_gone)

    def leave_if_gone(self) -> bool:
        """End where the terminal was closed, as on a hang-up signal; whether it was."""
        gone = is_gone(self._driver)
        if gone:
            self.exit(return_code=128 + signal.SIGHUP)
        return gone

    def to_terminal(self, text: str) -> None:
        """Sequences that show nothing themselves: a title, a bell. They never come between the cells of a paint.

        A terminal that takes nothing misses them.
        """
        if self._driver is not None and not self.is_headless and text and not is_behind(self._driver, TITLE_WAITING):
            self._driver.write(text)

    def action_redraw(self) -> None:
        """Draw everything again."""
        raise NotImplementedError

    def _resumed(self) -> None:
        self.action_redraw()
        self.noticing.retitle(self.session, self.sessions)

    def action_mouse(self) -> None:
        """Take the mouse, or leave it to the terminal: then text is selected as everywhere."""
        self.mouse = not self.mouse
        switch_mouse(self._driver, self.mouse)
        self.say("the mouse is used here" if self.mouse else "the mouse is left to the terminal")

    # -- words for the person --------------------------------------------------------------------

    def say(self, text: str) -> None:
        """A short message where the screen has a place for one."""
        if isinstance(self.screen, MainScreen | SubScreen):
            self.screen.say(text)

    @property
    def boxes(self) -> bool:
        """Whether a message in a box leaves the numbers in sight."""
        return self.size.width >= BOX_WIDTH and self.size.height >= BOX_HEIGHT

    def tell(self, *texts: str) -> None:
        """Messages that nobody's key asked for: a box each, or where these would cover numbers, a line for a moment."""
        if self.boxes or not isinstance(self.screen, MainScreen | SubScreen):
            for text in texts:
                self.notify(text, severity="warning", markup=False, timeout=NOTE_SECONDS)
        elif texts:
            self.say(texts[0] + (f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""))

    def close_boxes(self) -> bool:
        """Close the boxes; whether there was one."""
        there = bool(self._notifications)
        if there:
            self.clear_notifications()
        return there

    def copy(self, text: str, said: str, aside: str = "") -> None:
        """Copy for the person, and say what was done: `said`, and outside of tmux `aside` behind it.

        Nothing in it acts where it is pasted, and no key is in it.
        """
        text = safe_lines(text)
        if is_tmux(os.environ):
            self.run_worker(self._copy_in_tmux(text, said), name="copy")
            return
        self.copy_to_clipboard(text)
        self.say(said + aside)

    async def _copy_in_tmux(self, text: str, said: str) -> None:
        if await asyncio.to_thread(give_to_tmux, text):
            self.say(said + PASTES)
        else:
            self.copy_to_clipboard(text)
            self.say(f"{said} by OSC 52: tmux gave no answer")

    # -- signals ---------------------------------------------------------------------------------

    def _catch_signals(self) -> None:
        """End on signals as on `q`: the terminal is left as it was found."""
        if threading.current_thread() is not threading.main_thread() or self.is_headless:
            return
        end_on_signals(lambda number: self.exit(return_code=128 + number), self._give_up)

    def _give_up(self, number: int) -> None:
        give_back(self._driver)
        self.noticing.leave()
        os._exit(128 + number)
