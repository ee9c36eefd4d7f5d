"""Where the time goes: what counts, and how a step is split."""

from __future__ import annotations

import pytest
from step_times import TIMES, logged

from miles_tui.core.model.series import PAUSED, Series
from miles_tui.core.run.step_time import KEPT_ROLLOUTS, WARM_UP, Split, split


def means(found: Split | None) -> dict[str, float]:
    assert found is not None
    return {spent.part.id: spent.mean for spent in found.phases}


def test_a_step_is_its_phases_and_a_rest() -> None:
    found = split(logged(), 5)
    assert means(found) == {"waiting": 50, "scoring": 20, "training": 70, "update": 1, "sleep": 2, "wake": 3}
    assert found is not None
    assert found.rest is not None
    assert found.rest.mean == 10
    assert found.whole is not None
    assert found.whole.mean == found.total == 150
    assert not found.overlap
    waiting = found.phases[0]
    assert waiting.alone == 44, "what is timed inside the waiting is counted once"


def test_what_is_longer_than_the_waiting_is_not_inside_it() -> None:
    found = split(logged(train_wait=1.0, step=101.0), 5)
    assert found is not None
    assert found.phases[0].alone == 1.0


def test_phases_that_overlap_are_told_of() -> None:
    found = split(logged(step=90.0), 5)
    assert found is not None
    assert found.overlap
    assert found.rest is not None
    assert found.rest.mean == 0


def test_the_first_two_of_each_attempt_and_paused_ones_are_left_out() -> None:
    metrics = logged(10)
    for series in metrics.values():
        series.mark(6, PAUSED)
        series.restart(8)
        for n in range(8, 14):
            series.set(n, 999.0 if n < 10 else 40.0)
    found = split(metrics, 5)
    assert found is not None
    assert (found.warm_up, found.paused, found.steps) == (4, 1, 5)
    assert means(found)["training"] == pytest.approx((4 * 40 + 70) / 5)
    hollow = {p.rollout for p in found.phases[0].points if p.flags & PAUSED}
    assert hollow == {0, 1, 6, 8, 9}


def test_where_the_start_is_not_kept_nothing_is_a_warm_up() -> None:
    found = split(logged(KEPT_ROLLOUTS + 20), 5)
    assert found is not None
    assert found.warm_up == 0


def test_usual_is_the_median_of_what_counts() -> None:
    metrics = logged(9)
    for n, value in enumerate((500.0, 500.0, 60.0, 61.0, 62.0, 63.0, 64.0, 65.0, 400.0)):
        metrics["perf/actor_train_time"].set(n, value)
    found = split(metrics, 5)
    assert found is not None
    assert next(s.usual for s in found.phases if s.part.id == "training") == 63.0


def test_a_phase_of_some_steps_only_takes_its_part_of_the_mean() -> None:
    metrics = logged(20)
    metrics["perf/save_model_time"] = Series()
    metrics["perf/save_model_time"].set(19, 30.0)
    assert means(split(metrics, 5))["saving"] == 6.0


def test_without_a_step_time_it_is_waiting_and_training() -> None:
    metrics = logged()
    del metrics["perf/step_time"]
    found = split(metrics, 5)
    assert found is not None
    assert found.whole is not None
    assert found.whole.mean == 150


def test_what_is_missing_is_no_phase_and_nothing_at_all_is_none() -> None:
    assert split({}, 5) is None
    metrics = logged()
    assert set(means(split({"perf/step_time": metrics["perf/step_time"]}, 5))) == set()
    one = split(logged(1), 5)
    assert one is not None
    assert one.steps == 0


def test_what_a_split_says_of_each_phase() -> None:
    found = split(logged(20), 5)
    assert found is not None
    assert found.rest is not None
    assert found.whole is not None
    assert (found.steps, found.warm_up, found.paused) == (5, WARM_UP, 0)
    assert (found.rest.part.id, found.rest.mean, found.rest.alone, found.rest.usual) == ("rest", 10, 10, None)
    assert (found.whole.part.id, found.whole.alone, found.whole.usual) == ("step", 150, 150)
    for spent in found.phases[1:]:
        assert spent.alone == spent.mean == spent.usual
        assert [point.rollout for point in spent.points] == list(range(20))
        assert {point.value for point in spent.points} == {spent.mean}
        assert {point.attempt for point in spent.points} == {1}
        assert [point.rollout for point in spent.points if point.flags & PAUSED] == [0, 1]


def test_a_part_timed_twice_is_no_overlap_within_a_hundredth() -> None:
    for step, overlap in ((139.0, False), (138.0, True)):
        found = split(logged(step=step), 5)
        assert found is not None
        assert found.overlap is overlap, step


def test_values_that_are_no_numbers_and_those_taken_back_do_not_count() -> None:
    metrics = logged(10)
    metrics["perf/step_time"].set(9, float("nan"))
    metrics["perf/actor_train_time"].set(8, float("inf"))
    found = split(metrics, 3)
    assert found is not None
    assert found.steps == 3
    assert means(found)["training"] == pytest.approx(70 * 2 / 3)
    for series in metrics.values():
        series.restart(5)
    found = split(metrics, 9)
    assert found is not None
    assert found.steps == 5 - WARM_UP


def test_without_a_step_time_the_newest_waiting_of_each_rollout_is_added() -> None:
    metrics = logged(6)
    del metrics["perf/step_time"]
    metrics["perf/train_wait_time"].set(5, 80.0)
    del metrics["perf/update_weights_time"]
    found = split(metrics, 1)
    assert found is not None
    assert found.total == 180
    assert "update" not in means(found)


@pytest.mark.parametrize(("rollouts", "warm_up"), [(KEPT_ROLLOUTS, WARM_UP), (KEPT_ROLLOUTS + 1, 0)])
def test_the_first_steps_are_known_while_the_beginning_is_kept(rollouts: int, warm_up: int) -> None:
    found = split(logged(rollouts), 5)
    assert found is not None
    assert found.warm_up == warm_up
    assert len(found.phases[0].points) == KEPT_ROLLOUTS


def test_the_first_steps_are_not_known_where_the_series_let_them_go() -> None:
    metrics = {f"perf/{name}_time": Series(16) for name in TIMES}
    for series in metrics.values():
        for n in range(50):
            series.set(n, 1.0)
    found = split(metrics, 5)
    assert found is not None
    assert found.warm_up == 0
