"""The rows of the main screen over a long run: one x-axis for all, its scale in the title, rows below the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miles_tui.present.plot.sparkline_axis import Axis
from miles_tui.present.signal_rows import change_text
from miles_tui.present.sparkline_frames import scale_words
from miles_tui.present.view_models import RowView
from miles_tui.ui.widgets.signals import SignalTable

Dashboard = Callable[..., Any]


def record(kind: str, number: int, values: dict[str, float]) -> bytes:
    return f"[2026-10-15 16:00:00.000 actor] log_utils.py:123 - {kind} {number}: {values}\n".encode()


def rewards(first: int, last: int, reward: float = 0.6) -> bytes:
    return b"".join(record("rollout", n, {"rollout/raw_reward": reward + n % 3 / 100}) for n in range(first, last))


def axes(screen: Any) -> set[Axis]:
    return {view.axis for view in screen.app.screen.query_one(SignalTable)._views}


@pytest.mark.parametrize(("size", "said"), [((60, 15), "↓ 2 more rows"), ((40, 10), "↓ 2 more")])
async def test_rows_that_are_below_are_told(dashboard: Dashboard, size: tuple[int, int], said: str) -> None:
    async with dashboard("plain-seed1.log", size=size, metrics=["train/loss", "perf/step_time"]) as screen:
        assert said in screen.text
        assert "↓ 1 more" in await screen.press(*"jjjjjjjj")
        text = await screen.press("G")
        assert "more" not in text
        assert "step_time" in text


@pytest.mark.parametrize(
    ("axis", "width", "words"),
    [
        (Axis(1), 32, "1 rollout a column"),
        (Axis(4), 32, "4 rollouts a column"),
        (Axis(4), 13, "4 a column"),
        (Axis(20, whole=False, first=360), 28, "20 a column, from 360"),
        (Axis(20, whole=False, first=360), 40, "20 rollouts a column, from 360"),
        (Axis(20, whole=False, first=360), 13, "20 a column"),
        (Axis(20), 8, ""),
    ],
)
def test_the_scale_is_said_in_whole_words(axis: Axis, width: int, words: str) -> None:
    assert scale_words(axis, width) == words


async def test_the_whole_run_is_in_sight_and_all_rows_have_one_axis(dashboard: Dashboard) -> None:
    async with dashboard(rewards(0, 25), metrics=["eval/gsm8k"]) as screen:
        assert "1 rollout a column" in screen.text
        await screen.give(record("eval", 0, {"eval/gsm8k": 0.7}))
        await screen.give(rewards(25, 40))
        assert "2 rollouts a column" in screen.text
        assert len(axes(screen)) == 1, "also of rows that had no new value"
        await screen.give(rewards(40, 400))
        assert "15 rollouts a column" in screen.text
        await screen.give(rewards(400, 1000))
        assert "20 a column, from " in screen.text
        assert len(axes(screen)) == 1


async def test_a_paused_view_keeps_its_rollouts_and_fits_another_width(dashboard: Dashboard) -> None:
    async with dashboard(rewards(0, 60)) as screen:
        await screen.press("space")
        await screen.give(rewards(60, 300, 0.9))
        assert "3 rollouts a column" in screen.text
        await screen.pilot.resize_terminal(80, 24)
        text = await screen.wait(lambda text: "a column" in text and len(max(text.splitlines(), key=len)) <= 80)
        assert "5 a column" in text, "60 rollouts on 12 columns"
        assert "0.9" not in text


async def test_at_a_size_without_titles_the_header_says_the_scale(dashboard: Dashboard) -> None:
    async with dashboard(rewards(0, 60), size=(60, 15)) as screen:
        assert "3 rollouts a column" in screen.text.splitlines()[1]


@pytest.mark.parametrize(
    ("change", "mean", "text"),
    [
        (-3.0e-5, 0.00281, "-0.00003"),
        (1.04e-5, 0.000694, "+0.00001"),
        (-0.00040, 0.0387, "-0.0004"),
        (0.0070, 0.781, "+0.007"),
        (-17.2, 456.3, "-17"),
        (144.4, 846.0, "+144"),
        (-0.97, 42.04, "-1.0"),
        (0.00001, 42.04, "0"),
        (0.0, 0.0, "0"),
        (2.1e-6, 3.5e-5, "+2.1e-6"),
    ],
)
def test_a_change_has_the_form_of_its_mean_and_no_digit_more(change: float, mean: float, text: str) -> None:
    view = RowView("gap", mean=mean, change=change)
    assert change_text(view, 8) == text.rjust(8)


async def test_units_stand_by_the_names_where_there_is_room(dashboard: Dashboard) -> None:
    async with dashboard("plain-seed1.log", metrics=["perf/step_time"]) as screen:
        for label in ("answer length, tokens  ", "rollout time, s  ", "perf/step_time, s  "):
            assert label in screen.text
    async with dashboard("plain-seed1.log", size=(80, 24)) as screen:
        assert "rollout time, s  " in screen.text
        assert "answer length  " in screen.text


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 10)])
async def test_a_mark_is_seen_and_can_be_forgotten(dashboard: Dashboard, size: tuple[int, int]) -> None:
    async with dashboard("plain-seed1.log", size=size) as screen:
        width = len(screen.line("reward"))
        await screen.press("v", "j", "j", "j", "j", "v")
        assert "reward ◆ " in screen.line("reward")
        assert "KL to the engine" in screen.line("KL to the engine")
        assert "◆" in screen.line("KL to the engine")
        assert len(screen.line("reward")) == width
        assert "◆" not in await screen.press("V")
        await screen.press("enter")
        assert screen.app.screen.subjects == ["KL to the engine"]


async def test_marks_without_a_row_are_told(dashboard: Dashboard) -> None:
    async with dashboard("plain-seed1.log") as screen:
        await screen.press("m", "slash", *"ppo_kl", "enter", "v", "escape", "escape")
        assert "1 marked among the metrics" in screen.text
        assert "marked" not in (await screen.press("V")).splitlines()[1]


async def test_a_row_that_is_held_back_says_by_what(dashboard: Dashboard) -> None:
    async with dashboard("talks-longer.log", size=(120, 40)) as screen:
        await screen.press("j", "j")
        row = next(line for line in screen.text.splitlines() if "cut share" in line)
        assert row.split()[0] == "h"
        assert "held back by reward-down-length-up" in screen.text
        assert "held back by reward-down-length-up" in await screen.press("x"), "the conditions' screen agrees"
