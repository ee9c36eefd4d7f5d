"""The footer offers what does something: every key of it, in every state of a screen, changes what is seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from ways import GAP, WAYS, Way

Opened = Callable[..., Any]

OVER = ("e", "e")  # what came is expected: all alerts are over
STATES = {
    "calm": WAYS["main-calm"],
    "an-alert": WAYS["main"],
    "an-alert-chosen": Way(keys=("tab",)),
    "an-alert-seen": Way(keys=("a", "tab")),
    "two-alerts": Way("talks-longer.log", WAYS["main-two-alerts"].raises, ("tab",)),
    "crashed": Way("crash.log", {}, ("tab",)),
    "chart": Way(keys=("enter",)),
    "chart-zoomed": Way(keys=("enter", "plus", "left")),
    "chart-alone": Way(keys=("end", "up", "enter")),  # the clip fraction: constant 0
    "metrics": WAYS["metrics"],
    "metrics-group": Way(keys=("m", "home")),
    "metrics-none": Way(keys=("m", "slash", "j", "j", "j", "enter")),
    "time": WAYS["time"],
    "log": WAYS["log"],
    "log-searched": Way("crash.log", {}, ("L", "slash", "t", "r", "enter")),
    "conditions": WAYS["conditions"],
    "help": WAYS["help"],
    "runs": WAYS["runs"],
}
PRESSES = {
    "↑↓": ("down", "up"), "←→": ("left", "right"), "+ -": ("plus", "minus"), "{ }": ("left_curly_bracket",),
    "n N": ("n", "N"), "Esc": ("escape",), "Enter": ("enter",), "Tab": ("tab",), "?": ("question_mark",),
    "/": ("slash",), "space": ("space",),
}  # fmt: skip


def offered(screen: Any) -> list[str]:
    """The keys that the last line names."""
    line = screen.text.splitlines()[-1].strip()
    known = "|".join(sorted(map(re.escape, PRESSES), key=len, reverse=True))
    return [m[1] for part in re.split(r" {2,}", line) if (m := re.match(rf"({known}|[A-Za-z0-9]) ", part))]


@pytest.mark.parametrize("state", STATES)
async def test_every_key_of_the_footer_does_something(shown: Opened, state: str) -> None:
    keys: list[str] | None = None
    while keys is None or keys:
        async with shown(STATES[state]) as screen:
            if keys is None:
                keys = offered(screen)
                assert keys
            screen.app.exit = lambda *_, screen=screen, **__: setattr(screen.app, "_exit", True)
            before, pressed = screen.state(), ""
            while keys and await screen.is_again(before, pressed):
                pressed = await does_something(screen, keys.pop(0))


async def does_something(screen: Any, key: str) -> str:
    """The key that was pressed last."""
    before, done = screen.state(), False
    for press in PRESSES.get(key, (key,)):
        await screen.press(press)
        done |= screen.state() != before
    assert done, f"{key} does nothing:\n{screen.text}"
    return press


async def test_what_a_footer_leaves_out(shown: Opened, dashboard: Opened) -> None:
    async with shown("main-calm") as screen:
        assert not {"a", "z", "c"} & set(offered(screen))
    async with shown("main") as screen:
        assert {"a", "z"} <= set(offered(screen))
        await screen.press("a")
        assert "a" not in offered(screen), "it is marked as seen"
    async with dashboard("gap-jump.log") as screen:
        assert {"a", "z"} <= set(offered(screen))
        await screen.press(*OVER)
        screen.app.screen._unsay(screen.app.screen._said)
        await screen.pilot.pause()
        assert "pause" in screen.text.splitlines()[-1]
        assert not {"a", "z"} & set(offered(screen))
    async with shown(Way("crash.log", {}, ("tab",))) as screen:
        assert "crashed" in screen.text
        assert "c" not in offered(screen), "a crash has no signal to be drawn"
    async with shown(Way(raises=GAP, keys=("end", "enter"))) as screen:
        assert not {"{ }", "0"} & set(offered(screen))
        await screen.press("plus")
        assert {"{ }", "0"} <= set(offered(screen))
    async with shown(STATES["metrics-group"]) as screen:
        assert "Enter open or close" in screen.text.splitlines()[-1]
        assert not {"p", "v"} & set(offered(screen))
