"""What happens to a log's file, one thing at a time, on real files; time is an argument."""

from __future__ import annotations

import errno
import gzip
import logging
import os
import shutil
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from miles_tui.ingest import source
from miles_tui.ingest.pieces import Appeared, Cut, Data, Ended, Missing, Piece, Why
from miles_tui.ingest.tail import DELETED_SECONDS, GONE_SECONDS, LATE_SECONDS, SHRINK_SECONDS, TORN_SECONDS, Tail


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


@pytest.fixture
def tail(log: Path, clock: Clock) -> Iterator[Tail]:
    before = len(list(Path("/dev/fd").iterdir()))
    tail = Tail(str(log), clock=clock)
    yield tail
    tail.close()
    assert len(list(Path("/dev/fd").iterdir())) == before, "a descriptor stayed open"


def merged(pieces: list[Piece]) -> list[Piece | bytes]:
    """The pieces, neighbouring data joined."""
    out: list[Piece | bytes] = []
    for piece in pieces:
        if isinstance(piece, Data):
            if out and isinstance(out[-1], bytes):
                out[-1] += piece.data
            else:
                out.append(piece.data)
        else:
            out.append(piece)
    return out


def look(tail: Tail) -> list[Piece | bytes]:
    """Everything there is now, the time that the tail asks for included."""
    out = tail.read()
    clock = tail._clock
    while not tail.caught_up or tail.retry_in is not None:
        clock.now += tail.retry_in or 0  # type: ignore[attr-defined]
        out += tail.read()
    return merged(out)


def append(path: Path, text: bytes) -> None:
    with path.open("ab") as file:
        file.write(text)


def lines(begin: int, end: int) -> bytes:
    return b"".join(b"line %d of a log that is longer than a fingerprint\n" % n for n in range(begin, end))


def test_appended_and_torn_in_a_character(tail: Tail, log: Path) -> None:
    append(log, "σ".encode()[:1])
    assert look(tail) == ["σ".encode()[:1]]
    append(log, "σ".encode()[1:] + b"\n")
    assert look(tail) == ["σ".encode()[1:] + b"\n"]
    assert look(tail) == []
    assert tail.position == tail.size == 3


def test_a_read_keeps_to_its_budget(tail: Tail, log: Path) -> None:
    append(log, b"x" * 3_000_000)
    pieces = tail.read(1_000_000)
    assert sum(len(p.data) for p in pieces if isinstance(p, Data)) == 1_000_000
    assert not tail.caught_up
    assert (tail.position, tail.size) == (1_000_000, 3_000_000)


def test_starts_at_an_offset(log: Path) -> None:
    append(log, lines(0, 100))
    tail = Tail(str(log), start=len(lines(0, 90)))
    assert merged(tail.read()) == [lines(90, 100)]
    tail.close()


