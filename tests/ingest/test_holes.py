"""Long lines, NULs and holes: each byte is looked at once on the way back, and what a sparse file lacks not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from miles_tui.core.model.chunks import Data, Ended
from miles_tui.core.model.records import Record
from miles_tui.core.parsing.line_splitter import MAX_LINE
from miles_tui.core.parsing.reader import Reader
from miles_tui.ingest.files import reverse_reader
from miles_tui.ingest.files.gzip_file import Gunzip
from miles_tui.ingest.files.log_file import read_all
from miles_tui.ingest.files.open_file import CHUNK
from miles_tui.ingest.files.reverse_reader import blocks_backwards
from miles_tui.ingest.follow.pipe import Stream
from miles_tui.ingest.follow.tailer import Tailer
from miles_tui.ingest.history import start_position
from miles_tui.ingest.history.start_position import Past, begin_in

MIB = 1 << 20
FAR = 20 << 30
MOST_READ = 4 * MIB + 2 * MAX_LINE  # bytes, of a file of 20 GiB


def metrics(begin: int, end: int) -> bytes:
    return b"".join(b"rollout %d: {'rollout/raw_reward': 0.5}\n" % n for n in range(begin, end))


def sparse(path: Path, *parts: bytes | int) -> Path:
    """A file of texts and of holes, whose sizes are given."""
    with path.open("wb") as file:
        for part in parts:
            if isinstance(part, bytes):
                file.write(part)
            else:
                file.seek(part, os.SEEK_CUR)
        file.truncate()
    return path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each read asked of the system gave."""
    sizes: list[int] = []
    pread, read = os.pread, os.read

    def note(data: bytes) -> bytes:
        sizes.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", lambda *a: note(pread(*a)))
    monkeypatch.setattr(os, "read", lambda *a: note(read(*a)))
    return sizes


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """A log with a hole of 20 GiB in it, and another one at its beginning."""
    log = sparse(tmp_path / "a.log", FAR, metrics(0, 20), FAR, metrics(20, 30))
    with log.open("rb") as file:
        try:
            found = os.lseek(file.fileno(), 0, os.SEEK_DATA)
        except (OSError, AttributeError):
            found = 0
    if found < FAR - MIB:
        pytest.skip("this file system does not say where its files have holes")
    return log


def numbers(chunks: Iterator[bytes]) -> list[int]:
    reader = Reader()
    items = [item for chunk in chunks for item in reader.feed(chunk)] + reader.finish()
    return [item.number for item in items if isinstance(item, Record)]


def test_a_hole_is_not_read(far: Path, counted: list[int]) -> None:
    assert numbers(read_all(far)) == list(range(30))
    assert sum(counted) < MOST_READ


def test_a_hole_is_not_read_backwards(far: Path, counted: list[int]) -> None:
    _, begin = begin_in([far], Past(rollouts=15))
    assert numbers(read_all(far, start=begin)) == list(range(15, 30))
    assert begin_in([far], Past(rollouts=100)) == (0, 0)
    assert sum(counted) < MOST_READ


def test_a_hole_is_not_followed(far: Path, counted: list[int]) -> None:
    tail = Tailer(str(far))
    try:
        pieces = []
        while not tail.caught_up:
            pieces += tail.read()
    finally:
        tail.close()
    assert numbers(piece.data for piece in pieces if isinstance(piece, Data)) == list(range(30))
    assert sum(counted) < MOST_READ


def test_a_file_that_ends_with_a_hole(tmp_path: Path, counted: list[int], far: Path) -> None:
    log = sparse(far, metrics(0, 3), FAR)
    assert numbers(read_all(log)) == [0, 1, 2]
    assert begin_in([log], Past(rollouts=2))[1] == len(metrics(0, 1))
    assert sum(counted) < MOST_READ


@pytest.mark.parametrize("filling", [b"\0", b"x"])
@pytest.mark.parametrize("size", [3 * MIB, 24 * MIB])
def test_each_byte_is_read_once_on_the_way_back(tmp_path: Path, counted: list[int], filling: bytes, size: int) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(metrics(0, 20) + filling * size + (b"\n" if filling == b"x" else b"") + metrics(20, 30))
    assert begin_in([log], Past(rollouts=15))[1] == len(metrics(0, 15))
    assert size < sum(counted) < size + MIB


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([b"\0", b"\0" * 90, b"\n", b"\r", b"x", b"x" * 70, metrics(1, 2), metrics(2, 4)]), max_size=12
    ),
    st.sampled_from([7, 64, 300]),
)
def test_the_way_back_finds_what_the_reader_does(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int
) -> None:
    data = b"".join(parts)
    log = tmp_path_factory.mktemp("back") / "a.log"
    log.write_bytes(data)
    with pytest.MonkeyPatch.context() as patched, log.open("rb") as file:
        patched.setattr(reverse_reader, "MAX_LINE", 150)
        blocks = list(blocks_backwards(file.fileno(), size))
    reader, again = Reader(max_line=150), Reader(max_line=150)
    wanted = [item for item in (*reader.feed(data), *reader.finish()) if isinstance(item, Record)]
    found = [item for _, block in reversed(blocks) for item in again.feed(block)] + again.finish()
    assert [item for item in found if isinstance(item, Record)] == wanted
    assert all(data[at : at + len(block)] == block for at, block in blocks)


def test_a_line_with_a_long_hole_in_it_is_lost_wherever_it_is_read(tmp_path: Path, far: Path) -> None:
    log = sparse(far, metrics(0, 1) + b"rollout 1: {'rollout/raw_reward': 0.", 2 * MAX_LINE, b"7}\n" + metrics(2, 3))
    assert numbers(read_all(log)) == [0, 2]
    assert begin_in([log], Past(rollouts=1))[1] == len(metrics(0, 1))


def test_a_packed_log_s_hole_is_none_of_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_position, "MAX_LINE", 1000)
    log = tmp_path / "a.log.gz"
    log.write_bytes(gzip.compress(metrics(0, 20) + bytes(3 * CHUNK) + metrics(20, 30)))
    _, begin = begin_in([log], Past(rollouts=15))
    assert numbers(read_all(log, start=begin)) == list(range(15, 30))


def test_a_packed_stream_is_unpacked_a_piece_at_a_time() -> None:
    bomb = gzip.compress(bytes(40 * MIB))
    inside, outside = os.pipe()
    os.write(outside, bomb[: 1 << 15])  # torn off
    os.close(outside)
    stream, total, most = Stream(inside, owned=True), 0, 0
    try:
        while not stream.ended:
            got = sum(len(piece.data) for piece in stream.read(MIB) if isinstance(piece, Data))
            total, most = total + got, max(most, got)
    finally:
        os.close(inside)
    assert total > 25 * MIB
    assert most <= MIB + CHUNK


def test_many_members_cost_their_bytes() -> None:
    from costs import grows_less

    member = gzip.compress(b"a\n")
    assert grows_less(lambda n: sum(map(len, Gunzip().feed(member * n))), 4000)
    assert b"".join(Gunzip().feed(member * 5000)) == b"a\n" * 5000


def test_a_stream_says_that_it_ended_behind_its_last_text() -> None:
    inside, outside = os.pipe()
    os.write(outside, gzip.compress(metrics(0, 3)))
    os.close(outside)
    stream, pieces = Stream(inside), []
    while not stream.ended:
        pieces += stream.read(MIB)
    os.close(inside)
    assert pieces == [Data(metrics(0, 3)), Ended("")]
