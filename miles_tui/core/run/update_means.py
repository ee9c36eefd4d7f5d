"""The means of a rollout's metrics over its updates, as they come in: a record costs what its own names do."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_UPDATES = 4096  # of one rollout
MOST_VALUES = 1 << 16  # that are kept of one rollout, over all updates and names: 4 MB
MOST_MEANS = 1 << 14  # of one rollout: a log can print other ones in every line


@dataclass(slots=True)
class _Name:
    """One metric: its values by update as far as they are kept, the sum of all, and how many they are."""

    values: dict[int, float] = field(default_factory=dict)
    total: float = 0.0
    count: int = 0


class Means:
    """The updates of one rollout, and the mean of each name over those that have it.

    A mean is the sum in the order of the updates, divided. What it costs is bounded: updates beyond `MOST_UPDATES` and
    names beyond `MOST_MEANS` count in no mean, and a value beyond `MOST_VALUES` is summed up, not kept to be replaced.
    """

    __slots__ = ("_by_name", "_kept", "_only", "_updates")

    def __init__(self) -> None:
        self._updates: set[int] = set()
        self._only: dict[str, float] = {}  # the metrics of the first update; nearly always there is no other
        self._by_name: dict[str, _Name] = {}  # from the second on
        self._kept = 0  # values

    def __len__(self) -> int:
        return len(self._updates)

    def __contains__(self, update: int) -> bool:
        return update in self._updates

    def take(self, update: int, metrics: dict[str, float]) -> dict[str, float]:
        """Take an update's metrics in, which are not to be changed; the means of their names, and the value itself
        where a name has none.

        A value that the update has already is replaced.
        """
        updates = self._updates
        if not updates:
            updates.add(update)
            self._only = metrics
            return metrics
        if self._only:
            (first,) = updates
            self._put(first, self._only, new=True)
            self._only = {}
        new = update not in updates
        if not new or len(updates) < MOST_UPDATES:
            updates.add(update)
            self._put(update, metrics, new=new)
        known = self._by_name
        return {
            name: mean.total / mean.count if (mean := known.get(name)) else value for name, value in metrics.items()
        }

    def _put(self, update: int, metrics: dict[str, float], *, new: bool) -> None:
        by_name = self._by_name
        for name, value in metrics.items():
            mean = by_name.get(name)
            if mean is None:
                if len(by_name) >= MOST_MEANS:
                    continue
                mean = by_name[name] = _Name()
            values = mean.values
            before = values.get(update)
            if before is None:
                room = self._kept < MOST_VALUES
                if room:
                    values[update] = value
                    self._kept += 1
                if room or new:
                    mean.total += value
                    mean.count += 1
            elif before != value:
                values[update] = value
                # Not by the difference, which NaN and what is lost to a huge value would stay in; 5 ns a value.
                mean.total, mean.count = sum(values.values()), len(values)
