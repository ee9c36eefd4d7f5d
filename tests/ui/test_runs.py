"""Several runs: the list, its layouts and order, opening one and coming back, and what following many costs."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from driven import Driven
from terminal import Terminal

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.ingest.files.log_file import Log
from miles_tui.present.run_table import RunRow, names_of, run_columns, run_line, run_row, table_titles
from miles_tui.present.styled_text import plain_text, width_of
from miles_tui.runs.sources import LiveFeed
from miles_tui.ui import navigation as several
from miles_tui.ui.app import MilesApp, _names
from miles_tui.ui.screens.log import LogScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.runs import RunsScreen
from miles_tui.ui.terminal_session import TerminalSession

NEVER = 1e9  # seconds of a round: a test looks by itself
LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
Same = Callable[[str, str], None]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
RAISES: dict[str, dict[int, tuple[str, str]]] = {
    "gap-jump.log": {23: ("gap-jump", "gap 0.0409")},
    "talks-longer.log": {30: ("reward-down-length-up", "reward 0.645"), 31: ("cut-share-high", "25 %")},
    "plain-seed1.log": {},
}


# -- rows ------------------------------------------------------------------------------------------


def row_of(name: str, judge: Judge) -> RunRow:
    run, reader = RunState(judge), Reader()
    run.feed(reader.feed((LOGS / name).read_bytes()))
    run.finish()
    return run_row(name, snapshot_of(run))


def test_a_row_says_what_matters(fixed_judge: MakeJudge) -> None:
    row = row_of("talks-longer.log", fixed_judge(RAISES["talks-longer.log"]))
    assert (row.verdict, row.rollout, row.total) == ("2 alerts", 47, 48)
    assert (row.shape, row.alert, row.alert_style) == ("△", "reward-down-length-up +1", "warning")
    assert row.reward is not None
    assert 0.4 < row.reward < 0.6
    assert row_of("plain-seed1.log", fixed_judge({})).alert == ""


@pytest.mark.parametrize("width", range(38, 140))
def test_lines_fit_and_columns_are_whole(fixed_judge: MakeJudge, width: int) -> None:
    rows = [row_of(name, fixed_judge(RAISES[name])) for name in RAISES]
    rows.append(RunRow("a/very/long/name/of/a/folder/that/goes/on/train.log", followed=False))
    rows.append(rows[0]._replace(last=(rows[0].last or 0) + 86_400 * 2, total=100_000, rollout=99_998))
    columns = run_columns(width, rows)
    today = rows[0].last
    for row in rows:
        line = run_line(row, columns, today)
        assert width_of(line) <= width
        assert row.verdict in plain_text(line)
        if "rollout" in columns.further and row.rollout is not None:
            assert f" {row.rollout}/{row.total}" in plain_text(line)
    assert width_of(table_titles(columns)) <= width
    assert columns.name >= 16


def test_names_tell_runs_apart() -> None:
    assert names_of(["/a/b/one.log", "/a/b/two.log"]) == ["one.log", "two.log"]
    assert names_of(["/a/seed1/train.log", "/a/seed2/train.log"]) == ["seed1", "seed2"]
    assert names_of(["/a/seed1/train.log", "/a/seed2/x.log"]) == ["seed1/train.log", "seed2/x.log"]
    assert names_of(["train.log", "old/train.log"]) == ["train.log", "old/train.log"]
    assert names_of(["train.log", "-"]) == ["train.log", "-"]
    assert names_of(["a.log", "a.log"]) == ["a.log", "a.log"]
    assert _names([Log(Path("x/train.log"), "x")]) == ["train.log"]
    assert _names([Log(Path("-"), "-"), Log(Path("b\x1b[2J.log"), "b")]) == ["standard input", "b.log"]


# -- the screen ------------------------------------------------------------------------------------


class Several(Driven):
    """An app with a list of runs; feeds by their names."""

    def __init__(self, app: MilesApp, pilot: Any, feeds: dict[str, Any]) -> None:
        super().__init__(app, pilot)
        self.feeds = feeds

    async def give(self, name: str, *pieces: bytes) -> str:
        feed = self.feeds[name]
        before = feed.taken
        feed.give(*pieces)
        await self.wait(lambda _: feed.taken > before)
        await self.pilot.pause()
        return self.text

    def line(self, name: str) -> str:
        return next(line for line in self.text.splitlines() if f" {name} " in line)


@pytest.fixture
def runs(given_feed: Any) -> Callable[..., Any]:
    """`async with runs(names, size)`: the list of runs, each log read but those in `silent`."""

    @asynccontextmanager
    async def opened(
        names: dict[str, Judge], size: tuple[int, int] = (120, 36), most: int = 8
    ) -> AsyncIterator[Several]:
        feeds = {name: given_feed(name=name) for name in names}
        for i, name in enumerate(names):
            feeds[name].old = 100.0 * (i + 1)
            feeds[name].parts = (LOGS / name,)
        app = MilesApp(*feeds.values(), listed=True)
        for session, judge in zip(app.runs.sessions, names.values(), strict=False):
            session.monitor.state.judge = judge
        async with app.run_test(size=size) as pilot:
            driven = Several(app, pilot, feeds)
            for name in list(names)[:most]:
                await driven.give(name, (LOGS / name).read_bytes())
            yield driven

    return opened


@pytest.fixture
def three(fixed_judge: MakeJudge) -> dict[str, Judge]:
    return {name: fixed_judge(raises) for name, raises in RAISES.items()}


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (60, 15), (40, 10)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_the_lists_layouts(
    runs: Callable[..., Any], three: dict[str, Judge], same_screen: Same, size: tuple[int, int]
) -> None:
    async with runs(three, size) as screen:
        same_screen(f"runs-{size[0]}x{size[1]}", screen.text)


async def test_enter_opens_a_run_and_esc_returns(runs: Callable[..., Any], three: dict[str, Judge]) -> None:
    async with runs(three) as screen:
        assert screen.is_on(RunsScreen)
        assert "▲ 1 critical   △ 1 with a warning   ● 1 healthy" in screen.text
        text = await screen.press("j", "enter")
        assert screen.is_on(MainScreen)
        assert "talks-longer.log (2 of 3)" in text
        assert "Esc runs" in text
        assert [feed.attention.near for feed in screen.feeds.values()] == [False, True, False]
        await screen.press("right_square_bracket")
        assert "plain-seed1.log (3 of 3)" in screen.text
        assert "Back to the list of runs" in await screen.press("question_mark")
        await screen.press("escape", "escape")
        assert screen.is_on(RunsScreen)
        assert not any(feed.attention.near for feed in screen.feeds.values())
        assert screen.app.screen.chosen == 2
        await screen.press("escape")
        assert screen.is_on(RunsScreen), "there is nothing behind the list"
        text = await screen.press("question_mark")
        assert "Open this run; Esc leads back here" in text
        assert "Back to the list" not in text
        await screen.press("escape", "k", "L")
        assert screen.is_on(LogScreen)
        assert screen.app.screen.session.name == "talks-longer.log"


async def test_the_keys_for_the_next_run_go_as_the_list_does(runs: Callable[..., Any], three: dict[str, Judge]) -> None:
    async with runs(three) as screen:
        for age, feed in zip((300.0, 100.0, 200.0), screen.feeds.values(), strict=True):
            feed.old = age
        await screen.press("question_mark", "escape")  # seen again
        listed = [line.split()[1] for line in screen.text.splitlines() if ".log" in line]
        assert listed == ["talks-longer.log", "plain-seed1.log", "gap-jump.log"]
        await screen.press("home", "enter")
        for at, name in enumerate([*listed, listed[0]]):
            assert f"{name} ({at % 3 + 1} of 3)" in screen.text
            await screen.press("right_square_bracket")
        await screen.press("left_square_bracket")
        assert f"{listed[0]} (1 of 3)" in screen.text


async def test_a_last_line_of_another_day_has_its_date(
    runs: Callable[..., Any], three: dict[str, Judge], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with runs(three) as screen:
        assert not re.search(r"15 Oct", screen.text)
        now, zone = several.our_time()
        monkeypatch.setattr(several, "our_time", lambda: (now + 6 * 7 * 86_400, zone))
        await screen.press("question_mark", "escape")
        for name in three:
            assert re.search(r" 15 Oct \d\d:\d\d", screen.line(name))


async def test_the_list_is_live_and_no_line_jumps(
    runs: Callable[..., Any], fixed_judge: MakeJudge, blocks: list[bytes]
) -> None:
    judges = {"plain-seed1.log": fixed_judge({}), "gap-jump.log": fixed_judge(RAISES["gap-jump.log"])}
    async with runs(judges, most=1) as screen:
        assert "waiting" in screen.line("gap-jump.log")
        await screen.give("gap-jump.log", b"".join(blocks[:20]))
        assert " 19/48 " in screen.line("gap-jump.log")
        screen.feeds["gap-jump.log"].old = 0.0
        await screen.give("gap-jump.log", b"".join(blocks[20:26]))
        assert "gap-jump" in screen.line("gap-jump.log").split("1 alert")[1]
        rows = [line for line in screen.text.splitlines() if ".log" in line]
        assert "plain-seed1" in rows[0]
        await screen.press("question_mark", "escape")
        rows = [line for line in screen.text.splitlines() if ".log" in line]
        assert "gap-jump" in rows[0], "sorted anew when it is seen again"
        assert screen.app.screen.chosen == 0, "the cursor stays at its run"


async def test_runs_beyond_the_limit_are_read_once_and_followed_when_opened(
    runs: Callable[..., Any], fixed_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("miles_tui.runs.run_set.MOST_RUNS", 1)
    names = {name: fixed_judge({}) for name in ("plain-seed1.log", "gap-jump.log", "crash.log")}
    async with runs(names, most=1) as screen:
        await screen.wait(lambda _: "crashed" in screen.line("crash.log") and "47/48" in screen.line("gap-jump.log"))
        assert len(screen.app.runs.sessions) == 1
        await screen.press("j", "L")
        assert "Enter opens this run" in screen.text
        await screen.press("enter")
        assert "gap-jump.log (2 of 3)" in screen.text, "as many as the list has"
        await screen.give("gap-jump.log", (LOGS / "gap-jump.log").read_bytes())
        assert "rollout 47 of 48" in screen.text
        await screen.press("escape")
        assert screen.app.screen.chosen == 1
        assert "crashed" in screen.line("crash.log")
        assert len([line for line in screen.text.splitlines() if ".log" in line]) == 3
        await screen.press("enter", "right_square_bracket")
        assert "crash.log (3 of 3)" in screen.text, "the next run is followed from now on"
        assert "plain-seed1.log (1 of 3)" in await screen.press("right_square_bracket")


async def test_the_newest_comes_first_and_what_is_below_is_told(
    runs: Callable[..., Any], fixed_judge: MakeJudge
) -> None:
    names = ("plain-seed1", "plain-seed2", "plain-seed3", "talks-longer", "clipped", "nan", "gap-jump")
    judges = {f"{name}.log": fixed_judge(RAISES.get(f"{name}.log", {})) for name in names}
    async with runs(judges, size=(40, 10), most=7) as screen:
        rows = [line for line in screen.text.splitlines() if ".log" in line]
        assert [row.split()[1] for row in rows[:3]] == ["plain-seed1.log", "plain-seed2.log", "plain-seed3.log"]
        assert "more" not in screen.text, "seven lines: all are in sight"
    async with runs({**judges, "resume.log": fixed_judge({})}, size=(40, 10), most=8) as screen:
        assert "↓ 1 more" in screen.text.splitlines()[-1]
        assert "more" not in await screen.press("G")


async def test_only_the_first_reading_shows_its_percentage(
    runs: Callable[..., Any], fixed_judge: MakeJudge, blocks: list[bytes]
) -> None:
    async with runs({"gap-jump.log": fixed_judge({}), "crash.log": fixed_judge({})}, most=0) as screen:
        feed = screen.feeds["gap-jump.log"]
        feed.place = (False, 43, 100)
        await screen.give("gap-jump.log", b"".join(blocks[:10]))
        assert "reading 43 %" in screen.line("gap-jump.log")
        feed.place = (True, 100, 100)
        await screen.give("gap-jump.log", b"".join(blocks[10:20]))
        feed.place = (False, 43, 100)
        before = screen.text
        await screen.give("gap-jump.log", b"noise\n" * 100)
        assert screen.text == before


async def test_a_missing_and_an_unread_log_say_so(
    runs: Callable[..., Any], fixed_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("miles_tui.runs.run_set.MOST_RUNS", 1)
    async with runs({"none.log": fixed_judge({}), "gone.log": fixed_judge({})}, most=0) as screen:
        await screen.wait(lambda _: "unreadable" in screen.line("gone.log"))


async def test_runs_that_are_started_later_are_listed_and_followed(
    runs: Callable[..., Any], three: dict[str, Judge], given_feed: Any, tmp_path: Path
) -> None:
    new = given_feed(name="new.log")
    new.parts = (tmp_path / "new.log",)
    async with runs(three) as screen:
        known = list(screen.feeds.values())
        screen.app.runs.more = lambda: [*known, new]
        await screen.press("j")
        for _ in range(2):
            await screen.app.runs.look_for_more()
        await screen.pilot.pause()
        assert "4 runs" in screen.text
        screen.feeds["new.log"] = new
        await screen.give("new.log", (LOGS / "plain-seed2.log").read_bytes())
        assert "finished" in screen.line("new.log")
        assert not new.attention.near
        rows = [line for line in screen.text.splitlines() if ".log" in line]
        assert "new.log" in rows[0], "the newest"
        await screen.press("enter")
        assert "talks-longer.log (3 of 4)" in screen.text, "as the list has it, the newest first"


def grow(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


async def look(app: MilesApp) -> None:
    await app.runs.look_at(list(app.runs.beyond))
    app.navigation.listed_anew()


async def test_a_log_beyond_those_followed_is_followed_when_it_grows_and_rings(
    blocks: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the place of a run that is over; what fired before it grew is no news, what fires then is."""
    monkeypatch.setattr("miles_tui.runs.run_set.MOST_RUNS", 2)
    monkeypatch.setattr("miles_tui.runs.run_set.ROUND_SECONDS", NEVER)
    written: list[str] = []
    monkeypatch.setattr(TerminalSession, "write", lambda _, text: written.append(text))
    finished, alive, old, late = (tmp_path / f"{name}.log" for name in ("finished", "alive", "old", "late"))
    finished.write_bytes((LOGS / "plain-seed1.log").read_bytes())
    alive.write_bytes(b"".join(blocks[:10]))
    old.write_bytes(b"".join(blocks[:30]))
    late.write_bytes(b"".join(blocks[:18]))
    now = time.time()
    for path, age in ((finished, 600), (old, 7200), (late, 9000)):
        os.utime(path, (now - age, now - age))
    app = MilesApp(*(LiveFeed(str(path), path.name) for path in (alive, finished, old, late)), listed=True)
    async with app.run_test(size=(100, 24)) as pilot:
        screen = Several(app, pilot, {})
        await screen.wait(lambda _: app.navigation.all_read and " 17/48 " in screen.line("late.log"))
        assert [session.name for session in app.runs.sessions] == ["alive.log", "finished.log"]
        assert "stalled" in screen.line("late.log"), "nothing came for hours: the same word as of one that is followed"
        written.clear()
        grow(late, b"".join(blocks[18:26]))
        await look(app)
        await screen.wait(lambda _: " 25/48 " in screen.line("late.log"))
        await screen.wait(lambda _: "\a" in written)
        assert [session.name for session in app.runs.sessions] == ["alive.log", "late.log"], (
            "the finished run gave its place"
        )
        assert "finished" in screen.line("finished.log").split()
        grow(old, b"".join(blocks[30:32]))
        written.clear()
        await look(app)
        await screen.wait(lambda _: " 31/48 " in screen.line("old.log"))
        assert "gap-jump" in screen.line("old.log")
        assert "\a" not in written, "its alert is of before"
        assert [session.name for session in app.runs.sessions] == ["alive.log", "late.log", "old.log"], (
            "all of them grow"
        )
        grow(finished, b"a word\n")
        await look(app)
        await screen.wait(lambda _: len(app.runs.sessions) == 4)
        rows = [line.split()[1] for line in screen.text.splitlines() if ".log" in line]
        assert sorted(rows) == ["alive.log", "finished.log", "late.log", "old.log"]
        await screen.press("enter")
        assert " of 4)" in screen.text


