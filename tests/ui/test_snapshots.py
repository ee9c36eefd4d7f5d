"""What `test_matrix` has no place for, as text in files: UPDATE_SCREENS=1 writes them anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miles_tui.core.alerting.engine import Judge

Dashboard = Callable[..., Any]
Same = Callable[[str, str], None]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
SIZES = [(120, 36), (80, 24), (60, 15)]


def size_name(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


@pytest.mark.parametrize("size", SIZES, ids=size_name)
async def test_learning(
    dashboard: Dashboard, fixed_judge: MakeJudge, same_screen: Same, blocks: list[bytes], size: tuple[int, int]
) -> None:
    async with dashboard(b"".join(blocks[:7]), size=size, judge=fixed_judge({})) as screen:
        same_screen(f"learning-{size_name(size)}", screen.text)


async def test_blocks(dashboard: Dashboard, fixed_judge: MakeJudge, same_screen: Same) -> None:
    async with dashboard("gap-jump.log", size=(80, 24), judge=fixed_judge({}), glyphs="blocks") as screen:
        same_screen("main-blocks", screen.text)


async def test_colours_do_not_change_the_text(dashboard: Dashboard) -> None:
    async with dashboard("gap-jump.log", size=(80, 24)) as screen:
        dark = screen.text.splitlines()[:-1]
        flat = ("sixteen", "monochrome")
        for name in screen.app.looks.all():
            screen.app.use_look(screen.app.looks.all()[name])
            await screen.pilot.pause()
            text = screen.text
            assert ("▸" in text) == (name in flat), "a sign tells the chosen row where no ground does"
            assert text.replace("▸", " ").splitlines()[:-1] == dark, name
