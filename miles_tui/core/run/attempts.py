"""Is this record a step forward, a restart, or a repetition? Going back alone is no restart.

Lines go back for many reasons: async order, a line that Ray held for five seconds, a retried
rollout, an evaluation printed twice, the tail that `ray job submit` prints again after a failure.
A restart needs both: the same producer repeats or lowers its number, and something marks it: a
launch line, a new process, a failure before it, or a long gap. For a number that is only repeated a new
process is mark enough where nothing else of this rollout was still to come (`_begins_again`).
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from miles_tui.core.model.records import Event, EventKind, Record, Source
from miles_tui.core.run.line_schema import is_update
from miles_tui.core.stats.robust import median

GAP_SECONDS = 60.0  # a gap marks a restart when it is also three times the usual time between records of a kind
GAP_TIMES = 3.0
RECENT_LINES = 9  # of a kind, that the usual time is the median of
FALLS = 3  # numbers that fell one after another, before any rose, of a log whose newest line comes first
MOST_PIDS = 4096  # of a role that are remembered


class Continuation(Enum):
    """Where a record stands in the run."""

    ONWARD = 1
    RESTART = 2
    REPLAY = 3  # printed again after the job's end: it says nothing new


@dataclass(slots=True)
class _Last:
    number: int
    time: float | None
    source: Source | None = None  # of its newest record: that process is known
    steps: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT_LINES))  # seconds between its records


class Attempts:
    """Remembers the last number of each producer and the marks since the last record."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, bool, bool], _Last] = {}
        self._pids: dict[str, set[str]] = {}
        self._rose = False  # some number rose
        self._fell: dict[
            tuple[str, bool, bool], tuple[int, float]
        ] = {}  # the lowest number and time of those that fell
        self._falls = 0
        self._newest: float | None = None
        self._updated = False  # an update came since the last `rollout` line
        self._done = -1  # the highest rollout that the trainer closed behind an update
        self._launched = False
        self._troubled = False
        self._ended = False

    def note(self, fact: Event) -> None:
        """Facts between two records mark a restart, or the end of the job."""
        if fact.kind in (EventKind.LAUNCH, EventKind.ARGS):
            self._launched = True
            self._ended = False
        elif fact.kind is EventKind.TROUBLE:
            self._troubled = True
        elif fact.kind is EventKind.JOB_FAILED:
            self._ended = True

    def place(self, record: Record, train_side: bool) -> Continuation:
        """Where the record stands; to be asked once a record, in the order of the log."""
        if self._ended and self._is_replay(record):
            return Continuation.REPLAY
        if record.kind == "eval":
            return Continuation.ONWARD
        self._ended = False
        key = (record.kind, train_side, record.critic)
        last, place = self._last.get(key), Continuation.ONWARD
        # Most records go on in a life without a launch: for them there is nothing to be asked.
        goes_on = last is None or (not self._launched and record.number > last.number)
        if last is not None and not goes_on and self._is_restart(record, last, train_side):
            self._last.clear()
            self._done = -1
            last, place = None, Continuation.RESTART
        self._remember(record, key, last, train_side)
        return place

    @property
    def reversed(self) -> bool:
        """Whether the log's newest line comes first."""
        return self._falls >= FALLS and not self._rose

    def _fall(self, record: Record, key: tuple[str, bool, bool], last: _Last) -> None:
        """Note a number that fell, and its time with it: a line that was held back is followed by one that rises."""
        number, time = self._fell.get(key, (last.number, math.inf if last.time is None else last.time))
        falls = not is_update(record.kind) if record.time is None else record.time < time
        if record.number < number and falls:
            self._fell[key] = record.number, time if record.time is None else record.time
            self._falls += 1

    def _is_replay(self, record: Record) -> bool:
        """After the job's end its last lines are printed again; a newer time stamp tells a new life."""
        return record.time is None or (self._newest is not None and record.time <= self._newest)

    def _is_new_process(self, record: Record) -> bool:
        """A process that was heard before is none, whoever spoke meanwhile: two jobs in one file are no restarts."""
        known = self._pids.get(record.source.role)
        return bool(record.source.pid and known and record.source.pid not in known)

    def _is_restart(self, record: Record, last: _Last, train_side: bool) -> bool:
        new_process = self._is_new_process(record)
        if self._launched and (new_process or not record.source.pid):
            return True  # also where a checkpoint of the very last rollout lets the numbers go on
        if record.number > last.number:
            return False
        if record.number == last.number:
            if self._launched or (new_process and self._troubled):
                return True
            return (new_process or not record.source.pid) and self._begins_again(record, last, train_side)
        if self._was_held_back(record):
            return False
        troubled = self._troubled and not is_update(record.kind)  # with a varying k update numbers may fall
        return self._launched or new_process or troubled or self._is_after_gap(record, last)

    def _begins_again(self, record: Record, last: _Last, train_side: bool) -> bool:
        """Whether a number that is repeated by a process never heard before, or by nobody's, begins an attempt.

        Each cell of a trainer prints its own lines, and one that failed is replaced and tries again: only what the
        trainer had closed behind an update is surely no try of the same attempt. Of rollout managers there is one.
        """
        if is_update(record.kind) or self._was_held_back(record):
            return False
        if not record.source.pid:
            return not train_side and self._done >= record.number and record.time is not None
        return self._done >= record.number or (not train_side and bool(last.steps))

    def _was_held_back(self, record: Record) -> bool:
        return record.time is not None and self._newest is not None and record.time < self._newest

    def _is_after_gap(self, record: Record, last: _Last) -> bool:
        if record.time is None or last.time is None or len(last.steps) < 2:
            return False
        return record.time - last.time > max(GAP_SECONDS, GAP_TIMES * median(last.steps))

    def _remember(self, record: Record, key: tuple[str, bool, bool], last: _Last | None, train_side: bool) -> None:
        time, number = record.time, record.number
        if last is None:
            last = self._last[key] = _Last(number, time)
        elif number > last.number:
            self._rose = True
        elif number < last.number and not self._rose:
            self._fall(record, key, last)
        if time is not None and last.time is not None and time > last.time:
            last.steps.append(time - last.time)
        if number >= last.number or time is None or (last.time or 0) <= time:
            last.number = number
            last.time = time if time is not None else last.time
        if record.kind == "rollout" or is_update(record.kind):
            self._updated = record.kind != "rollout"
        elif train_side and self._updated and record.kind == "perf":
            self._done = max(self._done, number)
        if record.source is not last.source:
            self._meet(record.source)
            last.source = record.source
        if time is not None and (self._newest is None or time > self._newest):
            self._newest = time
        self._launched = self._troubled = False

    def _meet(self, source: Source) -> None:
        if source.pid:
            pids = self._pids.setdefault(source.role, set())
            if len(pids) < MOST_PIDS:
                pids.add(source.pid)
