"""The logs of a list that are not followed: each is judged by its newest rollouts, then looked at once a minute.

A look at a log that has not grown is a stat. The new bytes of one that has are judged by what is kept of it: 0.3 MB, of
which nothing is kept once it is over, or silent for long.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from miles_tui.core.model.chunks import Items, Piece
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.errors import MilesTuiError
from miles_tui.present.run_table import UNREAD, RunRow, run_row
from miles_tui.present.status_line import status_line
from miles_tui.runs.alert_news import Known
from miles_tui.runs.aside import aside
from miles_tui.runs.session import Session
from miles_tui.runs.sources import Feed, LiveFeed

if TYPE_CHECKING:
    from miles_tui.ingest.follow.glance import Glance, Mark
    from miles_tui.runs.run_options import Setup

UNREADABLE, MISSING = "unreadable", "missing"
SILENT_SECONDS = 3600.0
OVER_QUIET_SECONDS = 60.0  # the same for a run that is over: engines print on for a while
OVER = ("crashed", "stalled")
YIELD = 0.005  # seconds between two pieces, and between two logs: keys wait for one at most
HISTORY = 64  # values of a signal that are kept: the list shows a mean
MOST_OWED = 4.0  # seconds


class Owner(Protocol):
    """Whose logs these are."""

    @property
    def setup(self) -> Setup: ...

    def heard(self, session: Session, now: float) -> None:
        """A session took a batch, or time went by: tell what is news. `now` is a monotonic clock in seconds."""
        ...

    def ended(self, session: Session) -> None:
        """A session takes nothing more."""
        ...


class Rounds:
    """Whose turn it is, so that each of many is looked at once in `seconds`, evenly: no moment has more than others.

    What a slow disk held up is made up for `MOST_OWED` seconds' worth at once.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._owed = 0.0
        self._at: float | None = None

    def due(self, runs: Sequence[Listed], now: float) -> list[Listed]:
        """Those whose turn it is at `now`, the one that was looked at longest ago first."""
        passed = 0.0 if self._at is None else min(now - self._at, MOST_OWED)
        self._at = now
        self._owed = min(self._owed + len(runs) * passed / self._seconds, len(runs))
        count = int(self._owed)
        self._owed -= count
        return heapq.nsmallest(count, runs, key=lambda listed: listed.looked)


