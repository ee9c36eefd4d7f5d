"""The runs of a list that are not followed: looked at once a minute, evenly, judged and noticed as any other."""

from __future__ import annotations

import gc
import os
import time
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from driven import Driven

from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.parsing.reader import KEPT
from miles_tui.core.run.monitor import Monitor
from miles_tui.present.run_table import RunRow
from miles_tui.runs.alert_news import Known, News, Watcher
from miles_tui.runs.dormant_runs import MOST_OWED, Listed, Rounds, looks
from miles_tui.runs.run_options import Setup
from miles_tui.runs.run_set import ROUND_SECONDS
from miles_tui.runs.sources import LiveFeed
from miles_tui.ui.app import MilesApp
from miles_tui.ui.notify.herald import Herald
from miles_tui.ui.terminal_session import TerminalSession

NEVER = 1e9  # seconds of a round: a test looks by itself
MINUTE = 60.0


# -- whose turn it is ------------------------------------------------------------------------------


def listed(path: Path) -> Listed:
    return Listed(LiveFeed(str(path), path.name), RunRow(path.name, followed=False))


@pytest.mark.parametrize("runs", [1, 3, 40, 300, 1000])
def test_each_is_looked_at_within_a_minute_and_no_moment_has_more_than_others(runs: int) -> None:
    rounds, all_ = Rounds(ROUND_SECONDS), [listed(Path(f"{i}.log")) for i in range(runs)]
    seen: dict[int, float] = dict.fromkeys(range(runs), 0.0)
    counts = []
    for second in range(300):
        due = rounds.due(all_, float(second))
        counts.append(len(due))
        for one in due:
            at = all_.index(one)
            assert second - seen[at] <= MINUTE
            one.looked = seen[at] = float(second)
    assert all(299 - at <= MINUTE for at in seen.values())
    assert max(counts) <= runs / ROUND_SECONDS + 1
    assert sum(counts) <= runs * (300 / ROUND_SECONDS)


def test_what_a_slow_disk_held_up_is_no_burst() -> None:
    rounds, all_ = Rounds(ROUND_SECONDS), [listed(Path(f"{i}.log")) for i in range(300)]
    rounds.due(all_, 0.0)
    assert len(rounds.due(all_, 1000.0)) <= MOST_OWED * 300 / ROUND_SECONDS


# -- what is known of a run that is read anew --------------------------------------------------------


def reading(*alerts: tuple[str, int, float], reached: int = 100, attempt: int = 1) -> Monitor:
    monitor = Monitor()
    run = monitor.state
    run.judge._attempt = attempt
    for condition, step, at in alerts:
        run.judge.raise_(condition, step, at, Evidence(text="so it is"))
    run.pace.number, run.pace.clock = reached, float(reached)
    return monitor


def news_of(known: Known, run: Monitor) -> list[tuple[str, bool]]:
    watcher = Watcher("a.log", known)
    watcher.look(run.snapshot(), 0.0, live=False)
    return [(one.alert.condition, one.begins) for one in watcher.look(run.snapshot(), 1.0, live=True)]


def test_a_reading_from_elsewhere_tells_no_onset_twice() -> None:
    """It counts other attempts, and raises the same onset at another rollout."""
    known = Known.of(reading(("signal-lost", 90, 90.0), ("stalled", 95, 95.0)).snapshot(), grew=True)
    again = reading(("signal-lost", 88, 88.0), ("stalled", 96, 96.0), ("secret-in-log", 3, 3.0), attempt=4)
    assert news_of(known, again) == [], "what it alone sees was there before"
    later = reading(("signal-lost", 88, 88.0), ("stalled", 95, 95.0), ("not-finite", 101, 101.0), reached=101)
    assert news_of(known, later) == [("not-finite", True)]


def test_what_comes_at_the_very_rollout_that_was_reached_is_news() -> None:
    known = Known.of(reading().snapshot(), grew=True)
    assert news_of(known, reading(("crashed", 100, 100.5))) == [("crashed", True)]


def test_a_restart_since_is_told_by_the_clock() -> None:
    known = Known.of(reading().snapshot(), grew=True)
    assert news_of(known, reading(("not-finite", 20, 130.0), reached=21, attempt=2)) == [("not-finite", True)]


def test_what_is_over_and_what_became_worse_since_is_told() -> None:
    before = reading(("signal-lost", 90, 90.0), ("stalled", 95, 95.0))
    known = Known.of(before.snapshot(), grew=True)
    after = reading(("signal-lost", 90, 90.0), ("stalled", 95, 95.0))
    after.state.judge.clear("stalled", 101, 101.0)
    after.state.alerts[0].severity = Severity.CRITICAL
    assert news_of(known, after) == [("signal-lost", True), ("stalled", False)]


