"""The state of one run: the only mutable thing between the log and the screen.

    Record | Fact -> RunState.feed -> series, phase, attempts; rollouts that are known -> Judge -> alerts

One writer: whoever calls `feed`, `finish` and `tick`. Feeding a log at once or piece by piece gives
the same series and the same alerts at the same rollouts.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Literal

from miles_tui.core.alerting.alert import Alert
from miles_tui.core.alerting.conditions.base import Severity, State
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.model.records import Event, EventKind, Item, Record
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.model.series import PAUSED, Series, put
from miles_tui.core.model.signals import SIGNALS
from miles_tui.core.parsing.launch_args import count_of, is_on
from miles_tui.core.run.attempts import Attempts, Continuation
from miles_tui.core.run.change import Change
from miles_tui.core.run.design import FLAGS, NONE, design_of
from miles_tui.core.run.fate import Fate, Pauses
from miles_tui.core.run.line_schema import Layout
from miles_tui.core.run.phase import Phase
from miles_tui.core.run.progress import Pace
from miles_tui.core.run.rollout_assembler import Merged, Merger, Ready

__all__ = ["Pauses", "RunState"]

MOST_NUMBER = 10**12  # a higher rollout number is text that looks like a metric
_REVERSED = (
    "the log is in reverse order, its newest line first, and can't be judged so: turn it with `tac LOG > NEW.log`"
)
_SAYS = attrgetter("words", "state", "severity", "count", "later")  # of an alert: what is shown of it may change


class RunState:
    """Series, phase, attempts and alerts of one run.

    `window` is how many rollouts a mean covers (5 or more), `capacity` how many values a signal
    keeps, `most_metrics` how many distinct metrics are kept at all (a log can invent millions); without
    `keep_metrics` only the signals are.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        window: int = 5,
        capacity: int = 4096,
        most_metrics: int = 1000,
        keep_metrics: bool = True,
        pauses: Pauses | None = None,
    ) -> None:
        self.judge = judge
        self.pauses = pauses
        self.keep_metrics = keep_metrics
        self.window = max(5, window)
        self.capacity = capacity
        self.most_metrics = most_metrics
        self.signals: dict[str, Series] = {s.name: Series(capacity) for s in SIGNALS}
        self.metrics: dict[str, Series] = {}
        self.metrics_left_out = 0
        self.args: dict[str, str] = {}
        self.design = NONE  # what the arguments make of the signals
        self._launched_at = 0  # records before the newest launch that printed arguments
        self.phase = Phase()
        self.pace = Pace()
        self.attempt = 1
        self.records = 0
        self.cut_short: list[str] = []  # what of the log could not be read, a line each
        self.why_empty = ""  # why a log that was read to its end has no metric
        self._merger = Merger()
        self._attempts = Attempts()
        self._fate = Fate(judge, self.pace, self.phase, pauses)
        self._last: Record | None = None
        self._heard: float | None = None  # arrival of the newest record, the caller's clock
        self._alerts_before: object = None

    # -- what others read ------------------------------------------------------------------

    @property
    def alerts(self) -> list[Alert]:
        """All alerts in the order raised."""
        return self.judge.alerts

    @property
    def firing(self) -> list[Alert]:
        """Alerts above a notice that are not resolved, worst first."""
        open_ = [a for a in self.alerts if a.open and a.severity is not Severity.NOTICE]
        return sorted(open_, key=lambda a: a.severity is not Severity.CRITICAL)

    @property
    def log_names(self) -> dict[str, str]:
        """signal -> the log name that it came from."""
        return self._merger.names

    @property
    def updates_per_rollout(self) -> int | None:
        """k, or None while it is unknown."""
        return self._merger.planned

    @property
    def ended(self) -> Literal["", "finished", "crashed"]:
        """What became of the run: `finished`, `crashed`, or nothing yet."""
        return self._fate.ended

    @property
    def total(self) -> int | None:
        """The planned number of rollouts (an id bound: ids run to `total - 1`), where it was printed."""
        return count_of(self.args, "num_rollout")

    @property
    def heard(self) -> float | None:
        """When the newest record arrived, by the feeder's clock; None before the first, or without a clock."""
        return self._heard

    @property
    def learning(self) -> tuple[int, int] | None:
        """(rollouts learned from, rollouts needed) while some rule still learns; None when all can speak."""
        states = [r for r in self.judge.states.values() if r.state is State.LEARNING and r.of]
        slowest = max(states, key=lambda r: r.of - r.count, default=None)
        return (slowest.count, slowest.of) if slowest else None

    def verdict(self) -> str:
        """One word or two: healthy, watching, learning, not judged, n alerts, stalled, crashed, finished, waiting."""
        if not self.records:
            return "waiting"
        open_ = {a.condition for a in self.firing}
        for word in ("crashed", "stalled"):
            if word in open_:
                return word
        if self.firing:
            return f"{len(self.firing)} alert{'s' if len(self.firing) > 1 else ''}"
        if self.ended:
            return self.ended
        states = {r.state for r in self.judge.states.values()}
        if State.PENDING in states or State.RECOVERING in states:
            return "watching"
        if self.learning or self.judge.at is None:  # None: no rule was asked yet
            return "learning"
        judged = self.judge.judges(name for name, series in self.signals.items() if series.last)
        return "healthy" if judged else "learning" if State.LEARNING in states else "not judged"

    # -- what changes it -------------------------------------------------------------------

    def feed(self, items: Iterable[Item], now: float | None = None) -> Change:
        """Take what the log says, in its order. `now` is the caller's clock in seconds (live only)."""
        change, take = Change(), self._take_record
        for item in items:
            if isinstance(item, Record):
                if 0 <= item.number < MOST_NUMBER:
                    take(item, change)
                    self._heard = now
            else:
                self._take_fact(item, change)
        self._note_alerts(change)
        return change

    def finish(self) -> Change:
        """The log is at its end and nobody writes to it: what stands there is all there is."""
        change = Change(header=True)
        self._judge(self._merger.close_all())
        self._fate.close()
        self._note_alerts(change)
        return change

    def tick(self, now: float) -> Change:
        """Time went by (the caller's clock, seconds): is the run stalled, was the traceback its end?"""
        change = Change()
        if self._heard is None:
            self._heard = now if self.records else None
        if self._heard is None:
            return change
        change.header = self._fate.tick(now - self._heard)
        self._note_alerts(change)
        change.header |= change.alerts
        return change

    # -- records ---------------------------------------------------------------------------

    def _take_record(self, record: Record, change: Change) -> None:
        twin, self._last = self._last, record
        if twin is not None and twin.number == record.number and _is_twin(record, twin):
            return
        layout = self._merger.layouts.of(record.kind, record.metrics)
        place = self._attempts.place(record, layout.train_side)
        if place is Continuation.REPLAY:
            return
        if place is Continuation.RESTART:
            self._restart(record, layout)
        elif self._attempts.reversed:
            self._say_reversed()
        if self._fate.hear(record):
            self._fate.resume(self._merger.rollout_of(record, layout), record.time)
        self.records += 1
        merged = self._merger.take(record, layout)
        if merged.forget_from is not None:
            for series in (*self.signals.values(), *self.metrics.values()):
                series.forget_from(merged.forget_from)
        number = merged.rollout.number
        if record.kind != "eval":
            if (self._fate.paused or self.pauses is not None) and self._was_paused(record):
                self._mark_paused(merged.rollout)
            self.pace.see(record, number, layout.train_side)
        self._store(merged, change)
        self.phase.see_record(record, layout.train_side)
        if merged.ready:
            self._judge(merged.ready)
        if record.kind == "perf" and number >= (self.total or MOST_NUMBER) - 1 and self._closes(record, layout):
            self._fate.plan_done()
        change.header = True

    def _closes(self, record: Record, layout: Layout) -> bool:
        """Whether a `perf` line is its rollout's last: the trainer's, where something is trained."""
        return (layout.train_side or is_on(self.args, "debug_rollout_only")) and not record.critic

    def _store(self, merged: Merged, change: Change) -> None:
        number, flags = merged.rollout.number, PAUSED if merged.rollout.paused else 0
        if merged.signals:
            signals = self.signals
            for name, value in merged.signals.items():
                signals[name].set(number, value, flags)
            change.signals.update(merged.signals)
        if self.keep_metrics:
            layout, metrics = merged.layout, merged.metrics
            series = self._series_of(layout) if layout.series is None else layout.series
            left_out = len(metrics) - len(series)
            put(series, number, [metrics[name] for name in layout.kept] if left_out else metrics.values(), flags)
            self.metrics_left_out += left_out
            change.metrics |= bool(series)

    def _series_of(self, layout: Layout) -> tuple[Series, ...]:
        """Where the values of a line are kept: a series for each name, as far as `most_metrics` allows."""
        for name in layout.names:
            if name not in self.metrics and len(self.metrics) < self.most_metrics:
                self.metrics[name] = Series(self.capacity, self.attempt)
        layout.kept = tuple(name for name in layout.names if name in self.metrics)
        layout.series = tuple(self.metrics[name] for name in layout.kept)
        return layout.series

    def _was_paused(self, record: Record) -> bool:
        """Whether a pause was told of between the record before, which `pace` knows, and this one."""
        paused, self._fate.paused = self._fate.paused, False
        last = self.pace.last
        if not paused and self.pauses is not None and last is not None and record.time is not None:
            paused = self.pauses.between(last, record.time)
        return paused

    def _mark_paused(self, rollout: Rollout) -> None:
        rollout.paused = True
        for series in (*self.signals.values(), *self.metrics.values()):
            series.mark(rollout.number, PAUSED)

    def _judge(self, ready: Ready) -> None:
        judge = self.judge
        for stage, rollout in ready:
            if stage is Stage.SAMPLED:
                judge.sampled(rollout)
            else:
                judge.trained(rollout)

    def _restart(self, record: Record, layout: Layout) -> None:
        self._judge(self._merger.restart())
        at = self._merger.rollout_of(record, layout)
        self._fate.restart(at, record.time)
        before = self.pace.number
        self.attempt += 1
        for series in (*self.signals.values(), *self.metrics.values()):
            series.restart(at)
        self.pace.restart(at)
        facts = (("attempt", self.attempt), *((("reached", before),) if before is not None else ()))
        self.judge.restarted(at, record.time, Evidence(since=at, facts=facts))
        self.judge.clear("crashed", at, record.time)

    # -- facts -----------------------------------------------------------------------------

    def _say_reversed(self) -> None:
        if _REVERSED not in self.cut_short:
            self.cut_short.append(_REVERSED)
            self.judge.raise_(
                "known-message", self.pace.number, None, Evidence(text=_REVERSED), message="reverse-order"
            )

    def _take_fact(self, fact: Event, change: Change) -> None:
        if fact.time is not None:
            self.pace.tell(fact.time)
        self._attempts.note(fact)
        match fact.kind:
            case EventKind.ARGS:
                before = self.args
                if self.records > self._launched_at:
                    self._launched_at = self.records
                    before = {name: value for name, value in before.items() if name not in FLAGS}
                self.args = {**before, **fact.data}  # a new one: snapshots keep theirs
                self._plan()
                change.header = True
            case EventKind.SECRET:
                self._raise_line("secret-in-log", fact)
            case EventKind.MESSAGE:
                self._raise_line("known-message", fact)
            case EventKind.CUT_SHORT:
                self.cut_short.append(fact.text)
            case EventKind.NO_METRIC:
                self.why_empty = fact.text
            case _:
                change.header |= self.phase.see_fact(fact)
        change.header |= self._fate.note(fact)

    def _raise_line(self, condition: str, fact: Event) -> None:
        """A line of the log is an alert by itself."""
        evidence = Evidence(text=fact.text)
        self.judge.raise_(condition, self.pace.number, fact.time, evidence, message=fact.data.get("id", ""))

    def _plan(self) -> None:
        """The groups of a rollout, and k until the lines themselves have told it, from the printed arguments."""
        merger = self._merger
        self.design = merger.design = design_of(self.args)
        self.judge.apply(self.design.off)
        batch = count_of(self.args, "rollout_batch_size")
        merger.groups = batch if self.design.groups_tell else None
        if merger.learned:
            return
        given = count_of(self.args, "num_steps_per_rollout")
        samples, size = count_of(self.args, "n_samples_per_prompt"), count_of(self.args, "global_batch_size")
        if given:
            merger.planned = given
        elif batch and samples and size:
            merger.planned = batch * samples // size or None

    def _note_alerts(self, change: Change) -> None:
        shown = (len(self.alerts), list(map(_SAYS, self.alerts[-64:])), list(self.judge.states.values()))
        if shown != self._alerts_before:
            self._alerts_before = shown
            change.alerts = change.header = True


def _is_twin(record: Record, before: Record) -> bool:
    """Whether a line is the one of the same number before it printed again, as Megatron does with every update."""
    same = record.metrics is before.metrics  # the reader gives twins one dict
    return record.kind == before.kind and record.source == before.source and (same or record.metrics == before.metrics)
