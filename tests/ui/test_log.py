"""The log pane on the screen: what it follows, its keys, and the way to it and back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding
from textual.events import Key

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.chunks import Cut, Why
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.log import LogScreen, PlaceScreen
from miles_tui.ui.screens.main import MainScreen

Dashboard = Callable[..., Any]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
RAISED = {23: ("gap-jump", "gap 0.0409; level 0.0150")}
RAY = b"\x1b[36m(MegatronTrainRayActor pid=7)\x1b[0m "
DECODE = b"(SGLangEngine pid=4) [2026-10-15 16:00:09] Decode batch. #running-req: 54\n"
TIMER = RAY + b"[2026-10-15 16:00:10.250 actor_cell0_rank0] timer.py:31 - Timer train start\n"


async def test_the_newest_lines_are_followed(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(80, 24)) as screen:
        text = await screen.press("L")
        assert isinstance(screen.app.screen, LogScreen)
        assert "RuntimeError: CUDA error" in text
        assert "following" in text
        screen.feed.give(TIMER.replace(b"train start", b"sleep start"))
        await screen.wait(lambda text: "Timer sleep start" in text)
        await screen.press("k")
        screen.feed.give(TIMER.replace(b"train start", b"nap start"))
        text = await screen.wait(lambda text: "1 newer" in text)
        assert "nap start" not in text
        assert "nap start" in await screen.press("f")
        await screen.press("escape")
        assert isinstance(screen.app.screen, MainScreen)
        assert screen.app.session.watcher is None


async def test_noise_is_counted_where_it_stands_and_seldom(dashboard: Dashboard) -> None:
    async with dashboard(TIMER, size=(80, 24)) as screen:
        await screen.press("L")
        paints = 0
        show = LogScreen._show

        def counted(self: LogScreen) -> None:
            nonlocal paints
            paints += 1
            show(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(LogScreen, "_show", counted)
            begin = time.monotonic()
            for _ in range(100):
                await screen.give(DECODE * 10)
            await screen.wait(lambda text: "1,000 engine lines" in text)
            took = time.monotonic() - begin
        assert 1 <= paints <= 2 + took / 0.4


async def test_while_the_pane_is_closed_lines_are_only_kept(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(80, 24)) as screen:
        before, ring = screen.text, screen.app.session.ring
        added, entries = ring.added, list(ring.entries)
        await screen.give(DECODE * 100)
        assert screen.text == before
        assert list(ring.entries) == entries
        assert ring.added == added + 100 * len(DECODE)


async def test_the_panes_keys(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(100, 24)) as screen:
        await screen.press("L")
        text = await screen.press("slash", *"illegal", "enter")
        assert "/illegal 2 of 2" in text
        assert "/illegal 1 of 2" in await screen.press("n")
        assert "/illegal 2 of 2" in await screen.press("N")
        text = await screen.press("slash", *"no such thing", "enter")
        assert "no such thing is not in the lines shown" in text
        await screen.press("escape")
        assert isinstance(screen.app.screen, LogScreen), "the first Esc ends the search"
        for word in ("only warnings", "only errors", "only records"):
            assert word in await screen.press("w")
        assert "Timer" not in screen.text
        await screen.press("w")
        titles = [(await screen.press("p")).splitlines()[1] for _ in range(4)]
        assert ["only" in title for title in titles] == [True, True, True, False]
        for name in ("no process", "RolloutManager", "Train"):
            assert sum(f"only {name}" in title for title in titles) == 1
        assert "Decode batch" not in screen.text
        await screen.press("u", "slash", *"Decode", "enter", "escape")
        assert "Decode batch" in screen.text
        assert "noise shown" in screen.text
        await screen.press("u", "g")
        assert "line 1 of" in screen.text
        assert "following" in await screen.press("G")
        text = await screen.press("k", "k", "enter")
        assert "WARNING:root:deep_ep is not installed, some functionalities may be limited." in " ".join(text.split())
        await screen.press("enter", "home", "pagedown", "down", "up", "end")
        assert "following" in screen.text


async def test_every_key_of_the_pane_is_in_help(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(120, 60)) as screen:
        text = await screen.press("L", "question_mark")
        for binding in LogScreen.BINDINGS:
            assert isinstance(binding, Binding)
            assert binding.tooltip is not None
            assert binding.tooltip in text, binding.id


async def test_while_a_search_is_typed_letters_are_no_commands(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(80, 24)) as screen:
        text = await screen.press("L", "slash", *"tqL?", "backspace")
        assert "/tqL▏" in text
        assert isinstance(screen.app.screen, LogScreen)
        await screen.press("ctrl+u", "backspace")
        assert "▏" not in screen.text
        await screen.press("slash", "x", "escape")
        assert "/x" not in screen.text
        assert isinstance(screen.app.screen, LogScreen)


async def test_a_search_in_one_burst_is_text_until_enter_and_keys_behind_it(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(80, 24)) as screen:
        await screen.press("L")
        for key in ("slash", *"qt", "slash", "ctrl+u", *"illegal", "enter", "N"):
            screen.app.post_message(Key(key, {"slash": "/"}.get(key, key) if len(key) == 1 or key == "slash" else None))
        await screen.wait(lambda text: "/illegal 1 of 2" in text)
        assert isinstance(screen.app.screen, LogScreen)


async def test_a_rotation_is_told(dashboard: Dashboard) -> None:
    async with dashboard(TIMER, size=(80, 24)) as screen:
        await screen.press("L")
        await screen.give(Cut(Why.ROTATED), TIMER)
        await screen.wait(lambda text: "the file was rotated here" in text)


async def test_from_an_alert_to_its_lines_and_back(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        screen.feed.parts = (LOGS / "gap-jump.log",)
        await screen.press("l")
        text = await screen.wait(lambda text: "▸" in text)
        assert screen.is_on(PlaceScreen)
        assert "log around rollout 23" in text
        (marked,) = [line for line in text.splitlines() if "▸" in line]
        assert "perf 23" in marked
        assert "17:02:30" in marked
        assert "L shows the newest" in await screen.press("f")
        text = await screen.press("L")
        assert not screen.is_on(PlaceScreen)
        await screen.press("escape", "escape")
        assert isinstance(screen.app.screen, MainScreen)


async def test_from_a_chart_to_the_cursors_lines_and_back(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        screen.feed.parts = (LOGS / "gap-jump.log",)
        await screen.press("j", "j", "j", "enter", "l")
        await screen.wait(lambda text: "▸" in text and "perf 23" in text)
        await screen.press("escape", "left", "left", "left", "l")
        text = await screen.wait(lambda text: "▸" in text)
        assert "log around rollout 45" in text
        await screen.press("escape")
        assert isinstance(screen.app.screen, ChartScreen)
        assert screen.app.screen.cursor == 45


async def test_without_a_file_the_kept_lines_are_looked_through(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        await screen.press("l")
        text = await screen.wait(lambda text: "▸" in text)
        assert "perf 23" in next(line for line in text.splitlines() if "▸" in line)
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        screen.app.session.ring.settle()
        screen.app.session.ring.entries.clear()
        await screen.press("l")
        await screen.wait(lambda text: "no line of rollout 23 is left" in text)


async def test_a_run_without_an_alert_shows_its_newest_lines(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge({})) as screen:
        await screen.press("l")
        assert isinstance(screen.app.screen, LogScreen)
        assert not isinstance(screen.app.screen, PlaceScreen)


async def test_a_metric_that_a_row_leaves_out_is_found_and_read(dashboard: Dashboard) -> None:
    async with dashboard("grad-growth.log", size=(80, 24)) as screen:
        text = await screen.press("L", "slash", *"update_weights_time", "enter")
        assert "/update_weights_time 96 of 96" in text or "/update_weights_time 48 of 48" in text
        assert "perf/update_weights_time 0.650" in text
        text = await screen.press("enter")
        words = screen.app.screen.query_one("#words")
        assert words.display
        below = text.splitlines()[-1 - words.size.height : -1]
        assert any("update_weights_time" in line for line in below), "the whole line is shown from its match on"
        assert "lines more" in below[-1]


async def test_no_line_says_which_key_brings_lines_back(dashboard: Dashboard) -> None:
    async with dashboard("plain-seed1.log", size=(80, 24)) as screen:
        assert "only Train" in await screen.press("L", "p", "p")
        text = await screen.press("w", "w")
        assert "no such line is kept (w: all levels, p: other processes)" in text
        text = await screen.press("slash", *"update_weights_time", "enter")
        assert "is in lines that are filtered out" in text
