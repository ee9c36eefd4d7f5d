"""Alerts on the screen: their keys, the pane that shows them, the list of conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual import events

from miles_tui.core.alerting.alert import AlertState
from miles_tui.core.model.chunks import Ended
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.conditions import ConditionsScreen
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.listing import Listing

Dashboard = Callable[..., Any]
SAMPLE = "gap-jump.log"


async def test_a_acknowledges_and_z_snoozes(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert ", seen" in await screen.press("a")
        assert screen.app.session.monitor.state.alerts[0].seen
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
        assert screen.app.session.monitor.state.alerts[0].snoozed_until is None


@pytest.mark.parametrize("size", [(40, 10), (60, 15)])
async def test_the_question_fits_a_small_screen(dashboard: Dashboard, size: tuple[int, int]) -> None:
    async with dashboard(SAMPLE, size=size) as screen:
        asked = [line for line in (await screen.press("e")).splitlines() if line.startswith("e again: ")]
        assert len(asked) == 1
        assert asked[0].endswith(" end")


async def test_text_that_is_cut_says_so(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, size=(60, 15)) as screen:
        assert screen.text.splitlines()[-2].endswith("…")
        await screen.press("tab", "pagedown", "pagedown", "pagedown")
        assert "    the manual." in screen.text
        assert "…" not in screen.text.splitlines()[-2]


@pytest.mark.parametrize(("size", "hint"), [((60, 15), "Tab read the alert"), ((40, 10), "Tab")])
async def test_a_small_screen_lets_an_alert_be_read(dashboard: Dashboard, size: tuple[int, int], hint: str) -> None:
    """Down goes through it, Enter gives it the rows' lines, Esc and Tab give them back."""
    async with dashboard(SAMPLE, size=size) as screen:
        small = screen.text
        assert hint in small.splitlines()[-1]
        assert "the manual." not in small
        pane = screen.app.screen.query_one(AlertPane)
        await screen.press("tab")
        for _ in range(24):
            await screen.press("down")
        assert "the manual." in screen.text
        assert "reward" in screen.text
        text = await screen.press("enter", "home", "end")
        assert pane.size.height >= size[1] - 3
        assert "reward" not in text
        assert "the manual." in text
        assert "reward" in await screen.press("escape")
        assert pane.has_focus
        await screen.press("enter")
        assert await screen.press("tab") == small
        assert "answer length" in await screen.press("down")


