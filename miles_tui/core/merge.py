"""Records of one rollout come from several lines and processes: merge them, and say when a rollout is known.

    perf N (rollout side) -> rollout N -> step N*k .. N*k+k-1 -> perf N (train side)

Two producers print `perf N` with disjoint keys. In async training the rollout side is one ahead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from miles_tui.core.records import Record, Source
from miles_tui.core.rollouts import Rollout, Stage
from miles_tui.core.signals import SIGNALS

TRAIN_SIDE = frozenset(
    f"perf/{name}_time" for name in ("train", "step", "train_wait", "actor_train", "log_probs", "total_train")
)
_NAMESPACED = tuple(f"/{name}" for name in TRAIN_SIDE)
# log name -> (signal, place of that name in `Signal.log_names`)
_PLACES = {name: (s.name, place) for s in SIGNALS for place, name in enumerate(s.log_names)}
MOST_NAMES = 4096  # namespaced names whose meaning is remembered
# How many rollouts may be open at once: async runs have two or three, a log without closing lines as
# many as it likes.
MOST_OPEN = 8
MOST_UPDATES = 4096  # updates of one rollout that are kept for its mean


def is_update(kind: str) -> bool:
    """Whether the number of a line of this kind counts optimizer updates."""
    return kind == "step" or kind.endswith("-step")


def is_train_side(record: Record) -> bool:
    """Whether the trainer printed this record (the rollout side prints its own `perf` lines)."""
    if record.kind == "perf":
        return not TRAIN_SIDE.isdisjoint(record.metrics) or any(n.endswith(_NAMESPACED) for n in record.metrics)
    return record.kind == "rollout" or is_update(record.kind)


def prefix_of(name: str) -> str:
    """The part before `rollout/`, `train/` or `perf/` in a namespaced metric (`alpha/train/loss`), or ""."""
    for family in ("rollout/", "train/", "perf/"):
        at = name.find(family)
        if at == 0:
            return ""
        if at > 0 and name[at - 1] == "/":
            return name[:at]
    return ""


@dataclass(slots=True)
class Open:
    """A rollout that may still grow: its metrics by update, and which name each signal came from."""

    rollout: Rollout
    by_update: dict[int, dict[str, float]] = field(default_factory=dict)
    rank_of: dict[str, int] = field(default_factory=dict)  # signal -> place of its name in Signal.log_names
    over: bool = False  # the trainer's `perf N` line was seen after its updates
    sampled: bool = False  # handed out at that stage
    trained: bool = False


@dataclass(slots=True)
class Merged:
    """What a record changed: the rollout, the values set there, and the rollouts that reached a stage."""

    rollout: Rollout
    signals: dict[str, float]
    metrics: dict[str, float]
    ready: list[tuple[Stage, Rollout]]
    forget_from: int | None = None  # rollouts from here on were guessed from update numbers, and wrong


class Merger:
    """Merges records into rollouts; hands out each rollout once a stage, in the order of the run.

    `planned` is k, the updates a rollout: from the printed arguments, or learned from the lines
    (the updates between a `rollout` line and the trainer's `perf` line or the next `rollout` line),
    None while unknown. The lines win over the arguments: k can vary.
    """

    def __init__(self) -> None:
        self.planned: int | None = None
        self.learned = False
        self.attempt = 1
        self.started = 0
        self._open: dict[int, Open] = {}
        self._training: int | None = None  # the trainer's last `rollout N`
        self._critics: set[Source] = set()
        self.names: dict[str, str] = {}  # signal -> the log name that it came from last
        self._namespace = ""
        self._meanings: dict[str, tuple[str, int] | None] = {}
        self._guessed = -1  # the highest rollout number taken from an update number without knowing k
        self._updates_logged = False

    def restart(self) -> list[tuple[Stage, Rollout]]:
        """A new attempt begins: what is still open is closed and handed out."""
        ready = self.close_all()
        self._open.clear()
        self.attempt += 1
        self.started = 0
        self._training = None
        self._guessed = -1
        self._critics.clear()
        return ready

    def rollout_of(self, record: Record) -> int:
        """The rollout that a record belongs to."""
        if not is_update(record.kind):
            return record.number
        at = self._training
        if at is None:
            return record.number // (self.planned or 1)
        entry = self._open.get(at)
        if entry is not None and entry.over and record.number not in entry.by_update:
            return max(at + 1, record.number // (self.planned or 1))  # its `rollout` line was lost
        return at

    def take(self, record: Record, train_side: bool) -> Merged:
        """Put a record of the current attempt in its place; `train_side` as `is_train_side` says."""
        number = self.rollout_of(record)
        ready: list[tuple[Stage, Rollout]] = []
        forget = self._correct_guess(record, number, train_side)
        if record.kind == "rollout":
            ready = self._begin_training(number)
        critic = self._is_critic(record)
        entry = self._entry(number)
        signals = {} if critic else self._signals(entry, record)
        metrics = self._metrics(entry, record, critic)
        entry.rollout.planned_updates = self.planned
        ready += self._advance(entry, record, critic, train_side)
        return Merged(entry.rollout, signals, metrics, ready, forget)

    def close_all(self) -> list[tuple[Stage, Rollout]]:
        """Hand out every open rollout: nothing more comes."""
        return self._hand_out(sorted(self._open), last=True)

    # -- where a record belongs ------------------------------------------------------------

    def _entry(self, number: int) -> Open:
        entry = self._open.get(number)
        if entry is None:
            entry = Open(Rollout(number, self.attempt, self.started, planned_updates=self.planned))
            self.started += 1
            self._open[number] = entry
        return entry

    def _is_critic(self, record: Record) -> bool:
        if record.kind.endswith("-step"):
            if record.source.pid:
                self._critics.add(record.source)
            return True
        return record.kind == "step" and record.source in self._critics

    def _correct_guess(self, record: Record, number: int, train_side: bool) -> int | None:
        """Without k an update's number is taken as its rollout's; a lower `rollout N` shows that it was not."""
        if is_update(record.kind):
            if self._training is None and self.planned is None:
                self._guessed = max(self._guessed, number)
            return None
        if self._guessed <= number or record.kind == "eval" or not train_side:
            return None
        self._guessed = -1
        for wrong in [n for n in self._open if n > number]:
            del self._open[wrong]
        return number + 1

    def _begin_training(self, number: int) -> list[tuple[Stage, Rollout]]:
        """The trainer begins rollout `number`: the one before is over."""
        before = self._training
        if before is not None and before != number and before in self._open:
            self._learn(len(self._open[before].by_update))
        self._training = number
        return self._hand_out([n for n in sorted(self._open) if n < number], last=True)

    def _learn(self, updates: int) -> None:
        if updates:
            self.planned, self.learned = updates, True

    # -- values ----------------------------------------------------------------------------

    def _signals(self, entry: Open, record: Record) -> dict[str, float]:
        """The signals that this record sets. A name earlier in `Signal.log_names` beats a later one."""
        out: dict[str, float] = {}
        if record.kind == "eval":
            return out
        for name, value in record.metrics.items():
            known = _PLACES.get(name) or (self._namespaced(name) if name.count("/") > 1 else None)
            if known is None:
                continue
            signal, place = known
            if place > entry.rank_of.get(signal, place):
                continue
            entry.rank_of[signal] = place
            self.names[signal] = name
            out[signal] = float(value)
        if record.kind == "step" and out:
            out = {name: self._mean_with(entry, record, name, value) for name, value in out.items()}
        entry.rollout.values.update(out)
        return out

    def _namespaced(self, name: str) -> tuple[str, int] | None:
        """The signal of `alpha/train/grad_norm`, where alpha is the first of several models in one run."""
        if name in self._meanings:
            return self._meanings[name]
        prefix = prefix_of(name)
        known = _PLACES.get(name.removeprefix(prefix)) if prefix else None
        if known is not None:
            self._namespace = self._namespace or prefix
            known = known if prefix == self._namespace else None
        if len(self._meanings) < MOST_NAMES:
            self._meanings[name] = known
        return known

    def _mean_with(self, entry: Open, record: Record, signal: str, value: float) -> float:
        """The mean of a signal over the updates of the rollout, this one included."""
        key = f"\0{signal}"  # beside the metrics of the update, where no log name can be
        if len(entry.by_update) < MOST_UPDATES or record.number in entry.by_update:
            entry.by_update.setdefault(record.number, {})[key] = value
        values = [update[key] for update in entry.by_update.values() if key in update]
        return sum(values) / len(values) if values else value

    def _metrics(self, entry: Open, record: Record, critic: bool) -> dict[str, float]:
        """All metrics by log name, updates as their mean."""
        if not is_update(record.kind):
            out = {name: float(value) for name, value in record.metrics.items()}
        elif critic:
            out = {name: float(v) for name, v in record.metrics.items() if "critic" in name}
        else:
            updates = entry.by_update
            if len(updates) < MOST_UPDATES or record.number in updates:
                updates.setdefault(record.number, {}).update((n, float(v)) for n, v in record.metrics.items())
            entry.rollout.updates = len(updates)
            if record.number == min(updates, default=record.number):
                entry.rollout.first = {name: float(v) for name, v in record.metrics.items()}
            out = {}
            for name, value in record.metrics.items():
                values = [u[name] for u in updates.values() if name in u] if len(updates) > 1 else [float(value)]
                out[name] = sum(values) / len(values) if values else float(value)
        entry.rollout.metrics.update(out)
        if record.time is not None and record.kind != "eval":
            entry.rollout.time = record.time
        return out

    # -- stages ----------------------------------------------------------------------------

    def _advance(self, entry: Open, record: Record, critic: bool, train_side: bool) -> list[tuple[Stage, Rollout]]:
        number = entry.rollout.number
        if record.kind == "eval" or critic:
            return self._overflow()
        if record.kind == "perf" and train_side:
            # Without updates this line is a failed try of a fault-tolerant trainer: the rollout goes on.
            entry.over = bool(entry.by_update)
            if entry.over and self._training == number:
                self._learn(len(entry.by_update))
                entry.rollout.planned_updates = self.planned
            over = entry.over or not self._updates_logged
            return self._hand_out([n for n in sorted(self._open) if n < number + over], last=True)
        if record.kind == "step":
            self._updates_logged = True
            ready = self._hand_out([n for n in sorted(self._open) if n < number], last=True)
            whole = self.planned is not None and len(entry.by_update) >= self.planned
            return ready + self._hand_out([number], last=False, trained=whole)
        if record.kind == "rollout":
            return self._hand_out([number], last=False)
        if record.kind == "perf":  # the rollout side: at most one ahead of the trainer
            return self._hand_out([n for n in sorted(self._open) if n <= number - 2], last=True)
        return self._overflow()

    def _overflow(self) -> list[tuple[Stage, Rollout]]:
        over = sorted(self._open)[: max(0, len(self._open) - MOST_OPEN)]
        return self._hand_out(over, last=True) if over else []

    def _hand_out(self, numbers: Iterable[int], *, last: bool, trained: bool = False) -> list[tuple[Stage, Rollout]]:
        """Mark stages as reached; with `last` the rollouts are over and leave."""
        ready: list[tuple[Stage, Rollout]] = []
        for number in numbers:
            entry = self._open.get(number)
            if entry is None:
                continue
            if not entry.sampled and (entry.rollout.values or entry.rollout.metrics):
                entry.sampled = True
                ready.append((Stage.SAMPLED, entry.rollout))
            if (last or trained) and not entry.trained and entry.sampled:
                entry.trained = True
                ready.append((Stage.TRAINED, entry.rollout))
        # Rollouts that are over stay until newer ones push them out: the trainer's `perf` line may
        # follow, and a retried rollout is printed again.
        if len(self._open) > MOST_OPEN:
            for number in sorted(self._open)[:-MOST_OPEN]:
                if self._open[number].trained:
                    del self._open[number]
        return ready
