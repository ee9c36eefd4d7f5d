"""Alerts on the screen: their keys, the pane that shows them, the list of conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual import events

from miles_tui.core.alerts import AlertState
from miles_tui.ingest.pieces import Ended
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.conditions import ConditionsScreen
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.listing import Listing

Dashboard = Callable[..., Any]
SAMPLE = "gap-jump.log"


async def test_a_acknowledges_and_z_snoozes(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert ", seen" in await screen.press("a")
        assert screen.app.session.run.alerts[0].seen
        text = await screen.press("z")
        assert ", snoozed" in text
        assert "quiet for 10 rollouts" in text
        assert ", snoozed" not in await screen.press("z")


async def test_y_copies_the_alert_as_text(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert "report copied" in await screen.press("Y")
        assert screen.app.clipboard.startswith("**")
        assert "gradient norm" in screen.app.clipboard
        assert "gap-jump copied" in await screen.press("y")
        copied = screen.app.clipboard
        for words in ("gap-jump (critical, since rollout 2", "gap-jump.log", "Likely cause: ", "First check: "):
            assert words in copied


async def test_keys_for_alerts_say_so_where_there_is_none(dashboard: Dashboard) -> None:
    async with dashboard("plain-seed1.log") as screen:
        for key in ("a", "z", "y"):
            assert "there is no alert" in await screen.press(key)


async def test_an_alert_that_is_over_or_seen_says_so_to_a_and_z(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("a")
        assert "gap-jump is marked as seen already" in await screen.press("a")
        await screen.press("e", "e")
        assert "gap-jump is over: nothing to keep quiet" in await screen.press("z")
        assert "gap-jump is over: nothing to mark as seen" in await screen.press("a")
        assert screen.app.session.run.alerts[0].snoozed_until is None


@pytest.mark.parametrize("size", [(40, 10), (60, 15)])
async def test_the_question_fits_a_small_screen(dashboard: Dashboard, size: tuple[int, int]) -> None:
    async with dashboard(SAMPLE, size=size) as screen:
        asked = [line for line in (await screen.press("e")).splitlines() if line.startswith("e again: ")]
        assert len(asked) == 1
        assert asked[0].endswith(" end")


async def test_text_that_is_cut_says_so(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, size=(60, 15)) as screen:
        assert screen.text.splitlines()[-2].endswith("…")
        await screen.press("tab", "pagedown", "pagedown")
        assert "    the manual." in screen.text
        assert "…" not in screen.text.splitlines()[-2]


async def test_e_takes_what_comes_now_as_normal(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        judge = screen.app.session.run.judge
        assert "e again: what comes now is the new normal; open alerts end" in await screen.press("e")
        assert judge.rebased_at is None, "one key alone must not end alerts"
        assert "e again" not in await screen.press("down"), "another key forgets the question"
        assert "e again" in await screen.press("e")
        screen.app.screen._question -= 11
        assert "e again" in await screen.press("e"), "an old question is asked anew"
        assert judge.rebased_at is None
        text = await screen.press("e")
        assert "new baseline from rollout 48 on" in text
        assert "1 resolved" in text
        assert "accepted as expected at rollout 47, raised at 2" in text
        assert "learning 0 of 10" in text
        assert screen.app.session.run.judge.rebased_at == 47


async def test_x_switches_a_condition_off_and_on(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        text = await screen.press("x")
        assert isinstance(screen.app.screen, ConditionsScreen)
        assert "firing" in screen.line("gap-jump")
        assert "The gap jumps and stays high" in text
        for key in ("x", "enter", "space"):
            text = await screen.press(key)
            assert "gap-jump is off" in text
            assert "  off" in screen.line("gap-jump")
            assert "gap-jump is on" in await screen.press(key)
        assert "gradient norm grows" in await screen.press("down")
        assert screen.app.screen.query_one(Listing).at == 1
        await screen.press("up", "x", "escape")
        assert screen.app.session.run.alerts[0].state is AlertState.RESOLVED
        assert "switched off: gap-jump" in await screen.wait(lambda text: "switched off" in text)


async def test_tab_goes_to_the_alerts_and_their_keys(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(60, 15)) as screen:
        await screen.give(Ended())
        await screen.wait(lambda text: "▲ crashed" in text)
        assert "▸ ▲ crashed" in await screen.press("tab")
        pane = screen.app.screen.query_one(AlertPane)
        assert pane.has_focus
        first = screen.text
        assert "first check" not in first
        await screen.press("pagedown")
        assert "first check" in screen.text
        await screen.press("pageup", "down", "up", "j", "k")
        assert "▸ ▲ crashed" in screen.text
        assert "▸" not in await screen.press("tab")


async def test_enter_on_an_alert_opens_its_signal(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("tab", "enter")
        assert isinstance(screen.app.screen, ChartScreen)
        assert screen.app.screen.signal == "gap"


async def test_the_wheel_scrolls_the_alerts(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(60, 15)) as screen:
        await screen.give(Ended())
        await screen.wait(lambda text: "▲ crashed" in text)
        pane = screen.app.screen.query_one(AlertPane)
        wheel = (1, 1, 0, 0, 0, False, False, False)
        pane.post_message(events.MouseScrollDown(pane, *wheel))
        await screen.wait(lambda text: "▲ crashed" not in text)
        pane.post_message(events.MouseScrollUp(pane, *wheel))
        await screen.wait(lambda text: "▲ crashed" in text)