async def test_e_takes_what_comes_now_as_normal(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        judge = screen.app.session.monitor.state.judge
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
        assert "learning" not in text, "the run is over"
        assert screen.app.session.monitor.state.judge.rebased_at == 47
        assert "u takes it back until then" in text
        text = await screen.press("u")
        assert "the new baseline is taken back" in text
        assert "accepted" not in text
        assert "1 firing" in text
        assert judge.rebased_at is None
        assert "no new baseline to take back" in await screen.press("u")


async def test_x_switches_a_condition_off_and_on(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        text = await screen.press("x")
        assert isinstance(screen.app.screen, ConditionsScreen)
        assert "firing" in screen.line("gap-jump")
        assert "The gap jumps and stays high" in text
        judge = screen.app.session.monitor.state.judge
        for key in ("x", "enter", "space"):
            assert "x again: gap-jump off; its alert is silent until it is on again" in await screen.press(key)
            assert "gap-jump" not in judge.off, "one key alone must not take an open alert away"
            assert "x again" not in await screen.press("up"), "another key forgets the question"
            assert "x again" in await screen.press(key)
            assert "gap-jump is off" in await screen.press(key)
            assert "  off" in screen.line("gap-jump")
            assert "gap-jump is on" in await screen.press(key)
            assert "firing" in screen.line("gap-jump")
        assert "gradient norm grows" in await screen.press("down")
        assert screen.app.screen.query_one(Listing).at == 1
        await screen.press("up", "x", "x", "escape")
        assert screen.app.session.monitor.state.alerts[0].state is AlertState.SWITCHED_OFF
        text = await screen.wait(lambda text: "switched off: gap-jump" in text)
        assert "switched off at rollout 47, raised at 2" in text
        assert "1 switched off" in text


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


async def test_the_small_chart_is_of_the_alert_that_has_the_keys(dashboard: Dashboard) -> None:
    async with dashboard("grad-growth.log", size=(120, 40)) as screen:
        assert "  reward   · rollout" in screen.text
        text = await screen.press("tab")
        assert "  gradient norm   · rollout" in text
        assert any(line.strip(" │") == "△" for line in text.splitlines()), "a warning's mark is a warning's sign"
        assert "  reward   · rollout" in await screen.press("tab")


async def test_the_footer_says_what_enter_does(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert "Enter numbers" in await screen.press("tab")
        assert "Enter fold" in await screen.press("enter")
        assert "Enter numbers" in await screen.press("escape")


async def test_c_on_an_alert_opens_its_signal(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert "c chart" in await screen.press("tab")
        await screen.press("c")
        assert isinstance(screen.app.screen, ChartScreen)
        assert screen.app.screen.signal == "gap"


def words(screen: Any) -> str:
    return " ".join(screen.text.split())


async def test_enter_unfolds_the_numbers_of_an_alert_and_they_go_on(
    dashboard: Dashboard, fixed_judge: Callable[..., Any], blocks: list[bytes]
) -> None:
    judge = fixed_judge({23: ("gap-jump", "gap 0.0409")})
    async with dashboard(b"".join(blocks[:30]), judge=judge) as screen:
        gap = screen.app.session.monitor.state.signals["gap"]
        before = [p.value for p in gap.points() if 13 <= p.rollout <= 17]
        assert "before" not in screen.text
        await screen.press("tab", "enter")
        newest = gap.last
        for said in (
            f"gap, nats: before {sum(before) / 5:.3g}",
            "(rollouts 13 to 17), raised at 0.0409 (rollout 23), ",
            f"now {newest.value:.3g}",
            f"(rollout {newest.rollout})",
            "times: raised at rollout 23, 17:02:",
            "; still firing likely cause: ",
        ):
            assert said in words(screen)
        assert "c chart" in screen.text.splitlines()[-1]
        await screen.give(blocks[30])
        later = gap.last
        assert later.rollout == newest.rollout + 1
        assert f"(rollout {later.rollout})" in words(screen), "what is now is of the series"
        await screen.press("space")
        await screen.give(blocks[31])
        assert gap.last.rollout == later.rollout + 1
        await screen.press("v")
        assert f"(rollout {later.rollout})" in words(screen), "a paused view stays"
        await screen.press("space", "enter")
        assert "before" not in screen.text


async def test_the_numbers_of_an_alert_that_is_over(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("e", "e", "tab")
        assert "first check" not in screen.text
        await screen.press("enter")
        assert "; accepted as expected at rollout 47, 1" in words(screen)
        assert "resolved at 0.0387 (rollout 47)" in words(screen)
        assert "first check: " in words(screen)


async def test_an_alert_of_no_rollout_has_times_only(dashboard: Dashboard) -> None:
    async with dashboard("crash.log") as screen:
        await screen.give(Ended())
        await screen.wait(lambda text: "▲ crashed" in text)
        await screen.press("tab", "enter")
        assert "times: raised " in words(screen)
        assert "before 0" not in words(screen)


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


async def test_the_pane_counts_as_the_header_does_and_tells_the_newest_value(
    dashboard: Dashboard, fixed_judge: Any
) -> None:
    raised = {23: ("gap-jump", "gap 0.0409; level 0.0150"), 30: ("restarted", "x"), 31: ("secret-in-log", "y")}
    async with dashboard(SAMPLE, size=(120, 40), judge=fixed_judge(raised)) as screen:
        severities = [a.severity.value for a in screen.app.screen.session.monitor.state.alerts]
        notices = severities.count("notice")
        firing = len(severities) - notices
        assert f"alerts: {firing} firing, {notices} notice" in screen.text
        assert f"{firing} alert" in screen.text.splitlines()[0]
        assert "gap 0.0409; level 0.0150; now 0.0387" in screen.text
