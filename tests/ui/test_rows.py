"""The rows of the main screen over a long run: one x-axis for all, its scale in the title, rows below the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miles_tui.core.columns import Axis
from miles_tui.ui.sparks import scale_words
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
    async with dashboard(rewards(0, 30), metrics=["eval/gsm8k"]) as screen:
        assert "1 rollout a column" in screen.text
        await screen.give(record("eval", 0, {"eval/gsm8k": 0.7}))
        await screen.give(rewards(30, 40))
        assert "2 rollouts a column" in screen.text
        assert len(axes(screen)) == 1, "also of rows that had no new value"
        await screen.give(rewards(40, 400))
        assert "12 rollouts a column" in screen.text
        await screen.give(rewards(400, 1000))
        assert "20 rollouts a column, from " in screen.text
        assert len(axes(screen)) == 1


async def test_a_paused_view_keeps_its_rollouts_and_fits_another_width(dashboard: Dashboard) -> None:
    async with dashboard(rewards(0, 60)) as screen:
        await screen.press("space")
        await screen.give(rewards(60, 300, 0.9))
        assert "2 rollouts a column" in screen.text
        await screen.pilot.resize_terminal(80, 24)
        text = await screen.wait(lambda text: "a column" in text and len(max(text.splitlines(), key=len)) <= 80)
        assert "5 a column" in text, "60 rollouts on 12 columns"
        assert "0.9" not in text


async def test_at_a_size_without_titles_the_header_says_the_scale(dashboard: Dashboard) -> None:
    async with dashboard(rewards(0, 60), size=(60, 15)) as screen:
        assert "3 rollouts a column" in screen.text.splitlines()[1]
