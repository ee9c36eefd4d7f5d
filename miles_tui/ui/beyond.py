"""The logs of a list that are not followed: each is read once, and then looked at, whether it has grown since.

A look is a stat, in a thread: 300 logs take 2 ms of it every ten seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from miles_tui.core.run import RunState
from miles_tui.errors import MilesTuiError
from miles_tui.ingest.read import Log, read_all
from miles_tui.ui.feeds import Feed, LiveFeed
from miles_tui.ui.notice import Key, open_keys
from miles_tui.ui.runs import UNREAD, RunRow, run_row

if TYPE_CHECKING:
    from miles_tui.ui.setup import Setup

UNREADABLE = "unreadable"
SILENT_SECONDS = 3600.0
QUIET_SECONDS = 60.0  # the same for a run that is over: engines print on for a while
OVER = ("crashed", "stalled")
YIELD = 0.005  # seconds between two chunks: a thread of Python, and the loop's keys would wait for it

Mark = tuple[tuple[int, int, int], ...]  # of each file: inode, size, time of the last write in nanoseconds


@dataclass(slots=True, eq=False)
class Listed:
    """A log that is not followed: what one reading of it gave, and what its files were then."""

    feed: Feed
    row: RunRow
    mark: Mark = ()
    open: frozenset[Key] = frozenset()  # its alerts that were not over
    alive: bool = False  # it was written to lately, and may say more

    @property
    def unread(self) -> bool:
        """Whether it is still to be read."""
        return self.row.verdict == UNREAD

    @property
    def written(self) -> int:
        """When it was written to last, as it was read; nanoseconds of the file system's clock."""
        return max((at for _, _, at in self.mark), default=0)

    def read(self, setup: Setup) -> None:
        """Read it as far as it goes by now, or find that it can't be read. Blocks; for a thread."""
        self.mark = mark_of(self.feed)
        if isinstance(self.feed, LiveFeed):
            self.feed.look()
        age = self.feed.age()
        try:
            run = _run_of(self.feed, setup, age)
        except MilesTuiError:
            self.row, self.alive = RunRow(self.feed.name, verdict=UNREADABLE, followed=False), False
            return
        self.take(run)
        self.alive = self.feed.live and not may_go(run, age)

    def take(self, run: RunState) -> None:
        """What is known of the run by now."""
        self.row = run_row(self.feed.name, run, followed=False)
        self.open = open_keys(run.alerts)


def mark_of(feed: Feed) -> Mark:
    """What the files of a log are; () where one is not there."""
    try:
        found = [part.stat() for part in feed.parts]
    except OSError:
        return ()
    return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in found)


def grown(listed: Iterable[Listed]) -> list[Listed]:
    """Those that were read and are not as they were then. Blocks; for a thread."""
    found = [one for one in listed if not one.unread and (mark := mark_of(one.feed)) and mark != one.mark]
    for one in found:
        if isinstance(one.feed, LiveFeed):
            one.feed.look()
    return found


def may_go(run: RunState, age: float) -> bool:
    """Whether a run need not be followed: it is over, or its log silent for so long that a stall has rung."""
    over = bool(run.ended) or run.verdict() in OVER
    return age >= (QUIET_SECONDS if over else SILENT_SECONDS)


def _run_of(feed: Feed, setup: Setup, age: float) -> RunState:
    """One reading of a log, as long as it is now, heard `age` seconds ago. Raises UnreadableLog."""
    from miles_tui.core.reader import Reader  # after the first paint, as in `Session`

    run, reader = setup.run(keep_metrics=False), Reader(pause=setup.pause)
    start = 0
    if isinstance(feed, LiveFeed):
        run.feed(feed.launch)
        start = feed.start
    for part in feed.parts:
        last: Path | Log = Log(part, str(part), (), start) if part == feed.parts[-1] else part
        for chunk in read_all(last):
            run.feed(reader.feed(chunk), -age)
            time.sleep(YIELD)
        run.feed(reader.cut(), -age)
    run.feed(reader.finish(), -age)
    run.tick(0.0)  # as one that is followed: no word on a run that is only silent for a moment
    return run
