"""Screens as text at every size class, in files: UPDATE_SCREENS=1 writes them anew, `git diff` shows what changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from miles_tui.core.judge import Judge
from miles_tui.ingest.pieces import Ended

Dashboard = Callable[..., Any]
Same = Callable[[str, str], None]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
RAISES = {
    "gap-jump": {
        23: ("gap-jump", "gap 0.0409, mean of the last three 0.0383; level 0.0150 ± 0.000297 (this run so far)")
    },
    "talks-longer": {
        30: ("reward-down-length-up", "reward 0.645 (mean of five), 0.713 before; answer length 631, 544 before"),
        31: ("cut-share-high", "25 % of the answers are cut in the mean of five, 17 % were 12 rollouts ago"),
    },
    "plain-seed1": {},
    "crash": {},
}
SIZES = [(120, 36), (80, 24), (60, 15), (40, 10), (30, 8)]


def size_name(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("log", list(RAISES))
async def test_main(
    dashboard: Dashboard, fixed_judge: MakeJudge, same_screen: Same, log: str, size: tuple[int, int]
) -> None:
    async with dashboard(f"{log}.log", size=size, judge=fixed_judge(RAISES[log])) as screen:
        await screen.give(Ended())
        same_screen(f"main-{log}-{size_name(size)}", screen.text)


@pytest.mark.parametrize("size", SIZES[:3], ids=size_name)
async def test_learning(
    dashboard: Dashboard, fixed_judge: MakeJudge, same_screen: Same, blocks: list[bytes], size: tuple[int, int]
) -> None:
    async with dashboard(b"".join(blocks[:7]), size=size, judge=fixed_judge({})) as screen:
        same_screen(f"learning-{size_name(size)}", screen.text)


@pytest.mark.parametrize("size", SIZES[:4], ids=size_name)
@pytest.mark.parametrize(
    ("name", "keys"),
    [("chart", "jjj\n"), ("help", "?"), ("conditions", "x"), ("themes", "T")],
    ids=["chart", "help", "conditions", "themes"],
)
async def test_other_screens(
    dashboard: Dashboard, fixed_judge: MakeJudge, same_screen: Same, name: str, keys: str, size: tuple[int, int]
) -> None:
    async with dashboard("gap-jump.log", size=size, judge=fixed_judge(RAISES["gap-jump"])) as screen:
        await screen.press(*("enter" if key == "\n" else "question_mark" if key == "?" else key for key in keys))
        same_screen(f"{name}-{size_name(size)}", screen.text)


@pytest.mark.parametrize("glyphs", ["blocks", "ascii"])
async def test_other_glyphs(dashboard: Dashboard, fixed_judge: MakeJudge, same_screen: Same, glyphs: str) -> None:
    async with dashboard("gap-jump.log", size=(80, 24), judge=fixed_judge({}), glyphs=glyphs) as screen:
        same_screen(f"main-{glyphs}", screen.text)


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
