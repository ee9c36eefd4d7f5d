"""A pane that is made too small for a while: what was shown, and which keys work, is as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miles_tui.present.plot.chart import draw_chart
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.listing import Listing
from miles_tui.ui.widgets.logview import LogView
from miles_tui.ui.widgets.signals import SignalTable

Opened = Callable[..., Any]


async def squeeze(screen: Any) -> None:
    """Too small for rows, for a chart, and back."""
    await screen.pilot.resize_terminal(20, 5)
    await screen.wait(lambda text: text.count("\n") == 4)
    await screen.pilot.pause()
    await screen.pilot.resize_terminal(80, 24)
    await screen.wait(lambda text: text.count("\n") == 23)
    await screen.pilot.pause()


async def test_the_rows_have_their_keys_again(shown: Opened) -> None:
    async with shown("main", (80, 24)) as screen:
        await squeeze(screen)
        await squeeze(screen)
        await screen.press("j", "down")
        assert screen.app.screen.query_one(SignalTable).selected.name == "cut share"
        await screen.press("enter")
        assert isinstance(screen.app.screen, ChartScreen)


async def test_the_alerts_have_theirs_if_they_had_them(shown: Opened) -> None:
    async with shown("main-two-alerts", (80, 24)) as screen:
        await screen.press("tab", "j")
        await squeeze(screen)
        pane = screen.app.screen.query_one(AlertPane)
        assert pane.has_focus
        assert "▸ △ reward-down-length-up" in screen.text


@pytest.mark.parametrize("name", ["metrics", "time", "conditions", "themes", "runs"])
async def test_lists_move_on_from_where_they_were(shown: Opened, name: str) -> None:
    async with shown(name, (80, 24)) as screen:
        await screen.press("j")
        at = screen.app.screen.query_one(Listing).at
        await squeeze(screen)
        await screen.press("j")
        assert screen.app.screen.query_one(Listing).at == at + 1


async def test_so_do_the_chart_and_the_log(shown: Opened) -> None:
    async with shown("chart", (80, 24)) as screen:
        before = screen.text
        await squeeze(screen)
        assert screen.text == before
        assert "rollout 45 " in await screen.press("left")
    async with shown("log", (80, 24)) as screen:
        await screen.press("k")
        before = screen.text
        await squeeze(screen)
        assert screen.text == before
        await screen.press("k")
        book = screen.app.screen.query_one(LogView).book
        assert book.at == len(book.items) - 3


def test_the_words_of_a_tiny_chart_are_not_cut() -> None:
    for width, words in ((23, "too small for a chart"), (20, "too small"), (9, "too small"), (8, "")):
        drawn = " ".join("".join(text for _, text in line) for line in draw_chart(width, 5, [], []).lines)
        assert drawn.strip() == words
