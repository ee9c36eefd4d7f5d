"""Where bytes come from, what a session makes of them, and what the environment says of the terminal."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path

import pytest

from miles_tui.core.model.chunks import Appeared, Data, Ended, Missing, Piece
from miles_tui.core.run.monitor import Monitor
from miles_tui.ingest.follow.follower import Batch
from miles_tui.runs.session import Session, Status
from miles_tui.runs.sources import LiveFeed, ReplayFeed
from miles_tui.ui.terminal.tty import glyphs_for, is_dark, is_utf8
from miles_tui.ui.theming.theme_store import Looks

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"


async def all_of(batches: AsyncGenerator[Batch, None]) -> list[Batch]:
    async with aclosing(batches):
        return [batch async for batch in batches]


def text_of(batches: list[Batch]) -> bytes:
    return b"".join(piece.data for batch in batches for piece in batch.pieces if isinstance(piece, Data))


async def test_a_replay_is_the_log_rollout_by_rollout() -> None:
    path = LOGS / "gap-jump.log"
    batches = await all_of(ReplayFeed(path, "demo", speed=10_000).batches(asyncio.Event()))
    assert text_of(batches) == path.read_bytes()
    assert isinstance(batches[-1].pieces[-1], Ended)
    session, seen = Session("demo", Monitor()), list[int]()
    for batch in batches:
        session.take(batch, 0.0)
        number = session.monitor.state.pace.number
        assert number is not None
        seen.append(number)
    assert seen[:3] == [0, 1, 2]
    assert all(after - before <= 1 for before, after in pairwise(seen))
    assert session.monitor.state.verdict() == "1 alert"


async def test_a_replay_keeps_its_pace_and_stops_at_once() -> None:
    stop = asyncio.Event()
    begin, count = time.monotonic(), 0
    async with aclosing(ReplayFeed(LOGS / "gap-jump.log", "demo", speed=20).batches(stop)) as batches:
        async for _ in batches:
            count += 1
            if count == 8:
                assert time.monotonic() - begin >= (8 - 1 - 3) / 20
                asyncio.get_running_loop().call_later(0.01, stop.set)
    assert count <= 9


async def test_a_live_log_is_followed_and_its_age_is_told(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"one\n")
    os.utime(log, (time.time() - 1000, time.time() - 1000))
    feed, stop = LiveFeed(str(log), "train.log"), asyncio.Event()
    assert 990 < feed.age() < 1100
    assert LiveFeed("-", "standard input").age() == 0
    assert LiveFeed(str(tmp_path / "none"), "none").age() == 0
    got = b""
    async with aclosing(feed.batches(stop)) as batches:
        async for batch in batches:
            got += text_of([batch])
            if got == b"one\n":
                with log.open("ab") as f:
                    f.write(b"two\n")
            if got == b"one\ntwo\n":
                stop.set()
    assert got == b"one\ntwo\n"


def status(session: Session) -> Status:
    return session.status


def test_a_session_says_what_changed_once() -> None:
    session = Session("train.log", Monitor())
    text = (LOGS / "plain-seed1.log").read_bytes()
    assert session.take(Batch([Data(text[:150_000])], True, 1, 2, "by events"), 0.0)
    change = session.changed()
    assert change.header
    assert "reward" in change.signals
    assert not session.changed()
    assert status(session).percent is None
    assert not session.take(Batch([Data(b"engine noise\n" * 100)], True, 1, 2, "by events"), 0.0)
    assert session.take(Batch([], False, 50, 200, "by events"), 0.0)
    assert status(session).percent == 25
    assert session.take(Batch([Missing("does not exist")], True, 1, 2, "by events"), 0.0)
    assert session.status.missing == "does not exist"
    assert session.take(Batch([Appeared()], True, 1, 2, "by events"), 0.0)
    assert session.take(Batch([Data(text[150_000:]), Ended()], True, 1, 2, "by events"), 0.0)
    assert session.monitor.state.ended == "finished"


def test_since_when_a_log_can_not_be_read() -> None:
    session = Session("train.log", Monitor())
    text = (LOGS / "plain-seed1.log").read_bytes()[:150_000]

    def take(clock: float, *pieces: Piece) -> None:
        session.take(Batch(list(pieces), True, 1, 1, "by events"), clock)
        session.place_in_time(clock, 0)

    take(0.0, Data(text))
    take(1.0, Missing("does not exist"))
    assert status(session).since is None, "it is not there: that is no reading"
    take(2.0, Missing("can't be read (input/output error)"))
    take(3.0, Missing("can't be read (stale file handle)"))
    assert status(session).since == 2.0
    assert status(session).unreadable
    session.tick(1e6)
    assert session.monitor.state.verdict() != "stalled", "nobody knows"
    take(1e6, Appeared())
    assert status(session).since is None
    assert not status(session).unreadable
    session.changed()
    assert session.hear(1e6 + 20, 5.0)
    assert not session.hear(1e6 + 22, 7.0)
    assert session.status.trouble == "can't be read (no answer)"
    assert status(session).since == 1e6 + 15
    assert session.changed().header
    assert session.hear(1e6 + 24, None)
    assert session.status.trouble == ""


def test_a_log_that_fell_silent_long_ago_is_stalled_at_once() -> None:
    session = Session("train.log", Monitor())
    text = (LOGS / "plain-seed1.log").read_bytes()[:150_000]
    session.take(Batch([Data(text)], True, 1, 1, "by events"), 1_000_000.0 - 86_400)
    assert session.tick(1_000_000.0)
    assert session.monitor.state.verdict() == "stalled"


@pytest.mark.parametrize(
    ("env", "glyphs"),
    [
        ({"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}, "braille"),
        ({"LANG": "de_DE.utf8", "TERM": "screen-256color"}, "braille"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C", "TERM": "xterm"}, "ascii"),
        ({"LANG": "en_US.ISO-8859-1", "TERM": "xterm"}, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8", "TERM": "xterm"}, "ascii"),
        ({"LC_CTYPE": "C.UTF-8", "TERM": "xterm", "TMUX": "/tmp/tmux-0/default,1,0"}, "ascii"),
        ({"LC_CTYPE": "C.UTF-8", "TERM": "xterm"}, "braille"),
        ({"LC_CTYPE": "UTF-8", "TERM": "xterm"}, "braille"),
        ({"LANG": "C.UTF-8", "TERM": "linux"}, "ascii"),
        ({"LANG": "C.UTF-8", "TERM": "dumb"}, "ascii"),
        ({"LANG": "C.UTF-8"}, "ascii"),
    ],
)
def test_the_finest_glyphs_that_can_be_trusted(env: dict[str, str], glyphs: str) -> None:
    assert glyphs_for(env) == glyphs


def test_what_the_environment_says_of_the_terminal() -> None:
    assert is_utf8({})
    assert is_dark({})
    assert is_dark({"COLORFGBG": "15;0"})
    assert not is_dark({"COLORFGBG": "0;15"})
    assert not is_dark({"COLORFGBG": "0;default;15"})


def test_the_persons_theme_beats_the_bundled_one_and_a_broken_one_is_one_message(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "miles-tui" / "themes"
    folder.mkdir(parents=True)
    bundled = (LOGS.parent / "themes" / "dark.toml").read_text()
    (folder / "dark.toml").write_text(bundled.replace('title = "', 'title = "My own '))
    (folder / "broken.toml").write_text("ground = 7\n")
    looks = Looks()
    assert looks.first(None, "dark").title.startswith("My own")
    assert looks.first("broken", "dark").name == "dark"
    assert any("broken" in message for message in looks.failed)
    assert looks.after("dark").name != "dark"


async def test_a_replay_that_is_held_stands_still_and_goes_on_from_there() -> None:
    stop, feed = asyncio.Event(), ReplayFeed(LOGS / "gap-jump.log", "demo", speed=10_000)
    async with aclosing(feed.batches(stop)) as batches:
        got = [await anext(batches) for _ in range(5)]
        feed.hold(True)
        waiting = asyncio.ensure_future(anext(batches))
        await asyncio.wait([waiting], timeout=0.2)
        assert not waiting.done(), "it plays on"
        feed.hold(False)
        got += [await asyncio.wait_for(waiting, 10), *[batch async for batch in batches]]
    assert text_of(got) == (LOGS / "gap-jump.log").read_bytes()
    feed.hold(True)
    async with aclosing(feed.batches(stop)) as batches:
        waiting = asyncio.ensure_future(anext(batches))
        await asyncio.wait([waiting], timeout=0.05)
        stop.set()
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(waiting, 10)