def test_renamed_and_begun_anew(tail: Tail, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    old = log.open("ab", buffering=0)
    log.rename(f"{log}.1")
    old.write(lines(9, 10))
    assert look(tail) == [lines(9, 10)]
    log.touch()
    old.write(lines(10, 11))
    old.close()
    append(log, lines(11, 12))
    assert look(tail) == [lines(10, 11), Cut(Why.ROTATED), lines(11, 12)]


def test_an_empty_new_file_changes_nothing_yet(tail: Tail, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    log.rename(f"{log}.1")
    log.touch()
    assert look(tail) == []
    append(Path(f"{log}.1"), lines(9, 10))
    assert look(tail) == [lines(9, 10)]


def test_a_rotated_file_may_end_its_last_line(tail: Tail, log: Path, clock: Clock) -> None:
    append(log, b"one\ntw")
    look(tail)
    log.rename(f"{log}.1")
    append(log, b"three\n")
    assert tail.read() == []
    append(Path(f"{log}.1"), b"o\n")
    assert look(tail) == [b"o\n", Cut(Why.ROTATED), b"three\n"]
    assert clock.now < TORN_SECONDS


def test_a_torn_line_does_not_hold_up_the_next_file(tail: Tail, log: Path, clock: Clock) -> None:
    append(log, b"one\ntw")
    look(tail)
    log.rename(f"{log}.1")
    append(log, b"three\n")
    assert look(tail) == [Cut(Why.ROTATED), b"three\n"]
    assert clock.now == pytest.approx(TORN_SECONDS, abs=0.01)


def test_lines_added_to_a_rotated_file_late(tail: Tail, log: Path, clock: Clock) -> None:
    append(log, b"one\n")
    look(tail)
    log.rename(f"{log}.1")
    append(log, b"two\nthr")
    look(tail)
    append(Path(f"{log}.1"), b"late\nla")
    assert look(tail) == [], "not inside a line"
    append(log, b"ee\n")
    assert look(tail) == [b"ee\nlate\n"]
    append(Path(f"{log}.1"), b"te too\n")
    assert look(tail) == [b"late too\n"]
    clock.now += LATE_SECONDS + 1
    look(tail)
    append(Path(f"{log}.1"), b"too late\n")
    assert look(tail) == []


@pytest.mark.parametrize("times", [2, 3, 5])
@pytest.mark.parametrize("upwards", [True, False])
def test_rotations_in_quick_succession(tail: Tail, log: Path, times: int, upwards: bool) -> None:
    append(log, lines(0, 9))
    look(tail)
    for turn in range(1, times + 1):
        if upwards:
            log.rename(f"{log}.{turn}")
        else:
            for old in range(turn, 0, -1):
                (log if old == 1 else Path(f"{log}.{old - 1}")).rename(f"{log}.{old}")
        append(log, lines(turn * 10, turn * 10 + 9))
    found = look(tail)
    assert [piece for piece in found if isinstance(piece, bytes)] == [
        lines(turn * 10, turn * 10 + 9) for turn in range(1, times + 1)
    ]
    assert [piece for piece in found if not isinstance(piece, bytes)] == [Cut(Why.ROTATED)] * times


def test_a_rotation_that_was_packed_before_it_was_seen(tail: Tail, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    Path(f"{log}.2.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    Path(f"{log}.1.gz").write_bytes(gzip.compress(lines(10, 19)))
    append(log, lines(20, 29))
    assert look(tail)[1::2] == [lines(10, 19), lines(20, 29)]


def test_rotated_while_it_did_not_exist_for_us(tail: Tail, log: Path) -> None:
    assert look(tail) == [Missing("does not exist")]
    append(log, lines(0, 9))
    log.rename(f"{log}.1")
    append(log, lines(10, 19))
    assert look(tail) == [Appeared(), lines(0, 9), Cut(Why.ROTATED), lines(10, 19)]


def test_old_rotations_are_not_read(log: Path) -> None:
    append(Path(f"{log}.2"), lines(0, 5))
    append(Path(f"{log}.1"), lines(5, 9))
    append(log, lines(10, 19))
    tail = Tail(str(log))
    assert merged(tail.read()) == [lines(10, 19)]
    Path(f"{log}.1").rename(f"{log}.2")
    log.rename(f"{log}.1")
    append(log, lines(20, 29))
    assert look_now(tail) == [Cut(Why.ROTATED), lines(20, 29)]
    tail.close()


def look_now(tail: Tail) -> list[Piece | bytes]:
    out = tail.read()
    while not tail.caught_up:
        out += tail.read()
    return merged(out)


def test_pythons_own_rotating_handler(tmp_path: Path) -> None:
    """Every few lines a rotation, all names shifted, the oldest deleted, inodes used again."""
    log = tmp_path / "train.log"
    handler = RotatingFileHandler(log, maxBytes=300, backupCount=4)
    tail, got = Tail(str(log)), b""
    for n in range(400):
        handler.emit(logging.LogRecord("x", logging.INFO, "", 0, f"record number {n} of many, {n * n}", None, None))
        if n % 17 == 0 or n % 23 == 0:
            got += b"".join(p.data for p in tail.read() if isinstance(p, Data))
    handler.close()
    got += b"".join(p.data for p in tail.read() if isinstance(p, Data))
    tail.close()
    assert got.decode().split("\n")[:-1] == [f"record number {n} of many, {n * n}" for n in range(400)]


def test_copied_and_truncated(tail: Tail, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    shutil.copy(log, f"{log}.1")
    os.truncate(log, 0)
    append(log, lines(10, 12))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(10, 12)]
    log.rename(f"{log}.2")
    append(log, lines(13, 15))
    assert look(tail) == [Cut(Why.ROTATED), lines(13, 15)], "the copy is no rotation that was missed"


def test_truncated_and_grown_past_the_offset(tail: Tail, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    os.truncate(log, 0)
    append(log, lines(100, 200))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(100, 200)]


def test_what_was_not_read_before_a_truncation_is_in_the_copy(tail: Tail, log: Path) -> None:
    append(log, lines(0, 20))
    look(tail)
    append(log, lines(20, 30))
    shutil.copy(log, f"{log}.1")
    os.truncate(log, 0)
    append(log, lines(30, 90))
    assert look(tail) == [lines(20, 30), Cut(Why.TRUNCATED), lines(30, 90)]


def test_a_packed_copy_is_known(tail: Tail, log: Path) -> None:
    append(log, lines(0, 20))
    look(tail)
    os.truncate(log, 0)
    append(log, lines(30, 31))
    look(tail)
    Path(f"{log}.1.gz").write_bytes(gzip.compress(lines(0, 20)))
    log.rename(f"{log}.2")
    append(log, lines(31, 32))
    assert look(tail) == [Cut(Why.ROTATED), lines(31, 32)]


def test_rewritten_with_the_same_size(tail: Tail, log: Path) -> None:
    append(log, lines(10, 20))
    look(tail)
    log.write_bytes(lines(30, 40))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(30, 40)]
    log.write_bytes(lines(50, 51) + lines(31, 40))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(50, 51) + lines(31, 40)], "only its beginning differs"


def test_a_stale_size_seen_once_is_no_truncation(
    tail: Tail, log: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, lines(0, 20))
    look(tail)
    real = os.pread
    monkeypatch.setattr(source.os, "pread", lambda fd, size, at: real(fd, max(0, min(size, 100 - at)), at))
    assert tail.read() == []
    assert tail.retry_in == pytest.approx(SHRINK_SECONDS)
    clock.now += SHRINK_SECONDS
    monkeypatch.undo()
    append(log, lines(20, 21))
    assert look(tail) == [lines(20, 21)]


def test_a_stale_handle_is_opened_anew(tail: Tail, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(log, lines(0, 20))
    look(tail)

    def stale(*_: object) -> bytes:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(source.os, "pread", stale)
    assert look(tail) == [Missing("can't be read (stale file handle)")]
    monkeypatch.undo()
    append(log, lines(20, 21))
    assert look(tail) == [Appeared(), lines(20, 21)]


def test_a_hole_left_by_a_writer_that_does_not_append(tail: Tail, log: Path) -> None:
    with log.open("wb", buffering=0) as out:
        out.write(lines(0, 20_000))
        look(tail)
        os.truncate(log, 0)
        out.write(b"after\n")
        (cut, text) = look(tail)
    assert cut == Cut(Why.TRUNCATED)
    assert isinstance(text, bytes)
    assert text.strip(b"\0") == b"after\n"
    assert len(text) < 10_000, "the hole itself is stepped over"


def test_deleted_and_recreated(tail: Tail, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    log.unlink()
    assert look(tail) == []
    append(log, lines(10, 19))
    assert look(tail) == [Cut(Why.RECREATED), lines(10, 19)]


def test_what_was_not_read_of_a_deleted_file(tail: Tail, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    append(log, lines(9, 10))
    log.unlink()
    append(log, lines(10, 19))
    assert look(tail) == [lines(9, 10), Cut(Why.RECREATED), lines(10, 19)]


def test_a_deleted_file_is_let_go_in_the_end(tail: Tail, log: Path, clock: Clock) -> None:
    append(log, lines(0, 90))
    look(tail)
    log.unlink()
    look(tail)
    open_now = len(list(Path("/dev/fd").iterdir()))
    clock.now += GONE_SECONDS
    assert look(tail) == [Missing("does not exist")]
    clock.now += DELETED_SECONDS
    look(tail)
    assert len(list(Path("/dev/fd").iterdir())) == open_now - 1
    append(log, lines(100, 101))
    assert look(tail) == [Appeared(), Cut(Why.RECREATED), lines(100, 101)]


def test_synced_anew_is_no_new_log(tail: Tail, log: Path) -> None:
    """rsync writes the whole text to a new file, longer each time, and renames it."""
    append(log, lines(0, 50))
    look(tail)
    for end in (60, 70):
        new = log.with_name(".train.log.x")
        new.write_bytes(lines(0, end))
        new.replace(log)
        assert look(tail) == [lines(end - 10, end)]


def test_moved_away_and_back(tail: Tail, log: Path, clock: Clock) -> None:
    append(log, lines(0, 50))
    look(tail)
    log.rename(log.with_name("elsewhere"))
    clock.now += 1
    look(tail)
    clock.now += GONE_SECONDS
    assert look(tail) == [Missing("does not exist")]
    log.with_name("elsewhere").rename(log)
    append(log, lines(50, 51))
    assert look(tail) == [lines(50, 51), Appeared()]


def test_a_link_swapped(tmp_path: Path, clock: Clock) -> None:
    link = tmp_path / "train.log"
    append(tmp_path / "a.log", lines(0, 9))
    append(tmp_path / "b.log", lines(10, 19))
    link.symlink_to("a.log")
    tail = Tail(str(link), clock=clock)
    assert look(tail) == [lines(0, 9)]
    swap(link, "b.log")
    assert look(tail) == [Cut(Why.LINK_SWAPPED), lines(10, 19)]
    append(tmp_path / "a.log", lines(9, 10))
    swap(link, "a.log")
    assert look(tail) == [Cut(Why.LINK_SWAPPED), lines(9, 10)], "what was read is not read again"
    append(tmp_path / "b.log", lines(19, 20))
    assert look(tail) == [lines(19, 20)], "late"
    swap(link, "b.log")
    append(tmp_path / "b.log", lines(20, 21))
    assert look(tail) == [Cut(Why.LINK_SWAPPED), lines(20, 21)]
    tail.close()


def swap(link: Path, target: str) -> None:
    new = link.with_name("new-link")
    new.symlink_to(target)
    new.replace(link)


def test_a_link_to_the_folder_swapped(tmp_path: Path, clock: Clock) -> None:
    for name, text in (("one", lines(0, 9)), ("two", lines(10, 19))):
        (tmp_path / name).mkdir()
        append(tmp_path / name / "train.log", text)
    link = tmp_path / "session_latest"
    link.symlink_to("one")
    tail = Tail(str(link / "train.log"), clock=clock)
    assert look(tail) == [lines(0, 9)]
    swap(link, "two")
    assert look(tail) == [Cut(Why.LINK_SWAPPED), lines(10, 19)]
    tail.close()


def test_the_folder_vanishes_and_comes_back(tmp_path: Path, clock: Clock) -> None:
    log = tmp_path / "runs" / "one" / "train.log"
    tail = Tail(str(log), clock=clock)
    assert look(tail) == [Missing("does not exist")]
    log.parent.mkdir(parents=True)
    append(log, lines(0, 9))
    assert look(tail) == [Appeared(), lines(0, 9)]
    shutil.rmtree(tmp_path / "runs")
    assert look(tail) == []
    clock.now += GONE_SECONDS
    assert look(tail) == [Missing("does not exist")]
    log.parent.mkdir(parents=True)
    append(log, lines(10, 19))
    assert look(tail) == [Appeared(), Cut(Why.RECREATED), lines(10, 19)]
    tail.close()


def test_a_folder_is_no_log(tail: Tail, log: Path) -> None:
    log.mkdir()
    assert look(tail) == [Missing("is a folder")]
    log.rmdir()
    append(log, b"one\n")
    assert look(tail) == [Appeared(), b"one\n"]


def test_permission_denied(tail: Tail, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(log, b"one\n")
    real = os.open

    def denied(path: str, *rest: int) -> int:
        if path == str(log):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *rest)

    monkeypatch.setattr(source.os, "open", denied)
    assert look(tail) == [Missing("may not be read (permission denied)")]
    assert look(tail) == [], "said once"
    monkeypatch.undo()
    assert look(tail) == [Appeared(), b"one\n"]


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(lines(0, 100_000)),
        gzip.compress(lines(0, 50_000)) + gzip.compress(lines(50_000, 100_000)),
        gzip.compress(lines(0, 100_000)) + b"\0" * 512,
        gzip.compress(lines(0, 100_000)) + b"not gzip any more",
    ],
)
def test_a_packed_log_ends(tail: Tail, log: Path, packed: bytes) -> None:
    log.write_bytes(packed)
    assert look(tail) == [lines(0, 100_000), Ended()]
    assert tail.ended
    assert tail.read() == []


def test_a_packed_log_that_is_cut_off_gives_what_there_is(tail: Tail, log: Path) -> None:
    packed = gzip.compress(lines(0, 100_000))
    log.write_bytes(packed[: len(packed) // 2])
    text, end = look(tail)
    assert isinstance(text, bytes)
    assert lines(0, 100_000).startswith(text)
    assert len(text) > 100_000
    assert end == Ended()
