"""What happens to a log's file, one thing at a time, on real files; time is an argument. Growth and rotation."""

from __future__ import annotations

import gzip
import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest
from ingest.tailing import Clock, append, lines, look, look_now, merged

from miles_tui.core.model.chunks import Appeared, Cut, Data, Missing, Why
from miles_tui.ingest.follow.rewritten import TORN_SECONDS
from miles_tui.ingest.follow.tailer import LATE_SECONDS, Tailer


def test_appended_and_torn_in_a_character(tail: Tailer, log: Path) -> None:
    append(log, "σ".encode()[:1])
    assert look(tail) == ["σ".encode()[:1]]
    append(log, "σ".encode()[1:] + b"\n")
    assert look(tail) == ["σ".encode()[1:] + b"\n"]
    assert look(tail) == []
    assert tail.position == tail.size == 3


def test_a_read_keeps_to_its_budget(tail: Tailer, log: Path) -> None:
    append(log, b"x" * 3_000_000)
    pieces = tail.read(1_000_000)
    assert sum(len(p.data) for p in pieces if isinstance(p, Data)) == 1_000_000
    assert not tail.caught_up
    assert (tail.position, tail.size) == (1_000_000, 3_000_000)


def test_starts_at_an_offset(log: Path) -> None:
    append(log, lines(0, 100))
    tail = Tailer(str(log), start=len(lines(0, 90)))
    assert merged(tail.read()) == [lines(90, 100)]
    tail.close()


def test_renamed_and_begun_anew(tail: Tailer, log: Path) -> None:
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


def test_an_empty_new_file_changes_nothing_yet(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    log.rename(f"{log}.1")
    log.touch()
    assert look(tail) == []
    append(Path(f"{log}.1"), lines(9, 10))
    assert look(tail) == [lines(9, 10)]


def test_a_rotated_file_may_end_its_last_line(tail: Tailer, log: Path, clock: Clock) -> None:
    append(log, b"one\ntw")
    look(tail)
    log.rename(f"{log}.1")
    append(log, b"three\n")
    assert tail.read() == []
    append(Path(f"{log}.1"), b"o\n")
    assert look(tail) == [b"o\n", Cut(Why.ROTATED), b"three\n"]
    assert clock.now < TORN_SECONDS


def test_a_torn_line_does_not_hold_up_the_next_file(tail: Tailer, log: Path, clock: Clock) -> None:
    append(log, b"one\ntw")
    look(tail)
    log.rename(f"{log}.1")
    append(log, b"three\n")
    assert look(tail) == [Cut(Why.ROTATED), b"three\n"]
    assert clock.now == pytest.approx(TORN_SECONDS, abs=0.01)


def test_the_first_line_that_is_added_late_to_an_empty_file(tail: Tailer, log: Path) -> None:
    log.touch()
    look(tail)
    log.rename(f"{log}.1")
    append(log, b"two\n")
    look(tail)
    append(Path(f"{log}.1"), b"late\n")
    assert look(tail) == [b"late\n"]


def test_each_torn_line_has_its_time(tail: Tailer, log: Path, clock: Clock) -> None:
    append(log, b"one\ntw")
    look(tail)
    log.rename(f"{log}.1")
    append(log, lines(0, 1))
    assert tail.read() == []
    log.rename(f"{log}.x")
    Path(f"{log}.1").rename(log)
    assert tail.read() == []
    clock.now += TORN_SECONDS
    log.rename(f"{log}.1")
    Path(f"{log}.x").rename(log)
    assert tail.read() == [], "that it was torn before does not count"
    append(Path(f"{log}.1"), b"o\n")
    assert look(tail) == [b"o\n", Cut(Why.ROTATED), lines(0, 1)]


def test_lines_added_to_a_rotated_file_late(tail: Tailer, log: Path, clock: Clock) -> None:
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


def test_what_is_written_while_a_look_goes_on_is_before_the_new_file(
    tail: Tailer, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, lines(0, 2))
    look(tail)
    log.rename(f"{log}.1")
    log.touch()
    look(tail)
    real = tail._tracker.look

    def meanwhile() -> tuple[tuple[int, int], int]:
        monkeypatch.undo()
        append(Path(f"{log}.1"), lines(2, 3))
        append(log, lines(3, 4))
        return real()

    monkeypatch.setattr(tail._tracker, "look", meanwhile)
    assert look(tail) == [lines(2, 3), Cut(Why.ROTATED), lines(3, 4)]


def test_lines_added_late_are_given_once_when_the_new_file_is_gone(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 2))
    look(tail)
    log.write_bytes(b"")
    look(tail)
    log.rename(f"{log}.1")
    append(log, lines(2, 4))
    look(tail)
    log.unlink()
    log.touch()
    append(Path(f"{log}.1"), lines(4, 5))
    assert look(tail) == [lines(4, 5)], "and between no cuts"


@pytest.mark.parametrize("times", [2, 3, 5])
@pytest.mark.parametrize("upwards", [True, False])
def test_rotations_in_quick_succession(tail: Tailer, log: Path, times: int, upwards: bool) -> None:
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


def test_a_rotation_that_was_packed_before_it_was_seen(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    Path(f"{log}.2.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    Path(f"{log}.1.gz").write_bytes(gzip.compress(lines(10, 19)))
    append(log, lines(20, 29))
    assert look(tail)[1::2] == [lines(10, 19), lines(20, 29)]


def test_rotated_while_it_did_not_exist_for_us(tail: Tailer, log: Path) -> None:
    assert look(tail) == [Missing("does not exist")]
    append(log, lines(0, 9))
    log.rename(f"{log}.1")
    append(log, lines(10, 19))
    assert look(tail) == [Appeared(), lines(0, 9), Cut(Why.ROTATED), lines(10, 19)]


def test_old_rotations_are_not_read(log: Path) -> None:
    append(Path(f"{log}.2"), lines(0, 5))
    append(Path(f"{log}.1"), lines(5, 9))
    append(log, lines(10, 19))
    tail = Tailer(str(log))
    assert merged(tail.read()) == [lines(10, 19)]
    Path(f"{log}.1").rename(f"{log}.2")
    log.rename(f"{log}.1")
    append(log, lines(20, 29))
    assert look_now(tail) == [Cut(Why.ROTATED), lines(20, 29)]
    tail.close()


def test_pythons_own_rotating_handler(tmp_path: Path) -> None:
    """Every few lines a rotation, all names shifted, the oldest deleted, inodes used again."""
    log = tmp_path / "train.log"
    handler = RotatingFileHandler(log, maxBytes=300, backupCount=4)
    tail, got = Tailer(str(log)), b""
    for n in range(400):
        handler.emit(logging.LogRecord("x", logging.INFO, "", 0, f"record number {n} of many, {n * n}", None, None))
        if n % 17 == 0 or n % 23 == 0:
            got += b"".join(p.data for p in tail.read() if isinstance(p, Data))
    handler.close()
    got += b"".join(p.data for p in tail.read() if isinstance(p, Data))
    tail.close()
    assert got.decode().split("\n")[:-1] == [f"record number {n} of many, {n * n}" for n in range(400)]
