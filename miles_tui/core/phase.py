"""What the run does now: rollout, training, weight update, ..., from its Timer lines and records."""

from __future__ import annotations

from dataclasses import dataclass, field

from miles_tui.core.records import Fact, FactKind, Record

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


@dataclass(slots=True)
class Phase:
    """The phase and since when (seconds of the log's clock); `timers` are started and not ended, outermost first."""

    name: str = "starting"
    since: float | None = None
    timers: dict[str, float | None] = field(default_factory=dict)
    done: int | None = None  # of the generation bar, where the log prints it
    total: int | None = None

    @property
    def open_timer(self) -> str | None:
        """The innermost timer that was started and has not ended."""
        return next(reversed(self.timers), None)

    def see_record(self, record: Record, train_side: bool) -> None:
        """A record says which phase it closes: the rollout side's `perf` is followed by training and so on."""
        if record.kind == "perf":
            self._enter("rollout" if train_side else "training", record.time)
            self.timers.clear()
        elif record.kind == "rollout":
            self._enter("training", record.time)

    def see_fact(self, fact: Fact) -> bool:
        """Whether a Timer line or the generation bar changed what is shown."""
        before = (self.name, self.open_timer, self.done)
        if fact.kind is FactKind.TIMER_START:
            self.timers.pop(fact.text, None)
            self.timers[fact.text] = fact.time
            if fact.text in PHASES:
                self._enter(PHASES[fact.text], fact.time)
        elif fact.kind is FactKind.TIMER_END:
            self.timers.pop(fact.text, None)
            outer = next((PHASES[name] for name in reversed(self.timers) if name in PHASES), None)
            if outer is not None:
                self._enter(outer, fact.time)
        elif fact.kind is FactKind.PROGRESS:
            self.done, self.total = int(fact.data["done"]), int(fact.data["total"])
        return before != (self.name, self.open_timer, self.done)

    def _enter(self, name: str, time: float | None) -> None:
        if name != self.name:
            self.name, self.since, self.done, self.total = name, time, None, None
