"""What the dashboard does before its first paint, and what it leaves for later."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.css.stylesheet import Stylesheet

from miles_tui.config.paths import sample_log
from miles_tui.runs.run_options import Setup
from miles_tui.runs.sources import LiveFeed
from miles_tui.ui.app import MilesApp


def app_of(setup: Setup) -> MilesApp:
    return MilesApp(LiveFeed("train.log", "train.log"), setup=setup)


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


async def test_the_first_paint_parses_each_style_sheet_once(monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[Stylesheet] = []
    whole = Stylesheet.reparse

    def counted(sheet: Stylesheet) -> None:
        again.append(sheet)
        whole(sheet)

    monkeypatch.setattr(Stylesheet, "reparse", counted)
    app = app_of(Setup(theme="light"))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.screen.styles.background.hex.lower() == app.look.grounds["ground"]
        assert app.has_class("-light-mode", "-theme-mt-light")
        assert not app.has_class("-dark-mode")
        assert again == []
        await pilot.press("t")
        assert app.screen.styles.background.hex.lower() == app.look.grounds["ground"]
        assert len(again) == 1


@pytest.mark.usefixtures("no_collector")
async def test_the_collector_works_from_the_first_paint_on_and_leaves_the_start_alone() -> None:
    app = app_of(Setup())
    assert not gc.isenabled()
    async with app.run_test() as pilot:
        await pilot.pause()
        assert gc.isenabled()
        assert gc.get_freeze_count() > 10_000


async def test_a_collector_that_is_on_is_not_touched() -> None:
    frozen = gc.get_freeze_count()
    async with app_of(Setup()).run_test() as pilot:
        await pilot.pause()
        assert gc.isenabled()
        assert gc.get_freeze_count() == frozen


@pytest.mark.parametrize("key", ["question_mark", "L", "x"])
async def test_the_log_is_read_although_a_key_opened_another_screen_before_the_first_paint(
    key: str, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(sample_log("gap-jump.log").read_bytes())
    app = MilesApp(LiveFeed(str(log), "train.log"), setup=Setup())
    async with app.run_test() as pilot:
        await pilot.press(key)
        deadline = time.monotonic() + 20
        while not app.session.monitor.state.records and time.monotonic() < deadline:
            await pilot.pause(0.02)
        assert app.session.monitor.state.records
        assert len(app.screen_stack) == 2
