"""Several runs under one app: which is on the screen, the list of them; and the way to the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from textual.screen import Screen

from miles_tui.present.run_table import RunRow, run_row
from miles_tui.runs.dormant_runs import UNREADABLE
from miles_tui.runs.run_options import Setup
from miles_tui.runs.session import Session
from miles_tui.runs.sources import Feed, ReplayFeed
from miles_tui.ui.following import Following
from miles_tui.ui.messages import Grew
from miles_tui.ui.screens.base import OurScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.runs import RunsScreen
from miles_tui.ui.screens.sub import SubScreen

NEW_LOGS_SECONDS = 60.0  # between two looks for new logs, while the list is on the screen


def our_time() -> tuple[float, int]:
    """Seconds since 1970, and our zone's seconds from UTC."""
    now = time.time()
    return now, time.localtime(now).tm_gmtoff


class SeveralRuns(Following):
    """The runs of an app. `listed`: the list of runs is the first screen, and Esc leads back to it."""

    look_seconds = NEW_LOGS_SECONDS
    glyphs: str  # which ones the terminal can show

    def __init__(self, feeds: Sequence[Feed], setup: Setup, *, listed: bool) -> None:
        super().__init__(feeds, setup, listed=listed)
        self._order: list[Feed] = []  # of the list
        self._read_once: set[str] = set()  # names of the runs whose past was read
        self._anew = False  # the rows of those beyond changed

    # -- the list --------------------------------------------------------------------------------

    def first_screen(self, main: Callable[[], MainScreen]) -> Screen[None]:
        """The list where there is one, else the run."""
        return RunsScreen(self) if self.listed else main()

    def run_rows(self) -> list[RunRow]:
        """The rows of all runs, in the order of `all_feeds`."""
        rows = {id(feed): self._row(session) for feed, session in zip(self.feeds, self.sessions, strict=True)}
        rows |= {id(listed.feed): listed.row for listed in self.beyond}
        return [rows[id(feed)] for feed in self.all_feeds]

    def listed_anew(self, *, sort: bool = False) -> None:
        """The rows of those beyond changed."""
        if sort and isinstance(self.screen, RunsScreen):
            self.screen.sort()
        self._anew = True
        self.post_message(Grew())

    def _row(self, session: Session) -> RunRow:
        status = session.status
        if status.caught_up:
            self._read_once.add(session.name)
        # Much noise at once is caught up with again and again: no news, and it would move the columns.
        reading = status.percent is not None and session.name not in self._read_once
        note = f"reading {status.percent} %" if reading else ""
        if status.trouble:
            note = UNREADABLE if status.unreadable else "missing"
        return run_row(session.name, session.run, note=note)

    def newest_first(self) -> list[Feed]:
        """All runs, the one that was written to last first: from now on the order of `[` and `]`, too."""
        self._order = sorted(self.all_feeds, key=lambda feed: feed.age())
        return self._order

    @property
    def in_order(self) -> list[Feed]:
        """All runs as the list has them; without a list, as they were given or found."""
        return [*self._order, *(feed for feed in self.all_feeds if not any(feed is known for known in self._order))]

    @property
    def all_read(self) -> bool:
        """Whether every run was read as far as there is something of it."""
        self._read_once |= {s.name for s in self.sessions if s.status.caught_up}
        followed = all(s.status.trouble or s.name in self._read_once for s in self.sessions)
        return followed and not any(listed.unread for listed in self.beyond)

    def today_of(self, session: Session) -> float | None:
        """A time of today in the clock of a run's log; of a replay its newest record's."""
        if not session.live:
            return session.run.pace.last
        now, zone = our_time()
        return now + (zone if session.zone.offset is None else session.zone.offset)

    @property
    def place(self) -> str:
        """Which of all runs is on the screen, in the order of `[` and `]`: ` (2 of 12)`; nothing where it is alone."""
        count = len(self.all_feeds)
        return f" ({self._at() + 1} of {count})" if count > 1 else ""

    def _at(self) -> int:
        return next(i for i, feed in enumerate(self.in_order) if feed is self.feeds[self.shown])

    def _turn_to(self, number: int) -> None:
        """Another run is shown; one that was only listed is followed from now on."""
        listed = next((one for one in self.beyond if one.feed is self.all_feeds[number]), None)
        if listed is not None:
            self.shown = len(self.sessions)  # which it will be
            self._take_up(listed)
        else:
            self.shown = next(i for i, feed in enumerate(self.feeds) if feed is self.all_feeds[number])

    def open_run(self, number: int) -> None:
        """Put a run on the screen."""
        self._turn_to(number)
        self.opened = True
        self.attend()
        self.push_screen(MainScreen(self.session, self.glyphs))
        self.post_message(Grew())

    def action_runs(self) -> None:
        """Back to the list."""
        if isinstance(self.screen, MainScreen):
            self.pop_screen()
            self.opened = False
            self.attend()

    def action_run(self, by: int) -> None:
        """Another run on the screen; the one before is followed on."""
        order = self.in_order
        self._turn_to(self.number_of(order[(self._at() + by) % len(order)]))
        self.attend()
        for screen in self.screen_stack:  # a chart, and what it was opened from
            if isinstance(screen, MainScreen | SubScreen):
                screen.turn_to(self.session)
        self.post_message(Grew())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Another run can be shown where there is one, the list where it is."""
        if action == "run":
            return len(self.all_feeds) > 1
        if action == "runs":
            return self.listed and isinstance(self.screen, MainScreen)
        return super().check_action(action, parameters)

    def elsewhere(self) -> list[str]:
        """What the runs that are not on the screen want to be known: `other.log: 1 alert`."""
        near = [f"{s.name}: {s.run.verdict()}" for s in self.sessions if s is not self.session and s.news]
        return near + [f"{listed.feed.name}: {listed.row.verdict}" for listed in self.beyond if listed.news]

    def on_grew(self) -> None:
        changes = [session.changed() for session in self.sessions]
        change = changes[self.shown]
        anew, self._anew = self._anew, False
        if isinstance(self.screen, RunsScreen):
            if anew or any(changes):
                self.screen.grew(change)
            return
        change.header |= anew or any(other.alerts for i, other in enumerate(changes) if i != self.shown)
        if change and isinstance(self.screen, MainScreen | SubScreen) and self.screen.is_mounted:
            self.screen.grew(change)  # those below take all anew when they are seen again

    def show_screen(self, kind: type[Screen[None]], make: Callable[[], Screen[None]]) -> None:
        """Open a screen, by a key that works everywhere: one that lies below others comes to the front.

        On the screen itself the key closes it.
        """
        if type(self.screen) is kind:
            self.pop_screen()
            return
        if isinstance(self.screen, OurScreen) and self.screen.passing:
            self.pop_screen()
        above = next((i for i, screen in enumerate(reversed(self.screen_stack)) if type(screen) is kind), None)
        for _ in range(above or 0):
            self.pop_screen()
        if above is None:
            self.push_screen(make())

    def hold(self, session: Session, held: bool) -> None:
        """Stop the playing of a run, or let it go on; a log that grows is read on."""
        feed = self.feeds[self.sessions.index(session)]
        if isinstance(feed, ReplayFeed):
            feed.hold(held)

    # -- the log ---------------------------------------------------------------------------------

    def action_log(self) -> None:
        """The newest lines of the log."""
        from miles_tui.ui.screens.log import LogScreen

        if isinstance(self.screen, RunsScreen) and self.session_of(self.screen.chosen) is None:
            self.screen.say("Enter opens this run: its log is read then")
        else:
            self.show_screen(LogScreen, lambda: LogScreen(self._looked_at()))

    def open_place(self, rollout: int, time: float | None = None) -> None:
        """The lines of the log around a rollout's record; `time` is the log's clock."""
        from miles_tui.ui.screens.log import PlaceScreen

        session = self._looked_at()
        parts = self.feeds[self.sessions.index(session)].parts
        self.push_screen(PlaceScreen(session, parts, rollout, time))

    def _looked_at(self) -> Session:
        """The run that the screen is about: in the list the chosen one."""
        return self.screen.session if isinstance(self.screen, MainScreen | SubScreen) else self.session
