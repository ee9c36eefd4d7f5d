"""The log pane without its screen: a line's row, and the book of filters and search."""

from __future__ import annotations

from typing import Any

import pytest

from miles_tui.core.parsing.tail_buffer import Fold, LogEntry, LogLine, Ring, entries_of
from miles_tui.present.log_rows import LogBook
from miles_tui.present.log_view import row_of, row_spans, whole_text
from miles_tui.present.styled_text import plain_text, width_of

RAY = b"\x1b[36m(MegatronTrainRayActor pid=7)\x1b[0m "
DECODE = b"(SGLangEngine pid=4) [2026-10-15 16:00:09] Decode batch. #running-req: 54\n"
TIMER = RAY + b"[2026-10-15 16:00:10.250 actor_cell0_rank0] timer.py:31 - Timer train start\n"
SECRET = b"hf_" + b"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 2


def row(line: bytes) -> Any:
    (entry,) = entries_of(line)
    return row_of(entry)


def shown(line: bytes, width: int = 118) -> str:
    return plain_text(row_spans(row(line), width))


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
        words = [w for w in plain_text(spans).split() if w not in ("·", "…", "◆", "16:00:10", "Train")]
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
        assert SECRET.decode()[:12] not in plain_text(row_spans(row_of(entry), 3000)) + whole_text(entry)
    for start in range(16_300, 16_390, 5):
        (entry,) = entries_of(b"x " * (start // 2) + SECRET + b" y\n")
        assert SECRET.decode()[:12] not in whole_text(entry)


# -- the book --------------------------------------------------------------------------------------


def entries(*lines: bytes) -> list[LogEntry]:
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
            line = plain_text(row_spans(item.row, width, book.found, item.part(book.found)))
            assert found.lower() in line
            assert width_of(row_spans(item.row, width, book.found, item.part(book.found))) <= width
    assert book.search("step 4") or book.search("train/loss")
    assert book.at == 1


@pytest.mark.parametrize("line", [TIMER, WIDE, b"pear " * 60 + b"quince", b"short"])
@pytest.mark.parametrize("width", [40, 80, 118])
def test_a_line_without_a_match_is_shown_as_ever_while_one_searches(line: bytes, width: int) -> None:
    assert plain_text(row_spans(row(line), width, "not in it")) == shown(line, width)


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


def test_a_line_that_is_kept_is_bytes() -> None:
    """Nothing is decoded before somebody looks: 4,000 strings and their rows would be 2 MiB a run."""
    (entry,) = entries_of(b"one\n")
    assert isinstance(entry, LogLine)
    assert entry.raw == b"one"
