"""Which run and which screen is shown: the list of runs, their order, the way from one to another and to the log."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.app import App
from textual.screen import Screen

from miles_tui.present.run_table import RunRow, run_row
from miles_tui.runs.dormant_runs import UNREADABLE
from miles_tui.runs.session import Session
from miles_tui.runs.sources import Feed
from miles_tui.ui.host import Host
from miles_tui.ui.messages import Grew
from miles_tui.ui.screens.base import OurScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.runs import RunsScreen
from miles_tui.ui.screens.sub import SubScreen


def our_time() -> tuple[float, int]:
    """Seconds since 1970, and our zone's seconds from UTC."""
    now = time.time()
    return now, time.localtime(now).tm_gmtoff


class Navigation:
    """The screens of an app. `listed`: the list of runs is the first one, and Esc leads back to it.

    Screens are opened on `app`; what they may ask for is `host`.
    """

    def __init__(self, app: App[None], host: Host, *, listed: bool) -> None:
        self._app, self._host, self._runs = app, host, host.runs
        self.listed = listed
        self._order: list[Feed] = []  # of the list
        self._read_once: set[str] = set()  # names of the runs whose past was read
        self._anew = False  # the rows of those beyond changed

    # -- the list --------------------------------------------------------------------------------

    def first_screen(self) -> Screen[None]:
        """The list where there is one, else the run."""
        return RunsScreen(self._host) if self.listed else MainScreen(self._host, self._runs.session)

    def run_rows(self) -> list[RunRow]:
        """The rows of all runs, in the order of `RunSet.all_feeds`."""
        runs = self._runs
        rows = {id(feed): self._row(session) for feed, session in zip(runs.feeds, runs.sessions, strict=True)}
        rows |= {id(listed.feed): listed.row for listed in runs.beyond}
        return [rows[id(feed)] for feed in runs.all_feeds]

    def listed_anew(self, *, sort: bool = False) -> None:
        """The rows of those beyond changed; `sort`: runs came."""
        screen = self._app.screen
        if sort and isinstance(screen, RunsScreen):
            screen.sort()
        self._anew = True
        self._app.post_message(Grew())

    def _row(self, session: Session) -> RunRow:
        status = session.status
        if status.caught_up:
            self._read_once.add(session.name)
        # Much noise at once is caught up with again and again: no news, and it would move the columns.
        reading = status.percent is not None and session.name not in self._read_once
        note = f"reading {status.percent} %" if reading else ""
        if status.trouble:
            note = UNREADABLE if status.unreadable else "missing"
        return run_row(session.name, session.snapshot, note=note)

    def newest_first(self) -> list[Feed]:
        """All runs, the one that was written to last first: from now on the order of `[` and `]`, too."""
        self._order = sorted(self._runs.all_feeds, key=lambda feed: feed.age())
        return self._order

    @property
    def in_order(self) -> list[Feed]:
        """All runs as the list has them; without a list, as they were given or found."""
        feeds = self._runs.all_feeds
        return [*self._order, *(feed for feed in feeds if not any(feed is known for known in self._order))]

    @property
    def all_read(self) -> bool:
        """Whether every run was read as far as there is something of it."""
        sessions = self._runs.sessions
        self._read_once |= {s.name for s in sessions if s.status.caught_up}
        followed = all(s.status.trouble or s.name in self._read_once for s in sessions)
        return followed and not any(listed.unread for listed in self._runs.beyond)

    def today_of(self, session: Session) -> float | None:
        """A time of today in the clock of a run's log; of a replay its newest record's."""
        if not session.live:
            return session.snapshot.last
        now, zone = our_time()
        return now + (zone if session.zone.offset is None else session.zone.offset)

    def elsewhere(self) -> list[str]:
        """What the runs that are not on the screen want to be known: `other.log: 1 alert`."""
        runs = self._runs
        near = [f"{s.name}: {s.snapshot.verdict}" for s in runs.sessions if s is not runs.session and s.news]
        return near + [f"{listed.feed.name}: {listed.row.verdict}" for listed in runs.beyond if listed.news]

    # -- from run to run -------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """Which of all runs is on the screen, in the order of `[` and `]`: ` (2 of 12)`; nothing where it is alone."""
        count = len(self._runs.all_feeds)
        return f" ({self._at() + 1} of {count})" if count > 1 else ""

    def _at(self) -> int:
        return next(i for i, feed in enumerate(self.in_order) if feed is self._runs.feeds[self._runs.shown])

    def open_run(self, number: int) -> None:
        """Put a run on the screen."""
        self._runs.turn_to(number)
        self._attend(opened=True)
        self._app.push_screen(MainScreen(self._host, self._runs.session))
        self._app.post_message(Grew())

    def open_list(self) -> None:
        """Back to the list."""
        if isinstance(self._app.screen, MainScreen):
            self._app.pop_screen()
            self._attend(opened=False)

    def turn(self, by: int) -> None:
        """Another run on the screen; the one before is followed on."""
        order, runs = self.in_order, self._runs
        runs.turn_to(runs.number_of(order[(self._at() + by) % len(order)]))
        runs.attend()
        for screen in self._app.screen_stack:  # a chart, and what it was opened from
            if isinstance(screen, MainScreen | SubScreen):
                screen.turn_to(runs.session)
        self._app.post_message(Grew())

    def _attend(self, *, opened: bool) -> None:
        self._runs.opened = opened
        self._runs.attend()

    def allows(self, action: str) -> bool | None:
        """Another run can be shown where there is one, the list where it is; None: no action of these."""
        if action == "run":
            return len(self._runs.all_feeds) > 1
        if action == "runs":
            return self.listed and isinstance(self._app.screen, MainScreen)
        return None

    def is_seen(self, session: Session) -> bool:
        """Whether a screen is about that run, be it below others."""
        return any(isinstance(screen, OurScreen) and screen.session is session for screen in self._app.screen_stack)

    def grew(self) -> None:
        """Show what changed in the runs."""
        changes = [session.changed() for session in self._runs.sessions]
        screen, shown = self._app.screen, self._runs.shown
        change = changes[shown]
        anew, self._anew = self._anew, False
        if isinstance(screen, RunsScreen):
            if anew or any(changes):
                screen.grew(change)
            return
        change.header |= anew or any(other.alerts for i, other in enumerate(changes) if i != shown)
        if change and isinstance(screen, MainScreen | SubScreen) and screen.is_mounted:
            screen.grew(change)  # those below take all anew when they are seen again

    # -- screens upon screens --------------------------------------------------------------------

    def show(self, kind: type[Screen[None]], make: Callable[[], Screen[None]]) -> None:
        """Open a screen, by a key that works everywhere: one that lies below others comes to the front.

        On the screen itself the key closes it.
        """
        app = self._app
        if type(app.screen) is kind:
            app.pop_screen()
            return
        if isinstance(app.screen, OurScreen) and app.screen.passing:
            app.pop_screen()
        above = next((i for i, screen in enumerate(reversed(app.screen_stack)) if type(screen) is kind), None)
        for _ in range(above or 0):
            app.pop_screen()
        if above is None:
            app.push_screen(make())

    def open_chart(self, name: str) -> None:
        """Open a signal as a chart."""
        from miles_tui.ui.screens.chart import ChartScreen  # plotext comes with it: 60 ms

        self._app.push_screen(ChartScreen(self._host, self._runs.session, name))

    def open_conditions(self, condition: str | None) -> None:
        """Open the list of conditions."""
        from miles_tui.ui.screens.conditions import ConditionsScreen

        self._app.push_screen(ConditionsScreen(self._host, self._runs.session, condition))

    def open_help(self) -> None:
        """The keys that work on the screen in front."""
        from miles_tui.ui.screens.help import HelpScreen

        self.show(HelpScreen, lambda: HelpScreen(self._host, self._runs.session, self._app.screen))

    def open_themes(self) -> None:
        """The list of themes."""
        from miles_tui.ui.screens.themes import ThemeScreen

        self.show(ThemeScreen, lambda: ThemeScreen(self._host, self._runs.session))

    def open_log(self) -> None:
        """The newest lines of the log."""
        from miles_tui.ui.screens.log import LogScreen

        screen = self._app.screen
        if isinstance(screen, RunsScreen) and self._runs.session_of(screen.chosen) is None:
            screen.say("Enter opens this run: its log is read then")
        else:
            self.show(LogScreen, lambda: LogScreen(self._host, self._looked_at()))

    def open_place(self, rollout: int, time: float | None = None) -> None:
        """The lines of the log around a rollout's record; `time` is the log's clock."""
        from miles_tui.ui.screens.log import PlaceScreen

        session = self._looked_at()
        self._app.push_screen(PlaceScreen(self._host, session, self._runs.feed_of(session).parts, rollout, time))

    def _looked_at(self) -> Session:
        """The run that the screen is about: in the list the chosen one."""
        screen = self._app.screen
        return screen.session if isinstance(screen, MainScreen | SubScreen) else self._runs.session