@dataclass(slots=True, eq=False)
class Listed:
    """A log that is not followed: its row, and what judges it on while it is alive."""

    feed: Feed
    row: RunRow
    known: Known | None = None  # of an earlier reading, until `session` has caught up
    mark: Mark = ()  # of its file as it was read, where there is no `session`
    session: Session | None = None
    news: int = 0  # how bad it is, as `Session.news_rank`
    line: str = ""  # its state in a line
    looked: float = float("-inf")  # when, by the monotonic clock
    gone: bool = False  # it is followed by now
    glance: Glance | None = None
    path: Path | None = field(init=False)  # of the file that is written to

    def __post_init__(self) -> None:
        self.path = next(reversed(self.feed.parts), None)

    @property
    def unread(self) -> bool:
        """Whether it is still to be read."""
        return self.row.verdict == UNREAD

    @property
    def alive(self) -> bool:
        """Whether it may say more soon."""
        return self.session is not None and not self.session.status.missing

    @property
    def told(self) -> Known | None:
        """What is known of its alerts, for a reading from now on."""
        session = self.session
        return known_of(session, self.known) if session is not None and session.watched else self.known

    def look(self) -> list[Piece] | None:
        """Its new bytes, or the first of them; None where it is to be read from its newest rollouts on. Blocks."""
        if self.session is not None and self.glance is not None:
            return self.glance.read()
        return None if self.unread or files_mark(self.path) != self.mark else []

    async def judge(self, pieces: list[Piece] | None, owner: Owner) -> None:
        """Judge what `look` gave, and what there is more. A log that can't be read has a row that says so."""
        try:
            if pieces is None:
                await self._begin(owner.setup)
                pieces = []
            if self.session is not None and self.glance is not None:
                await self._take(self.session, self.glance, pieces, owner)
        except (MilesTuiError, OSError):
            self.row = RunRow(self.feed.name, verdict=UNREADABLE, followed=False)
            self._forget(owner)
            self.mark = await aside(files_mark, self.path)

    async def _begin(self, setup: Setup) -> None:
        self.glance = await aside(_newest_rollouts, self.feed)
        monitor = setup.monitor(keep_metrics=False, history=max(HISTORY, 2 * setup.window))
        monitor.apply(Items(self.glance.log.launch))
        self.session = Session(self.feed.name, monitor, live=self.feed.live, keep_text=False, known=self.known)

    async def _take(self, session: Session, glance: Glance, pieces: list[Piece], owner: Owner) -> None:
        from miles_tui.ingest.follow.follower import Batch

        age = 0.0 if session.watched else self.feed.age()
        while not self.gone:
            now = time.monotonic()
            if not pieces and glance.caught_up and session.watched:
                break
            session.take(Batch(pieces, glance.caught_up, glance.position, glance.position, ""), now - age)
            if glance.caught_up:
                break
            owner.heard(session, now)
            await asyncio.sleep(YIELD)
            pieces = await aside(glance.read)
        if not self.gone:
            self._settle(session, glance, now, owner)

    def _settle(self, session: Session, glance: Glance, now: float, owner: Owner) -> None:
        """It was read as far as it goes: tell what is news, and keep what is needed for the next look."""
        session.tick(now)
        missing = bool(session.status.missing)
        over = not missing and may_go(session.snapshot, max(0.0, time.time() - glance.written))
        session.rest(over=over)
        if session.watched and not over and not session.changed():
            return
        if isinstance(self.feed, LiveFeed):
            self.feed.written = glance.written or self.feed.written
        if over:
            session.tick(now)
        owner.heard(session, now)
        self.take(session, (MISSING if glance.position else UNREADABLE) if missing else "")
        if over:
            self.known, self.mark = known_of(session, self.known), glance.mark
            self._forget(owner)

    def _forget(self, owner: Owner) -> None:
        if self.session is not None:
            owner.ended(self.session)
        self.session = self.glance = None

    def take(self, session: Session, note: str = "") -> None:
        """What is known of the run by now."""
        self.row = run_row(self.feed.name, session.snapshot, note=note, followed=False)
        self.news, self.line = session.news_rank, status_line(session.snapshot)


def known_of(session: Session, before: Known | None = None) -> Known:
    """What a session told; `before`: what was known when it began."""
    return Known.of(session.snapshot, grew=session.grew, before=before)


def files_mark(path: Path | None) -> Mark:
    """What a file is by now; () where there is none."""
    from miles_tui.ingest.follow import glance

    try:
        return glance.mark_of(path) if path is not None else ()
    except OSError:
        return ()


def looks(listed: Iterable[Listed]) -> list[list[Piece] | None]:
    """What a look at each of them gives. Blocks; for a thread."""
    found: list[list[Piece] | None] = []
    for one in listed:
        try:
            found.append(one.look())
        except MilesTuiError:  # it is said when it is read anew
            found.append(None)
    return found


def may_go(run: RunSnapshot, age: float) -> bool:
    """Whether a run need not be followed: it is over, or its log silent for so long that a stall has rung."""
    over = bool(run.ended) or run.verdict in OVER
    return age >= (OVER_QUIET_SECONDS if over else SILENT_SECONDS)


def _newest_rollouts(feed: Feed) -> Glance:
    """What gives the log from its newest rollouts on. Blocks. Raises UnreadableLog."""
    from miles_tui.errors import UnreadableLog
    from miles_tui.ingest.files.log_file import Log
    from miles_tui.ingest.follow.glance import Glance
    from miles_tui.ingest.history.start_position import NEWEST, is_seekable, without_past

    if not feed.parts:
        raise UnreadableLog(f"{feed.name} can be read only once")
    path = feed.parts[-1]
    start, launch = (feed.start, feed.launch) if isinstance(feed, LiveFeed) else (0, ())
    log = Log(path, str(path), tuple(feed.parts[:-1]), start, tuple(launch))
    return Glance(without_past(log, NEWEST) if not start and is_seekable(path) else log)
