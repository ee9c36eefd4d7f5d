"""One run, watched: what its log says goes in at one door, and what is known of it comes out at one.

    pieces of the log -> Reader -> items ─┐
    items read elsewhere ─────────────────┼─▶ RunState -> RunSnapshot
    the time, a person's commands ────────┘

Every driver (the dashboard, `check`, `status`, a list of runs) feeds one of these, so none can read a log otherwise
than the others, and what they show is made from the same snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.chunks import Appeared, CaughtUp, Elapsed, Ended, Items, Missing, RunInput
from miles_tui.core.model.records import Item
from miles_tui.core.model.series import Series
from miles_tui.core.run.change import Change
from miles_tui.core.run.run_state import Pauses, RunState
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.core.run.snapshot_builder import snapshot_of

if TYPE_CHECKING:
    from miles_tui.core.alerting.alert import Alert
    from miles_tui.core.alerting.profile import Profile
    from miles_tui.core.parsing.reader import Reader


class Curves(NamedTuple):
    """The values of a run over its rollouts, for charts: live, to be read only."""

    signals: Mapping[str, Series]
    metrics: Mapping[str, Series]  # by log name
    window: int  # rollouts that a mean is of

    def of(self, name: str) -> Series:
        """The values of a signal or of a metric; empty where the log has none."""
        found = self.signals.get(name) or self.metrics.get(name)
        return found if found is not None else Series()


class Monitor:
    """The one writer of a run's state. Not thread-safe.

    `profile`: whose levels the run is judged by, its own where None. `off`: conditions switched off. `window`: rollouts
    that a mean is of (5 or more). `history`: values that a signal keeps. `pauses`: who knows of pauses that the log
    does not tell of. Without `keep_metrics` only the eight signals are kept: a tenth of the time. What it is fed with
    may be cut anywhere: the same text gives the same alerts at the same rollouts.
    """

    def __init__(
        self,
        profile: Profile | None = None,
        *,
        off: Iterable[str] = (),
        window: int = 5,
        history: int = 4096,
        pauses: Pauses | None = None,
        keep_metrics: bool = True,
        judge: Judge | None = None,
    ) -> None:
        self.pause = profile.pause_pattern if profile is not None else None  # of lines that tell of a pause
        self.state = RunState(
            judge or Judge(profile, off=off), window=window, capacity=history, pauses=pauses, keep_metrics=keep_metrics
        )
        self.curves = Curves(self.state.signals, self.state.metrics, self.state.window)
        self._snapshot: RunSnapshot | None = None

    @cached_property
    def _reader(self) -> Reader:
        """Made for the first bytes: its modules take 20 ms to import, and a first paint comes before them."""
        from miles_tui.core.parsing.reader import Reader

        return Reader(pause=self.pause)

    # -- what is fed -----------------------------------------------------------------------------

    def apply(self, given: RunInput, now: float | None = None) -> Change:
        """Take what comes next; what changed by it. `now`: the caller's clock in seconds, of a log that is live.

        Nothing but the time may come after `Ended`.
        """
        if isinstance(given, Elapsed):
            change = self.state.tick(now) if now is not None else Change()
            if change:  # a second in which nothing happens makes no snapshot
                self._snapshot = None
            return change
        if isinstance(given, Missing | Appeared):
            return Change()
        match given:
            case Items(items):
                pass
            case CaughtUp():
                items = self._reader.settle()
            case _:
                items = self._reader.apply(given)
        change = self._feed(items, now)
        if isinstance(given, Ended):
            change.merge(self.finish())
        return change

    def _feed(self, items: Sequence[Item], now: float | None) -> Change:
        """Text that says nothing makes no snapshot either: engines print ten thousand lines a second."""
        if items:
            self._snapshot = None
        return self.state.feed(items, now)

    def finish(self) -> Change:
        """The log is at its end, and nobody writes to it: what stands there is all there is."""
        self._snapshot = None
        return self.state.finish()

    def rest(self, *, over: bool) -> Change:
        """Nothing is taken for a while: let go of what that needs no more. `over`: the last line has no end to come."""
        change = self._feed(self._reader.finish(), self.state.heard) if over else Change()
        self._reader.slim()
        return change

    # -- what is known ---------------------------------------------------------------------------

    def snapshot(self) -> RunSnapshot:
        """What is known now; the same object until something is fed or said. 0.2 ms where it is made anew."""
        if self._snapshot is None:
            self._snapshot = snapshot_of(self.state)
        return self._snapshot

    @property
    def records(self) -> int:
        """Metric lines that count, so far."""
        return self.state.records

    @property
    def last(self) -> float | None:
        """As `RunSnapshot.last`; this and the three below are asked after every line."""
        return self.state.pace.last

    @property
    def usual(self) -> float | None:
        """As `RunSnapshot.usual`."""
        return self.state.pace.usual

    @property
    def ended(self) -> str:
        """As `RunSnapshot.ended`."""
        return self.state.ended

    @property
    def bar(self) -> tuple[int, int] | None:
        """The generation bar: what is done of how many."""
        phase = self.state.phase
        return None if phase.done is None or not phase.total else (phase.done, phase.total)

    @property
    def heard(self) -> float | None:
        """When the newest record arrived, by the feeder's clock; None before the first, or without a clock."""
        return self.state.heard

    # -- what a person says ----------------------------------------------------------------------

    def acknowledge(self, serial: int) -> None:
        """The person has seen this alert: shown dim until it changes."""
        self._alert(serial).seen = True

    def silence(self, serial: int, rollouts: int) -> None:
        """Keep an alert quiet for that many rollouts from now on; 0 wakes it."""
        self._alert(serial).snooze(rollouts, self.state.judge.at)

    def restore(self, serial: int, *, seen: bool, snoozed_until: int | None) -> None:
        """Give an alert the marks that the person gave it when the log was read before."""
        alert = self._alert(serial)
        alert.seen, alert.snoozed_until = seen, snoozed_until

    def disable(self, condition: str) -> None:
        """Switch a condition off. It goes on judging unseen, as if it were on, until it is enabled."""
        self._snapshot = None
        self.state.judge.switch(condition, on=False)

    def enable(self, condition: str) -> None:
        """Switch a condition on: it says what it would have said all along."""
        self._snapshot = None
        self.state.judge.switch(condition, on=True)

    def rebase(self) -> None:
        """What comes now is the new normal: every rule learns anew, alerts of the old one are over."""
        self._snapshot = None
        self.state.judge.rebase()

    def undo_rebase(self) -> bool:
        """Take the new baseline back; whether that was still possible: no rollout came since."""
        self._snapshot = None
        return self.state.judge.undo_rebase()

    def _alert(self, serial: int) -> Alert:
        self._snapshot = None
        return next(alert for alert in self.state.alerts if alert.serial == serial)
