"""The dashboard as a program: Textual's app, around the runs, their screens, the theme and the terminal.

feed task: batches -> `RunSet` -> Grew (empty) -> on_grew: `Navigation.grew`: the screen shows what changed
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from miles_tui.config.view_state import keep
from miles_tui.core.text.sanitize import harmless, harmless_name
from miles_tui.errors import MilesTuiError
from miles_tui.present.run_table import names_of
from miles_tui.runs.reference_runs import References
from miles_tui.runs.run_options import Setup
from miles_tui.runs.run_set import HANG_SECONDS, RunSet
from miles_tui.runs.session import Session
from miles_tui.runs.sources import Feed, LiveFeed, ReplayFeed
from miles_tui.stdio import complain
from miles_tui.ui.keys import APP_KEYS
from miles_tui.ui.messages import Grew
from miles_tui.ui.navigation import Navigation
from miles_tui.ui.screens.base import OurScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.settings_watch import SettingsWatch
from miles_tui.ui.terminal.diff_renderer import Paper
from miles_tui.ui.terminal.diff_renderer import Sequence as Bytes
from miles_tui.ui.terminal.tty import glyphs_for, is_behind, is_dark, own_terminal
from miles_tui.ui.terminal_session import TerminalSession
from miles_tui.ui.theming.theme import DEFAULT_VARIABLES, Theme, usual_theme
from miles_tui.ui.theming.theme_store import Looks
from miles_tui.ui.widgets.lines import Lines, Themed
from miles_tui.ui.widgets.signals import SignalTable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.driver import Driver
    from textual.theme import Theme as TextualTheme

    from miles_tui.ingest.files.log_file import Log

TICK_SECONDS = 10.0  # how often silence is looked at: a stall takes minutes to be one
LATEST_BEGIN = 0.3  # seconds after which the log is read although nothing was painted yet
SETTINGS_SECONDS = 1.0  # between two looks at settings that were wrong
COLOURS = {None: 0, "standard": 16, "256": 256, "truecolor": 2**24, "windows": 16}


class MilesApp(App[None], Themed, inherit_bindings=False):  # Textual's own have no words for help
    """The dashboard: one run on the screen; where several logs are given, all are followed.

    It is the `Host` of its screens; what its runs tell comes by `RunsHost`.
    """

    TITLE = "miles-tui"
    BINDINGS: ClassVar[list[BindingType]] = APP_KEYS
    ENABLE_COMMAND_PALETTE = True
    ALLOW_SELECT = False

    def __init__(self, *feeds: Feed, setup: Setup | None = None, listed: bool = False) -> None:
        super().__init__()
        self.setup = setup = setup or Setup()
        self.glyphs = setup.glyphs or glyphs_for(os.environ)
        self.references = References()
        self.crash: BaseException | None = None
        self.selected = setup.signal  # the signal that was selected last
        self.runs = RunSet(feeds, setup, RunsHost(self), opened=not listed)
        self.looks = Looks()
        usual = usual_theme(
            colours=COLOURS.get(self.console.color_system, 256), no_color=self.no_color, dark=is_dark(os.environ)
        )
        self.look: Theme = self.looks.first(setup.theme, usual)
        unworn = {"theme": ""} if setup.theme and self.look.name != setup.theme else {}
        self.settings = SettingsWatch({**unworn, **setup.wrong})
        self._open_with(self.look.textual())
        self.terminal = TerminalSession(self, self.runs, setup, self.action_redraw)
        self.navigation = Navigation(self, self, listed=listed)
        self._begun = False
        self._paper = Paper(ascii_only=self.glyphs == "ascii")

    def _open_with(self, theme: TextualTheme) -> None:
        """What setting `theme` does, before anything is parsed or shown: else all CSS is parsed twice (8 ms)."""
        self.register_theme(theme)
        self.set_reactive(MilesApp.theme, theme.name)
        self.set_class(True, f"-theme-{theme.name}", update=False)
        self.set_class(theme.dark, "-dark-mode", update=False)
        self.set_class(not theme.dark, "-light-mode", update=False)
        self._refresh_truecolor_filter(self.ansi_theme)
        self.stylesheet.set_variables(self.get_css_variables())

    @property
    def session(self) -> Session:
        """The run on the screen."""
        return self.runs.session

    # -- the beginning ---------------------------------------------------------------------------

    def get_default_screen(self) -> Screen[Any]:
        return self.navigation.first_screen()

    def on_mount(self) -> None:
        self.terminal.open()
        self.call_after_refresh(self._begin)
        # A key that opens another screen before the first paint leaves that call waiting for the screen below it.
        self.set_timer(LATEST_BEGIN, self._begin)

    def _begin(self) -> None:
        """Only now, so that the first paint does not wait for the disk; once."""
        if self._begun:
            return
        self._begun = True
        reasons = [said for key, said in self.setup.wrong.items() if key != "theme" or not self.looks.failed]
        more = f" (and {len(reasons) - 1} more: miles-tui config tells all)" if len(reasons) > 1 else ""
        self.terminal.tell(*(said + more for said in reasons[:1]), *self.looks.failed)
        if not gc.isenabled():  # the command line's start: what is there by now stays, and is looked at no more
            gc.freeze()
            gc.enable()
        self.runs.begin_all()
        if self.setup.compare:
            self.run_worker(self.references.read(self.setup.compare, self._compared), name="compare")
        if self.selected and isinstance(self.screen, MainScreen):
            self.screen.query_one(SignalTable).choose_named(self.selected)
        if any(feed.live for feed in self.runs.feeds):
            self.set_interval(TICK_SECONDS, self.runs.tick)
            self.set_interval(HANG_SECONDS, self.runs.listen)
        if self.settings.wrong:
            self.set_interval(SETTINGS_SECONDS, self._look_at_settings)

    def _look_at_settings(self) -> None:
        if self.settings.mended():
            self._said_otherwise()

    def _compared(self) -> None:
        """A reference run was read: charts show it; one that can't be read is told of once."""
        self.terminal.tell(*self.references.take_failed())
        self._said_otherwise()

    def _said_otherwise(self) -> None:
        """What the screen says beside the run is another: take its views anew."""
        self.session.touch()
        self.post_message(Grew())

    def on_grew(self) -> None:
        self.terminal.retitle()
        self.navigation.grew()

    def on_signal_table_selected(self) -> None:
        row = self.screen.query_one(SignalTable).selected if isinstance(self.screen, MainScreen) else None
        self.selected = row.name if row is not None else self.selected

    # -- the terminal ----------------------------------------------------------------------------

    def get_driver_class(self) -> type[Driver]:
        """The usual one of this platform, as ours where it is a terminal's."""
        usual = super().get_driver_class()
        from miles_tui.ui.terminal.input_driver import SturdyDriver

        return SturdyDriver if usual in SturdyDriver.__bases__ else usual

    def copy(self, text: str, said: str, aside: str = "") -> None:
        self.terminal.copy(text, said, aside)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Write only what differs from what the terminal shows; nothing where nothing does."""
        written = self._running and not self._closed and not self.is_headless and not self._batch_count
        if written and is_behind(self._driver):
            self.terminal.paint_later()
        elif written and self._driver is not None and isinstance(renderable, LayoutUpdate | ChopsUpdate):
            system = None if self.no_color else self.console._color_system
            text = self._paper.update(renderable, system)
            super()._display(screen, cast("RenderableType", Bytes(text)) if text else None)
        else:
            super()._display(screen, renderable)

    async def on_event(self, event: events.Event) -> None:
        """A key: somebody looks, so the generation bar's count of now is shown. Esc closes boxes before all else."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if event.key == "escape" and self.terminal.close_boxes():
                return
            if isinstance(self.screen, OurScreen):
                self.screen.key_pressed()
        if isinstance(event, events.Key) and self.session.glance(time.monotonic()):
            self.post_message(Grew())
        await super().on_event(event)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """As ever, once the screen has its widgets: a key in one burst with that which opened it could close it."""
        while not self.screen.is_mounted:
            await asyncio.sleep(0.001)
        return await super().run_action(action, default_namespace, namespaces)

    def on_resize(self) -> None:
        self._paper.forget()
        if not self.terminal.boxes:
            self.terminal.close_boxes()

    async def action_quit(self) -> None:
        self.runs.stop_all()
        self.exit()

    def action_redraw(self) -> None:
        """Draw everything again: another program wrote on this terminal."""
        self._paper.forget()
        self.screen.refresh()

    def _fatal_error(self) -> None:
        """A plain traceback instead of Textual's, which shows local variables: log text, and keys in it."""
        error = self._exception
        self.crash = getattr(error, "error", error)
        self._close_messages_no_wait()

    # -- themes ------------------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        # Textual asks every theme of terminal colours for this one, and gives it to its own only.
        return {"ansi-background": "transparent", **DEFAULT_VARIABLES}

    def use_look(self, look: Theme) -> None:
        """Change the colours of everything."""
        self.look = look
        textual = look.textual()
        self.register_theme(textual)
        self.theme = textual.name
        for screen in self.screen_stack:
            for lines in screen.query(Lines):
                lines.refresh()
            if isinstance(screen, MainScreen | SubScreen):
                screen.fill()

    def action_next_theme(self) -> None:
        self.use_look(self.looks.after(self.look.name))
        names = list(self.looks.all())
        self.terminal.say(f"theme {self.look.name}, {names.index(self.look.name) + 1} of {len(names)}")

    # -- screens, commands -------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        allowed = self.navigation.allows(action)
        return super().check_action(action, parameters) if allowed is None else allowed

    def action_runs(self) -> None:
        self.navigation.open_list()

    def action_run(self, by: int) -> None:
        self.navigation.turn(by)

    def action_log(self) -> None:
        self.navigation.open_log()

    def action_help(self) -> None:
        self.navigation.open_help()

    def action_themes(self) -> None:
        self.navigation.open_themes()

    def action_mouse(self) -> None:
        self.terminal.toggle_mouse()

    def action_command_palette(self) -> None:
        from miles_tui.ui.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every action that works here, once; each is done where its key is bound, as the key would."""
        known = {(b.action, node): (node, b, told) for node, b, on, told in screen.active_bindings.values() if on}
        for node, binding, tooltip in known.values():
            if binding.description and tooltip:
                yield SystemCommand(binding.description, tooltip, partial(self.run_action, binding.action, node))


class RunsHost:
    """The `RunSetHost` of an app: what its runs tell goes to whom it concerns."""

    def __init__(self, app: MilesApp) -> None:
        self._app = app

    def start(self, task: Coroutine[Any, Any, None], name: str) -> None:
        self._app.run_worker(task, name=name)

    def changed(self) -> None:
        self._app.post_message(Grew())

    def listed_anew(self, *, sort: bool = False) -> None:
        self._app.navigation.listed_anew(sort=sort)

    def heard(self, session: Session, now: float) -> None:
        self._app.terminal.noticing.heard(session, now)

    def ended(self, session: Session) -> None:
        self._app.terminal.noticing.forget(session)

    def is_seen(self, session: Session) -> bool:
        return self._app.navigation.is_seen(session)

    def failed(self, error: MilesTuiError) -> None:
        self._app.crash = error  # said in a line by the command line
        self._app.exit(return_code=error.exit_status)


def run(app: MilesApp, *, mouse: bool = True) -> int:
    """Run the dashboard; the exit status. A crash of ours is a traceback on standard error, once the screen is back."""
    app.run(mouse=mouse)
    app.terminal.noticing.leave()
    with suppress(OSError):
        os.write(2, app.terminal.noticing.herald.restore().encode())
    if app.setup.remember and (said := keep({"theme": app.look.name, "signal": app.selected})):
        complain(said)
    if isinstance(app.crash, MilesTuiError):
        raise app.crash
    if app.crash is not None:
        for line in "".join(traceback.format_exception(app.crash)).splitlines():
            print(harmless(line), file=sys.stderr)  # the exception's words may be the log's
    return app.return_code or 0


def run_dashboard(logs: Sequence[Log], setup: Setup, more: Callable[[], Sequence[Log]] | None = None) -> int:
    """Follow logs until the person quits; the exit status. Several open as a list; `more` finds those of later.

    Raises UsageError where there is no terminal, UnreadableLog where a rotation can't be read.
    """
    with own_terminal() as stdin:
        app = MilesApp(*_feeds(logs, setup, stdin), setup=setup, listed=len(logs) > 1)
        if more is not None:
            app.runs.more = lambda: _feeds(more(), setup, stdin)
        return run(app, mouse=setup.mouse)


def _feeds(logs: Sequence[Log], setup: Setup, stdin: int) -> list[Feed]:
    return [
        LiveFeed(str(log.path), name, log.before, setup.polling, stdin, start=log.start, launch=log.launch)
        for log, name in zip(logs, _names(logs), strict=True)
    ]


def run_replay(log: Log | Path, speed: float, setup: Setup, *, title: str = "") -> int:
    """Play a finished log at `speed` rollouts a second; the exit status."""
    with own_terminal() as stdin:
        feed = ReplayFeed(log, title or ("standard input" if str(log) == "-" else Path(log).name), speed, stdin)
        return run(MilesApp(feed, setup=setup), mouse=setup.mouse)


def _names(logs: Sequence[Log]) -> list[str]:
    names = [log.path.name for log in logs] if len(logs) == 1 else names_of([str(log.path) for log in logs])
    paths = [str(log.path) for log in logs]
    return ["standard input" if path == "-" else harmless_name(name) for path, name in zip(paths, names, strict=True)]
