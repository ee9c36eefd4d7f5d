"""`stalled`: no new rollout for several times the usual time."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import Condition, Severity
from miles_tui.core.alerting.evidence import Evidence, Measured

CONDITION = Condition(
    id="stalled",
    severity=Severity.CRITICAL,
    title="No new metrics",
    signals=(),
    likely_cause="The job hangs: a collective that waits for a dead rank, a weight update or a generation that does "
    "not end.",
    first_check="See which phase is open (the last Timer line without an end), then the GPUs' load and the stack "
    "(py-spy) of the rank that the others wait for.",
    rule="No metric line for five times the run's own median time per rollout, and for ten minutes at least. Other "
    "lines do not count: engines keep printing. A pause that was told, and an hour by which the clock was put forward, "
    "are none. Behind the last planned rollout it is the last checkpoint that hangs.",
)

TIMES = 5  # of the run's own median: evaluation and checkpoints take one or two
LEAST_SECONDS = 600.0  # seconds
UNKNOWN = 1800.0  # seconds, before there is a median: compiling and loading a large model take that long


def stall_after(median_seconds: float | None) -> float:
    """Seconds without a metric line after which a run counts as stalled; `median_seconds` is its time per rollout."""
    if median_seconds is None or median_seconds <= 0:
        return UNKNOWN
    return max(LEAST_SECONDS, TIMES * median_seconds)


def is_stalled(silence: float, median_seconds: float | None) -> bool:
    """Whether `silence` (seconds since the last metric line) is too long."""
    return silence > stall_after(median_seconds)


def stalled_evidence(
    silence: float, median_seconds: float | None, last: str, phase: str = "", grows: bool = False
) -> Evidence:
    """The stall in numbers. `last` names the last record (`step 74`), `phase` the open timer."""
    facts: list[tuple[str, str | int | float]] = [("last", last)] if last else []
    facts += [("phase", phase)] if phase else []
    facts += [("grows", True)] if grows else []
    return Evidence((Measured("silence", last=silence, level=median_seconds),), facts=tuple(facts))
