"""One log read to its end: the way of the data without a screen."""

from __future__ import annotations

from miles_tui.core.model.chunks import Elapsed, Items
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.ingest.discovery import age_seconds
from miles_tui.ingest.files.log_file import Log
from miles_tui.ingest.history.log_items import read_items
from miles_tui.ingest.history.start_position import is_seekable


def read_into(monitor: Monitor, log: Log, *, ahead: bool = False) -> Monitor:
    """Feed a monitor the whole of a log on the dashboard's own path; it is not told that the log is over.

    `ahead`: as `read_items`. Raises UnreadableLog.
    """
    for items in read_items(log, pause=monitor.pause, ahead=ahead):
        monitor.apply(Items(items))
    return monitor


def read_to_end(monitor: Monitor, log: Log, *, ahead: bool = False) -> RunSnapshot:
    """The same of a log that is written no more: what is known at its end."""
    read_into(monitor, log, ahead=ahead).finish()
    return monitor.snapshot()


def read_as_of(monitor: Monitor, log: Log, now: float) -> RunSnapshot:
    """The same, and what the screen would say by now (seconds since 1970): a stall grows with the file's age.

    How old the newest record is, is told by the stamps behind it and by the time since the file was written to.
    A packed log and a pipe are over: they have no age.
    """
    run = read_to_end(monitor, log)
    age = age_seconds(log, now) if is_seekable(log.path) else None
    if age is not None:
        behind = 0.0 if run.clock is None or run.last is None else max(0.0, run.clock - run.last)
        monitor.apply(Elapsed(), 0.0)
        monitor.apply(Elapsed(), behind + age)
    return monitor.snapshot()
