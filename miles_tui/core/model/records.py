"""What a log says: metric records, and the few other events that matter.

    bytes -> Reader (parsing.reader) -> Record | Event, in the order of the log -> RunState.feed

A `Record` is one metric line. An `Event` is anything else worth knowing; events are looked for only
where they can matter (see `parsing.reader`), because most lines of a log are engine noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Source(NamedTuple):
    """Who printed a line, as Ray's prefix names it. Empty where the line has no such prefix.

    `role` is the actor's class (`MegatronTrainRayActor`, `RolloutManager`), `pid` the text after
    `pid=`, `ip` the address where one is given. A tuple: every record's one is hashed.
    """

    role: str = ""
    pid: str = ""
    ip: str = ""


NOBODY = Source()


@dataclass(slots=True)
class Record:
    """One metric line as printed. Nobody changes one (to freeze it costs 0.5 µs), nor its metrics, which twins share.

    `kind` is the word before the number (`rollout`, `step`, `perf`, `eval`, `critic-step`, ...),
    `number` the number after it, `metrics` finite floats, ints, NaN and infinities by log name in
    the order of the line. `time` is the line's own time stamp: seconds of the log's wall clock
    (a naive local time counted as if it were UTC), or None. `logger` is the `file.py:line` of the logging prefix,
    without the line number (`model.py`), or "". `printed` is the JSON text that `metrics` were read from as they
    are, or b"" where they were not; a key may be twice in it, and NaN and infinities in JavaScript's words. `critic`:
    its process or its logger is named as one: PPO's critic prints the kinds and names that the actor prints.
    """

    kind: str
    number: int
    metrics: dict[str, float | int]
    time: float | None = None
    source: Source = NOBODY
    logger: str = ""
    printed: bytes = field(default=b"", repr=False, compare=False)
    critic: bool = False


class EventKind(StrEnum):
    """What an `Event` says; the comment names what `text` and `data` hold."""

    ARGS = "args"  # data: argument name -> printed value (underscores, as in Miles's table)
    LAUNCH = "launch"  # a process began: entrypoint, argument table, Ray start, checkpoint load; text: the line
    TIMER_START = "timer-start"  # text: the timer's name
    TIMER_END = "timer-end"  # text: the timer's name
    TROUBLE = "trouble"  # a traceback or a fatal error; text: the exception; data["driver"]: "1": not a Ray worker's
    JOB_FAILED = "job-failed"  # the submitter's last word: `Job '...' failed`
    JOB_DONE = "job-done"  # the job's end was printed (`Job '...' succeeded`)
    SECRET = "secret"  # a key was printed; text: the line with the key masked
    MESSAGE = "message"  # a line the manual explains; text: the line; data["id"]: which
    PROGRESS = "progress"  # the generation bar; data: done, total
    PAUSE = "pause"  # a line that matches the profile's pause pattern
    CUT_SHORT = "cut-short"  # not all of the log could be read; text: what and why, with the file's name
    NO_METRIC = "no-metric"  # the end of a log without a record; text: a sentence on why
    CLOCK = "clock"  # no more than a time stamp: the newest one seen in text without records


@dataclass(slots=True, frozen=True)
class Event:
    """Something besides metrics that a line said. `time` as in `Record`."""

    kind: EventKind
    text: str = ""
    time: float | None = None
    data: dict[str, str] = field(default_factory=dict)
    source: Source = NOBODY


Item = Record | Event
