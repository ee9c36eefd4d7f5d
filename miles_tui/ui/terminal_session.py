"""The terminal around the app: its title and clipboard, its mouse, signals, words for the person."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable

from textual.app import App

from miles_tui.core.text.sanitize import safe_lines
from miles_tui.runs.run_options import Setup
from miles_tui.runs.run_set import RunSet
from miles_tui.ui.notify.notifier import Noticing
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.terminal.clipboard import PASTES, give_to_tmux, is_tmux
from miles_tui.ui.terminal.tty import TITLE_WAITING, end_on_signals, give_back, is_behind, is_gone, switch_mouse

TERMINAL_SECONDS = 10.0  # how often the terminal is looked at: 3 us
NOTE_SECONDS = 6.0  # how long a message in a box stays, where there is room for one
BOX_WIDTH, BOX_HEIGHT = 76, 20  # smaller than this a box would cover numbers


class TerminalSession:
    """What an app of some runs has to do with its terminal; `redraw` draws everything again."""

    def __init__(self, app: App[None], runs: RunSet, setup: Setup, redraw: Callable[[], None]) -> None:
        self._app, self._runs, self._redraw = app, runs, redraw
        self.mouse = setup.mouse
        self.noticing = Noticing(setup.notices, os.environ, self.write, self.command_failed)

    def open(self) -> None:
        """Once, when the app runs."""
        app = self._app
        # At once: what is put off to the next message comes when the person is back from the shell.
        app.app_suspend_signal.subscribe(app, lambda _: self.write(self.noticing.herald.restore()), immediate=True)
        app.app_resume_signal.subscribe(app, lambda _: self._resumed())
        self._catch_signals()
        if not app.is_headless:
            app.set_interval(TERMINAL_SECONDS, self.leave_if_gone)

    def leave_if_gone(self) -> bool:
        """End where the terminal was closed, as on a hang-up signal; whether it was."""
        gone = is_gone(self._app._driver)
        if gone:
            self._app.exit(return_code=128 + signal.SIGHUP)
        return gone

    def write(self, text: str) -> None:
        """Sequences that show nothing themselves: a title, a bell. They never come between the cells of a paint.

        A terminal that takes nothing misses them.
        """
        driver = self._app._driver
        if driver is not None and not self._app.is_headless and text and not is_behind(driver, TITLE_WAITING):
            driver.write(text)

    def retitle(self) -> None:
        """The terminal's title says how the runs are by now."""
        self.noticing.retitle(self._runs.session, self._runs.sessions, self._runs.beyond)

    def _resumed(self) -> None:
        self._redraw()
        self.retitle()

    def toggle_mouse(self) -> None:
        """Take the mouse, or leave it to the terminal: then text is selected as everywhere."""
        self.mouse = not self.mouse
        switch_mouse(self._app._driver, self.mouse)
        self.say("the mouse is used here" if self.mouse else "the mouse is left to the terminal")

    # -- words for the person --------------------------------------------------------------------

    def say(self, text: str) -> None:
        """A short message where the screen has a place for one."""
        screen = self._app.screen
        if isinstance(screen, MainScreen | SubScreen):
            screen.say(text)

    @property
    def boxes(self) -> bool:
        """Whether a message in a box leaves the numbers in sight."""
        return self._app.size.width >= BOX_WIDTH and self._app.size.height >= BOX_HEIGHT

    def tell(self, *texts: str) -> None:
        """Messages that nobody's key asked for: a box each, or where these would cover numbers, a line for a moment."""
        if self.boxes or not isinstance(self._app.screen, MainScreen | SubScreen):
            for text in texts:
                self._app.notify(text, severity="warning", markup=False, timeout=NOTE_SECONDS)
        elif texts:
            self.say(texts[0] + (f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""))

    def command_failed(self, text: str) -> None:
        """The person's command did; called from its thread."""
        self._app.call_later(self.tell, text)

    def close_boxes(self) -> bool:
        """Close the boxes; whether there was one."""
        there = bool(self._app._notifications)
        if there:
            self._app.clear_notifications()
        return there

    def copy(self, text: str, said: str, aside: str = "") -> None:
        """Copy for the person, and say what was done: `said`, and outside of tmux `aside` behind it.

        Nothing in it acts where it is pasted, and no key is in it.
        """
        text = safe_lines(text)
        if is_tmux(os.environ):
            self._app.run_worker(self._copy_in_tmux(text, said), name="copy")
            return
        self._app.copy_to_clipboard(text)
        self.say(said + aside)

    async def _copy_in_tmux(self, text: str, said: str) -> None:
        if await asyncio.to_thread(give_to_tmux, text):
            self.say(said + PASTES)
        else:
            self._app.copy_to_clipboard(text)
            self.say(f"{said} by OSC 52: tmux gave no answer")

    # -- signals ---------------------------------------------------------------------------------

    def _catch_signals(self) -> None:
        """End on signals as on `q`: the terminal is left as it was found."""
        if threading.current_thread() is not threading.main_thread() or self._app.is_headless:
            return
        end_on_signals(lambda number: self._app.exit(return_code=128 + number), self._give_up)

    def _give_up(self, number: int) -> None:
        give_back(self._app._driver)
        self.noticing.leave()
        os._exit(128 + number)
