"""The means of a rollout's metrics over its updates, as they come in: a record costs what its own names do."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add

from miles_tui.core.run.line_schema import Layout

MOST_UPDATES = 4096  # of one rollout
MOST_VALUES = 1 << 16  # that are kept of one rollout, over all updates and names: 4 MB
MOST_MEANS = 1 << 14  # of one rollout: a log can print other ones in every line


@dataclass(slots=True)
class _Name:
    """One metric: its values by update, and their sum."""

    values: dict[int, float] = field(default_factory=dict)
    total: float = 0.0

    def put(self, update: int, value: float) -> None:
        before = self.values.get(update)
        self.values[update] = value
        if before is None:
            self.total += value
        elif before != value:
            # Not by the difference, which NaN and what is lost to a huge value would stay in; 5 ns a value.
            self.total = sum(self.values.values())


class Means:
    """The updates of one rollout, and the mean of each name over those that have it.

    A mean is the sum in the order of the updates, divided: the same whichever way it is kept. What it costs is bounded:
    updates beyond `MOST_UPDATES` and names beyond `MOST_MEANS` count in no mean, nor do the values beyond `MOST_VALUES`
    of updates that do not all have the same names.
    """

    __slots__ = ("_alike", "_by_name", "_by_update", "_totals", "_values")

    def __init__(self) -> None:
        # Nearly always all updates have the names of the first, `_alike`: sums are in the order of its names then,
        # and by name once it is otherwise.
        self._alike: Layout | None = None
        self._by_update: dict[int, dict[str, float]] = {}
        self._totals: list[float] = []
        self._by_name: dict[str, _Name] = {}
        self._values = 0

    def __len__(self) -> int:
        return len(self._by_update)

    def __contains__(self, update: int) -> bool:
        return update in self._by_update

    def take(self, update: int, layout: Layout, metrics: dict[str, float]) -> dict[str, float]:
        """Take an update's metrics in, which are kept and not to be changed; the means of their names.

        A value that the update has already is replaced.
        """
        updates, alike = self._by_update, self._alike
        if not updates:
            updates[update], self._alike, self._values = metrics, layout, len(metrics)
            return metrics
        again = update in updates
        if not again and len(updates) >= MOST_UPDATES:
            return self._known(metrics)
        kept = self._values + len(metrics) <= MOST_VALUES
        if alike is layout:
            if not again:
                return self._next(alike, update, metrics, kept)
            if not updates[update] or updates[update] == metrics:
                return self._means(alike)
        if alike is not None:
            self._take_apart()
        updates.setdefault(update, {})
        if kept:
            self._put(update, metrics)
        return self._known(metrics)

    def _next(self, alike: Layout, update: int, metrics: dict[str, float], kept: bool) -> dict[str, float]:
        """One more update that is alike; its values are `kept` to be replaced, or only summed up."""
        if not self._totals:
            (first,) = self._by_update.values()
            self._totals = list(first.values())
        self._totals = list(map(add, self._totals, metrics.values()))
        self._by_update[update] = metrics if kept else {}
        self._values += len(metrics) if kept else 0
        return self._means(alike)

    def _take_apart(self) -> None:
        self._alike, self._values = None, 0
        for update, metrics in self._by_update.items():
            self._put(update, metrics)
            self._by_update[update] = {}

    def _known(self, metrics: dict[str, float]) -> dict[str, float]:
        """The means of these names; the value itself where there is none."""
        if self._alike is not None:
            means = self._means(self._alike)
            return {name: means.get(name, value) for name, value in metrics.items()}
        known = self._by_name
        return {
            name: mean.total / len(mean.values) if (mean := known.get(name)) else value
            for name, value in metrics.items()
        }

    def _means(self, alike: Layout) -> dict[str, float]:
        count = len(self._by_update)
        if count == 1:
            return next(iter(self._by_update.values()))
        return dict(zip(alike.names, [total / count for total in self._totals], strict=True))

    def _put(self, update: int, metrics: dict[str, float]) -> None:
        known = self._by_name
        for name, value in metrics.items():
            mean = known.get(name)
            if mean is None:
                if len(known) >= MOST_MEANS:
                    continue
                mean = known[name] = _Name()
            self._values += update not in mean.values
            mean.put(update, value)
