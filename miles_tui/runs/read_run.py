"""One log read to its end: the way of the data without a screen."""

from __future__ import annotations

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.run.run_state import Pauses, RunState
from miles_tui.ingest.discovery import age_seconds
from miles_tui.ingest.files.log_file import Log
from miles_tui.ingest.history.log_items import read_items
from miles_tui.ingest.history.start_position import is_seekable


def read_log(
    log: Log, judge: Judge, *, keep_metrics: bool = False, pauses: Pauses | None = None, ahead: bool = False
) -> RunState:
    """Read a log to its end on the dashboard's own path: Reader, RunState, Judge. Raises UnreadableLog.

    Metrics that are no signals are kept only with `keep_metrics`: a tenth of the time. `ahead`: as `read_items`.
    """
    return read_into(RunState(judge, keep_metrics=keep_metrics, pauses=pauses), log, ahead=ahead)


def read_into(run: RunState, log: Log, *, ahead: bool = False) -> RunState:
    """The same into a run that nothing was fed to yet."""
    profile = run.judge.profile
    for items in read_items(log, pause=profile.pause_pattern if profile else None, ahead=ahead):
        run.feed(items)
    return run


def read_as_of(run: RunState, log: Log, now: float) -> RunState:
    """The same, and what the screen would say by now (seconds since 1970): a stall grows with the file's age.

    How old the newest record is, is told by the stamps behind it and by the time since the file was written to.
    A packed log and a pipe are over: they have no age.
    """
    read_into(run, log)
    run.finish()
    age = age_seconds(log, now) if is_seekable(log.path) else None
    if age is not None:
        pace = run.pace
        behind = 0.0 if pace.clock is None or pace.last is None else max(0.0, pace.clock - pace.last)
        run.tick(0.0)
        run.tick(behind + age)
    return run
