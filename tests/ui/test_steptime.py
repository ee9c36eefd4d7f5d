"""Where the time goes: the bar, and the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from step_times import logged

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.run.step_time import split
from miles_tui.core.text.cells import cells
from miles_tui.present.step_time_bar import bar, part_percent, shares
from miles_tui.present.styled_text import plain_text
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.steptime import StepTimeScreen

Dashboard = Callable[..., Any]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
SAMPLE = "gap-jump.log"


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
