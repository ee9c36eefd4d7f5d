"""One log read to its end: the way of the data without a screen."""

from __future__ import annotations

from miles_tui.core.judge import Judge
from miles_tui.core.reader import Reader
from miles_tui.core.run import Pauses, RunState
from miles_tui.ingest.read import Log, read_all


def read_log(log: Log, judge: Judge, *, keep_metrics: bool = False, pauses: Pauses | None = None) -> RunState:
    """Read a log to its end on the dashboard's own path: Reader, RunState, Judge. Raises UnreadableLog.

    Metrics that are no signals are kept only with `keep_metrics`: a fifth of the time.
    """
    pause = judge.profile.pause_pattern if judge.profile else None
    reader, run = Reader(pause=pause), RunState(judge, keep_metrics=keep_metrics, pauses=pauses)
    run.feed(log.launch)
    for chunk in read_all(log):
        run.feed(reader.feed(chunk))
    run.feed(reader.finish())
    return run
