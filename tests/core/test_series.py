"""Bounded series: what is kept, what is known of all values, means and dead branches."""

from __future__ import annotations

import itertools
import math

import pytest
from costs import grows_less
from hypothesis import given
from hypothesis import strategies as st

from miles_tui.core.model.series import DEAD, PAUSED, Series, put

VALUES = st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=200)


def filled(values: list[float], capacity: int = 64) -> Series:
    series = Series(capacity)
    for rollout, value in enumerate(values):
        series.set(rollout, value)
    return series


@given(VALUES)
def test_extent_speaks_of_all_values_although_only_some_are_kept(values: list[float]) -> None:
    series = filled(values, capacity=16)
    finite = [v for v in values if math.isfinite(v)]
    extent = series.extent
    assert extent.count == len(values)
    assert len(series) <= 18
    if finite:
        assert (extent.low, extent.high) == (min(finite), max(finite))
        assert extent.swing == max((abs(b - a) for a, b in itertools.pairwise(finite)), default=0.0)
    else:
        assert extent.low == math.inf


@given(VALUES, st.integers(5, 9))
def test_mean_is_of_the_newest_and_needs_a_whole_window(values: list[float], window: int) -> None:
    mean = filled(values, 512).mean(window)
    finite = [v for v in values[-window:] if math.isfinite(v)]
    if len(values) < window or not finite:
        assert mean is None
    else:
        assert mean == pytest.approx(sum(finite) / len(finite))


def test_a_value_of_the_same_rollout_replaces_the_one_before() -> None:
    series = filled([1.0, 2.0, 9.0])
    series.set(2, 3.0)
    assert [p.value for p in series.points()] == [1.0, 2.0, 3.0]
    assert series.extent.high == 3.0


def test_a_late_value_finds_its_place() -> None:
    series = Series(64)
    for rollout in (0, 1, 3, 4):
        series.set(rollout, float(rollout))
    series.set(2, 20.0)
    series.set(0, -5.0)
    assert [(p.rollout, p.value) for p in series.points()] == [(0, -5.0), (1, 1.0), (2, 20.0), (3, 3.0), (4, 4.0)]
    assert (series.extent.low, series.extent.high, series.extent.swing) == (-5.0, 20.0, 19.0)


def test_a_restart_kills_what_it_overtakes() -> None:
    series = filled([0.0, 1.0, 2.0, 99.0])
    series.restart(2)
    series.set(2, 2.5)
    series.set(3, 3.5)
    assert [(p.rollout, p.value, bool(p.flags & DEAD), p.attempt) for p in series.points()] == [
        (0, 0.0, False, 1), (1, 1.0, False, 1), (2, 2.0, True, 1), (3, 99.0, True, 1),
        (2, 2.5, False, 2), (3, 3.5, False, 2),
    ]  # fmt: skip
    assert series.extent.high == 3.5
    assert series.extent.count == 4
    assert series.last is not None
    assert series.last.value == 3.5
    assert series.mean(4) == pytest.approx((0 + 1 + 2.5 + 3.5) / 4)


def test_means_line_up_with_their_rollouts() -> None:
    assert filled([float(i) for i in range(7)]).means(5) == [(4, 2.0), (5, 3.0), (6, 4.0)]


def test_a_wrong_guess_is_forgotten() -> None:
    series = filled([1.0, 2.0, 50.0])
    series.forget_from(2)
    assert series.extent.high == 2.0
    assert len(series) == 2


def test_a_series_is_bounded() -> None:
    series = filled([float(i % 7) for i in range(10_000)], capacity=100)
    assert 100 <= len(series) <= 112
    assert series.extent.count == 10_000
    with pytest.raises(ValueError, match="at least 16"):
        Series(3)


