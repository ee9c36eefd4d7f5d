"""Records of one rollout come from several lines and processes: merge them, and say when a rollout is known.

    perf N (rollout side) -> rollout N -> step N*k .. N*k+k-1 -> perf N (train side)

Two producers print `perf N` with disjoint keys. In async training the rollout side is one ahead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
MOST_VALUE = 1e100  # beyond it a value is infinite to the rules, whose squares must not overflow
ALONE = 3  # rollouts on the rollout side after which a trainer that was never heard is no longer waited for
MOST_NAMES = 4096  # namespaced names whose meaning is remembered
# How many rollouts may be open at once: async runs have two or three, one with a deep queue ten, a log
# without closing lines as many as it likes.
MOST_OPEN = 32
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
    by_update: dict[int, Mapping[str, float]] = field(default_factory=dict)
    place_of: dict[str, int] = field(default_factory=dict)  # signal -> place of its name in Signal.log_names
    begun: bool = False  # the trainer's `rollout N` line was seen: updates that follow are its own
    over: bool = False  # the trainer's `perf N` line was seen after its updates
    sampled: bool = False  # handed out at that stage


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
        self.groups: int | None = None  # prompts a rollout, where the arguments tell
        self.attempt = 1
        self.started = 0
        self.names: dict[str, str] = {}  # signal -> the log name that it came from last
        self._open: dict[int, Open] = {}  # the newest rollouts
        self._growing: dict[int, Open] = {}  # those of them that have not reached the last stage
        self._training: int | None = None  # the trainer's last `rollout N`
        self._critics: set[Source] = set()
        self._namespace = ""
        self._meanings: dict[str, tuple[str, int] | None] = {}
        self._guessed = -1  # the highest rollout number taken from an update number without knowing k
        self._updates_logged = False
        self._trainer_heard = False
        self._done = -1  # the highest rollout of this attempt that reached the last stage
        self._update = -1  # the highest update of this attempt

    def restart(self) -> list[tuple[Stage, Rollout]]:
        """A new attempt begins: what is still open is closed and handed out."""
        ready = self.close_all()
        self._open.clear()
        self.attempt += 1
        self.started = 0
        self._training = None
        self._guessed = self._done = self._update = -1
        self._trainer_heard = False
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
        if record.kind == "eval":
            return Merged(Rollout(number, self.attempt), {}, _floats(record.metrics), [])
        ready: list[tuple[Stage, Rollout]] = []
        forget = self._correct_guess(record, number, train_side)
        if record.kind == "rollout":
            ready = self._begin_training(number)
        critic = self._is_critic(record)
        entry = self._entry(number)
        metrics = self._metrics(entry, record, critic)
        signals = {} if critic else self._signals(entry, metrics)
        entry.rollout.planned_updates = self.planned
        if record.time is not None:
            entry.rollout.time = record.time
        if not critic:
            ready += self._advance(entry, record, train_side)
        if len(self._open) > MOST_OPEN:
            ready += self._drop_oldest()
        return Merged(entry.rollout, signals, metrics, ready, forget)

    def close_all(self) -> list[tuple[Stage, Rollout]]:
        """Hand out every open rollout: nothing more comes."""
        return self._close(None)

    # -- where a record belongs ------------------------------------------------------------

    def _entry(self, number: int) -> Open:
        entry = self._open.get(number)
        if entry is None:
            entry = Open(Rollout(number, self.attempt, self.started, planned_updates=self.planned, groups=self.groups))
            self._open[number] = entry
            if number > self._done:
                self.started += 1
                self._growing[number] = entry
            else:  # printed again, long after it was judged: its values may change, its judgement not
                entry.sampled = True
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
        if self._guessed <= number or not train_side:
            return None
        self._guessed = -1
        self._done = min(self._done, number)
        for wrong in [n for n in self._open if n > number]:
            del self._open[wrong]
            self._growing.pop(wrong, None)
        return number + 1

    def _begin_training(self, number: int) -> list[tuple[Stage, Rollout]]:
        """The trainer begins rollout `number`: the one before is over."""
        before = self._training
        if before is not None and before != number and before in self._open:
            self._learn(len(self._open[before].by_update))
        self._training = number
        return self._close(number)

    def _learn(self, updates: int) -> None:
        if updates:
            self.planned, self.learned = updates, True

    # -- values ----------------------------------------------------------------------------

    def _metrics(self, entry: Open, record: Record, critic: bool) -> dict[str, float]:
        """The record's metrics by log name as numbers; of an update, the means over the rollout's updates."""
        out = _floats(record.metrics)
        if critic:
            out = {name: value for name, value in out.items() if "critic" in name}
        elif record.kind == "step":
            updates, rollout = entry.by_update, entry.rollout
            if not updates and self._is_first(entry, record.number):
                rollout.first = out
            self._update = max(self._update, record.number)
            if len(updates) < MOST_UPDATES or record.number in updates:
                updates[record.number] = {**updates.get(record.number, {}), **out}
            rollout.updates = len(updates)
            if len(updates) > 1:
                out = {name: _mean(updates, name) for name in out}
        entry.rollout.metrics.update(out)
        return out

    def _is_first(self, entry: Open, update: int) -> bool:
        """Whether this update is surely its rollout's first: lines get lost, and logs begin anywhere."""
        if self.planned is not None and update == entry.rollout.number * self.planned:
            return True
        return entry.begun and (update == self._update + 1 or (self._update < 0 and not self._updates_logged))

    def _signals(self, entry: Open, metrics: dict[str, float]) -> dict[str, float]:
        """The signals among these metrics. A name earlier in `Signal.log_names` beats a later one."""
        out: dict[str, float] = {}
        for name, value in metrics.items():
            known = _PLACES.get(name) or (self._namespaced(name) if name.count("/") > 1 else None)
            if known is None:
                continue
            signal, place = known
            if place > entry.place_of.get(signal, place):
                continue
            entry.place_of[signal] = place
            self.names[signal] = name
            out[signal] = value
        for signal, value in out.items():
            entry.rollout.values[signal] = value if abs(value) < MOST_VALUE else math.copysign(math.inf, value)
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

    # -- stages ----------------------------------------------------------------------------

    def _advance(self, entry: Open, record: Record, train_side: bool) -> list[tuple[Stage, Rollout]]:
        number = entry.rollout.number
        self._trainer_heard |= train_side
        if record.kind == "step":
            self._updates_logged = True
            ready = self._close(number) + self._sample(entry)
            # Of several models each prints its own line of an update: the rollout's end tells that all did.
            whole = self.planned is not None and len(entry.by_update) >= self.planned and not self._namespace
            return ready + (self._finish(entry) if whole else [])
        if record.kind == "rollout":
            entry.begun = True
            return self._sample(entry)
        if record.kind != "perf":
            return []
        if not train_side:  # it may be ahead of the trainer, which closes its rollouts itself
            return [] if self._trainer_heard else self._close(number - ALONE)
        # Without updates this line is a failed try of a fault-tolerant trainer: the rollout goes on.
        entry.over = bool(entry.by_update)
        if entry.over and self._training == number:
            self._learn(len(entry.by_update))
            entry.rollout.planned_updates = self.planned
        return self._close(number + 1 if entry.over or not self._updates_logged else number)

    def _close(self, below: int | None) -> list[tuple[Stage, Rollout]]:
        """The rollouts below a number (all without one) are over: hand them out in their order."""
        over = [n for n in self._growing if below is None or n < below]
        if not over:
            return []
        return [step for n in sorted(over) for step in self._finish(self._growing[n])]

    def _sample(self, entry: Open) -> list[tuple[Stage, Rollout]]:
        if entry.sampled:
            return []
        entry.sampled = True
        return [(Stage.SAMPLED, entry.rollout)]

    def _finish(self, entry: Open) -> list[tuple[Stage, Rollout]]:
        if self._growing.pop(entry.rollout.number, None) is None:
            return []
        self._done = max(self._done, entry.rollout.number)
        return [*self._sample(entry), (Stage.TRAINED, entry.rollout)]

    def _drop_oldest(self) -> list[tuple[Stage, Rollout]]:
        """Rollouts stay open until newer ones push them out: a retried one is printed again, `perf` lines come late."""
        oldest = sorted(self._open)[:-MOST_OPEN]
        ready = [step for n in oldest for step in self._finish(self._open[n])]
        for number in oldest:
            del self._open[number]
        return ready


def _floats(metrics: Mapping[str, float | int]) -> dict[str, float]:
    """The metrics as floats; an integer beyond them is infinite."""
    out: dict[str, float] = {}
    for name, value in metrics.items():
        if type(value) is not float:
            try:
                value = float(value)
            except OverflowError:
                value = math.inf if value > 0 else -math.inf
        out[name] = value
    return out


def _mean(updates: Mapping[int, Mapping[str, float]], name: str) -> float:
    values = [update[name] for update in updates.values() if name in update]
    return sum(values) / len(values)
