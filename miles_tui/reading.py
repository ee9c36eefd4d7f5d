"""One log read to its end: the way of the data without a screen."""

from __future__ import annotations

from miles_tui.core.judge import Judge
from miles_tui.core.run import Pauses, RunState
from miles_tui.ingest.items import read_items
from miles_tui.ingest.read import Log


def read_log(
    log: Log, judge: Judge, *, keep_metrics: bool = False, pauses: Pauses | None = None, ahead: bool = False
) -> RunState:
    """Read a log to its end on the dashboard's own path: Reader, RunState, Judge. Raises UnreadableLog.

    Metrics that are no signals are kept only with `keep_metrics`: a fifth of the time. `ahead`: as `read_items`.
    """
    pause = judge.profile.pause_pattern if judge.profile else None
    run = RunState(judge, keep_metrics=keep_metrics, pauses=pauses)
    for items in read_items(log, pause=pause, ahead=ahead):
        run.feed(items)
    return run
