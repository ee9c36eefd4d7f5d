"""Which runs are followed, and the reading of them. It knows no screen: `RunSetHost` is whom it tells.

feed task: batches -> `Session.take` -> `RunSetHost.changed` -> whoever shows runs asks `Session.changed` of each

`MOST_RUNS` logs are followed to begin with. Those beyond are looked at once a minute and judged all the same: one that
is alive or is opened is followed from then on while there is room, and takes the place of one that is over or long
silent. Only the run on the screen is followed by events: a silent one costs a look at its file every two seconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from miles_tui.core.model.chunks import Items
from miles_tui.errors import MilesTuiError
from miles_tui.present.run_table import RunRow
from miles_tui.runs.aside import aside
from miles_tui.runs.dormant_runs import YIELD, Listed, Rounds, files_mark, known_of, looks, may_go
from miles_tui.runs.run_options import Setup
from miles_tui.runs.session import Session
from miles_tui.runs.sources import Feed, LiveFeed, ReplayFeed

MOST_RUNS = 8  # logs that are followed to begin with: each has a thread of its own, and keeps 2 MiB of its end
MOST_ALIVE = 32  # that grow at once
ROUND_SECONDS = 45.0  # in which each log beyond is looked at: one that has to wait is looked at within a minute still
STEP_SECONDS = 1.0  # between two looks at some of them
TELL_SECONDS = 0.5  # between two paints of the list while logs are read for the first time
FULL_SECONDS = 10.0  # between two looks for one of `MOST_ALIVE` that can do without its place: 1 ms
CATCH_UP_SECONDS = 0.5  # between two paints while a long log is read
HANG_SECONDS = 2.0  # a look at a log that takes so long hangs; between two checks of that: 5 us a log


class RunSetHost(Protocol):
    """The program around a set of runs."""

    def start(self, task: Coroutine[Any, Any, None], name: str) -> None:
        """Run this beside all else, until it is through or the program ends."""
        ...

    def changed(self) -> None:
        """Some run said something; what waits in the sessions, merged."""
        ...

    def listed_anew(self, *, sort: bool = False) -> None:
        """The rows of those beyond changed; `sort`: runs came."""
        ...

    def heard(self, session: Session, now: float) -> None:
        """A session took a batch, or time went by: tell what is news. `now` is a monotonic clock in seconds."""
        ...

    def ended(self, session: Session) -> None:
        """A session is followed no more."""
        ...

    def is_seen(self, session: Session) -> bool:
        """Whether somebody looks at a run, or comes back to it."""
        ...

    def failed(self, error: MilesTuiError) -> None:
        """A log can't be read on, a rotation for one: the program can't do what it was asked."""
        ...


class RunSet:
    """The runs of a program: `sessions` of those that are followed, beside their `feeds`; `beyond` are the others.

    A run is known by its feed; `all_feeds` keeps the order in which they were given or found.
    """

    def __init__(self, feeds: Sequence[Feed], setup: Setup, host: RunSetHost, *, opened: bool = True) -> None:
        self.more: Callable[[], Sequence[Feed]] | None = None  # all logs of now, to find those that are new
        self.setup = setup
        self._host = host
        self.all_feeds = list(feeds)
        self.feeds = list(feeds[:MOST_RUNS])
        self._stops: dict[int, asyncio.Event] = {}  # by the id of a session: ends its reading
        self.sessions = [self._session(feed) for feed in self.feeds]
        self.beyond = [Listed(feed, RunRow(feed.name, followed=False)) for feed in feeds[MOST_RUNS:]]
        self._looking = False  # at those beyond
        self._rounds = Rounds(ROUND_SECONDS)
        self._full_until = 0.0  # by the monotonic clock: no place is free before
        self.shown = 0  # which of the sessions is on the screen
        self.opened = opened  # is that run on the screen, or the list?
        self.attend()

    def _session(self, feed: Feed, listed: Listed | None = None) -> Session:
        known = listed.told if listed is not None else None
        session = Session(feed.name, self.setup.monitor(), live=feed.live, known=known)
        self._stops[id(session)] = asyncio.Event()
        session.monitor.apply(Items(feed.launch if isinstance(feed, LiveFeed) else ()))
        return session

    @property
    def session(self) -> Session:
        """The run on the screen."""
        return self.sessions[self.shown]

    def heard(self, session: Session, now: float) -> None:
        """A session took a batch, or time went by."""
        self._host.heard(session, now)

    def ended(self, session: Session) -> None:
        """A session takes nothing more."""
        self._host.ended(session)

    def stop_all(self) -> None:
        """Read no log any more."""
        for stop in self._stops.values():
            stop.set()

    def begin_all(self) -> None:
        """Read and follow all that are to be followed, then read those that are only listed."""
        for feed, session in zip(self.feeds, self.sessions, strict=True):
            self._begin(feed, session)
        self.look_beyond()

    def attend(self) -> None:
        """Follow closely what is on the screen, and the others from afar."""
        alone = len(self.sessions) == 1
        for i, feed in enumerate(self.feeds):
            feed.attention.near = alone or (self.opened and i == self.shown)

    def number_of(self, feed: Feed) -> int:
        """The place of a run in `all_feeds`."""
        return next(i for i, other in enumerate(self.all_feeds) if other is feed)

    def session_of(self, number: int) -> Session | None:
        """The session of a run, if it is followed."""
        feed = self.all_feeds[number]
        return next((s for other, s in zip(self.feeds, self.sessions, strict=True) if other is feed), None)

    def feed_of(self, session: Session) -> Feed:
        """Where a session is read from."""
        return self.feeds[self.sessions.index(session)]

    def turn_to(self, number: int) -> None:
        """Another run is shown; one that was only listed is followed from now on."""
        listed = next((one for one in self.beyond if one.feed is self.all_feeds[number]), None)
        if listed is not None:
            self.shown = len(self.sessions)  # which it will be
            self._take_up(listed)
        else:
            self.shown = next(i for i, feed in enumerate(self.feeds) if feed is self.all_feeds[number])

    def hold(self, session: Session, held: bool) -> None:
        """Stop the playing of a run, or let it go on; a log that grows is read on."""
        feed = self.feed_of(session)
        if isinstance(feed, ReplayFeed):
            feed.hold(held)

    # -- reading ---------------------------------------------------------------------------------

    def _begin(self, feed: Feed, session: Session) -> None:
        self._host.start(self._read(feed, session), feed.name)

    async def _read(self, feed: Feed, session: Session) -> None:
        told, age = 0.0, feed.age()  # what was written long ago counts as heard then
        stop = self._stops.get(id(session)) or asyncio.Event()
        try:
            async with aclosing(feed.batches(stop)) as batches:
                async for batch in batches:
                    if stop.is_set():
                        return
                    now = time.monotonic()
                    changed = session.take(batch, now - age)
                    session.place_in_time(time.time(), time.localtime().tm_gmtoff, age)
                    if age and batch.caught_up:
                        age = 0.0
                        changed |= session.tick(now)
                    self.heard(session, now)
                    if changed and (batch.caught_up or now - told > CATCH_UP_SECONDS):
                        told = now
                        self._host.changed()
        except MilesTuiError as error:
            self._host.failed(error)

    def tick(self) -> None:
        """Time went by: which runs are silent, and what do those beyond say?"""
        now = time.monotonic()
        ticked = [s.tick(now) for f, s in zip(self.feeds, self.sessions, strict=True) if f.live]
        for session in self.sessions:
            self.heard(session, now)
        if any(ticked):
            self._host.changed()
        self.look_beyond()

    def listen(self) -> None:
        """Does a file system hang?"""
        now, clock, changed = time.monotonic(), time.time(), False
        for feed, session in zip(self.feeds, self.sessions, strict=True):
            began = feed.attention.began
            hangs = began is not None and now - began >= HANG_SECONDS
            if hangs or session.status.hangs:
                changed |= session.hear(clock, now - began if hangs and began is not None else None)
        if changed:
            self._host.changed()

    # -- who is followed -------------------------------------------------------------------------

    async def look_for_more(self) -> None:
        """Runs that were started since: all are listed, and followed where there is a place or when they grow."""
        if self.more is None:
            return
        try:
            found = await aside(self.more)
        except MilesTuiError:  # the folder is gone for the moment: its runs are listed on
            return
        known = {feed.parts[-1] for feed in self.all_feeds if feed.parts}
        new = [feed for feed in found if feed.parts and feed.parts[-1] not in known]
        for feed in new:
            feed.attention.near = False
            self.all_feeds.append(feed)
            if len(self.sessions) < MOST_RUNS:
                self._follow(feed)
            else:
                self.beyond.append(Listed(feed, RunRow(feed.name, followed=False)))
        self.look_beyond()
        if new:
            self._host.listed_anew(sort=True)

    def _follow(self, feed: Feed, listed: Listed | None = None) -> None:
        session = self._session(feed, listed)
        self.feeds.append(feed)
        self.sessions.append(session)
        self._begin(feed, session)

    def _take_up(self, listed: Listed) -> None:
        """Follow one that was only listed; others may give their places."""
        self.beyond.remove(listed)
        listed.gone, listed.feed.attention.near = True, False
        if listed.session is not None:
            self.ended(listed.session)
        self._follow(listed.feed, listed)
        while len(self.sessions) > MOST_RUNS and (silent := self._silent()) is not None:
            self._let_go(silent)

    def _silent(self) -> int | None:
        """The session that can do without being followed, the one that was written to longest ago; None: there is none.

        Nobody looks at it, and `may_go` says so.
        """
        ages = {
            i: feed.age()
            for i, (feed, session) in enumerate(zip(self.feeds, self.sessions, strict=True))
            if i != self.shown
            and not self._host.is_seen(session)
            and feed.live
            and feed.parts
            and session.status.caught_up
        }
        free = [i for i, age in ages.items() if may_go(self.sessions[i].snapshot, age)]
        return max(free, key=lambda i: ages[i], default=None)

    def _let_go(self, number: int) -> None:
        """Only list it from now on."""
        feed, session = self.feeds.pop(number), self.sessions.pop(number)
        self.shown -= number < self.shown
        self._stops.pop(id(session)).set()
        self.ended(session)
        listed = Listed(feed, RunRow(feed.name, followed=False), known_of(session, session.known))
        listed.take(session)
        self.beyond.append(listed)
        self._host.start(self._mark(listed), "mark")

    async def _mark(self, listed: Listed) -> None:
        listed.mark = await aside(files_mark, listed.path)

    def look_beyond(self) -> None:
        """Look at those that are not followed, for as long as there are some; those that are alive may be followed."""
        if self.beyond and not self._looking:
            self._looking = True
            self._host.start(self._look_beyond(), "beyond")

    async def _look_beyond(self) -> None:
        told, changed = 0.0, False
        try:
            while self.beyond:
                now = time.monotonic()
                unread = [listed for listed in self.beyond if listed.unread][:1]
                read = [listed for listed in self.beyond if not listed.unread]
                changed |= await self.look_at(self._rounds.due(read, now) + unread)
                if changed and (not unread or now - told >= TELL_SECONDS):
                    told, changed = now, False
                    self._host.listed_anew()
                await asyncio.sleep(0.0 if unread else STEP_SECONDS)
        finally:
            self._looking = False

    async def look_at(self, some: Sequence[Listed]) -> bool:
        """Judge what some of those beyond say now; whether a row changed. Who is alive is followed if there is room."""
        changed = False
        for listed, pieces in zip(some, await aside(looks, some) if some else (), strict=True):
            if listed.gone:
                continue
            listed.looked = time.monotonic()
            before = listed.row, listed.news
            await listed.judge(pieces, self)
            if pieces != []:
                await asyncio.sleep(YIELD)
            changed |= before != (listed.row, listed.news)
            if listed.alive and not listed.gone and self._has_room(listed.looked):
                self._take_up(listed)
        return changed

    def _has_room(self, now: float) -> bool:
        """Whether one more may be followed. Where all places are taken, who could give his is asked now and then."""
        if len(self.sessions) < MOST_ALIVE:
            return True
        if now < self._full_until:
            return False
        full = self._silent() is None
        self._full_until = now + FULL_SECONDS if full else 0.0
        return not full
