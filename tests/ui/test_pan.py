"""A zoomed chart moves: by keys, by a drag, by the wheel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from driven import Driven
from textual import events

from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.widgets.canvas import Canvas

Opened = Callable[..., Any]
SIZES = pytest.mark.parametrize("size", [(120, 36), (40, 10)])


def turn(screen: Any, kind: type[events.MouseEvent], x: int, *, shift: bool = False) -> None:
    canvas = screen.app.screen.query_one(Canvas)
    canvas.post_message(kind(canvas, x, 3, 0, 0, 0, shift, False, False))


def span(screen: Driven) -> tuple[int, int] | None:
    """The rollouts that the chart is zoomed to."""
    chart = screen.app.screen
    assert isinstance(chart, ChartScreen)
    return chart.span


@SIZES
async def test_keys_move_the_part_by_a_half(shown: Opened, size: tuple[int, int]) -> None:
    async with shown("main", size) as screen:
        await screen.press("enter")
        before = screen.text
        assert "the whole run is in sight: + zooms in" in await screen.press("left_curly_bracket")
        assert span(screen) is None
        await screen.press("plus", "plus")
        assert span(screen) == (35, 47)
        assert before != await screen.press("left_curly_bracket")
        assert span(screen) == (29, 41)
        await screen.press(*["left_curly_bracket"] * 9)
        assert span(screen) == (0, 12), "not beyond the first rollout"
        await screen.press(*["right_curly_bracket"] * 9)
        assert span(screen) == (35, 47), "not beyond the newest"


@SIZES
async def test_the_wheel_zooms_around_the_mouse_and_moves_with_shift(shown: Opened, size: tuple[int, int]) -> None:
    async with shown("main", size) as screen:
        await screen.press("enter")
        chart = screen.app.screen
        x = size[0] // 2
        for _ in range(4):
            before, under = chart.span, chart._chart.rollout_at(x)
            turn(screen, events.MouseScrollUp, x)
            await screen.wait(lambda _, before=before: chart.span not in (before, None))
            assert abs(chart._chart.rollout_at(x) - under) <= 1
        first, last = chart.span
        assert last - first < 25
        turn(screen, events.MouseScrollUp, x, shift=True)
        turn(screen, events.MouseScrollLeft, x)
        await screen.wait(lambda _: chart.span[0] <= first - 2)
        turn(screen, events.MouseScrollRight, x)
        turn(screen, events.MouseScrollDown, x, shift=True)
        await screen.wait(lambda _: abs(chart.span[0] - first) <= 1)
        for _ in range(6):
            turn(screen, events.MouseScrollDown, x)
        await screen.wait(lambda _: chart.span is None)


async def test_what_is_under_the_mouse_is_dragged_with_it(shown: Opened) -> None:
    async with shown("main") as screen:
        await screen.press("enter", "plus", "plus")
        chart = screen.app.screen
        under = chart._chart.rollout_at(60)
        await screen.pilot.mouse_down(Canvas, offset=(60, 5))
        for x in (70, 80, 90):
            await screen.pilot.hover(Canvas, offset=(x, 5))
        await screen.pilot.mouse_up(Canvas, offset=(90, 5))
        await screen.wait(lambda _: chart.span[0] < 35)
        assert abs(chart._chart.rollout_at(90) - under) <= 1
        assert chart.cursor is None, "a drag is no click"
        await screen.pilot.click(Canvas, offset=(90, 5))
        assert chart.cursor == chart._chart.rollout_at(90)


async def test_zooming_out_keeps_what_was_panned_to(shown: Opened) -> None:
    async with shown("main") as screen:
        await screen.press("enter", "plus", "plus", *["left_curly_bracket"] * 3)
        chart = screen.app.screen
        middle = sum(chart.span) // 2
        await screen.press("minus")
        assert abs(sum(chart.span) // 2 - middle) <= 1
