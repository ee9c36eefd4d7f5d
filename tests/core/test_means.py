"""The means over a rollout's updates against the plain ones, however the updates come."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miles_tui.core.run import update_means as module
from miles_tui.core.run.update_means import Means

NAMES = st.sampled_from([("a", "b", "c"), ("a", "b", "c"), ("a", "b", "c"), ("c", "b", "a"), ("c",), ("d", "e")])
VALUES = st.sampled_from([0.1, 0.25, -3.7, 1e-9, 1e300, math.nan, math.inf, -math.inf])
UPDATES = st.lists(st.tuples(st.integers(0, 6), NAMES, st.lists(VALUES, min_size=3, max_size=3)), max_size=24)


def plain(updates: dict[int, dict[str, float]], name: str) -> float:
    values = [update[name] for update in updates.values() if name in update]
    return sum(values) / len(values)


@settings(max_examples=300)
@given(UPDATES)
def test_means_are_the_plain_ones(records: list[tuple[int, tuple[str, ...], list[float]]]) -> None:
    means = Means()
    updates: dict[int, dict[str, float]] = {}
    for update, names, values in records:
        metrics = dict(zip(names, values, strict=False))
        found = means.take(update, dict(metrics))
        updates[update] = {**updates.get(update, {}), **metrics}
        assert list(found) == list(metrics)
        assert found == pytest.approx({name: plain(updates, name) for name in metrics}, rel=1e-14, nan_ok=True)
        assert len(means) == len(updates)
        assert update in means


def test_a_huge_value_that_is_replaced_leaves_nothing_behind() -> None:
    means = Means()
    for update, value in ((0, 1.0), (1, math.nan), (2, 3.0), (1, 1e200)):
        means.take(update, {"a": value})
    assert means.take(1, {"a": 2.0}) == {"a": 2.0}


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_UPDATES", 8)
    monkeypatch.setattr(module, "MOST_MEANS", 10)
    alike, other = Means(), Means()
    for n in range(50):
        metrics = {"a": float(n), "b": 1.0}
        assert alike.take(n, metrics)["a"] == min(n, 7) / 2
        metrics = {"a": float(n), f"x{n}": 5.0, f"y{n}": float(n)}
        found = other.take(n, metrics)
        assert found == {"a": min(n, 7) / 2, f"x{n}": 5.0, f"y{n}": n}
    assert len(alike) == len(other) == 8
    assert len(other._by_name) == 10


def test_values_that_are_not_kept_are_in_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_VALUES", 40)
    means, names = Means(), tuple(map(str, range(15)))
    for n in range(9):
        assert means.take(n, dict.fromkeys(names, float(n))) == dict.fromkeys(names, n / 2)
    assert len(means) == 9
    assert sum(len(name.values) for name in means._by_name.values()) == 40
    assert means.take(8, dict.fromkeys(names, 7.0))["3"] == 4.0, "not kept, so not replaced"
    assert means.take(9, {"3": 5.0, "x": 6.0}) == {"3": (36 + 5) / 10, "x": 6.0}
    assert means.take(1, {"3": 2.0}) == {"3": (0 + 2 + 2) / 3}, "one that was kept: the mean of those that were"
    assert len(means) == 10


def test_the_same_values_in_another_order_come_back_in_theirs() -> None:
    means = Means()
    for metrics in ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}):
        assert list(means.take(0, metrics).items()) == list(metrics.items())
