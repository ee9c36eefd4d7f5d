"""Is this error the end of the run? Workers print caught errors all day; a few names end a run."""

from __future__ import annotations

import re

from miles_tui.core.model.records import Event
from miles_tui.core.parsing.line_prefix import DATE_TIME, seconds

SILENCE = 60.0  # seconds without a record after a fatal error until it is called a crash
_FATAL = re.compile(
    r"OutOfMemoryError|CUDA error|CUBLAS|NCCL|ActorDied|ActorUnavailable|RayTaskError|RayActorError|WorkerCrashed"
    r"|NodeDied|OwnerDied|memory pressure"
    r"|Fatal async misuse|terminate called|OOMKilled|exit code 137|Killed process"
    r"|Segmentation fault|SIGABRT|SIGSEGV|SIGKILL",
    re.IGNORECASE,
)
# How long a collective was waited for until NCCL's watchdog gave up.
_WAITED = re.compile(r"\bran for (\d{1,12}) milliseconds")
_CANCELLED = re.compile(r"\bCANCELLED AT " + DATE_TIME)  # by Slurm, at the time limit
# Wrappers: the exception inside says more.
_WRAPPER = re.compile(r"RayTaskError|ray::")


def is_fatal(fact: Event) -> bool:
    """Whether the driver itself said it, or its name is one that no run survives."""
    return fact.data.get("driver") == "1" or _FATAL.search(fact.text) is not None


def says_more(new: Event, old: Event) -> bool:
    """Whether the newer of two errors is the better last word: fatal before caught, the cause before its wrapper."""
    if is_fatal(new) != is_fatal(old):
        return is_fatal(new)
    return _WRAPPER.search(new.text) is None or _WRAPPER.search(old.text) is not None


def clock_of(fact: Event, clock: float | None, last: float | None) -> float | None:
    """The log's clock when this was said: its own stamp, what its words tell, or `clock`, the newest stamp before it.

    `last` is the newest record's: a watchdog says how long was waited since, at least.
    """
    if fact.time is not None:
        return fact.time
    if match := _CANCELLED.search(fact.text):
        return seconds(*match.groups())
    if last is not None and (match := _WAITED.search(fact.text)):
        return max(clock or last, last + int(match[1]) / 1000)
    return clock


def was_the_end(fact: Event, clock: float | None) -> bool:
    """Whether a log that ends with this error (`clock`: its newest time stamp) ended by it.

    A caught error is followed by the engines' own lines; one that ended the run by next to nothing.
    """
    if is_fatal(fact) or fact.time is None or clock is None:
        return True
    return clock - fact.time < SILENCE
