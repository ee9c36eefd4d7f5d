"""Texts made to be slow: four times as many bytes take about four times as long, on every way that a log is read."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from costs import grows_less
from hypothesis import given, settings
from hypothesis import strategies as st

from miles_tui.commands.export import Exporter
from miles_tui.core.model.records import Item
from miles_tui.core.parsing.line_splitter import line_end, line_start, next_line
from miles_tui.core.parsing.metric_line import records_in
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.parsing.tail_buffer import Ring
from miles_tui.core.text.secrets import mask

HEAD = b"(Actor pid=42) [2026-10-15 16:02:38.214 actor] model.py:542 - "
END = b" ok model.py:1 - step 5: {'train/x': 1.0}\n"
CRI = b"2026-10-15T16:02:38.214000000Z stdout F hello\n" * 9
DOCKER = b'{"log":"hello\\n","stream":"stdout","time":"2026-10-15T16:02:38.2Z"}\n' * 9


def read(text: bytes) -> list[Item]:
    reader = Reader()
    return [*reader.feed(text), *reader.settle(), *reader.finish()]


def sift(text: bytes) -> None:
    ring = Ring()
    for at in range(0, len(text), 1 << 16):
        ring.add(text[at : at + (1 << 16)])
    ring.settle(final=True)


def export(text: bytes) -> None:
    Exporter(lambda _: None).take(read(text))


def run(unit: bytes, before: bytes = b"", behind: bytes = b"\n") -> Callable[[int], bytes]:
    return lambda size: before + unit * (size // len(unit)) + behind


def after(way: Callable[[bytes], object], text: Callable[[int], bytes]) -> Callable[[int], object]:
    return lambda size: way(text(size))


def names(name: bytes) -> Callable[[int], bytes]:
    return lambda n: HEAD + b"step 1: {" + b"".join(b"'%s': 1, " % (name % i) for i in range(n)) + b"'z': 1}\n"


def long_key(n: int) -> bytes:
    inner = b", ".join(b"'a%d': 1" % i for i in range(n // 20))
    return HEAD + b"step 5: {'" + b"k" * n + b"': {" + inner + b"}}\n"


def old_traceback(n: int) -> bytes:
    return b"  x: Traceback (most recent call last):\n" + b" " * n + b"y\n"


SHAPES: dict[str, tuple[Callable[[bytes], object], Callable[[int], bytes], int]] = {
    "carriage returns": (read, run(b"\r"), 200_000),
    "carriage returns behind a launch": (read, run(b"\r", b"Traceback (most recent call last):\n"), 200_000),
    "frames that end with CR": (read, run(b"a 8: {b}\r"), 400_000),
    "a long word before a record": (read, run(b"a", b"", END), 20_000),
    "a long word of dots": (read, run(b"a.", b"", END), 20_000),
    "blanks before a record": (read, run(b" ", b"x", END), 50_000),
    "digits in a bar": (sift, run(b"1", b"%|"), 20_000),
    "digits and slashes in a bar": (sift, run(b"1/", b"%|"), 20_000),
    "an indent behind a traceback": (read, old_traceback, 10_000),
    "a dict in a long key": (read, long_key, 20_000),
    "names": (export, names(b"train/n%d"), 3_000),
    "names with keys in them": (export, names(b"api_key=hf_abcdefghijklmnopqrstuvwxyz%06d"), 1_000),
    "names that differ in their keys": (export, names(b"hf_abcdefghijklmnopqrstuvwxyzABCD%d"), 1_000),
    "a mark of CRI again and again in one line": (read, run(b" stdout P ", CRI + b"A" * 1000), 80_000),
    "CRI's mark in other lines": (read, run(b"a stdout F b\n", CRI + CRI[:46].replace(b"F", b"P") + b"\n"), 120_000),
    "docker's mark in other lines": (read, run(b'","stream":"x', DOCKER + b"A" * 1000), 80_000),
    "torn parts": (read, run(b"(A pid=1) 'a': {'b': 1}, \n", b"(A pid=1) [2026-10-15 16:02] step 5: {'q': 1\n"), 9_000),
    "braces": (read, run(b"{", HEAD), 50_000),
    "brackets in a value": (read, run(b"[", HEAD + b"step 5: {'a': "), 50_000),
    "nested dicts": (read, run(b"{'a': ", HEAD + b"step 5: "), 50_000),
    "names of keys": (lambda text: mask(text.decode()), run(b"key=7"), 8_000),
    "blanks behind a name of a key": (lambda text: mask(text.decode()), run(b" ", b"key is"), 4_000),
    "names of keys, in a URL": (lambda text: mask(text.decode()), run(b"&api_key=7bcdefgh"), 8_000),
    "many records in a line": (read, run(b" step 1: {'train/x': 1}"), 20_000),
}  # fmt: skip


@pytest.mark.parametrize(("way", "text", "size"), SHAPES.values(), ids=SHAPES)
def test_four_times_the_text_takes_four_times_as_long(
    way: Callable[[bytes], object], text: Callable[[int], bytes], size: int
) -> None:
    assert grows_less(lambda n: way(text(n)), size)


PARTS = st.sampled_from(
    [b"\r", b"\n", b"\x1b", b"\x1b[", b"\x1b[0m", b"\x1b]", b"^[[", b"[0m", b"[", b"(", b"{", b"{'", b'{"', b"'", b'"',
     b"\\", b'\\"', b"\0", b"\xff", b" ", b"a", b".", b"-", b"_", b"/", b"7", b"1/", b": ", b", ", b"=", b"|", b"%|",
     b"step 1: {", b"step 1: {'a': ", b"1: {'a': 1}", b"(pid=", b"(A pid=1) ", b"[2026-10-15 16:02:38] ",
     b"Error: ", b"Traceback (most recent call last):", b"Killed ", b"Timer x start", b"Rollout generation 1/2 [",
     b"+ python train.py --a ", b"---- arguments ----", b"  a .... b", b'{"log":"', b'","stream":"stdout"', b"nan",
     b" stdout P ", b'"GET / HTTP/1.1" 200', b"Decode batch", b"np.float64(", b"model.py:1 - "]
)  # fmt: skip
BEFORE = st.sampled_from([b"", HEAD, HEAD + b"step 5: {'a': ", CRI, DOCKER, b"Traceback (most recent call last):\nx"])


@settings(max_examples=25, deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=3).map(b"".join), BEFORE, st.sampled_from([b"\n", END, b"}\n"]))
def test_so_does_any_run_of_such_parts(unit: bytes, before: bytes, behind: bytes) -> None:
    text = run(unit, before, behind)
    for way in (read, sift, lambda data: [records_in(line) for line in re.split(rb"[\r\n]+", data)]):
        assert grows_less(after(way, text), 12_000)


@given(st.lists(st.sampled_from([b"\r", b"\n", b"x", b"x" * 3000, b"x" * 9000]), max_size=9).map(b"".join), st.data())
def test_a_line_s_bounds_are_found_near_and_far(text: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    at = data.draw(st.integers(start, len(text)))
    end = data.draw(st.integers(at, len(text)))
    ends = [i for i in range(start, end) if text[i : i + 1] in (b"\r", b"\n")]
    assert line_end(text, at, end) == next((i for i in ends if i >= at), end)
    assert line_start(text, start, at) == max((i + 1 for i in ends if i < at), default=start)
    stop = line_end(text, at, end)
    after = next_line(text, stop, end)
    assert not text[stop:after].strip(b"\r\n")
    assert after == end or text[after : after + 1] not in (b"\r", b"\n")


def test_a_dict_in_a_very_long_key_is_left_out() -> None:
    inner = {f"b{i}": 1 for i in range(50)}
    text = f"{HEAD.decode()}step 5: {{'a': 1, '{'k' * 5000}': {inner}, 'x': {{'y': 2}}}}\n"
    (record,) = read(text.encode())
    assert getattr(record, "metrics", None) == {"a": 1, "x/y": 2}
