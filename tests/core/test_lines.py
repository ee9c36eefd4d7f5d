"""Complete lines out of chunks: cuts, long lines, holes, escapes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from miles_tui.core.parsing.line_splitter import LineSplitter, clean, last_end, line_end, line_start

PIECES = st.lists(st.sampled_from([b"\n", b"\r", b"a", b"bcd", b"\0\0", b"{'x': 1}", b"\r\n"]), max_size=40)


def lines_of(regions: list[tuple[bytes | bytearray, int, int]]) -> list[bytes]:
    found: list[bytes] = []
    for data, start, end in regions:
        found += bytes(data[start:end]).replace(b"\r", b"\n").split(b"\n")
    return [line.lstrip(b"\0") for line in found if line.lstrip(b"\0")]


@given(PIECES, st.integers(1, 9))
def test_chunks_do_not_change_the_lines(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    lines, got = LineSplitter(), []
    for i in range(0, len(data), size):
        got += lines_of(lines.feed(data[i : i + size]))
    got += lines_of(lines.rest())
    assert got == lines_of([(data, 0, len(data))])


def test_a_long_line_loses_itself_alone() -> None:
    lines, got = LineSplitter(max_line=100), []
    for piece in (b"one\n", b"x" * 90, b"x" * 90, b"tail of it\ntwo\n", b"three"):
        got += lines_of(lines.feed(piece))
    assert got == [b"one", b"two"]
    assert lines_of(lines.rest()) == [b"three"]


def test_a_hole_of_nuls_hides_no_line_and_costs_no_memory() -> None:
    lines = LineSplitter(max_line=100)
    for _ in range(50):
        assert lines.feed(b"\0" * 90) == []
    assert lines_of(lines.feed(b"\0\0step 0: {}\n")) == [b"step 0: {}"]


def test_line_bounds_know_both_line_ends() -> None:
    data = b"ab\rcd\nef"
    assert (line_start(data, 0, 4), line_end(data, 3, len(data))) == (3, 5)
    assert last_end(data) == 6
    assert last_end(b"ab\ncd\r") == 6
    assert last_end(b"abc") == 0


def test_clean_takes_every_spelling_of_an_escape() -> None:
    for start, end in (("\x1b[36m", "\x1b[0m"), ("^[[36m", "^[[0m"), ("\\u001b[36m", "\\u001b[0m"), ("[36m", "[0m")):
        assert clean(f"{start}(A pid=1){end} ok".encode()) == "(A pid=1) ok"
    assert clean(b"\xef\xbb\xbf\0\0a\x1b]8;;file:///x\x1b\\b\x1b]8;;\x1b\\\x1b[2K c\xe5\x1b[") == "ab c\ufffd"
    assert clean(b"eval/time[3m]") == "eval/time[3m]"
