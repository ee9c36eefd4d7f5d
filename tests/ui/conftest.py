"""A dashboard without a disk: bytes are given, screens are read as text."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from driven import Driven
from growing import rollouts
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from ways import WAYS, Way

from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.conditions.base import Evaluation, State
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.chunks import Data, Ended, Piece
from miles_tui.core.model.rollout import Rollout
from miles_tui.ingest.follow.follower import Batch
from miles_tui.ingest.follow.watcher import Attention
from miles_tui.runs.run_options import Setup
from miles_tui.ui.app import MilesApp

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "sample_logs"
SNAPSHOTS = Path(__file__).parent / "snapshots"
PARSED: dict[object, Any] = {}  # the rules of a text of CSS and the colours in it
SAMPLES_DAY = datetime(2026, 10, 15, 19, tzinfo=UTC).timestamp()  # of the sample logs' own clock


@pytest.fixture(autouse=True)
def _on_the_samples_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times need no date."""
    monkeypatch.setattr("miles_tui.ui.navigation.our_time", lambda: (SAMPLES_DAY, 0))


@pytest.fixture(autouse=True)
def _styles_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each app, and each change of a theme, would parse Textual's own again: a twentieth of what an app costs."""
    parse = Stylesheet._parse_rules

    def known(sheet: Stylesheet, *args: Any, **options: Any) -> Any:
        key = (args, frozenset(options.items()), frozenset(sheet._variables.items()))
        if key not in PARSED:
            PARSED[key] = parse(sheet, *args, **options)
        return PARSED[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", known)


@dataclass
class GivenFeed:
    """Hands out what `give` was called with."""

    name: str = "train.log"
    live: bool = True
    how: str = ""
    place: tuple[bool, int, int] = (True, 1, 1)  # caught up, position, size
    inbox: asyncio.Queue[list[Piece]] = field(default_factory=asyncio.Queue)
    taken: int = 0
    attention: Attention = field(default_factory=Attention)
    parts: Sequence[Path] = ()
    old: float = 0.0

    def age(self) -> float:
        return self.old

    def give(self, *pieces: Piece | bytes) -> None:
        self.inbox.put_nowait([Data(p) if isinstance(p, bytes) else p for p in pieces])

    async def batches(self, stop: asyncio.Event) -> AsyncGenerator[Batch, None]:
        while not stop.is_set():
            pieces = await self.inbox.get()
            yield Batch(pieces, *self.place, self.how)
            self.taken += 1


class Screen(Driven):
    """A dashboard with the feed of its first run."""

    def __init__(self, app: MilesApp, pilot: Pilot[None], feed: GivenFeed) -> None:
        super().__init__(app, pilot)
        self.feed = feed

    async def give(self, *pieces: Piece | bytes) -> str:
        await self.feed_with(self.feed, *pieces)
        return self.text

    async def feed_with(self, feed: GivenFeed, *pieces: Piece | bytes) -> None:
        """Until the pieces were taken and shown; the text, which takes as long as a paint, is not made."""
        before, deadline = feed.taken, time.monotonic() + 20
        feed.give(*pieces)
        while feed.taken == before:
            assert time.monotonic() < deadline, f"not taken:\n{self.text}"
            await self.pilot.pause()
        await self.pilot.pause()

    def line(self, start: str) -> str:
        """The first line that has `start` as its first word or words."""
        found = [line for line in self.text.splitlines() if line.strip(" ▸·▲△x").startswith(start)]
        assert found, f"no line begins with {start!r}:\n{self.text}"
        return found[0]


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The developer's own terminal, locale and themes must not be seen."""
    # pytest-xdist gives its workers a size, and a program that is given one asks no terminal for its own.
    for name in ("NO_COLOR", "COLORFGBG", "TMUX", "LANG", "LC_CTYPE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def spoken(condition: str, sentence: str) -> Evidence:
    """An evidence that is told by this sentence; its numbers count as the values of the condition's first signal."""
    signal = CONDITIONS[condition].about[:1]
    numbers = re.findall(r"(?<![\w.])\d[\d.]*\b", sentence)
    return Evidence(tuple(Measured(name, last=float(n)) for name in signal for n in numbers), text=sentence)


class FixedJudge(Judge):
    """Raises what it is told to at the rollouts it is told: screens that don't change with the rules."""

    def __init__(self, raises: dict[int, tuple[str, str]]) -> None:
        super().__init__()
        self._raises = raises
        self.states = {name: Evaluation(State.LEARNING, count=0, of=8) for name in self.states}

    def sampled(self, rollout: Rollout) -> None:
        self._own.widen(rollout, updates=False)

    def trained(self, rollout: Rollout) -> None:
        self.at = rollout.number
        self._own.widen(rollout, updates=True)
        learned = min(rollout.rank + 1, 8)
        for name in self.states:
            self.states[name] = (
                Evaluation(State.OK) if learned == 8 else Evaluation(State.LEARNING, count=learned, of=8)
            )
        if rollout.number in self._raises:
            condition, evidence = self._raises[rollout.number]
            self.raise_(condition, rollout.number, rollout.time, spoken(condition, evidence))

    def readings_of(self, signal: str) -> list[Evaluation]:
        return [reading for name, reading in self.states.items() if signal in CONDITIONS[name].signals]


@pytest.fixture
def dashboard() -> Callable[..., object]:
    """`async with dashboard("gap-jump.log", size=(80, 24)) as screen`: the log is read, the screen is painted."""

    @asynccontextmanager
    async def opened(
        log: str | bytes = b"",
        size: tuple[int, int] = (120, 36),
        judge: Judge | None = None,
        others: Sequence[GivenFeed] = (),
        listed: bool = False,
        **options: object,
    ) -> AsyncIterator[Screen]:
        feed = GivenFeed(name=log if isinstance(log, str) else "train.log")
        app = MilesApp(feed, *others, setup=Setup(**options), listed=listed)  # type: ignore[arg-type]
        if judge is not None:
            app.session.monitor.state.judge = judge
        async with app.run_test(size=size) as pilot:
            screen = Screen(app, pilot, feed)
            await screen.feed_with(feed, (LOGS / log).read_bytes() if isinstance(log, str) else log)
            yield screen

    return opened


@pytest.fixture
def shown(dashboard: Callable[..., Any]) -> Callable[..., object]:
    """`async with shown("chart", size)`: that screen of `ways.WAYS`, in a run whose input ended."""

    @asynccontextmanager
    async def opened(name: str | Way, size: tuple[int, int] = (120, 36), **options: object) -> AsyncIterator[Screen]:
        way = WAYS[name] if isinstance(name, str) else name
        others = [GivenFeed(name=log) for log, _ in way.others]
        given = {"judge": FixedJudge(way.raises), "others": others, "listed": way.listed}
        async with dashboard(way.log, size, **given, **options) as screen:
            for feed, session, (log, raises) in zip(others, screen.app.runs.sessions[1:], way.others, strict=True):
                session.monitor.state.judge = FixedJudge(raises)
                await screen.feed_with(feed, (LOGS / log).read_bytes())
            await screen.feed_with(screen.feed, Ended())
            if way.keys:
                await screen.pilot.press(*way.keys)
                await screen.pilot.pause()
            yield screen

    return opened


@pytest.fixture
def same_screen() -> Callable[[str, str], None]:
    """Compare a screen's text with the file of that name; UPDATE_SCREENS=1 writes the file instead."""

    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / f"{name}.txt"
        if os.environ.get("UPDATE_SCREENS"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        assert path.exists(), f"{path.name} is missing: run the test with UPDATE_SCREENS=1 and look at the file"
        assert text + "\n" == path.read_text(encoding="utf-8"), f"the screen differs from {path.name}"

    return compare


@pytest.fixture(scope="session")
def blocks() -> list[bytes]:
    """`gap-jump.log` as it grew: see `growing.rollouts`."""
    return rollouts((LOGS / "gap-jump.log").read_bytes())


@pytest.fixture
def fixed_judge() -> Callable[[dict[int, tuple[str, str]]], Judge]:
    """A judge that raises `{rollout: (condition, evidence)}` and nothing else."""
    return FixedJudge


@pytest.fixture
def given_feed() -> type[GivenFeed]:
    """Another feed, for a second run."""
    return GivenFeed


@pytest.fixture
def sample_logs() -> Callable[[str], str]:
    """The path of a sample log."""
    return lambda name: str(LOGS / name)
