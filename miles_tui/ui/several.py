"""Several runs under one app: which are followed, which is on the screen, the list of them; and the way to the log.

The first `MOST_RUNS` logs are followed, those beyond it are read once, when the list stands on the screen, and
followed from when they are opened. Only the run on the screen is followed by events: a silent one costs a look
at its file every two seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.app import App
from textual.screen import Screen

from miles_tui.core.run import Change, RunState
from miles_tui.errors import MilesTuiError
from miles_tui.ingest.read import read_all
from miles_tui.ui.feeds import Feed, LiveFeed
from miles_tui.ui.messages import Grew
from miles_tui.ui.runs import UNREAD, WORST, RunRow, run_row, severity_of
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.runs import RunsScreen
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.session import Session
from miles_tui.ui.setup import Setup

LOOK_SECONDS = 60.0  # between two looks for new logs, while the list is on the screen
MOST_RUNS = 8  # logs that are followed at once: each has a thread of its own, and keeps 2 MiB of its end
YIELD = 0.005  # seconds between two chunks of a log that is only listed: keys and paints come first


@dataclass(slots=True)
class Listed:
    """A log that is not followed: what one reading of it gave."""

    feed: Feed
    row: RunRow


class SeveralRuns(App[None]):
    """The runs of an app. `listed`: the list of runs is the first screen, and Esc leads back to it."""

    look_seconds = LOOK_SECONDS
    glyphs: str  # which ones the terminal can show

    def __init__(self, feeds: Sequence[Feed], setup: Setup, *, listed: bool) -> None:
        super().__init__()
        self.more: Callable[[], Sequence[Feed]] | None = None  # all logs of now, to find those that are new
        self.setup = setup
        self.listed = listed
        self.feeds = list(feeds[:MOST_RUNS])
        self.sessions = [self._session(feed) for feed in self.feeds]
        self.beyond = [Listed(feed, RunRow(feed.name, followed=False)) for feed in feeds[MOST_RUNS:]]
        self._read_once: set[str] = set()  # names of the runs whose past was read
        self.shown = 0  # which of the sessions is on the screen
        self.opened = not listed  # is a run on the screen, or the list?
        self.attend()

    def _session(self, feed: Feed) -> Session:
        pause = self.setup.profile.pause_pattern if self.setup.profile is not None else None
        session = Session(feed.name, self.setup.run(), pause=pause, live=feed.live)
        session.run.feed(feed.launch if isinstance(feed, LiveFeed) else ())
        return session

    @property
    def session(self) -> Session:
        """The run on the screen."""
        return self.sessions[self.shown]

    def begin(self, feed: Feed, session: Session) -> None:
        """Read and follow."""
        raise NotImplementedError

    def begin_all(self) -> None:
        """Read and follow all that are to be followed, then read those that are only listed."""
        for feed, session in zip(self.feeds, self.sessions, strict=True):
            self.begin(feed, session)
        if self.beyond:
            self.run_worker(self._read_beyond(), name="beyond")

    def attend(self) -> None:
        """Follow closely what is on the screen, and the others from afar."""
        alone = len(self.sessions) == 1
        for i, feed in enumerate(self.feeds):
            feed.attention.near = alone or (self.opened and i == self.shown)

    # -- the list --------------------------------------------------------------------------------

    def first_screen(self, main: Callable[[], MainScreen]) -> Screen[None]:
        """The list where there is one, else the run."""
        return RunsScreen(self) if self.listed else main()

    def run_rows(self) -> list[RunRow]:
        """The rows of all runs: those that are followed, then the others."""
        return [*map(self._row, self.sessions), *(listed.row for listed in self.beyond)]

    def _row(self, session: Session) -> RunRow:
        status = session.status
        if status.caught_up:
            self._read_once.add(session.name)
        # Much noise at once is caught up with again and again: no news, and it would move the columns.
        reading = status.percent is not None and session.name not in self._read_once
        note = f"reading {status.percent} %" if reading else ""
        if status.missing:
            note = "missing"
        return run_row(session.name, session.run, note=note)

    @property
    def all_feeds(self) -> list[Feed]:
        """The feeds of all runs, in the order of `run_rows`."""
        return [*self.feeds, *(listed.feed for listed in self.beyond)]

    async def look_for_more(self) -> None:
        """Runs that were started since: the first ones are followed, all are listed."""
        if self.more is None:
            return
        try:
            found = await asyncio.to_thread(self.more)
        except MilesTuiError:  # the folder is gone for the moment: its runs are listed on
            return
        known = {feed.parts[-1] for feed in self.all_feeds if feed.parts}
        new = [feed for feed in found if feed.parts and feed.parts[-1] not in known]
        for feed in new[: max(0, 2 * MOST_RUNS - len(self.sessions))]:
            feed.attention.near = False
            self._follow(feed)
        if new and isinstance(self.screen, RunsScreen):
            self.screen.sort()
            self.screen.grew(Change())

    def _follow(self, feed: Feed) -> None:
        session = self._session(feed)
        self.feeds.append(feed)
        self.sessions.append(session)
        self.begin(feed, session)

    def worst_first(self) -> list[int]:
        """The numbers of the runs: critical, with a warning, others; in each the one that was written to last first."""
        rows, ages = self.run_rows(), [feed.age() for feed in self.all_feeds]
        return sorted(range(len(ages)), key=lambda i: (WORST.index(severity_of(rows[i])), ages[i]))

    @property
    def all_read(self) -> bool:
        """Whether every run was read as far as there is something of it."""
        followed = all(s.status.missing or s.name in self._read_once for s in self.sessions)
        return followed and all(listed.row.verdict != UNREAD for listed in self.beyond)

    def session_of(self, number: int) -> Session | None:
        """The session of a run, if it is followed."""
        return self.sessions[number] if number < len(self.sessions) else None

    @property
    def place(self) -> str:
        """Which of all runs is on the screen, in the order of `[` and `]`: ` (2 of 12)`; nothing where it is alone."""
        count = len(self.sessions) + len(self.beyond)
        return f" ({self.shown + 1} of {count})" if count > 1 else ""

    def _turn_to(self, number: int) -> None:
        """Another run is shown; one that was only listed is followed from now on."""
        if number >= len(self.sessions):
            listed = self.beyond.pop(number - len(self.sessions))
            self._follow(listed.feed)
            number = len(self.sessions) - 1
        self.shown = number

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
        self._turn_to((self.shown + by) % (len(self.sessions) + len(self.beyond)))
        self.attend()
        if isinstance(self.screen, MainScreen):
            self.screen.turn_to(self.session)
        self.post_message(Grew())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Another run can be shown where there is one, the list where it is."""
        if action == "run":
            return len(self.sessions) + len(self.beyond) > 1
        if action == "runs":
            return self.listed and isinstance(self.screen, MainScreen)
        return super().check_action(action, parameters)

    def elsewhere(self) -> list[str]:
        """What the runs that are not on the screen want to be known: `other.log: 1 alert`."""
        return [f"{s.name}: {s.run.verdict()}" for s in self.sessions if s is not self.session and s.news]

    def on_grew(self) -> None:
        changes = [session.changed() for session in self.sessions]
        change = changes[self.shown]
        if isinstance(self.screen, RunsScreen):
            if any(changes):
                self.screen.grew(change)
            return
        change.header |= any(other.alerts for i, other in enumerate(changes) if i != self.shown)
        if change and isinstance(self.screen, MainScreen | SubScreen):
            self.screen.grew(change)  # those below take all anew when they are seen again

    async def _read_beyond(self) -> None:
        """Read the logs that are only listed, one after the other."""
        for listed in tuple(self.beyond):
            try:
                run = await asyncio.to_thread(self._glance, listed.feed)
            except MilesTuiError as error:
                listed.row = RunRow(listed.feed.name, verdict="unreadable", followed=False)
                self.log.error(str(error))
            else:
                listed.row = run_row(listed.feed.name, run, followed=False)
            if isinstance(self.screen, RunsScreen):
                self.screen.grew(self.session.changed())

    def _glance(self, feed: Feed) -> RunState:
        """One reading of a log, as long as it is now."""
        from miles_tui.core.reader import Reader  # after the first paint, as in `Session`

        run, reader = self.setup.run(), Reader()
        run.keep_metrics = False
        for part in feed.parts:
            for chunk in read_all(part):
                run.feed(reader.feed(chunk))
                time.sleep(YIELD)  # a thread of Python: the loop's keys would wait for it
            run.feed(reader.cut())
        run.feed(reader.finish())
        run.finish()
        return run

    # -- the log ---------------------------------------------------------------------------------

    def action_log(self) -> None:
        """The newest lines of the log."""
        from miles_tui.ui.screens.log import LogScreen, PlaceScreen

        if isinstance(self.screen, RunsScreen) and self.session_of(self.screen.chosen) is None:
            self.screen.say("Enter opens this run: its log is read then")
        elif not isinstance(self.screen, LogScreen) or isinstance(self.screen, PlaceScreen):
            self.push_screen(LogScreen(self._looked_at()))

    def open_place(self, rollout: int, time: float | None = None) -> None:
        """The lines of the log around a rollout's record; `time` is the log's clock."""
        from miles_tui.ui.screens.log import PlaceScreen

        session = self._looked_at()
        parts = self.feeds[self.sessions.index(session)].parts
        self.push_screen(PlaceScreen(session, parts, rollout, time))

    def _looked_at(self) -> Session:
        """The run that the screen is about: in the list the chosen one."""
        return self.screen.session if isinstance(self.screen, MainScreen | SubScreen) else self.session
