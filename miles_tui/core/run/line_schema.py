"""What the kind and the names of a metric line mean, worked out once for all lines that have the same ones.

The lines of a kind have nearly always the names of the one before: looking a whole line's names up at once costs
0.4 µs, asking each of twelve names for its signal ten times that.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from miles_tui.core.model.series import Series
from miles_tui.core.model.signals import SIGNALS

TRAIN_SIDE = frozenset(
    f"perf/{name}_time" for name in ("train", "step", "train_wait", "actor_train", "log_probs", "total_train")
)
_NAMESPACED = tuple(f"/{name}" for name in TRAIN_SIDE)
NameRole = tuple[str, str, int | None]
# log name -> (signal, place of that name in `Signal.log_names`; None where it is the only one)
_PLACES = {
    name: (s.name, place if len(s.log_names) > 1 else None) for s in SIGNALS for place, name in enumerate(s.log_names)
}
MOST_SCHEMA_NAMES = (
    1 << 14
)  # names of all layouts that are remembered: names can hold numbers, and be other ones in each line


def is_update(kind: str) -> bool:
    """Whether the number of a line of this kind counts optimizer updates."""
    return kind == "step" or kind.endswith("-step")


def is_train_side(kind: str, names: Collection[str]) -> bool:
    """Whether the trainer printed a line of this kind and names (the rollout side prints its own `perf` lines)."""
    if kind == "perf":
        return not TRAIN_SIDE.isdisjoint(names) or any(name.endswith(_NAMESPACED) for name in names)
    return kind == "rollout" or is_update(kind)


def is_value_model(names: Collection[str]) -> bool:
    """Whether an update of these names is a critic's: it has the loss of values, and no policy's."""
    return any(n.endswith("train/value_loss") for n in names) and not any(n.endswith("train/pg_loss") for n in names)


def prefix_of(name: str) -> str:
    """The part before `rollout/`, `train/` or `perf/` in a namespaced metric (`alpha/train/loss`), or ""."""
    for family in ("rollout/", "train/", "perf/"):
        at = name.find(family)
        if at == 0:
            return ""
        if at > 0 and name[at - 1] == "/":
            return name[:at]
    return ""


@dataclass(slots=True, eq=False)
class Layout:
    """The kind and the names of some lines. `update` and `train_side` as `is_update` and `is_train_side` say.

    `signals` are (signal, log name, place of that name in `Signal.log_names`, None where there is only one), in the
    order of the line; None until somebody asked `Layouts.signals`. Whoever keeps the values fills in `series` and
    which of the names they are for, `kept`.
    """

    names: tuple[str, ...]
    update: bool
    train_side: bool
    signals: tuple[NameRole, ...] | None = None
    series: tuple[Series, ...] | None = None
    kept: tuple[str, ...] = ()
    critic: bool = False  # the names are those of a value model alone


class Layouts:
    """The layouts of one run's lines. `namespace` is the first of several models in it (`alpha/`), or ""."""

    def __init__(self) -> None:
        self.namespace = ""
        self._known: dict[tuple[str, ...], Layout] = {}
        self._names = 0

    def of(self, kind: str, names: Collection[str]) -> Layout:
        """The layout of a line: the same object for the same kind and names in the same order, as a rule."""
        key = (kind, *names)
        layout = self._known.get(key)
        if layout is None:
            layout = Layout(key[1:], is_update(kind), is_train_side(kind, names))
            layout.critic = layout.update and is_value_model(names)
            self._names += len(key)
            if self._names > MOST_SCHEMA_NAMES:
                self._known.clear()
                self._names = len(key)
            self._known[key] = layout
        return layout

    def signals(self, layout: Layout) -> tuple[NameRole, ...]:
        """`Layout.signals`. The first namespaced line that is asked for decides whose the signals are."""
        if layout.signals is None:
            known = ((name, self._meaning(name)) for name in layout.names)
            layout.signals = tuple((said[0], name, said[1]) for name, said in known if said is not None)
        return layout.signals

    def _meaning(self, name: str) -> tuple[str, int | None] | None:
        """(signal, place) of a log name; of `alpha/train/grad_norm` where alpha is the first of several models."""
        known = _PLACES.get(name)
        if known is not None or name.count("/") < 2:
            return known
        prefix = prefix_of(name)
        known = _PLACES.get(name.removeprefix(prefix)) if prefix else None
        if known is not None:
            self.namespace = self.namespace or prefix
        return known if prefix == self.namespace else None


def as_floats(metrics: dict[str, float | int]) -> dict[str, float]:
    """The metrics as floats, an integer beyond them infinite; `metrics` itself where all are floats."""
    others = [name for name, value in metrics.items() if type(value) is not float]
    if not others:
        return metrics
    out: dict[str, float] = dict(metrics)
    for name in others:
        out[name] = _float(out[name])
    return out


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
