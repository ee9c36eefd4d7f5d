"""Is this error the end of the run? Workers print caught errors all day; a few names end a run."""

from __future__ import annotations

import re

from miles_tui.core.records import Fact

SILENCE = 60.0  # seconds without a record after a fatal error until it is called a crash
_FATAL = re.compile(
    r"OutOfMemoryError|CUDA error|CUBLAS|NCCL|ActorDied|ActorUnavailable|RayTaskError|RayActorError|WorkerCrashed"
    r"|NodeDied|OwnerDied|memory pressure|Segmentation fault|SIGABRT|SIGSEGV|SIGKILL",
    re.IGNORECASE,
)
# How long a collective was waited for until NCCL's watchdog gave up.
_WAITED = re.compile(r"\bran for (\d{1,12}) milliseconds")
# Wrappers: the exception inside says more.
_WRAPPER = re.compile(r"RayTaskError|ray::")


def is_fatal(fact: Fact) -> bool:
    """Whether the driver itself said it, or its name is one that no run survives."""
    return fact.data.get("driver") == "1" or _FATAL.search(fact.text) is not None


def says_more(new: Fact, old: Fact) -> bool:
    """Whether the newer of two errors is the better last word: fatal before caught, the cause before its wrapper."""
    if is_fatal(new) != is_fatal(old):
        return is_fatal(new)
    return _WRAPPER.search(new.text) is None or _WRAPPER.search(old.text) is not None


def waited(fact: Fact) -> float:
    """Seconds that the run stood still before this error, as far as its words tell; 0.0 where they don't."""
    match = _WAITED.search(fact.text)
    return int(match[1]) / 1000 if match else 0.0


def was_the_end(fact: Fact, clock: float | None) -> bool:
    """Whether a log that ends with this error (`clock`: its newest time stamp) ended by it.

    A caught error is followed by the engines' own lines; one that ended the run by next to nothing.
    """
    if is_fatal(fact) or fact.time is None or clock is None:
        return True
    return clock - fact.time < SILENCE
