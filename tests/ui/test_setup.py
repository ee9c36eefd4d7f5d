"""Settings and options as they reach the screen, and what the screen says of time, zone and the person's changes."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from driven import Driven

from miles_tui.cli.screens import add_screen, add_watch, setup_of
from miles_tui.commands.arguments import add_profile, add_source, parser
from miles_tui.config import view_state as remember
from miles_tui.errors import BadSetting
from miles_tui.ingest.history.pause_log import PauseLog
from miles_tui.runs.run_options import Setup

Dashboard = Callable[..., Any]
Blocks = list[bytes]


def options(*argv: str) -> argparse.Namespace:
    p = parser("", "")
    for add in (add_profile, add_source, add_screen, add_watch):
        add(p)
    return p.parse_args(argv)


@pytest.fixture
def write_config(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "config" / "miles-tui" / "config.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return path

    return write


def test_without_a_file_there_are_the_defaults() -> None:
    assert setup_of(options()) == Setup()


def test_settings_reach_the_screen_and_options_win(write_config: Callable[[str], Path], tmp_path: Path) -> None:
    write_config(
        'theme = "paper"\nprofile = "manual"\nsignals = ["gap", "reward"]\nmetrics = ["train/lr"]\nwindow = 7\n'
        'history = 128\nmouse = false\nswitched_off = ["stalled"]\n'
        '[notify]\nbell = "never"\ndesktop = "osc9"\ncommand = "a"\ncommand_seconds = 3\n'
    )
    setup = setup_of(options())
    assert (setup.theme, setup.signals, setup.metrics) == ("paper", ("gap", "reward"), ("train/lr",))
    assert (setup.window, setup.history, setup.mouse, setup.switched_off) == (7, 128, False, ("stalled",))
    assert setup.profile is not None
    assert (setup.notices.bell, setup.notices.desktop, setup.notices.command) == ("never", "osc9", "a")
    assert setup.notices.seconds == 3
    run = setup.monitor().state
    assert (run.window, run.capacity) == (7, 128)
    assert "stalled" in run.judge.off
    (tmp_path / "pauses").touch()
    setup = setup_of(
        options(
            "--theme", "night", "--on-alert", "b", "--polling", "--glyphs", "blocks", "--pauses", f"{tmp_path}/pauses"
        )
    )
    assert (setup.theme, setup.notices.command, setup.polling, setup.glyphs) == ("night", "b", True, "blocks")
    assert setup.notices.bell == "never"
    assert isinstance(setup.monitor().state.pauses, PauseLog)


async def test_wrong_settings_stand_in_the_header_until_they_are_mended(
    write_config: Callable[[str], Path], dashboard: Dashboard
) -> None:
    path = write_config('profile = "manual"\nwindw = 7\nhistory = "[/bold"\n')
    setup = setup_of(options())
    assert setup.profile is not None
    assert list(setup.wrong) == ["history", "windw"]
    async with dashboard("gap-jump.log", profile=setup.profile, wrong=setup.wrong) as screen:
        assert f"{path}: history: a whole number (and 1 more" in notes(screen)
        screen.app.clear_notifications()
        assert "wrong settings: history, windw (see miles-tui config)" in head(screen.text)
        assert "profile manual" in head(screen.text)
        path.write_text('profile = "manual"\nwindow = 1\n')
        text = await screen.wait(lambda text: "wrong settings: window (" in head(text))
        assert "windw" not in text
        path.write_text('profile = "manual"\nwindow = 7\n')
        await screen.wait(lambda text: "settings mended: the next start takes them" in head(text))
    async with dashboard("gap-jump.log", wrong=setup.wrong, size=(40, 10)) as screen:
        await screen.wait(lambda text: "2 wrong settings" in head(text))


async def test_a_theme_that_can_not_be_worn_is_a_wrong_setting(
    write_config: Callable[[str], Path], dashboard: Dashboard
) -> None:
    path = write_config('theme = "mine"\n')
    (path.parent / "themes").mkdir()
    (path.parent / "themes" / "mine.toml").write_text("dark = 3\n")
    setup = setup_of(options())
    async with dashboard("gap-jump.log", theme=setup.theme, wrong=setup.wrong) as screen:
        assert "wrong settings: theme" in head(screen.text)
        assert "mine.toml" in notes(screen)


def test_an_option_that_is_wrong_is_an_error() -> None:
    with pytest.raises(BadSetting, match="no profile no-such"):
        setup_of(options("--profile", "no-such"))


def notes(screen: Driven) -> str:
    """What is told in a corner of the screen; a driven app keeps it, but draws it not."""
    return "\n".join(note.message for note in screen.app._notifications)


# -- the view that is remembered -------------------------------------------------------------------


def test_the_view_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    assert remember.recalled() == {}
    assert remember.keep({"theme": "night", "signal": "gap"}) == ""
    assert remember.recalled() == {"theme": "night", "signal": "gap"}
    folder = tmp_path / "state" / "miles-tui"
    assert [p.name for p in folder.iterdir()] == ["view.json"]
    (folder / "view.json").write_text('{"theme": 3, "signal": "reward", "more": [')
    assert remember.recalled() == {}
    (folder / "view.json").write_text('{"theme": 3, "signal": "reward"}')
    assert remember.recalled() == {"signal": "reward"}


def test_a_folder_that_can_not_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    said = remember.keep({"theme": "night"})
    assert said.endswith("\n")
    assert "can't be kept" in said


def test_the_view_is_recalled_only_where_that_was_asked_for(write_config: Callable[[str], Path]) -> None:
    remember.keep({"theme": "night", "signal": "gap"})
    config = write_config('theme = "paper"\n')
    assert setup_of(options()).theme == "paper"
    config.write_text('theme = "paper"\nremember = true\n')
    setup = setup_of(options())
    assert (setup.theme, setup.signal, setup.remember) == ("night", "gap", True)


async def test_the_remembered_signal_is_selected(dashboard: Dashboard) -> None:
    async with dashboard("gap-jump.log", signal="gap") as screen:
        assert screen.app.selected == "gap"
        assert screen.app.screen.focused.selected.name == "gap"
        await screen.press("down")
        assert screen.app.selected == "KL to the engine"
    async with dashboard("gap-jump.log", signal="no such") as screen:
        assert screen.app.screen.focused.selected.name == "reward"


# -- what the header says --------------------------------------------------------------------------


def head(text: str) -> str:
    return "\n".join(text.splitlines()[:2])


async def test_age_is_said_and_grows_by_the_minute(dashboard: Dashboard, blocks: Blocks) -> None:
    async with dashboard(b"".join(blocks[:9])) as screen:
        assert "ago" not in head(screen.text)
        session, heard = screen.app.session, screen.app.session.monitor.state.heard
        assert not session.tick(heard + 200), "a rollout takes two and a half minutes"
        assert session.tick(heard + 305)
        assert not session.tick(heard + 330)
        assert session.tick(heard + 361)
        screen.app.screen.grew(session.changed())
        await screen.wait(lambda text: "6 min ago" in head(text))
        text = await screen.give(blocks[9])
        assert "ago" not in head(text)


async def test_the_zone_is_named_where_it_differs(dashboard: Dashboard) -> None:
    def line(n: int, shift: float) -> bytes:
        at = time.time() + time.localtime().tm_gmtoff + shift
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at + n))
        return f"[{stamp}.000 train] model.py:1 - step {n}: {{'train/grad_norm': 0.5}}\n".encode()

    async with dashboard(line(0, 7200)) as screen:
        for n in (1, 2, 3):
            await screen.give(line(n, 7200))
        zone = screen.app.session.zone.name
        assert zone.startswith("UTC")
        assert f"times in {zone}" in head(screen.text)
    async with dashboard(line(0, 0)) as screen:
        for n in (1, 2, 3):
            await screen.give(line(n, 0))
        assert "times in" not in head(screen.text)


async def test_the_generation_bar_moves_with_keys_and_records_alone(dashboard: Dashboard, blocks: Blocks) -> None:
    bar = b"(RolloutManager pid=7) Rollout generation:  %d%%|##        | %d/256 [00:30<01:00,  2.1it/s]\n"
    async with dashboard(b"".join(blocks[:9])) as screen:
        screen.app.session._glanced = time.monotonic()
        await screen.give(bar % (30, 77))
        assert "77 of 256" not in screen.text
        screen.app.session._glanced = float("-inf")
        await screen.press("down")
        await screen.wait(lambda text: "77 of 256" in head(text))
        await screen.give(bar % (40, 102))
        await screen.press("up")
        assert "77 of 256" in head(screen.text), "at most every ten seconds"
        text = await screen.give(blocks[9])
        assert "of 256" not in head(text)


async def test_what_the_person_changed_is_said(dashboard: Dashboard, blocks: Blocks) -> None:
    async with dashboard(b"".join(blocks[:9]), switched_off=("stalled", "gap-jump"), size=(140, 36)) as screen:
        assert "2 conditions off" in head(screen.text)
        assert "new baseline" not in head(screen.text)
        await screen.press("e", "e")
        at = re.search(r"new baseline from rollout (\d+)", screen.text)
        assert at
        assert f"new baseline since rollout {at[1]}" in head(screen.text)
        assert "1 update a rollout" in head(screen.text)


async def test_the_mouse_can_be_left_to_the_terminal(dashboard: Dashboard) -> None:
    async with dashboard("gap-jump.log") as screen:
        assert screen.app.terminal.mouse
        assert "the mouse is left to the terminal" in await screen.press("M")
        assert not screen.app.terminal.mouse
        assert "the mouse is used here" in await screen.press("M")


async def test_an_alert_reaches_terminal_title_and_command(
    dashboard: Dashboard, blocks: Blocks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from miles_tui.runs.run_options import Notices
    from miles_tui.ui.terminal_session import TerminalSession

    written: list[str] = []
    monkeypatch.setattr(TerminalSession, "write", lambda _, text: written.append(text))
    out = tmp_path / "out"
    async with dashboard(b"".join(blocks[:18]), notices=Notices(command=f"cat >> {out}; exit 5")) as screen:
        await screen.wait(lambda _: bool(written))
        assert "\a" not in "".join(written), "nothing is new yet"
        for block in blocks[18:25]:
            await screen.give(block)
        await screen.wait(lambda _: "on-alert: status 5" in notes(screen))
        assert written.count("\a") == 1
        assert any("gap-jump" in text and "/48" in text for text in written)
        assert out.read_text().count('"condition": "gap-jump"') == 1


async def test_a_replay_never_rings(
    dashboard: Dashboard, blocks: Blocks, given_feed: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    from miles_tui.ui.terminal_session import TerminalSession

    written: list[str] = []
    monkeypatch.setattr(TerminalSession, "write", lambda _, text: written.append(text))
    other = given_feed(name="b.log", live=False)
    async with dashboard(blocks[0], others=[other]) as screen:
        for block in blocks[:26]:
            other.give(block)
        await screen.wait(lambda _: any("gap-jump" in text and "b.log" in text for text in written))
        assert "\a" not in written