def test_marks_of_the_person_outlive_readings_that_do_not_hold_the_alert() -> None:
    run = reading(("signal-lost", 90, 90.0))
    run.acknowledge(run.snapshot().alerts[0].serial)
    known = Known.of(reading().snapshot(), grew=True, before=Known.of(run.snapshot(), grew=True))
    again = reading(("signal-lost", 90, 90.0))
    known.mark(again)
    assert again.snapshot().alerts[0].seen
    back = reading(("signal-lost", 90, 90.0))
    back.state.alerts[0].reopen(31, Evidence(text="once more"))
    known.mark(back)
    assert not back.snapshot().alerts[0].seen, "it came back since"


# -- on the screen -----------------------------------------------------------------------------------


class Beyond(Driven):
    """An app of which one run is followed, with what it tells."""

    def __init__(self, app: MilesApp, pilot: Any, written: list[str], news: list[News]) -> None:
        super().__init__(app, pilot)
        self.written, self.news = written, news

    def line(self, name: str) -> str:
        return next(line for line in self.text.splitlines() if f" {name} " in line)

    async def look(self) -> None:
        if await self.app.runs.look_at(list(self.app.runs.beyond)):
            self.app.navigation.listed_anew()
        await self.pilot.pause()

    @property
    def told(self) -> list[tuple[str, str, bool]]:
        return [(one.log, one.alert.condition, one.begins) for one in self.news]


Opened = Callable[..., Any]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """`async with opened(paths)`: the list, its first run followed, the others looked at when `look` is called."""
    monkeypatch.setattr("miles_tui.runs.run_set.MOST_RUNS", 1)
    monkeypatch.setattr("miles_tui.runs.run_set.MOST_ALIVE", 1)
    monkeypatch.setattr("miles_tui.runs.run_set.ROUND_SECONDS", NEVER)
    written: list[str] = []
    told: list[News] = []
    monkeypatch.setattr(TerminalSession, "write", lambda _, text: written.append(text))
    usual = Herald.take

    def take(herald: Herald, news: list[News], now: float) -> None:
        told.extend(news)
        usual(herald, news, now)

    monkeypatch.setattr(Herald, "take", take)

    @asynccontextmanager
    async def open_(paths: list[Path], **setup: Any) -> AsyncIterator[Beyond]:
        app = MilesApp(*(LiveFeed(str(path), path.name) for path in paths), setup=Setup(**setup), listed=True)
        async with app.run_test(size=(120, 24)) as pilot:
            screen = Beyond(app, pilot, written, told)
            await screen.wait(lambda _: app.navigation.all_read)
            await screen.pilot.pause()
            yield screen

    return open_


def grow(path: Path, *blocks: bytes) -> None:
    with path.open("ab") as file:
        file.write(b"".join(blocks))


@pytest.fixture
def three(tmp_path: Path, blocks: list[bytes]) -> list[Path]:
    """Runs that all are alive, the one that was written to last first; the gap jumps at rollout 23."""
    paths, now = [tmp_path / f"{name}.log" for name in ("near", "far", "away")], time.time()
    for age, path in enumerate(paths):
        path.write_bytes(b"".join(blocks[:18]))
        os.utime(path, (now - age, now - age))
    return paths


async def test_an_alert_of_a_run_beyond_is_noticed_once_wherever_it_is_seen(
    opened: Opened, three: list[Path], blocks: list[bytes]
) -> None:
    async with opened(three) as screen:
        assert [session.name for session in screen.app.runs.sessions] == ["near.log"]
        assert not screen.news
        for path in three[1:]:
            grow(path, *blocks[18:21])
        await screen.look()
        assert " 20/48 " in screen.line("far.log")
        assert " 20/48 " in screen.line("away.log")
        assert not screen.news
        grow(three[1], *blocks[21:27])
        await screen.look()
        assert screen.told == [("far.log", "gap-jump", True)]
        assert screen.written.count("\a") == 1
        assert "gap-jump" in screen.line("far.log")
        assert "gap-jump" in next(text for text in reversed(screen.written) if "\x1b]2;" in text)
        assert "· far.log" in next(text for text in reversed(screen.written) if "\x1b]2;" in text)
        await screen.look()
        screen.app.navigation.open_run(0)
        await screen.wait(lambda text: "near.log (1 of 3)" in text)
        assert "far.log: 1 alert" in screen.text, "the run on the screen says it of others"
        screen.app.navigation.open_run(1)
        await screen.wait(lambda text: "far.log (2 of 3)" in text and "rollout 26" in text)
        assert len(screen.told) == 1, "it rang before it was followed"
        grow(three[1], *blocks[27:29])
        await screen.wait(lambda text: "rollout 28" in text)
        assert len(screen.told) == 1