async def test_a_log_beyond_those_followed_that_is_alive_is_followed_from_the_start(
    blocks: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody would hear that it stalls."""
    monkeypatch.setattr("miles_tui.runs.run_set.MOST_RUNS", 1)
    paths = [tmp_path / f"{name}.log" for name in ("one", "two", "old")]
    for path in paths:
        path.write_bytes(b"".join(blocks[:18]))
    os.utime(paths[2], (time.time() - 7200,) * 2)
    app = MilesApp(*(LiveFeed(str(path), path.name) for path in paths), listed=True)
    async with app.run_test(size=(100, 24)) as pilot:
        screen = Several(app, pilot, {})
        await screen.wait(lambda _: app.navigation.all_read and len(app.runs.sessions) == 2)
        assert [session.name for session in app.runs.sessions] == ["one.log", "two.log"]
        await screen.wait(lambda _: "healthy" in screen.line("two.log"))
        assert "stalled" in screen.line("old.log")


def test_a_folder_opens_the_list_and_silent_runs_cost_next_to_nothing(tmp_path: Path) -> None:
    for name in ("plain-seed1", "plain-seed2", "plain-seed3", "gap-jump", "crash", "nan", "clipped", "resume"):
        text = (LOGS / f"{name}.log").read_bytes()
        (tmp_path / f"{name}.log").write_bytes(text[: len(text) // 3])
        os.utime(tmp_path / f"{name}.log")
    with Terminal([sys.executable, "-m", "miles_tui", str(tmp_path)], 100, 24) as terminal:
        terminal.wait(lambda text: "8 runs" in text and text.count("/48") >= 7)
        terminal.drain(1.0)
        process = psutil.Process(terminal.process.pid)
        before, cpu = terminal.bytes, sum(process.cpu_times()[:2])
        terminal.drain(4.0, 4.0)
        assert terminal.bytes == before
        assert sum(process.cpu_times()[:2]) - cpu < 0.08, "2 %: an idle machine shows 0.1"
        terminal.send("\r")
        terminal.wait(lambda text: "(1 of 8)" in text or " of 8)" in text)
        terminal.send("\x1b")
        terminal.wait(lambda text: "8 runs" in text)
        terminal.send("q")
        assert terminal.wait_end() == 0
