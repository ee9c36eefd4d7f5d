"""What the run does now: rollout, training, weight update, ..., from its Timer lines and records."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from miles_tui.core.model.records import Event, EventKind, Record
from miles_tui.core.stats.robust import median

# Timer names -> the phase a person thinks in. A timer that is not here is inside one of these.
PHASES = {
    "rollout": "rollout",
    "data_preprocess": "training",
    "train": "training",
    "log_probs": "scoring",
    "ref_log_probs": "scoring",
    "actor_train": "training",
    "critic_train": "training",
    "update_weights": "weight update",
    "save_model": "saving",
    "sleep": "sleep",
    "wake_up": "wake-up",
    "eval": "evaluation",
}
RECENT_STRETCHES = 15  # lengths of a stretch that its usual length is the median of
STRETCHES = {"rollout": "rollout", "train": "training"}  # timer -> the stretch that records tell of too
MOST_STRETCHES = 64  # kinds of them: a log can invent timers
MOST_TIMERS = 64  # that are open: one inside the other


@dataclass(slots=True)
class Phase:
    """The phase and since when (seconds of the log's clock); `timers` are started and not ended, outermost first.

    A stretch is what a phase's usual end is told from: from a timer's start to its end. The two long ones, rollout
    and training, are also told by the records around them: those are read always, timers only of a live log.
    """

    name: str = "starting"
    since: float | None = None
    timers: dict[str, float | None] = field(default_factory=dict)
    done: int | None = None  # of the generation bar, where the log prints it
    total: int | None = None
    _stretch: tuple[str, float | None] = ("", None)  # the one that goes on now: its name, and since when
    _lengths: dict[str, deque[float]] = field(default_factory=dict)

    @property
    def usual_end(self) -> float | None:
        """When the present stretch usually ends, by the log's clock; None where that is not known yet."""
        name, since = self._stretch
        lengths = self._lengths.get(name, ())
        return since + median(lengths) if since is not None and len(lengths) >= 2 else None

    @property
    def open_timer(self) -> str | None:
        """The innermost timer that was started and has not ended."""
        return next(reversed(self.timers), None)

    def see_record(self, record: Record, train_side: bool) -> None:
        """A record says which phase it closes: the rollout side's `perf` is followed by training and so on."""
        if record.kind == "perf":
            self._follow("rollout" if train_side else "training", "train" if train_side else "rollout", record.time)
            if self.timers:
                self.timers.clear()
        elif record.kind == "rollout":
            self._follow("training", "rollout", record.time)

    def see_fact(self, fact: Event) -> bool:
        """Whether a Timer line or the generation bar changed what is shown."""
        before = (self.name, self.open_timer, self.done)
        if fact.kind is EventKind.TIMER_START:
            self.timers.pop(fact.text, None)
            if len(self.timers) >= MOST_TIMERS:
                del self.timers[next(iter(self.timers))]
            self.timers[fact.text] = fact.time
            if fact.text in PHASES:
                self._enter(PHASES[fact.text], fact.time)
                self._stretch = (_stretch_of(fact.text), fact.time)
        elif fact.kind is EventKind.TIMER_END:
            self._note(_stretch_of(fact.text), self.timers.pop(fact.text, None), fact.time)
            self._stretch = ("", None)
            outer = next((name for name in reversed(self.timers) if name in PHASES), None)
            if outer is not None:
                self._enter(PHASES[outer], fact.time)
                self._stretch = (_stretch_of(outer), self.timers[outer])
        elif fact.kind is EventKind.PROGRESS:
            self.done, self.total = int(fact.data["done"]), int(fact.data["total"])
        return before != (self.name, self.open_timer, self.done)

    def _follow(self, name: str, timer: str, time: float | None) -> None:
        """A record: the stretch of `timer` is over, and `name` goes on until the next record or a timer says more."""
        done = STRETCHES[timer]
        before, since = self._stretch
        if before != name:
            self._note(done, self.timers.get(timer, since if before == done else None), time)
            self._stretch = (name, time)
        if name != self.name:
            self._enter(name, time)

    def _note(self, stretch: str, since: float | None, until: float | None) -> None:
        if since is None or until is None or until <= since:
            return
        lengths = self._lengths.get(stretch)
        if lengths is None:
            if len(self._lengths) >= MOST_STRETCHES:
                return
            lengths = self._lengths[stretch] = deque(maxlen=RECENT_STRETCHES)
        lengths.append(until - since)

    def _enter(self, name: str, time: float | None) -> None:
        if name != self.name:
            self.name, self.since, self.done, self.total = name, time, None, None


def _stretch_of(timer: str) -> str:
    return STRETCHES.get(timer, f"timer {timer}")
