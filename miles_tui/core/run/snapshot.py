"""What is known of a run at one moment: the contract that every screen, command and hook renders.

All of it is immutable, plain data: numbers, words of a fixed set, tuples and read-only mappings. Units: seconds for
times and durations, the signal's own unit for values, rollout numbers as Miles prints them (from 0). A time is the
log's own clock in seconds since 1970, read as if it were UTC; None where its lines have none. Values may be NaN or
infinite: a rule judges them, and whoever writes JSON spells them. Sentences are made from it last, in `present`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from miles_tui.core.alerting.alert import AlertSnapshot
from miles_tui.core.alerting.conditions.base import Severity, State
from miles_tui.core.alerting.ranges import Range
from miles_tui.core.run.design import Meaning

RunEnd = Literal["", "finished", "crashed"]

# The words that a signal may have beside those of `State`, see `SignalSnapshot.state`.
MISSING, NOT_JUDGED, HELD, NOT_MEASURED = "missing", "not judged", "held back", "not measured"


@dataclass(slots=True, frozen=True)
class Values:
    """A series of the run in five numbers; None where there are too few values for one."""

    last: float | None = None
    rollout: int | None = None  # of the last value
    mean: float | None = None  # of the newest `RunSnapshot.window` finite values
    low: float | None = None  # the smallest finite value since the run began, and the largest
    high: float | None = None
    swing: float | None = None  # the largest change from one rollout to the next
    count: int = 0  # rollouts with a finite value


@dataclass(slots=True, frozen=True)
class SignalSnapshot:
    """One of the eight signals.

    `state` is the most serious word that any condition has on it: firing · not measured (a setting fixes the value,
    see `meaning`) · missing (the log has none) · recovering · held back (by `held_by`) · pending · learning · ok ·
    not judged (no condition reads it, or none has had anything to judge by for five rollouts). `ok` says that a
    condition or a profile judges the signal, none of them still learns, and all of them find nothing. A signal that a
    condition only reads beside another is not marked by it.
    """

    name: str
    log_name: str  # the metric that it comes from; the usual one before there is a value
    values: Values
    state: str
    severity: Severity | None = None  # the worst that fires, where `state` is firing
    held_by: str = ""  # the condition whose open alert says already what another would say of this signal
    range: Range | None = None  # what is normal for a rollout, and who says so
    learning: tuple[int, int] | None = None  # (have, need) rollouts of the range while it is being learned
    meaning: Meaning | None = None  # what a setting of the run makes of it
    measured: bool = True  # False: by `meaning` its newest value says nothing of the run, or there is none


@dataclass(slots=True, frozen=True)
class ConditionSnapshot:
    """What a condition says now; `count` of `of` rollouts towards the next state."""

    id: str
    state: State
    count: int = 0
    of: int = 0
    severity: Severity | None = None
    held_by: str = ""  # the condition whose open alert says it already
    off: bool = False  # a person or the profile switched it off; State.OFF without it: it can't apply to this run
    idle: bool = False  # it has had nothing to judge by for long


@dataclass(slots=True, frozen=True)
class PhaseSnapshot:
    """What the run does now: `rollout`, `training`, `weight update`, ...; "" once it is over."""

    name: str = ""
    since: float | None = None
    until: float | None = None  # when it usually ends
    done: int | None = None  # of the generation bar, where the log prints it
    total: int | None = None


@dataclass(slots=True, frozen=True)
class RunSnapshot:
    """A run.

    `verdict`: healthy, watching, learning, not judged, `n alerts`, stalled, crashed, finished, waiting; `kind` is the
    same, with `alert` (the worst that fires is critical) or `warned` for a number of alerts.
    """

    verdict: str
    kind: str
    ended: RunEnd  # finished, crashed, or "" while it is not over
    records: int  # metric lines that count
    rollouts: int  # with a value, of those that no restart took back
    first: int | None  # rollout
    rollout: int | None  # the newest
    planned: int | None  # rollouts of the whole run, where the log says so: ids run to `planned - 1`
    attempt: int
    updates_per_rollout: int | None
    window: int  # rollouts that a mean is of
    phase: PhaseSnapshot
    last: float | None  # the time of the newest metric line
    clock: float | None  # of the newest line of any kind that was looked at
    usual: float | None  # seconds from one rollout to the next, the median of the newest
    left: float | None  # seconds until the last planned rollout at that pace
    learning: tuple[int, int] | None  # (have, need) rollouts of the slowest condition that still learns
    grace: int  # more rollouts of a new attempt that the statistical rules leave out
    judged: int | None  # the newest rollout that the rules were asked about
    signals: Mapping[str, SignalSnapshot]
    scores: Mapping[str, Values]  # evaluations by log name, where metrics are kept
    metrics_left_out: int  # values of metrics beyond the number that is kept
    conditions: Mapping[str, ConditionSnapshot]
    alerts: tuple[AlertSnapshot, ...]  # in the order raised: the open and the newest
    off: frozenset[str]  # conditions switched off
    rebased_at: int | None  # the last rollout before the person's new baseline
    can_undo_rebase: bool
    profile: str  # its name; "" where the run is judged by itself
    profile_warning: str  # what the profile itself has to say to whoever uses it
    misfit: tuple[str, ...]  # what of the run's arguments is not the profile's
    arguments: Mapping[str, str]  # as printed at launch
    why_empty: str  # why a log that was read to its end has no metric
    cut_short: tuple[str, ...]  # what of the log could not be read, a line each

    @property
    def firing(self) -> tuple[AlertSnapshot, ...]:
        """Alerts above a notice that are open, critical ones first."""
        open_ = [a for a in self.alerts if a.open and a.severity is not Severity.NOTICE]
        return tuple(sorted(open_, key=lambda a: a.severity is not Severity.CRITICAL))
