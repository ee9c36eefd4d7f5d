"""The log pane: its rows, its book of filters and search, its keys, and the way to it and back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from miles_tui.core.judge import Judge
from miles_tui.core.sift import Entry, Fold, Line, Ring, entries_of
from miles_tui.ingest.pieces import Cut, Why
from miles_tui.ui.logbook import LogBook
from miles_tui.ui.loglines import row_of, row_spans, whole_text
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.log import LogScreen, PlaceScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.spans import text_of, width_of

Dashboard = Callable[..., Any]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
RAISED = {23: ("gap-jump", "gap 0.0409; level 0.0150")}
RAY = b"\x1b[36m(MegatronTrainRayActor pid=7)\x1b[0m "
DECODE = b"(SGLangEngine pid=4) [2026-10-15 16:00:09] Decode batch. #running-req: 54\n"
TIMER = RAY + b"[2026-10-15 16:00:10.250 actor_cell0_rank0] timer.py:31 - Timer train start\n"
SECRET = b"hf_" + b"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 2


def row(line: bytes) -> Any:
    (entry,) = entries_of(line)
    return row_of(entry)


def shown(line: bytes, width: int = 118) -> str:
    return text_of(row_spans(row(line), width))


# -- rows ------------------------------------------------------------------------------------------


def test_a_line_is_time_level_process_text() -> None:
    assert shown(TIMER) == "16:00:10   Train          timer.py Timer train start"
    assert shown(TIMER, 60) == "16:00:10   timer.py Timer train start"
    assert shown(TIMER, 40) == "  timer.py Timer train start"
    assert shown(DECODE * 312) == "         · 312 engine lines"


@pytest.mark.parametrize(
    ("line", "level"),
    [
        (b"WARNING:root:deep_ep is not installed", "warning"),
        (RAY + b"[2026-10-15 16:00:10] x.py:3 - UserWarning: old", "warning"),
        (RAY + b"ERROR: pip's resolver", "error"),
        (b"Traceback (most recent call last):", "error"),
        (RAY + b"RuntimeError: CUDA error: an illegal memory access", "error"),
        (b"ray.exceptions.RayTaskError(RuntimeError): ray::x", "error"),
        (b"no errors so far, all warnings off", ""),
        (b"step 3: {'train/grad_norm': 0.5}", "record"),
    ],
)
def test_levels(line: bytes, level: str) -> None:
    assert row(line + b"\n").level == level


def test_a_metric_line_is_its_record_and_no_number_is_cut() -> None:
    line = (
        RAY
        + b"[2026-10-15 16:00:10.250 a] log_utils.py:1 - rollout 12: {'rollout/zzz': 1.25, 'rollout/raw_reward': 0.71, "
    )
    line += b"'rollout/response_lengths': 540.25, 'rollout/other': 123456.75}\n"
    said = shown(line)
    assert said.startswith("16:00:10 ◆ Train          rollout 12  reward 0.710 · answer length 540 · rollout/zzz 1.25")
    whole = {
        "rollout",
        "12",
        "reward",
        "0.710",
        "answer",
        "length",
        "540",
        "rollout/zzz",
        "1.25",
        "rollout/other",
        "1.23e5",
    }
    for width in range(40, 118):
        spans = row_spans(row(line), width)
        assert width_of(spans) <= width
        words = [w for w in text_of(spans).split() if w not in ("·", "…", "◆", "16:00:10", "Train")]
        if width >= 60:
            assert set(words) <= whole, width


def test_log_text_cannot_act_and_keys_are_hidden() -> None:
    hostile = b"\x1b]0;owned\x07\x1b[2J[bold]x[/bold] --hf-token " + SECRET + b"\n"
    said = shown(hostile)
    assert "\x1b" not in said
    assert "\x07" not in said
    assert "[bold]x[/bold]" in said
    assert SECRET.decode() not in said
    for start in range(900, 1100, 7):
        (entry,) = entries_of(b"x" * start + b" " + SECRET + b" " + b"y" * 20_000 + b"\n")
        assert SECRET.decode()[:12] not in text_of(row_spans(row_of(entry), 3000)) + whole_text(entry)
    for start in range(16_300, 16_390, 5):
        (entry,) = entries_of(b"x " * (start // 2) + SECRET + b" y\n")
        assert SECRET.decode()[:12] not in whole_text(entry)


# -- the book --------------------------------------------------------------------------------------


def entries(*lines: bytes) -> list[Entry]:
    return list(entries_of(b"\n".join(lines) + b"\n"))


def test_following_and_staying() -> None:
    ring, book = Ring(), LogBook()
    ring.add(b"one\ntwo\nthree\n")
    ring.settle()
    book.update(ring.entries)
    assert (book.at, book.follow) == (2, True)
    book.choose(1)
    ring.add(b"four\nfive\n")
    ring.settle()
    book.update(ring.entries)
    assert (book.at, book.follow, book.newer) == (1, False, 2)
    assert book.chosen is not None
    assert book.chosen.row.text == "two"
    book.end()
    assert (book.at, book.newer) == (4, 0)


def test_the_cursor_stays_at_its_line_while_old_ones_go() -> None:
    ring, book = Ring(most=5), LogBook()
    for i in range(5):
        ring.add(b"line %d\n" % i)
    ring.settle()
    book.update(ring.entries)
    book.choose(3)
    for i in range(5, 9):
        ring.add(b"line %d\n" % i)
        ring.settle()
        book.update(ring.entries)
        assert book.chosen is not None
        assert book.chosen.row.text == f"line {max(3, i - 4)}"


def test_filters() -> None:
    book = LogBook()
    book.update(entries(b"WARNING: a", b"(RolloutManager pid=1) b", b"Traceback (most recent call last):",
                        b"step 1: {'train/loss': 1.0}", DECODE.rstrip(), DECODE.rstrip()))  # fmt: skip
    counts = {}
    for level in ("warnings", "errors", "records", "all"):
        book.filter(level=level)
        counts[level] = len(book.items)
    assert counts == {"warnings": 2, "errors": 1, "records": 1, "all": 5}
    assert book.roles == ["RolloutManager", "no process"]
    book.filter(role="RolloutManager")
    assert [i.row.text for i in book.items] == ["b"]
    book.filter(role="", noise=True)
    assert len(book.items) == 7
    assert book.items[-1].row.text.startswith("Decode batch")


def test_search_goes_round() -> None:
    book = LogBook()
    book.update(entries(b"an apple", b"pear", b"APPLE two", b"plum"))
    assert book.search("Apple")
    assert book.at == 2
    assert book.next_hit(1)
    assert book.at == 0
    assert book.next_hit(-1)
    assert book.at == 2
    assert not book.search("cherry")


WIDE = b"step 4: {'train/loss': 1.0, " + b"".join(b"'perf/n%d': 1.5, " % i for i in range(40)) + b"'perf/sync_time': 7}"


def test_search_finds_what_a_row_leaves_out_and_shows_it() -> None:
    book = LogBook()
    far = b"pear " * 60 + b"quince"
    book.update(entries(b"first", WIDE, far))
    for found, at in (("sync_TIME", 1), ("quince", 2)):
        assert book.search(found)
        item = book.items[book.at]
        assert book.at == at
        for width in (40, 60, 118):
            line = text_of(row_spans(item.row, width, book.found, item.part(book.found)))
            assert found.lower() in line
            assert width_of(row_spans(item.row, width, book.found, item.part(book.found))) <= width
    assert book.search("step 4") or book.search("train/loss")
    assert book.at == 1


def test_a_hidden_key_is_not_found() -> None:
    book = LogBook()
    book.update(entries(WIDE + b" token " + SECRET))
    assert not book.search(SECRET.decode())


def test_search_says_which_key_shows_the_match() -> None:
    book = LogBook()
    book.update(entries(b"(RolloutManager pid=1) apple", b"WARNING: a", *[DECODE.rstrip()] * 3))
    assert not book.search("running-req")
    assert book.why_not() == "running-req is in folded lines: u unfolds"
    book.filter(noise=True)
    assert book.search("running-req")
    book.filter(level="warnings", noise=False)
    assert not book.search("apple")
    assert book.why_not() == "apple is in lines that are filtered out (w: all levels)"
    assert not book.search("cherry")
    assert book.why_not() == "cherry is not in the lines shown"


def test_a_growing_fold_is_counted_anew() -> None:
    ring, book = Ring(), LogBook()
    for count in (1, 2, 3):
        ring.add(DECODE)
        ring.settle()
        book.update(ring.entries)
        assert book.items[-1].row.text == f"{count} engine line{'s' if count > 1 else ''}"
    book.filter(noise=True)
    assert len(book.items) == 4
    assert isinstance(book.items[0].entry, Fold)


# -- the screen ------------------------------------------------------------------------------------


async def test_the_newest_lines_are_followed(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(80, 24)) as screen:
        text = await screen.press("L")
        assert isinstance(screen.app.screen, LogScreen)
        assert "RuntimeError: CUDA error" in text
        assert "following" in text
        screen.feed.give(TIMER.replace(b"train start", b"sleep start"))
        await screen.wait(lambda text: "Timer sleep start" in text)
        await screen.press("k")
        screen.feed.give(TIMER.replace(b"train start", b"nap start"))
        text = await screen.wait(lambda text: "1 newer" in text)
        assert "nap start" not in text
        assert "nap start" in await screen.press("f")
        await screen.press("escape")
        assert isinstance(screen.app.screen, MainScreen)
        assert screen.app.session.watcher is None


async def test_noise_is_counted_where_it_stands_and_seldom(dashboard: Dashboard) -> None:
    async with dashboard(TIMER, size=(80, 24)) as screen:
        await screen.press("L")
        paints = 0
        show = LogScreen._show

        def counted(self: LogScreen) -> None:
            nonlocal paints
            paints += 1
            show(self)

        LogScreen._show = counted  # type: ignore[method-assign]
        try:
            begin = time.monotonic()
            for _ in range(100):
                await screen.give(DECODE * 10)
            await screen.wait(lambda text: "1,000 engine lines" in text)
            took = time.monotonic() - begin
        finally:
            LogScreen._show = show  # type: ignore[method-assign]
        assert 1 <= paints <= 2 + took / 0.4


async def test_while_the_pane_is_closed_lines_are_only_kept(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(80, 24)) as screen:
        before, ring = screen.text, screen.app.session.ring
        added, entries = ring.added, list(ring.entries)
        await screen.give(DECODE * 100)
        assert screen.text == before
        assert list(ring.entries) == entries
        assert ring.added == added + 100 * len(DECODE)


async def test_the_panes_keys(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(100, 24)) as screen:
        await screen.press("L")
        text = await screen.press("slash", *"illegal", "enter")
        assert "/illegal 2 of 2" in text
        assert "/illegal 1 of 2" in await screen.press("n")
        assert "/illegal 2 of 2" in await screen.press("N")
        text = await screen.press("slash", *"no such thing", "enter")
        assert "no such thing is not in the lines shown" in text
        await screen.press("escape")
        assert isinstance(screen.app.screen, LogScreen), "the first Esc ends the search"
        for word in ("only warnings", "only errors", "only records"):
            assert word in await screen.press("w")
        assert "Timer" not in screen.text
        await screen.press("w")
        titles = [(await screen.press("p")).splitlines()[1] for _ in range(4)]
        assert ["only" in title for title in titles] == [True, True, True, False]
        for name in ("no process", "RolloutManager", "Train"):
            assert sum(f"only {name}" in title for title in titles) == 1
        assert "Decode batch" not in screen.text
        await screen.press("u", "slash", *"Decode", "enter", "escape")
        assert "Decode batch" in screen.text
        assert "noise shown" in screen.text
        await screen.press("u", "g")
        assert "line 1 of" in screen.text
        assert "following" in await screen.press("G")
        text = await screen.press("k", "k", "enter")
        assert "WARNING:root:deep_ep is not installed, some functionalities may be limited." in " ".join(text.split())
        await screen.press("enter", "home", "pagedown", "down", "up", "end")
        assert "following" in screen.text


async def test_every_key_of_the_pane_is_in_help(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(120, 60)) as screen:
        text = await screen.press("L", "question_mark")
        for binding in LogScreen.BINDINGS:
            assert binding.tooltip in text, binding.id


async def test_while_a_search_is_typed_letters_are_no_commands(dashboard: Dashboard) -> None:
    async with dashboard("crash.log", size=(80, 24)) as screen:
        text = await screen.press("L", "slash", *"tqL?", "backspace")
        assert "/tqL▏" in text
        assert isinstance(screen.app.screen, LogScreen)
        await screen.press("ctrl+u", "backspace")
        assert "▏" not in screen.text
        await screen.press("slash", "x", "escape")
        assert "/x" not in screen.text
        assert isinstance(screen.app.screen, LogScreen)


async def test_a_rotation_is_told(dashboard: Dashboard) -> None:
    async with dashboard(TIMER, size=(80, 24)) as screen:
        await screen.press("L")
        await screen.give(Cut(Why.ROTATED), TIMER)
        await screen.wait(lambda text: "the file was rotated here" in text)


async def test_from_an_alert_to_its_lines_and_back(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        screen.feed.parts = (LOGS / "gap-jump.log",)
        await screen.press("l")
        text = await screen.wait(lambda text: "▸" in text)
        assert isinstance(screen.app.screen, PlaceScreen)
        assert "log around rollout 23" in text
        (marked,) = [line for line in text.splitlines() if "▸" in line]
        assert "perf 23" in marked
        assert "17:02:30" in marked
        assert "L shows the newest" in await screen.press("f")
        text = await screen.press("L")
        assert not isinstance(screen.app.screen, PlaceScreen)
        await screen.press("escape", "escape")
        assert isinstance(screen.app.screen, MainScreen)


async def test_from_a_chart_to_the_cursors_lines_and_back(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        screen.feed.parts = (LOGS / "gap-jump.log",)
        await screen.press("j", "j", "j", "enter", "l")
        await screen.wait(lambda text: "▸" in text and "perf 23" in text)
        await screen.press("escape", "left", "left", "left", "l")
        text = await screen.wait(lambda text: "▸" in text)
        assert "log around rollout 45" in text
        await screen.press("escape")
        assert isinstance(screen.app.screen, ChartScreen)
        assert screen.app.screen.cursor == 45


async def test_without_a_file_the_kept_lines_are_looked_through(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        await screen.press("l")
        text = await screen.wait(lambda text: "▸" in text)
        assert "perf 23" in next(line for line in text.splitlines() if "▸" in line)
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge(RAISED)) as screen:
        screen.app.session.ring.settle()
        screen.app.session.ring.entries.clear()
        await screen.press("l")
        await screen.wait(lambda text: "no line of rollout 23 is left" in text)


async def test_a_run_without_an_alert_shows_its_newest_lines(dashboard: Dashboard, fixed_judge: MakeJudge) -> None:
    async with dashboard("gap-jump.log", size=(100, 30), judge=fixed_judge({})) as screen:
        await screen.press("l")
        assert isinstance(screen.app.screen, LogScreen)
        assert not isinstance(screen.app.screen, PlaceScreen)


def test_a_line_that_is_kept_is_bytes() -> None:
    """Nothing is decoded before somebody looks: 4,000 strings and their rows would be 2 MiB a run."""
    (entry,) = entries_of(b"one\n")
    assert isinstance(entry, Line)
    assert entry.raw == b"one"


async def test_a_metric_that_a_row_leaves_out_is_found_and_read(dashboard: Dashboard) -> None:
    async with dashboard("grad-growth.log", size=(80, 24)) as screen:
        text = await screen.press("L", "slash", *"update_weights_time", "enter")
        assert "/update_weights_time 96 of 96" in text or "/update_weights_time 48 of 48" in text
        assert "perf/update_weights_time 0.650" in text
        text = await screen.press("enter")
        words = screen.app.screen.query_one("#words")
        assert words.display
        below = text.splitlines()[-1 - words.size.height : -1]
        assert any("update_weights_time" in line for line in below), "the whole line is shown from its match on"
        assert "lines more" in below[-1]


async def test_no_line_says_which_key_brings_lines_back(dashboard: Dashboard) -> None:
    async with dashboard("plain-seed1.log", size=(80, 24)) as screen:
        assert "only Train" in await screen.press("L", "p", "p")
        text = await screen.press("w", "w")
        assert "no such line is kept (w: all levels, p: other processes)" in text
        text = await screen.press("slash", *"update_weights_time", "enter")
        assert "is in lines that are filtered out" in text