def test_a_tail_has_the_newest_values_and_spans_tell_the_attempts() -> None:
    series = filled([float(i) for i in range(10)])
    series.restart(7)
    series.set(7, 70.0)
    tail = series.tail(3)
    assert list(zip(tail.x, tail.y, tail.flags, tail.attempts, strict=True)) == [
        (8, 8.0, DEAD, 1), (9, 9.0, DEAD, 1), (7, 70.0, 0, 2)
    ]  # fmt: skip
    assert series.tail(99) == series.tail(11)
    assert series.spans() == [(1, 0, 9), (2, 7, 7)]
    assert Series().spans() == []


WRITES = st.tuples(st.integers(0, 40), st.floats(-9, 9), st.sampled_from([0, 0, 0, PAUSED]))


@given(st.lists(st.one_of(WRITES, st.integers(0, 40)), max_size=120), st.booleans())
def test_columns_are_what_was_put_however_late_and_whoever_looks_meanwhile(
    events: list[tuple[int, float, int] | int], looking: bool
) -> None:
    series, attempt = Series(200), 1
    kept: list[tuple[int, float, int, int]] = []  # rollout, value, flags, attempt
    for event in events:
        if isinstance(event, int):
            attempt += 1
            series.restart(event)
            kept = [(x, y, flags | DEAD if x >= event else flags, a) for x, y, flags, a in kept]
        else:
            put([series], event[0], [event[1]], event[2])
            kept = [row for row in kept if (row[3], row[0]) != (attempt, event[0])] + [(*event, attempt)]
            kept.sort(key=lambda row: (row[3], row[0]))
        if looking:
            assert len(series.flags) == len(series.attempts) == len(series)
    assert [(p.rollout, p.value, p.flags, p.attempt) for p in series.points()] == kept
    live = [row[1] for row in kept if not row[2] & DEAD]
    assert series.extent.count == len(live)
    assert series.extent.high == max(live, default=-math.inf)


@given(st.lists(st.one_of(st.integers(0, 40), st.integers(100, 140)), max_size=120))
def test_restarts_reach_back_over_attempts_and_what_was_trimmed(events: list[int]) -> None:
    series = Series(16)
    kept: list[list[int]] = []  # [rollout, flags, attempt]; an event of 100 and more is a restart
    for event in events:
        if event >= 100:
            kept = [[x, flags | DEAD if x >= event - 100 else flags, a] for x, flags, a in kept]
            series.restart(event - 100)
        elif not kept or kept[-1][2] < series.attempt or event > kept[-1][0]:
            kept.append([event, 0, series.attempt])
            series.set(event, 1.0)
    assert [[p.rollout, p.flags, p.attempt] for p in series.points()] == kept[len(kept) - len(series) :]


def test_a_restart_costs_what_dies() -> None:
    def work(size: int) -> None:
        series = Series(1 << 16)
        for rollout in range(4 * size):
            series.set(rollout, 1.0)
            series.set(rollout + 1, 2.0)
            series.restart(rollout + 1)

    assert grows_less(work, 1000)


def test_very_many_attempts_are_counted() -> None:
    series = Series(16)
    for _ in range(40_000):
        series.set(0, 1.0)
        series.restart(0)
    series.set(0, 2.0)
    assert [(p.attempt, p.flags) for p in series.points()[-2:]] == [(40_000, DEAD), (40_001, 0)]
    assert len(series._living) == 0


@given(VALUES)
def test_putting_into_several_series_is_putting_into_each(values: list[float]) -> None:
    several, alone = [Series(16), Series(24)], [Series(16), Series(24)]
    for rollout, value in enumerate(values):
        put(several, rollout, [value, -value], PAUSED if rollout % 5 == 0 else 0)
        alone[0].set(rollout, value, PAUSED if rollout % 5 == 0 else 0)
        alone[1].set(rollout, -value, PAUSED if rollout % 5 == 0 else 0)
    for one, other in zip(several, alone, strict=True):
        assert repr(one.points()) == repr(other.points())
        assert repr(one.extent) == repr(other.extent)
