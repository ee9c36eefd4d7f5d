"""Every key does what help says, on a screen that is driven without a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from driven import Driven
from textual.binding import Binding

from miles_tui.core.model.chunks import Appeared, Cut, Ended, Missing, Why
from miles_tui.ui import navigation as several
from miles_tui.ui.keys import APP_KEYS, MAIN_KEYS
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.conditions import ConditionsScreen
from miles_tui.ui.screens.help import HelpScreen
from miles_tui.ui.screens.log import LogScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.screens.themes import ThemeScreen
from miles_tui.ui.widgets.listing import Listing
from miles_tui.ui.widgets.signals import SignalTable

Dashboard = Callable[..., Any]
SAMPLE = "gap-jump.log"
TROUBLED = "talks-longer.log"


def selected(screen: Driven) -> str:
    row = screen.app.screen.query_one(SignalTable).selected
    assert row is not None
    return row.name


async def test_arrows_and_letters_select_a_row(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert selected(screen) == "reward"
        for key, name in (("down", "answer length"), ("j", "cut share"), ("k", "answer length"), ("up", "reward"),
                          ("up", "reward"), ("end", "rollout time"), ("down", "rollout time"), ("home", "reward"),
                          ("G", "rollout time"), ("g", "reward")):  # fmt: skip
            await screen.press(key)
            assert selected(screen) == name, key
        assert "reward · mean reward" in await screen.press("home")
        assert "gap · mean absolute gap" in await screen.press("j", "j", "j")


async def test_a_click_selects_a_row_and_two_open_it(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.pilot.click(SignalTable, offset=(10, 4))
        assert selected(screen) == "gap"
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
        assert screen.is_on(HelpScreen)
        for binding in [*APP_KEYS, *MAIN_KEYS]:
            assert isinstance(binding, Binding)
            assert binding.tooltip is not None
            assert (binding.tooltip in text) == (not binding.action.startswith("app.run")), binding.id
        await screen.press("escape", "enter")
        text = await screen.press("question_mark")
        assert "Logarithmic scale" in text
        assert "Acknowledge" not in text
        await screen.press("question_mark")
        assert isinstance(screen.app.screen, ChartScreen), "the same key closes it"
        await screen.press("q")
        assert isinstance(screen.app.screen, MainScreen)


@pytest.mark.parametrize(("glyphs", "signs"), [("braille", "▲▼ × ○ ┊"), ("ascii", "^v ! o |")])
async def test_help_tells_every_sign_of_a_sparkline(dashboard: Dashboard, glyphs: str, signs: str) -> None:
    async with dashboard(SAMPLE, size=(120, 90), glyphs=glyphs) as screen:
        text = await screen.press("question_mark")
        for sign, words in zip(signs.split(), ("off the scale", "not finite", "a pause", "restarted"), strict=True):
            assert re.search(rf"^\s+{re.escape(sign)}\s+line: .*{words}", text, re.MULTILINE), words
        assert ("a bar over the part of the line's height that is" in text) == (glyphs == "braille")


async def test_help_scrolls_on_a_small_screen(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, size=(60, 15)) as screen:
        first = await screen.press("question_mark")
        body = screen.app.screen.query_one(Listing)
        assert await screen.press("down") != first
        assert await screen.press("up") == first
        await screen.press("end")
        assert "the whole range lies above or below" in screen.text
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
        assert screen.app.session.monitor.state.pace.number == 29
        await screen.press("down", "up")
        await screen.pilot.resize_terminal(110, 36)
        await screen.pilot.pause()
        assert "rollout 19 of 48" in screen.text
        thawed = await screen.press("space")
        assert "rollout 29 of 48" in thawed
        assert "view paused" not in thawed
        assert "▲ gap-jump" in thawed


async def test_a_chart_explains_its_signs_where_there_is_room(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        text = await screen.press("j", "j", "j", "enter")
        assert text.splitlines()[1].endswith("· rollout  ─ mean of 5  ╌ range")
        await screen.pilot.resize_terminal(60, 15)
        await screen.pilot.pause()
        assert "· rollout" not in screen.text


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


@pytest.mark.parametrize("size", [(120, 36), (60, 15)])
async def test_a_gzip_file_that_is_not_whole_is_said(
    dashboard: Dashboard, blocks: list[bytes], size: tuple[int, int]
) -> None:
    async with dashboard(size=size) as screen:
        text = await screen.give(b"".join(blocks[:3]), Ended("the gzip file ends too early"))
        assert "the gzip file" in text.splitlines()[0] + text.splitlines()[1]


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
        for name, series in screen.app.session.monitor.state.signals.items():
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
    monkeypatch.setattr("miles_tui.runs.run_set.CATCH_UP_SECONDS", 0.0)
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


async def test_times_of_another_day_have_their_date_on_every_screen(
    shown: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shown("main") as screen:
        assert "15 Oct" not in screen.text
        now, zone = several.our_time()
        monkeypatch.setattr(several, "our_time", lambda: (now + 86_400, zone))
        await screen.press("tab", "enter")
        assert re.search(r"last line 15 Oct \d\d:\d\d", screen.text)
        assert re.search(r"since rollout 23, 15 Oct 17:02", screen.text)
        assert "15 Oct" in (await screen.press("L")).splitlines()[1]
        await screen.press("L")
        assert re.search(r"times: raised at rollout 23, 15 Oct 17:02:\d\d", " ".join(screen.text.split()))


async def test_screens_do_not_pile_up(shown: Callable[..., Any]) -> None:
    async with shown("main") as screen:
        for key in ("L", "question_mark", "T", "L", "question_mark", "L", "T", "question_mark") * 3:
            await screen.press(key)
            kinds = [type(one) for one in screen.app.screen_stack]
            assert len(kinds) == len(set(kinds)) <= 4
            assert HelpScreen not in kinds[:-1]
    for key, kind in (("L", LogScreen), ("question_mark", HelpScreen), ("T", ThemeScreen)):
        async with shown("main") as screen:
            await screen.press(key)
            assert isinstance(screen.app.screen, kind)
            await screen.press(key)
            assert isinstance(screen.app.screen, MainScreen), "the key that opened it closes it"


@pytest.mark.parametrize("way", ["help", "log", "metrics", "time", "conditions", "themes", "chart"])
async def test_a_screen_that_is_closed_before_it_is_there_ends_nothing(shown: Callable[..., Any], way: str) -> None:
    async with shown(way) as screen:
        app, opened = screen.app, screen.app.screen
        makers: dict[type[Any], Callable[[], SubScreen]] = {
            ThemeScreen: lambda: ThemeScreen(app, app.session), LogScreen: lambda: LogScreen(app, app.session),
            HelpScreen: lambda: HelpScreen(app, app.session, app.screen_stack[0]),
            ChartScreen: lambda: ChartScreen(app, app.session, "gap"),
            ConditionsScreen: lambda: ConditionsScreen(app, app.session, None),
        }  # fmt: skip
        made: Callable[[], SubScreen] = makers.get(type(opened), lambda: type(opened)(app, app.session))
        for _ in range(3):
            app.push_screen(made())
            app.pop_screen()
        app.push_screen(made())
        await screen.pilot.pause()
        assert type(app.screen) is type(opened)
        assert app.crash is None
        app.push_screen(made())
        app.exit()
    assert (app.return_code, app.crash) == (0, None), "nor does one that is opened as the app ends"
