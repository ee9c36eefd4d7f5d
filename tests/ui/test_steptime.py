"""Where the time goes: what counts, how a step is split, the bar, and the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.series import PAUSED, Series
from miles_tui.core.run.step_time import KEPT_ROLLOUTS, Split, split
from miles_tui.core.text.cells import cells
from miles_tui.present.step_time_bar import bar, part_percent, shares
from miles_tui.present.styled_text import plain_text
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.steptime import StepTimeScreen

Dashboard = Callable[..., Any]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
SAMPLE = "gap-jump.log"
TIMES = {"step": 150.0, "train_wait": 50.0, "train": 100.0, "log_probs": 15.0, "ref_log_probs": 5.0,
         "actor_train": 70.0, "update_weights": 1.0, "sleep": 2.0, "wake_up": 3.0}  # fmt: skip


def logged(rollouts: int = 20, **times: float) -> dict[str, Series]:
    """The metrics of a run whose steps all take the same times, but for those given."""
    out: dict[str, Series] = {}
    for name, seconds in (TIMES | times).items():
        series = out[f"perf/{name}_time"] = Series()
        for n in range(rollouts):
            series.set(n, seconds)
    return out


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


@given(st.lists(st.floats(0, 1e6), max_size=9), st.integers(0, 200))
def test_the_bar_has_its_width(values: list[float], width: int) -> None:
    sizes = shares(values, width)
    assert all(size >= 0 for size in sizes)
    assert sum(sizes) == (width if sum(values) > 0 else 0)


@pytest.mark.parametrize("plain", [False, True])
def test_the_bar_tells_phases_by_fill(plain: bool) -> None:
    found = split(logged(), 5)
    assert found is not None
    names, line = bar(found, 100, plain=plain)
    assert cells(plain_text(line)) == cells(plain_text(names)) == 100
    assert len(set(plain_text(line))) == 7
    assert plain_text(line).isascii() == plain
    assert "training 47 %" in plain_text(names)


def test_shares_in_words() -> None:
    assert [part_percent(v, 1000) for v in (0, 1, 5, 314, 1000)] == ["0 %", "<1 %", "0 %", "31 %", "100 %"]
    assert part_percent(3, 0) == "0 %"


async def test_w_shows_it_and_enter_opens_a_phase(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        text = await screen.press("w")
        assert screen.is_on(StepTimeScreen)
        assert "left out (○): 2 of warm-up" in text
        assert "perf/train_wait_time: the trainer waiting for samples" in text
        assert "the optimizer updates" in await screen.press("j", "j")
        await screen.press("enter")
        assert screen.is_on(ChartScreen)
        assert screen.app.screen.signal == "perf/actor_train_time"
        await screen.press("escape", "G", "k", "enter")
        assert "no metric has this time alone" in screen.text
        await screen.press("escape")
        assert isinstance(screen.app.screen, MainScreen)


async def test_it_goes_on_with_the_steps(dashboard: Dashboard, blocks: list[bytes]) -> None:
    async with dashboard(b"".join(blocks[:1])) as screen:
        assert "where the time goes" in await screen.press("w")
        text = await screen.give(b"".join(blocks[1:12]))
        assert "waiting for samples" in text
        taken = screen.app.screen._split
        await screen.give(b"[2026-10-15 18:00:00] log.py:1 - step 99: {'train/loss': 0.5}\n")
        assert screen.app.screen._split is taken, "other metrics change nothing"
        await screen.give(blocks[12])
        assert screen.app.screen._split is not taken


async def test_a_log_without_times_says_so(dashboard: Dashboard) -> None:
    async with dashboard(b"rollout 0: {'rollout/raw_reward': 0.5}\n") as screen:
        assert "no step's times so far" in await screen.press("w", "enter")
