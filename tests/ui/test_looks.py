"""A theme that is edited while the dashboard runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pictured import picture, spoken

from miles_tui.config.paths import bundled_themes, themes_dir
from miles_tui.ui import app as app_module
from miles_tui.ui.theming.theme_store import Looks

Dashboard = Callable[..., Any]
GOOD = (bundled_themes() / "dark.toml").read_text(encoding="utf-8")
GROUND = "#12151b"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "MIRROR_SECONDS", 0.02)


def own(name: str, ground: str, text: str = GOOD) -> Path:
    path = themes_dir() / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    assert GROUND in GOOD
    path.write_text(text.replace(GROUND, ground), encoding="utf-8")
    return path


def grounds(screen: Any) -> str:
    return spoken(picture(screen.app).ground)


@pytest.mark.parametrize("keys", [(), ("enter",), ("m",), ("T",)], ids=["main", "chart", "metrics", "themes"])
async def test_an_edit_is_on_the_screen_at_once(dashboard: Dashboard, keys: tuple[str, ...]) -> None:
    own("mine", "#000011")
    async with dashboard("gap-jump.log", theme="mine") as screen:
        await screen.press(*keys)
        assert grounds(screen) == "- on #000011"
        before = screen.text
        own("mine", "#000022")
        await screen.wait(lambda _: grounds(screen) == "- on #000022")
        assert screen.text == before
        assert all("#000011" not in spoken(codes) for codes in picture(screen.app).styles())


async def test_a_broken_edit_is_one_message_and_what_is_worn_stays(dashboard: Dashboard) -> None:
    own("mine", "#000011")
    async with dashboard("gap-jump.log", theme="mine") as screen:
        own("mine", "#000022", GOOD.replace("accent =", "acent ="))
        await screen.wait(lambda _: len(screen.app._notifications) > 0)
        (told,) = screen.app._notifications
        assert told.message == "themes/mine.toml: acent: no such key; did you mean accent? (and 1 more)"
        assert grounds(screen) == "- on #000011"
        own("mine", "#000033")
        await screen.wait(lambda _: grounds(screen) == "- on #000033")


async def test_a_bundled_theme_is_overridden_while_it_is_worn_and_comes_back(dashboard: Dashboard) -> None:
    async with dashboard("gap-jump.log") as screen:
        path = own("dark", "#000044")
        await screen.wait(lambda _: grounds(screen) == "- on #000044")
        path.unlink()
        await screen.wait(lambda _: grounds(screen) == f"- on {GROUND}")


async def test_another_file_is_in_the_list_when_it_is_written(dashboard: Dashboard) -> None:
    async with dashboard("gap-jump.log") as screen:
        await screen.press("T", "down")
        own("zebra", "#000055")
        await screen.wait(lambda text: "zebra" in text)
        assert screen.app.look.name == "light"
        assert grounds(screen) == "- on #fbfaf7"
        await screen.press("end")
        await screen.wait(lambda _: grounds(screen) == "- on #000055")


def test_a_file_that_is_being_written_is_waited_for() -> None:
    looks = Looks()
    assert not looks.edited(), "nothing there"
    own("mine", "#000011")
    assert not looks.edited(), "seen for the first time"
    own("mine", "#0000", GOOD[:50])
    assert not looks.edited(), "it goes on"
    assert looks.edited()
    dark = looks.all()["dark"]
    assert looks.again(dark)[0] == dark
    assert not looks.edited()
