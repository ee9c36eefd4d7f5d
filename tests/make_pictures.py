"""Draw the README's pictures: `python tests/make_pictures.py [FOLDER]` (default: sample_logs/pictures).

Each is a screen of the real program on a bundled log, exported as SVG. The same program gives the same bytes:
no time of ours is on them, and no font is fetched from anywhere.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from miles_tui.core.model.chunks import Data
from miles_tui.ingest.follow.follower import Batch
from miles_tui.ingest.follow.watcher import Attention
from miles_tui.runs.run_options import Setup
from miles_tui.ui.app import MilesApp

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "sample_logs"
FOLDER = LOGS / "pictures"
SECONDS = 30.0  # until a screen must be there


@dataclass(frozen=True)
class Picture:
    """A screen: the log up to the end of rollout `until`, the keys pressed, and what must be seen then."""

    name: str
    log: str
    until: int
    size: tuple[int, int]
    theme: str
    shows: str
    keys: Sequence[str] = ()


PICTURES = (
    Picture("main-dark", "gap-jump", 31, (120, 27), "dark", "gap-jump"),
    Picture("main-light", "talks-longer", 36, (120, 27), "light", "reward-down-length-up"),
    Picture("chart", "gap-jump", 31, (100, 26), "dark", "log scale", ("down", "down", "down", "enter")),
    Picture("small", "gap-jump", 31, (60, 15), "dark", "gap-jump"),
    Picture("smallest", "plain-seed1", 24, (40, 10), "colour-blind-dark", "rollout time"),
)


@dataclass
class Once:
    """A feed that gives a text and then is silent; no time of ours counts in it."""

    text: bytes
    name: str = "train.log"
    live: bool = False
    attention: Attention = field(default_factory=Attention)
    parts: Sequence[Path] = ()

    def age(self) -> float:
        return 0.0

    async def batches(self, stop: asyncio.Event) -> AsyncGenerator[Batch, None]:
        yield Batch([Data(self.text)], True, len(self.text), len(self.text), "")
        await stop.wait()


def up_to(log: Path, rollout: int) -> bytes:
    """A log up to the last line of a rollout."""
    out = b""
    for line in log.read_bytes().splitlines(keepends=True):
        out += line
        if re.search(rb"perf %d: .*perf/train_time" % rollout, line):
            return out
    raise ValueError(f"{log.name} has no rollout {rollout}")


_TEXT = re.compile(r'<text class="([^"]*)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)" ([^>]*)>([^<]*)</text>')


def tidy(svg: str) -> str:
    """The picture without the fonts that Rich would fetch, each word in its own place.

    Not every viewer keeps spaces, or stretches a text to its length: a word that has its own x stays in its column.
    """
    svg = re.sub(r"\s*@font-face\s*\{[^}]*\}", "", svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace")
    svg = _TEXT.sub(_words, svg)
    return "\n".join(filter(None, (line.rstrip() for line in svg.splitlines()))) + "\n"


def _words(match: re.Match[str]) -> str:
    style, x, y, length, rest = match[1], float(match[2]), match[3], float(match[4]), match[5]
    text = html.unescape(match[6])
    cell = length / len(text) if text else 0.0
    return "".join(
        f'<text class="{style}" x="{x + word.start() * cell:g}" y="{y}" textLength="{len(word[0]) * cell:g}" {rest}>'
        f"{html.escape(word[0])}</text>"
        for word in re.finditer(r"[^\s\xa0]+", text)
    )


async def draw(picture: Picture) -> str:
    """One picture as SVG. Raises TimeoutError when the screen does not come."""
    feed = Once(up_to(LOGS / f"{picture.log}.log", picture.until))
    app = MilesApp(feed, setup=Setup(theme=picture.theme))
    async with app.run_test(size=picture.size) as pilot:
        async with asyncio.timeout(SECONDS):
            while app.session.monitor.state.pace.trained != picture.until:
                await pilot.pause()
            await pilot.press(*picture.keys)
            while picture.shows not in (svg := app.export_screenshot(title="miles-tui").replace("&#160;", " ")):
                await pilot.pause()
        del svg
        return tidy(app.export_screenshot(title="miles-tui"))


def plain_surroundings() -> None:
    """Neither the colours, the locale nor the settings of whoever draws."""
    for name in ("NO_COLOR", "TMUX", "LC_ALL", "LC_CTYPE", "COLORFGBG"):
        os.environ.pop(name, None)
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    os.environ |= {"XDG_CONFIG_HOME": os.devnull, "XDG_STATE_HOME": os.devnull}


def main(argv: Iterable[str] = ()) -> None:
    """Draw all of them."""
    folder = Path(next(iter(argv), FOLDER))
    folder.mkdir(parents=True, exist_ok=True)
    plain_surroundings()
    for picture in PICTURES:
        path = folder / f"{picture.name}.svg"
        path.write_text(asyncio.run(draw(picture)), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
