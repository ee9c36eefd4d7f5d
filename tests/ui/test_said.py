"""What the dashboard says to people: answers to keys at every size, whose screen it is, messages that pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miles_tui.core.alerting.engine import Judge

Dashboard = Callable[..., Any]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
GAP = {23: ("gap-jump", "gap 0.0409, mean of the last three 0.0383")}


@pytest.mark.parametrize("size", [(40, 10), (60, 12)], ids=["40x10", "60x12"])
async def test_keys_are_answered_and_a_frozen_view_says_so_where_there_is_one_line(
    dashboard: Dashboard, fixed_judge: MakeJudge, given_feed: Any, blocks: list[bytes], size: tuple[int, int]
) -> None:
    other = given_feed(name="other.log")
    async with dashboard("gap-jump.log", size, judge=fixed_judge(GAP), others=[other]) as screen:
        other.give(b"".join(blocks[:10]))
        other.give(b"".join(blocks[10:30]))
        await screen.wait(lambda text: "other" in text.splitlines()[0])
        assert "gap-jump quiet for 10 rollouts" in (await screen.press("z")).splitlines()[0]
        assert "gap-jump awake" in (await screen.press("z")).splitlines()[0]
        text = await screen.press("space")
        assert "view paused" in text.splitlines()[0]
        assert "report copied" in (await screen.press("Y")).splitlines()[0]
        assert "view paused" in screen.text.splitlines()[0]
        assert "paused" not in await screen.press("space")


@pytest.mark.parametrize("size", [(120, 36), (40, 10)], ids=["120x36", "40x10"])
@pytest.mark.parametrize("keys", ["enter", "m", "L", "question_mark", "x", "w", "T"])
async def test_every_screen_names_its_run_where_several_are_open_and_where_there_is_room(
    dashboard: Dashboard, given_feed: Any, keys: str, size: tuple[int, int]
) -> None:
    async with dashboard("crash.log", size, others=[given_feed(name="other.log")]) as screen:
        text = await screen.press(keys)
        assert "crash.log" in text.splitlines()[0]
        await screen.press("escape", "right_square_bracket")
        assert "other.log" in (await screen.press(keys)).splitlines()[0]
    async with dashboard("crash.log", size) as screen:
        head = (await screen.press(keys)).splitlines()[0]
        assert ("crash.log" in head) == (size[0] == 120), "one run alone needs no name where facts need the room"


@pytest.mark.parametrize("size", [(40, 10), (60, 15), (80, 18)], ids=["40x10", "60x15", "80x18"])
async def test_a_message_covers_no_number_on_a_small_screen(dashboard: Dashboard, size: tuple[int, int]) -> None:
    async with dashboard("plain-seed1.log", size) as screen:
        rows = [line for line in screen.text.splitlines()[1:] if line]
        screen.app.terminal.command_failed("on-alert: status 1: no such channel")
        text = await screen.wait(lambda text: "on-alert: status 1: no such" in text)
        differ = [line for line in rows if line not in text]
        assert len(differ) <= 1, differ
        assert not any(name in line for line in differ for name in ("reward", "gap", "length", "clip")), differ