async def test_what_comes_between_the_last_look_and_being_followed_rings_once(
    opened: Opened, three: list[Path], blocks: list[bytes]
) -> None:
    async with opened(three) as screen:
        grow(three[1], *blocks[18:27])
        screen.app.navigation.open_run(1)
        await screen.wait(lambda _: screen.news != [])
        await screen.look()
        assert screen.told == [("far.log", "gap-jump", True)]


async def test_what_began_before_the_first_look_never_rings(
    opened: Opened, three: list[Path], blocks: list[bytes]
) -> None:
    grow(three[1], *blocks[18:30])
    async with opened(three) as screen:
        assert "gap-jump" in screen.line("far.log")
        grow(three[1], *blocks[30:32])
        await screen.look()
        assert " 31/48 " in screen.line("far.log")
        assert screen.news == []


async def test_a_run_beyond_that_falls_silent_stalls_and_one_that_is_over_costs_a_stat(
    opened: Opened, three: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(three) as screen:
        later = 5400.0
        clock = SimpleNamespace(monotonic=lambda: time.monotonic() + later, time=lambda: time.time() + later)
        monkeypatch.setattr("miles_tui.runs.dormant_runs.time", clock)
        await screen.look()
        assert screen.told == [("far.log", "stalled", True), ("away.log", "stalled", True)]
        assert "stalled" in screen.line("far.log")
        assert all(one.session is None for one in screen.app.runs.beyond), "nothing is kept of them"
        paths: Counter[str] = Counter()
        real = os.stat
        monkeypatch.setattr(os, "stat", lambda path, **more: (paths.update([str(path)]), real(path, **more))[1])
        assert looks(screen.app.runs.beyond) == [[], []]
        assert paths == Counter(map(str, three[1:]))
        assert not await screen.app.runs.look_at(list(screen.app.runs.beyond)), "no row is drawn anew"


async def test_marks_and_rings_outlive_a_run_that_is_let_go_and_followed_again(
    opened: Opened, three: list[Path], blocks: list[bytes]
) -> None:
    grow(three[0], *blocks[18:30])
    os.utime(three[0], (time.time() - 7200,) * 2)
    async with opened(three) as screen:
        near = screen.app.runs.sessions[0]
        near.monitor.acknowledge(near.snapshot.alerts[0].serial)
        near.monitor.disable("rollout-slowdown")
        for keys in (("enter",), ("j", "enter")):  # the two that were written to last
            await screen.press(*keys)
            await screen.wait(lambda _: screen.app.session.status.caught_up)
            await screen.press("escape")
        assert "near.log" in {one.feed.name for one in screen.app.runs.beyond}, "it gave its place"
        grow(three[0], *blocks[30:32])
        await screen.look()
        near_now = next(one for one in screen.app.runs.beyond if one.feed.name == "near.log")
        assert near_now.session is not None
        assert near_now.session.monitor.state.alerts[0].seen
        screen.app.navigation.open_run(0)
        await screen.wait(lambda _: screen.app.session.name == "near.log" and screen.app.session.status.caught_up)
        assert screen.app.session.monitor.state.alerts[0].seen
        assert "rollout-slowdown" in screen.app.session.monitor.state.judge.off
        assert not [one for one in screen.told if one[0] == "near.log" and one[2]]


async def test_what_is_kept_of_a_run_beyond_is_bounded(tmp_path: Path, blocks: list[bytes]) -> None:
    """0.3 MB, and at most 64 KiB of the text since its last rollout."""
    host = SimpleNamespace(setup=Setup(), heard=lambda session, now: None, ended=lambda session: None)
    noise = b"".join(b"(SGLangEngine pid=1) Decode batch. #running-req: %d\n" % i for i in range(20_000))
    runs = []
    for i in range(6):
        path = tmp_path / f"{i}.log"
        path.write_bytes(b"".join(blocks[:-1]) + noise)
        runs.append(listed(path))
    await runs[0].judge(runs[0].look(), host)
    gc.collect()
    tracemalloc.start()
    try:
        for one in runs[1:]:
            await one.judge(one.look(), host)
        gc.collect()
        each = tracemalloc.get_traced_memory()[0] / 5
    finally:
        tracemalloc.stop()
    assert all(one.alive for one in runs)
    for one in runs:
        grow(tmp_path / one.feed.name, noise)
        await one.judge(one.look(), host)
        assert one.session is not None
        assert len(one.session.monitor._reader._gap) <= KEPT
    assert each < 400_000, f"{each / 1e3:.0f} KB"
