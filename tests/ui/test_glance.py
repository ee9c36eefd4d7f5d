"""The small chart on a high main screen: there when there is room, of the selected row, still while it is paused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miles_tui.core.model.chunks import Items
from miles_tui.core.model.records import Event, EventKind
from miles_tui.present.layout import glance_lines, plan
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.glance import Glance

Dashboard = Callable[..., Any]
SAMPLE = "gap-jump.log"


def glance(screen: Any) -> list[str]:
    """Its lines, its title first."""
    widget = screen.app.screen.query_one(Glance)
    return screen.text.split("\n")[widget.region.y : widget.region.bottom] if widget.display else []


@pytest.mark.parametrize(("size", "there"), [((120, 40), True), ((80, 45), True), ((120, 36), False), ((80, 24), False),
                                             ((40, 60), False)])  # fmt: skip
async def test_it_is_there_where_the_alerts_can_spare_the_lines(
    dashboard: Dashboard, size: tuple[int, int], there: bool
) -> None:
    async with dashboard(SAMPLE, size=size) as screen:
        assert bool(glance(screen)) is there
        if there:
            assert glance(screen)[0].split()[:3] == ["reward", "·", "rollout"]
            assert any("┬" in line for line in glance(screen))
            assert screen.app.screen.query_one(AlertPane).size.height >= 13


async def test_it_draws_the_selected_row_with_its_alerts(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, size=(120, 40), metrics=["perf/step_time"]) as screen:
        first = glance(screen)
        await screen.press("j", "j", "j")
        text = "\n".join(glance(screen))
        assert text.split()[:2] == ["gap,", "nats"]
        assert "╎" in text, "where its alert was raised"
        await screen.press("G")
        assert glance(screen)[0].split()[:2] == ["perf/step_time,", "s"]
        await screen.press("g")
        assert glance(screen) == first


async def test_it_is_live_and_stands_still_while_paused(dashboard: Dashboard, blocks: list[bytes]) -> None:
    async with dashboard(b"".join(blocks[:30]), size=(120, 40)) as screen:
        before = glance(screen)
        await screen.give(blocks[30])
        live = glance(screen)
        assert live != before
        await screen.press("space")
        await screen.give(*blocks[31:34])
        assert glance(screen) == live
        await screen.press("j")
        other = glance(screen)
        await screen.press("k")
        assert glance(screen) == live
        await screen.press("space", "j")
        assert glance(screen) != other


async def test_more_than_two_alerts_take_its_lines(dashboard: Dashboard, fixed_judge: Callable[..., Any]) -> None:
    raises = {20: ("gap-jump", "a"), 21: ("grad-norm-growth", "b"), 22: ("clipped-on-policy", "c")}
    async with dashboard(SAMPLE, size=(120, 40), judge=fixed_judge(raises)) as screen:
        assert glance(screen) == []
        assert screen.app.screen.query_one(AlertPane).size.height > 20
        screen.app.session.monitor.state.alerts[0].resolve(47, None)
        screen.app.session.monitor.apply(Items([Event(EventKind.CLOCK)]))
        screen.app.screen.retake_alerts()
        await screen.wait(lambda _: bool(glance(screen)))
        await screen.pilot.resize_terminal(20, 5)
        await screen.wait(lambda text: text.count("\n") == 4)
        await screen.pilot.resize_terminal(120, 40)
        await screen.wait(lambda text: text.count("\n") == 39)
        assert glance(screen)


async def test_a_main_screen_needs_no_plotext(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miles_tui.present.plot.chart.canvas", lambda: pytest.fail("plotext is for the chart"))
    async with dashboard(SAMPLE, size=(120, 40)) as screen:
        assert any("┬" in line for line in glance(screen))


def test_the_lines_of_a_screen_are_given_once() -> None:
    for height in range(10, 80):
        p = plan(120, height)
        lines = glance_lines(p, 1)
        assert lines == 0 or p.alerts - lines == 13
        assert glance_lines(p, 3) == 0
