"""Every key does what help says, on a screen that is driven without a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual import events

from miles_tui.core.alerts import AlertState
from miles_tui.ingest.pieces import Appeared, Cut, Ended, Missing, Why
from miles_tui.ui.keys import APP_KEYS, MAIN_KEYS
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.conditions import ConditionsScreen
from miles_tui.ui.screens.help import HelpScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.themes import ThemeScreen
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.listing import Listing
from miles_tui.ui.widgets.signals import SignalTable

Dashboard = Callable[..., Any]
SAMPLE = "gap-jump.log"
TROUBLED = "talks-longer.log"


def table(screen: Any) -> SignalTable:
    return screen.app.screen.query_one(SignalTable)


async def test_arrows_and_letters_select_a_row(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert table(screen).selected.name == "reward"
        for key, name in (("down", "answer length"), ("j", "cut share"), ("k", "answer length"), ("up", "reward"),
                          ("up", "reward"), ("end", "rollout time"), ("down", "rollout time"), ("home", "reward"),
                          ("G", "rollout time"), ("g", "reward")):  # fmt: skip
            await screen.press(key)
            assert table(screen).selected.name == name, key
        assert "reward · mean reward" in await screen.press("home")
        assert "gap · mean absolute gap" in await screen.press("j", "j", "j")


async def test_a_click_selects_a_row_and_two_open_it(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.pilot.click(SignalTable, offset=(10, 4))
        assert table(screen).selected.name == "gap"
        await screen.pilot.click(SignalTable, offset=(10, 4), times=2)
        await screen.pilot.pause()
        assert isinstance(screen.app.screen, ChartScreen)


async def test_enter_opens_the_chart_and_escape_or_q_lead_back(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        for back in ("escape", "q"):
            text = await screen.press("home", "j", "j", "j", "enter")
            assert isinstance(screen.app.screen, ChartScreen)
            assert "gap" in text.splitlines()[1]
            assert "▲" in text.splitlines()[0], "the verdict stays in sight"
            assert "┬" in text
            await screen.press(back)
            assert isinstance(screen.app.screen, MainScreen)


async def test_the_charts_keys(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("j", "j", "j", "enter")
        assert "rollout 47" in (await screen.press("left")).splitlines()[1]
        assert "rollout 46" in (await screen.press("left")).splitlines()[1]
        assert "rollout 47" in (await screen.press("right", "right")).splitlines()[1]
        assert "rollout 37" in (await screen.press("shift+left")).splitlines()[1]
        assert "rollout 27" in (await screen.press("shift+left")).splitlines()[1]
        assert "rollout 47" in (await screen.press("shift+right", "shift+right")).splitlines()[1]
        whole = screen.app.screen.span
        await screen.press("plus")
        zoomed = screen.app.screen.span
        assert whole is None
        assert zoomed[1] - zoomed[0] == 24
        assert zoomed[0] <= 47 <= zoomed[1]
        await screen.press("minus")
        assert screen.app.screen.span is None
        await screen.press("equals_sign", "0")
        assert screen.app.screen.span is None
        assert screen.app.screen.cursor is None
        await screen.press("s")
        assert screen.app.screen.logarithmic
        await screen.press("down")
        assert screen.app.screen.signal == "KL to the engine"
        assert "KL to the engine" in screen.text.splitlines()[1]
        await screen.press("k", "up")
        assert screen.app.screen.signal == "cut share"
        await screen.press("j")
        assert screen.app.screen.signal == "gap"


async def test_a_click_on_the_chart_reads_a_rollout(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("enter")
        await screen.pilot.click("#body", offset=(60, 10))
        await screen.pilot.pause()
        assert screen.app.screen.cursor is not None
        assert f"rollout {screen.app.screen.cursor} " in screen.text.splitlines()[1]


async def test_an_open_chart_goes_on(dashboard: Dashboard, blocks: list[bytes]) -> None:
    async with dashboard(b"".join(blocks[:20])) as screen:
        before = await screen.press("j", "j", "j", "enter")
        after = await screen.give(b"".join(blocks[20:30]))
        assert "▲ 1 alert" in after
        assert before != after
        assert "▲ gap-jump" in await screen.press("escape")


async def test_help_shows_the_keys_that_work_here(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, size=(120, 60)) as screen:
        text = await screen.press("question_mark")
        assert isinstance(screen.app.screen, HelpScreen)
        for binding in [*APP_KEYS, *MAIN_KEYS]:
            assert (binding.tooltip in text) == (not binding.action.startswith("app.run")), binding.id
        await screen.press("escape", "enter")
        text = await screen.press("question_mark")
        assert "Logarithmic scale" in text
        assert "Acknowledge" not in text
        await screen.press("question_mark")
        assert isinstance(screen.app.screen, HelpScreen)
        await screen.press("q", "q")
        assert isinstance(screen.app.screen, MainScreen)


async def test_help_scrolls_on_a_small_screen(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, size=(60, 15)) as screen:
        first = await screen.press("question_mark")
        body = screen.app.screen.query_one(Listing)
        assert await screen.press("down") != first
        assert await screen.press("up") == first
        await screen.press("end")
        assert "A range is a profile" in screen.text
        bottom = body.at
        await screen.press("pagedown")
        assert body.at == bottom
        await screen.press("pageup")
        assert body.at < bottom
        await screen.press("home")
        assert screen.text == first


async def test_t_takes_the_next_theme_and_says_its_name(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        names = []
        for _ in range(len(screen.app.looks.all())):
            text = await screen.press("t")
            names.append(screen.app.look.name)
            assert f"theme {names[-1]}" in text
        assert sorted(names) == sorted(screen.app.looks.all())
        assert len(names) >= 8


async def test_the_list_of_themes_tries_them_on(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        before = screen.app.look.name
        await screen.press("T")
        assert isinstance(screen.app.screen, ThemeScreen)
        await screen.press("down")
        tried = screen.app.look.name
        assert tried != before
        await screen.press("escape")
        assert screen.app.look.name == before
        await screen.press("T", "down", "enter")
        assert screen.app.look.name == tried
        assert isinstance(screen.app.screen, MainScreen)


async def test_space_pauses_the_view_and_never_the_data(dashboard: Dashboard, blocks: list[bytes]) -> None:
    async with dashboard(b"".join(blocks[:20])) as screen:
        assert "view paused" in await screen.press("space")
        rows = screen.text.splitlines()[3:12]
        paused = await screen.give(b"".join(blocks[20:30]))
        assert paused.splitlines()[3:12] == rows
        assert "rollout 19 of 48" in paused
        assert screen.app.session.run.pace.number == 29
        await screen.press("down", "up")
        await screen.pilot.resize_terminal(110, 36)
        await screen.pilot.pause()
        assert "rollout 19 of 48" in screen.text
        thawed = await screen.press("space")
        assert "rollout 29 of 48" in thawed
        assert "view paused" not in thawed
        assert "▲ gap-jump" in thawed


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


async def test_a_chart_explains_its_signs_where_there_is_room(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        text = await screen.press("j", "j", "j", "enter")
        assert text.splitlines()[1].endswith("· rollout  ─ mean of 5  ╌ range")
        await screen.pilot.resize_terminal(60, 15)
        await screen.pilot.pause()
        assert "· rollout" not in screen.text


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


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_quitting_asks_nothing(dashboard: Dashboard, key: str) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.pilot.press(key)
        await screen.pilot.pause()
        assert not screen.app._running or screen.app._exit
        assert screen.app.return_code == 0


async def test_ctrl_c_quits_from_any_screen(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("x")
        await screen.pilot.press("ctrl+c")
        await screen.pilot.pause()
        assert screen.app._exit


async def test_ctrl_l_draws_the_whole_screen_again(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        screen.app._paper._rows = [[("?", ("", "", ""))]]
        text = await screen.press("ctrl+l")
        assert screen.app._paper._rows == []
        assert "reward" in text


async def test_the_command_palette_has_every_action(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        commands = {command.help for command in screen.app.get_system_commands(screen.app.screen)}
        for binding in [*APP_KEYS, *MAIN_KEYS]:
            assert (binding.tooltip in commands) == (not binding.action.startswith("app.run")), binding.id
        await screen.press("ctrl+p")
        assert type(screen.app.screen).__name__ == "CommandPalette"
        await screen.press(*"Seen")
        await screen.wait(lambda text: "Acknowledge the alert" in text)
        await screen.press("enter")
        await screen.wait(lambda text: "since rollout 2" in text and ", seen" in text)


async def test_every_binding_has_an_id_a_word_and_a_sentence() -> None:
    screens = (MainScreen, ChartScreen, HelpScreen, ThemeScreen, ConditionsScreen, SignalTable, AlertPane, Listing)
    bindings = [*APP_KEYS, *(b for cls in screens for b in cls.BINDINGS)]
    ids = [(b.id, b.key) for b in bindings]
    assert all(b.id and b.description and b.tooltip for b in bindings)
    assert len({i for i, _ in ids}) == len(set(ids)), "one id means one thing"


async def test_what_happens_to_the_file_is_said(dashboard: Dashboard, blocks: list[bytes]) -> None:
    async with dashboard() as screen:
        assert "waiting for train.log to appear" in await screen.give(Missing("does not exist"))
        assert "may not be read" in await screen.give(Missing("may not be read (permission denied)"))
        text = await screen.give(Appeared(), b"".join(blocks[:3]))
        assert "rollout 2 of 48" in text
        assert "may not be read" not in text
        await screen.give(Cut(Why.ROTATED), blocks[3])
        assert "rollout 3 of 48" in screen.text
        screen.feed.how = "every 0.2 s: inotify can't see nfs"
        assert "polling every 0.2 s: inotify can't see nfs" in await screen.give(blocks[4])
        assert "input ended" in await screen.give(Ended())


async def test_a_log_without_metrics_says_why(dashboard: Dashboard) -> None:
    launch = b"[2026-10-15 16:00:00.000 rollout_manager] timer.py:31 - Timer rollout start\n"
    async with dashboard(launch, size=(80, 24)) as screen:
        assert "waiting   phase rollout since 16:00" in screen.text.splitlines()[0]
        assert screen.app.session.why_empty()[:30] in screen.text
    wrapped = b'{"level": "info", "step": 1, "loss": 2.5}\n' * 30
    async with dashboard(wrapped, size=(80, 24)) as screen:
        assert screen.app.session.why_empty()
        assert screen.app.session.why_empty()[:30] in screen.text


async def test_engine_noise_paints_nothing(dashboard: Dashboard) -> None:
    noise = b"\x1b[36m(SGLangEngine pid=43)\x1b[0m [2026-10-15 18:02:09] Decode batch. #running-req: 54\n"
    async with dashboard(SAMPLE) as screen:
        painted = []
        screen.app.post_display_hook = lambda: painted.append(1)
        before = screen.text
        for _ in range(20):
            await screen.give(noise * 100)
        assert screen.text == before
        assert not painted


async def test_log_text_does_not_reach_the_screen_as_markup(dashboard: Dashboard, blocks: list[bytes]) -> None:
    crash = b'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n'
    crash += b"RuntimeError: [red]x[/red] \x1b[2J\n"
    async with dashboard(b"".join(blocks[:12]) + crash) as screen:
        text = await screen.give(Ended())
        assert "RuntimeError: [red]x[/red]" in text


@pytest.mark.parametrize("size", [(120, 40), (120, 36), (80, 24), (60, 15), (40, 10)])
@pytest.mark.parametrize("log", [TROUBLED, "nan.log"])
async def test_nothing_is_wider_than_the_screen_and_no_number_is_cut(
    dashboard: Dashboard, size: tuple[int, int], log: str
) -> None:
    async with dashboard(log, size=size) as screen:
        await screen.give(Ended())
        text = screen.text
        assert len(text.splitlines()) <= size[1]
        for name, series in screen.app.session.run.signals.items():
            assert name in text
            assert series.last is not None
        assert "#" not in text
        for key in ("question_mark", "x", "T", "enter"):
            assert await screen.press(key)
            await screen.press("escape")


async def test_several_logs_are_followed_and_brackets_change_between_them(
    dashboard: Dashboard, given_feed: Any, blocks: list[bytes]
) -> None:
    other = given_feed(name="other.log")
    async with dashboard("plain-seed1.log", others=[other]) as screen:
        assert "plain-seed1.log (1 of 2)" in screen.text
        other.give(b"".join(blocks[:10]))
        other.give(b"".join(blocks[10:30]))
        await screen.wait(lambda text: "other.log: 1 alert" in text)
        text = await screen.press("right_square_bracket")
        assert "other.log (2 of 2)" in text
        assert "rollout 29 of 48" in text
        assert "▲ gap-jump" in text
        assert "plain-seed1.log (1 of 2)" in await screen.press("right_square_bracket")
        assert "other.log (2 of 2)" in await screen.press("left_square_bracket")
        other.give(blocks[30])
        await screen.wait(lambda text: "rollout 30 of 48" in text)
        assert "The next run" in await screen.press("question_mark")


async def test_while_a_long_log_is_read_only_the_percentage_moves(
    dashboard: Dashboard, blocks: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("miles_tui.ui.app.CATCH_UP_SECONDS", 0.0)
    async with dashboard(blocks[0]) as screen:
        rows = screen.text.splitlines()[3:12]
        screen.feed.place = (False, 43, 100)
        text = await screen.give(b"".join(blocks[1:20]))
        assert "reading, 43 %" in text
        assert text.splitlines()[3:12] == rows
        await screen.press("down", "question_mark", "escape")
        screen.feed.place = (True, 100, 100)
        text = await screen.give(blocks[20])
        assert "reading" not in text
        assert "rollout 20 of 48" in text
