"""The README's pictures: there, self-contained, and drawn by the program itself."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from make_pictures import FOLDER, PICTURES, draw, plain_surroundings, tidy


@pytest.mark.parametrize("name", [picture.name for picture in PICTURES])
def test_a_picture_is_there_and_fetches_nothing(name: str) -> None:
    svg = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    ElementTree.fromstring(svg)
    assert set(re.findall(r"https?://[^\"' )]*", svg)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", svg)
    assert "@font-face" not in svg


def test_a_picture_is_drawn_the_same_each_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "NO_COLOR",
                 "TMUX", "COLORFGBG"):  # fmt: skip
        monkeypatch.setenv(name, "")  # so that what the script sets is taken back
    plain_surroundings()
    small = next(picture for picture in PICTURES if picture.name == "smallest")
    first, second = (asyncio.run(draw(small)) for _ in range(2))
    assert first == second
    words = re.findall(r">([^<>]+)</text>", first)
    assert {"reward", "gradient", "norm"} <= set(words)


def test_each_word_keeps_its_column() -> None:
    given = '<text class="a" x="10" y="20" textLength="60" clip-path="url(#c)">&#160;ab&#160;&lt;c</text>'
    assert tidy(given) == (
        '<text class="a" x="20" y="20" textLength="20" clip-path="url(#c)">ab</text>'
        '<text class="a" x="50" y="20" textLength="20" clip-path="url(#c)">&lt;c</text>\n'
    )
