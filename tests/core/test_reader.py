"""Bytes to records and facts: cuts change nothing, no bytes raise, the corpus reads as a person would."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_big_log import HOSTILE, write
from reads import HALF, LINE, LOG, NOISE, OTHER, RAY, D, numbers, read, records

from miles_tui.core.model.records import Event, EventKind, Item, Record
from miles_tui.core.parsing import brace_scan as braces
from miles_tui.core.parsing.reader import GAP, KEPT, Reader

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


# -- chunks --------------------------------------------------------------------------------------

PIECES = st.lists(
    st.sampled_from(
        [
            f"{LINE}\n", f"step 4: {D}\r\n",
            f"{OTHER}[2026-10-15 16:01:02] metrics.py:89 - perf 7: {{'perf/x': 1.5}}\n",
            f"{LINE[:HALF]}\n", f"{RAY}{LINE[HALF:]}\n", f"{LINE[HALF:]}\n", NOISE,
            "\rbar 3/4 [00:01]\r", "\0\0\0", "{", "\n",
            f"2026-10-15T16:01:02.1Z stdout P {LINE[:HALF]}\n", f"2026-10-15T16:01:02.1Z stdout F {LINE[HALF:]}\n",
            "Traceback (most recent call last):\n", "ValueError: no\n", "step 5: {'a", "é\xff",
            '{"log":"step 6: ', "engine 3: {'a': x}\n",
        ]
    ),
    max_size=14,
)  # fmt: skip


@given(PIECES, st.lists(st.integers(1, 200), min_size=1, max_size=30))
def test_chunks_never_change_the_records(pieces: list[str], sizes: list[int]) -> None:
    data = "".join(pieces).encode()
    whole = records(read(data))
    reader, items, at = Reader(), [], 0
    for i in range(len(data) + 1):
        size = sizes[i % len(sizes)]
        items += reader.feed(data[at : at + size])
        if i % 3 == 0:
            items += reader.settle()
        at += size
        if at >= len(data):
            break
    items += reader.finish()
    assert repr(records(items)) == repr(whole)


@given(PIECES)
def test_views_and_bytearrays_are_as_good_as_bytes(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    buffer = bytearray(data + b"rest")
    wanted = repr(records(read(data)))
    for chunk in (bytearray(data), memoryview(data), memoryview(buffer)[: len(data)]):
        reader = Reader()
        items = reader.feed(chunk)
        assert repr(records(items + reader.finish())) == wanted
    reader = Reader()
    reader.feed(buffer)
    buffer[:] = b"x" * len(buffer)  # the caller's buffer is used again: nothing kept may lie in it
    reader.feed(b"\n")
    reader.finish()


@settings(deadline=None)
@given(st.binary(max_size=400) | PIECES.map(lambda p: "".join(p).encode("latin-1", "replace")))
def test_no_bytes_raise(data: bytes) -> None:
    read(data, 7, settle=True)


@given(
    st.lists(
        st.sampled_from(
            [
                "{",
                "x: {'",
                f"step 3: {D}\n",
                "engine 5: {'a': 1}",
                "{'a': {'b': 1}}\n",
                "5\x1b[0m: {",
                "::",
                "5: {5: {",
                "step 4: {'a':  1}\n",
                "\x1b[1mstep 4\x1b[0m: \x1b[1m{'a': 1}\n",
                'step 5: {"a": 1}\n',
                "\n",
            ]
        ),
        max_size=60,
    )
)
def test_hops_and_the_regular_expression_find_the_same(pieces: list[str]) -> None:
    text = "".join(pieces)
    hops, braces._HOPS = braces._HOPS, 2
    try:
        thick = numbers(text)
    finally:
        braces._HOPS = hops
    assert thick == numbers(text)


# -- lines ---------------------------------------------------------------------------------------


def test_the_last_line_waits_for_its_end() -> None:
    reader = Reader()
    assert records(reader.feed(f"step 3: {D}".encode())) == []
    assert records(reader.settle()) == []
    assert [r.number for r in records(reader.feed(b"\n"))] == [3]
    assert records(reader.finish()) == []


def test_at_a_file_s_end_a_whole_dict_counts_and_a_torn_one_does_not() -> None:
    assert numbers(f"step 3: {D}") == [("step", 3)]
    assert numbers(f"step 3: {D[:40]}") == []
    for ending in (Reader.finish, Reader.cut):
        reader = Reader()
        reader.feed(f"step 3: {D[:40]}".encode())
        assert records(ending(reader)) == []
        assert [r.number for r in records(reader.feed(f"{D[40:]}\nstep 4: {D}\n".encode()))] == [4]


def test_a_hundred_megabytes_without_an_end_lose_only_themselves() -> None:
    reader = Reader()
    reader.feed(f"step 1: {D}\n".encode())
    for _ in range(100):
        reader.feed(b"x" * (1 << 20))
        assert len(reader._lines._tail) <= 9 << 20
    items = reader.feed(f" step 9: {D}\nstep 2: {D}\n".encode())
    assert [r.number for r in records(items)] == [2]


def test_a_line_cap_does_not_depend_on_chunks() -> None:
    data = f"{'x' * 300} step 9: {D}\nstep 2: {D}\n".encode()
    for size in (1, 50, 1000):
        reader, items = Reader(max_line=200), []
        for i in range(0, len(data), size):
            items += reader.feed(data[i : i + size])
        assert [r.number for r in records(items)] == [2]


# -- facts in their place ------------------------------------------------------------------------


def kinds(items: list[Item]) -> list[str]:
    return [i.kind if isinstance(i, Record) else f"<{i.kind}>" for i in items]


def test_trouble_in_a_short_gap_is_not_looked_for() -> None:
    text = f"{LINE}\nTraceback (most recent call last):\nValueError: caught\n{LINE.replace('step 3', 'step 4')}\n"
    assert kinds(read(text.encode())) == ["step", "step"]


def test_trouble_before_a_restart_is_found_in_its_place() -> None:
    text = f"{LINE}\nTraceback (most recent call last):\nValueError: dead\n"
    text += "Running entrypoint for job x: python3 train.py --lr 1\n"
    for again in (LINE, LINE.replace("pid=2", "pid=9").replace("step 3", "step 4")):
        items = read(f"{text}{again}\n".encode())
        assert kinds(items) == ["step", "<trouble>", "<launch>", "<args>", "step"]


def test_trouble_after_the_last_record_is_found_once() -> None:
    text = f"{LINE}\nTraceback (most recent call last):\n  File x\nValueError: dead\n"
    for settle in (False, True):
        for size in (5, 1 << 18):
            found = [
                i for i in read(text.encode(), size, settle) if isinstance(i, Event) and i.kind is EventKind.TROUBLE
            ]
            assert [f.text for f in found] == ["ValueError: dead"]


def test_a_crash_before_megabytes_of_noise_and_a_restart_is_found() -> None:
    text = (
        f"{LINE}\nTraceback (most recent call last):\nValueError: dead\n"
        + NOISE * (2 * GAP // len(NOISE))
        + f"{LINE}\n"
    )
    found = kinds(read(text.encode()))
    assert found.index("<trouble>") < len(found) - 1
    assert found[-1] == "step"


def test_the_clock_goes_on_through_noise() -> None:
    noise = "".join(NOISE.replace("16:01:05", f"17:{i // 60 % 60:02d}:{i % 60:02d}") for i in range(30_000))
    text = (
        f"{LINE}\n{RAY}[2026-10-15 16:01:03] timer.py:31 - Timer update_weights start\n{noise}no stamp here\n"
        + "bar\r" * 1000
    )
    items = read(text.encode())
    clock = [i.time for i in items if isinstance(i, Event) and i.kind is EventKind.CLOCK][-1]
    assert clock is not None
    assert clock % 86400 == 17 * 3600 + 19 * 60 + 59
    assert [i.text for i in items if isinstance(i, Event) and i.kind is EventKind.TIMER_START] == ["update_weights"]


def test_pauses_are_told_in_their_place() -> None:
    text = f"{LINE}\nheat guard: paused\n{LINE.replace('step 3', 'step 4')}\nnothing\nheat guard: paused"
    data = text.encode()
    for size in (3, 1 << 18):
        reader, items = Reader(pause=re.compile(rb"^heat guard.*paused$")), []
        for i in range(0, len(data), size):
            items += reader.feed(data[i : i + size])
        items += reader.finish()
        assert [k for k in kinds(items) if k != "<clock>"] == ["step", "<pause>", "step", "<pause>"]


# -- whole logs ----------------------------------------------------------------------------------


def plain_rows(items: list[Item]) -> list[list[object]]:
    def said(value: float) -> float | str:
        return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"

    return [[r.kind, r.number, {k: said(v) for k, v in r.metrics.items()}] for r in records(items)]


@pytest.mark.parametrize("size", [1 << 18, 61])
@pytest.mark.parametrize("case", sorted(CORPUS.glob("*.expected.json")), ids=lambda p: p.name[:3])
def test_corpus(case: Path, size: int) -> None:
    data = case.with_name(case.name.replace(".expected.json", ".log")).read_bytes()
    wanted = json.loads(case.read_text())
    assert plain_rows(read(data, size)) in [wanted["expected"], *wanted.get("acceptable", [])]


def test_a_long_log_has_every_record(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    write(path, 2.0)
    data = path.read_bytes()
    found = records(read(data))
    assert len(found) == len(re.findall(rb"(?:step|rollout|perf) [0-9]+: [{].*[}]\n", data)) > 50
    assert repr(records(read(data, 4099))) == repr(found)


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_text_has_no_record(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "big.log"
    write(path, 0.5, kind)
    assert records(read(path.read_bytes())) == []


# -- restarts that nobody's prefix shows ---------------------------------------------------------

SIGNS = [
    f"{'-' * 24} arguments {'-' * 24}\n  num_rollout {'.' * 37} 60\n{'-' * 20} end of arguments {'-' * 21}\n",
    "Running entrypoint for job raysubmit_x: python3 train.py --num-rollout 60\n",
    "+ python3 train.py --num-rollout 60\n2026-10-15 16:01:02,500\tINFO worker.py:1 -- Started a local Ray instance.\n",
    "  successfully loaded checkpoint from /ckpt [ t 1/1, p 1/1 ] at iteration 20\n",
]


def bare(number: int) -> str:
    return f"{LOG}step {number}: {D}\n"


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("noise", [0, 700])  # lines: a gap in one chunk, or over several, more than a reader keeps
def test_a_forward_resume_is_the_same_whoever_looked_in_between(sign: str, noise: int) -> None:
    assert not noise or len(NOISE) * noise > KEPT
    crash = "Traceback (most recent call last):\n  File x\nRuntimeError: boom\n"
    text = "".join(map(bare, range(3))) + NOISE * noise + crash + NOISE * noise + sign + NOISE * noise + bare(3)
    wanted = ["<trouble>", "<launch>", *(["<args>"] if "60" in sign else [])]
    if sign.startswith("+"):
        wanted.append("<launch>")
    for size in (97, 4096, KEPT, 1 << 20):
        for settle in (False, True):
            found = [k for k in kinds(read((text + bare(4)).encode(), size, settle)) if k != "<clock>"]
            assert found == ["step"] * 3 + wanted + ["step"] * 2, (size, settle)


@given(
    st.lists(st.sampled_from([*SIGNS, NOISE, "ValueError: x\n", "bare"]), max_size=12),
    st.integers(1, 300),
)
def test_looking_in_between_changes_no_launch_and_no_argument(pieces: list[str], size: int) -> None:
    text = bare(0) + "".join(bare(i) if piece == "bare" else piece for i, piece in enumerate(pieces, 1)) + bare(99)

    def launches(items: list[Item]) -> list[object]:
        told = (EventKind.LAUNCH, EventKind.ARGS)
        return [i.number if isinstance(i, Record) else (i.kind, i.data) for i in items if _is(i, told)]

    assert launches(read(text.encode(), size, settle=True)) == launches(read(text.encode()))


def _is(item: Item, told: tuple[EventKind, ...]) -> bool:
    return isinstance(item, Record) or item.kind in told


def test_the_clock_is_the_loggers_once_a_record_has_one() -> None:
    ahead = "2031-05-06T10:00:00Z x\nsample: 2031-05-06 10:00:00\n"
    for line, year in ((bare(1), None), (f"step 1: {D}\n", 2031)):
        items = read(f"{line}{ahead}".encode())
        clock = [i.time for i in items if isinstance(i, Event) and i.kind is EventKind.CLOCK and i.time is not None]
        assert [1970 + int(t / 31_556_952) for t in clock] == ([] if year is None else [year])
