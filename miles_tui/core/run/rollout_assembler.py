"""Records of one rollout come from several lines and processes: merge them, and say when a rollout is known.

    perf N (rollout side) -> rollout N -> step N*k .. N*k+k-1 -> perf N (train side)

Two producers print `perf N` with disjoint keys. In async training the rollout side is one ahead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from miles_tui.core.model.records import Record, Source
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.run.design import NONE
from miles_tui.core.run.line_schema import Layout, Layouts, as_floats
from miles_tui.core.run.update_means import MOST_MEANS, Means

MOST_VALUE = 1e100  # beyond it a value is infinite to the rules, whose squares must not overflow
ALONE_ROLLOUTS = 3  # rollouts on the rollout side after which a trainer that was never heard is no longer waited for
# How many rollouts may be open at once: async runs have two or three, one with a deep queue ten, a log
# without closing lines as many as it likes.
MOST_OPEN = 32

Ready = list[tuple[Stage, Rollout]]


@dataclass(slots=True)
class Open:
    """A rollout that may still grow: its updates, and which name each signal came from."""

    rollout: Rollout
    updates: Means = field(default_factory=Means)
    place_of: dict[str, int] = field(default_factory=dict)  # signal -> place of its name in Signal.log_names
    begun: bool = False  # the trainer's `rollout N` line was seen: updates that follow are its own
    over: bool = False  # the trainer's `perf N` line was seen after its updates
    sampled: bool = False  # handed out at that stage


@dataclass(slots=True)
class Merged:
    """What a record changed: the rollout, the values set there, and the rollouts that reached a stage.

    `metrics` has the names of `layout`, in its order; it may be the record's own dict, and is not to be changed.
    """

    rollout: Rollout
    layout: Layout
    metrics: dict[str, float]
    signals: dict[str, float]
    ready: Ready
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
        self.design = NONE  # values that it fixes are none to the rules
        self.attempt = 1
        self.started = 0
        self.names: dict[str, str] = {}  # signal -> the log name that it came from last
        self.layouts = Layouts()
        self._open: dict[int, Open] = {}  # the newest rollouts
        self._growing: dict[int, Open] = {}  # those of them that have not reached the last stage
        self._training: int | None = None  # the trainer's last `rollout N`
        self._critics: set[Source] = set()
        self._guessed = -1  # the highest rollout number taken from an update number without knowing k
        self._updates_logged = False
        self._trainer_heard = False
        self._done = -1  # the highest rollout of this attempt that reached the last stage
        self._update = -1  # the highest update of this attempt

    def restart(self) -> Ready:
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

    def rollout_of(self, record: Record, layout: Layout) -> int:
        """The rollout that a record belongs to."""
        if not layout.update:
            return record.number
        at = self._training
        if at is None:
            return record.number // (self.planned or 1)
        entry = self._open.get(at)
        if entry is not None and entry.over and record.number not in entry.updates:
            return max(at + 1, record.number // (self.planned or 1))  # its `rollout` line was lost
        return at

    def take(self, record: Record, layout: Layout) -> Merged:
        """Put a record of the current attempt in its place; `layout` is what `layouts` has for it."""
        number = self.rollout_of(record, layout) if layout.update else record.number
        metrics = as_floats(record.metrics)
        if record.kind == "eval":
            return Merged(Rollout(number, self.attempt), layout, metrics, {}, [])
        ready: Ready = []
        unsure = self._training is None or self._guessed >= 0
        forget = self._correct_guess(number, layout) if unsure else None
        critic = record.critic or layout.critic or (layout.update and self._is_critic(record))
        if record.kind == "rollout" and not critic:
            self._begin_training(number, ready)
        entry = self._open.get(number) or self._begin(number)
        rollout = entry.rollout
        if critic:
            metrics = {named: value for name, value in metrics.items() if (named := _as_critics(name))}
            layout = self.layouts.of(record.kind, metrics)
        elif record.kind == "step":
            metrics = self._update_values(entry, record.number, metrics)
        known = rollout.metrics
        known.update(metrics if len(known) + len(metrics) <= MOST_MEANS else _as_many_as_fit(known, metrics))
        signals = {} if critic else self._signals(entry, layout, metrics)
        rollout.planned_updates = self.planned
        if record.time is not None:
            rollout.time = record.time
        if not critic:
            self._advance(entry, record.kind, layout.train_side, ready)
        if len(self._open) > MOST_OPEN:
            self._drop_oldest(ready)
        return Merged(rollout, layout, metrics, signals, ready, forget)

    def close_all(self) -> Ready:
        """Hand out every open rollout: nothing more comes."""
        ready: Ready = []
        self._close(math.inf, ready)
        return ready

    # -- where a record belongs ------------------------------------------------------------

    def _begin(self, number: int) -> Open:
        entry = Open(Rollout(number, self.attempt, self.started, planned_updates=self.planned, groups=self.groups))
        self._open[number] = entry
        if number > self._done:
            self.started += 1
            self._growing[number] = entry
        else:  # printed again, long after it was judged: its values may change, its judgement not
            entry.sampled = True
        return entry

    def _is_critic(self, record: Record) -> bool:
        """Whether an update is a critic's: by its kind, or by a process that such a kind came from."""
        if record.kind == "step":
            return bool(self._critics) and record.source in self._critics
        if record.source.pid:
            self._critics.add(record.source)
        return True

    def _correct_guess(self, number: int, layout: Layout) -> int | None:
        """Without k an update's number is taken as its rollout's; a lower `rollout N` shows that it was not."""
        if layout.update:
            if self._training is None and self.planned is None:
                self._guessed = max(self._guessed, number)
            return None
        if self._guessed <= number or not layout.train_side:
            return None
        self._guessed = -1
        self._done = min(self._done, number)
        for wrong in [n for n in self._open if n > number]:
            del self._open[wrong]
            self._growing.pop(wrong, None)
        return number + 1

    def _begin_training(self, number: int, ready: Ready) -> None:
        """The trainer begins rollout `number`: the one before is over."""
        before = self._training
        if before is not None and before != number and before in self._open:
            self._learn(len(self._open[before].updates))
        self._training = number
        self._close(number, ready)

    def _learn(self, updates: int) -> None:
        if updates:
            self.planned, self.learned = updates, True

    # -- values ----------------------------------------------------------------------------

    def _update_values(self, entry: Open, update: int, metrics: dict[str, float]) -> dict[str, float]:
        """An update's metrics as the means over its rollout's updates so far."""
        updates, rollout = entry.updates, entry.rollout
        if not updates and self._is_first(entry, update):
            rollout.first = metrics if "clip fraction" not in self.design.meanings else {}
        self._update = max(self._update, update)
        means = updates.take(update, metrics)
        rollout.updates = len(updates)
        return means

    def _is_first(self, entry: Open, update: int) -> bool:
        """Whether this update is surely its rollout's first: lines get lost, and logs begin anywhere."""
        if self.planned is not None and update == entry.rollout.number * self.planned:
            return True
        return entry.begun and (update == self._update + 1 or (self._update < 0 and not self._updates_logged))

    def _signals(self, entry: Open, layout: Layout, metrics: dict[str, float]) -> dict[str, float]:
        """The signals among these metrics. A name earlier in `Signal.log_names` beats a later one."""
        out: dict[str, float] = {}
        place_of, names, values = entry.place_of, self.names, entry.rollout.values
        for signal, name, place in layout.signals or self.layouts.signals(layout):
            if place is not None:
                if place > place_of.get(signal, place):
                    continue
                place_of[signal] = place
            names[signal] = name
            out[signal] = value = metrics[name]
            if self.design is not NONE and not self.design.measures(signal, value):
                continue
            values[signal] = math.copysign(math.inf, value) if abs(value) >= MOST_VALUE else value
        return out

    # -- stages ----------------------------------------------------------------------------

    def _advance(self, entry: Open, kind: str, train_side: bool, ready: Ready) -> None:
        number = entry.rollout.number
        self._trainer_heard |= train_side
        if kind == "step":
            self._updates_logged = True
            self._close(number, ready)
            self._sample(entry, ready)
            # Of several models each prints its own line of an update: the rollout's end tells that all did.
            if self.planned is not None and len(entry.updates) >= self.planned and not self.layouts.namespace:
                self._finish(entry, ready)
        elif kind == "rollout":
            entry.begun = True
            self._sample(entry, ready)
        elif kind == "perf" and not train_side:  # it may be ahead of the trainer, which closes its rollouts itself
            if not self._trainer_heard:
                self._close(number - ALONE_ROLLOUTS, ready)
        elif kind == "perf":
            # Without updates this line is a failed try of a fault-tolerant trainer: the rollout goes on.
            entry.over = bool(entry.updates)
            if entry.over and self._training == number:
                self._learn(len(entry.updates))
                entry.rollout.planned_updates = self.planned
            self._close(number + 1 if entry.over or not self._updates_logged else number, ready)

    def _close(self, below: float, ready: Ready) -> None:
        """The rollouts below a number are over: hand them out in their order."""
        over = [n for n in self._growing if n < below]
        if over:
            for n in sorted(over):
                self._finish(self._growing[n], ready)

    def _sample(self, entry: Open, ready: Ready) -> None:
        if not entry.sampled:
            entry.sampled = True
            ready.append((Stage.SAMPLED, entry.rollout))

    def _finish(self, entry: Open, ready: Ready) -> None:
        number = entry.rollout.number
        if self._growing.pop(number, None) is not None:
            self._done = max(self._done, number)
            self._sample(entry, ready)
            ready.append((Stage.TRAINED, entry.rollout))

    def _drop_oldest(self, ready: Ready) -> None:
        """Rollouts stay open until newer ones push them out: a retried one is printed again, `perf` lines come late."""
        while len(self._open) > MOST_OPEN:
            oldest = min(self._open)
            self._finish(self._open.pop(oldest), ready)


def _as_critics(name: str) -> str:
    """A critic's metric by a name of its own (Miles's `train/critic-...`), or "" where it says nothing of it."""
    if "critic" in name:
        return name
    family, _, rest = name.rpartition("train/")
    return f"{family}train/critic-{rest}" if rest and rest != "step" and rest != name else ""


def _as_many_as_fit(known: dict[str, float], metrics: dict[str, float]) -> dict[str, float]:
    """The metrics that are known, and of the others as many as `MOST_MEANS` leave room for."""
    fresh = [name for name in metrics if name not in known]
    left_out = set(fresh[max(MOST_MEANS - len(known), 0) :])
    return {name: value for name, value in metrics.items() if name not in left_out}
