"""Logs looked at now and then: new bytes only, whatever was done to the file meanwhile; nothing new costs a stat."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from miles_tui.core.model.chunks import Appeared, Cut, Data, Missing, Piece
from miles_tui.ingest.files.log_file import Log
from miles_tui.ingest.follow import glance as module
from miles_tui.ingest.follow.glance import PIECE, Glance

LINES = [b"line %d of a log that is looked at now and then\n" % n for n in range(4000)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_bytes(b"".join(LINES[:100]))
    return path


def looked(glance: Glance) -> list[Piece]:
    """All that a look gives."""
    out = glance.read()
    while not glance.caught_up:
        out += glance.read()
    return out


def text(pieces: list[Piece]) -> bytes:
    return b"".join(piece.data if isinstance(piece, Data) else b"|" for piece in pieces)


def add(path: Path, begin: int, end: int) -> None:
    with path.open("ab") as file:
        file.write(b"".join(LINES[begin:end]))


def test_each_byte_comes_once_and_a_log_that_did_not_grow_costs_a_stat(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    glance = Glance(Log(log, "train.log"))
    assert text(looked(glance)) == b"".join(LINES[:100])
    opened: list[Any] = []
    monkeypatch.setattr(module, "PlainFile", lambda path: opened.append(path))
    stats: list[Any] = []
    real = os.stat

    def counted(path: Any, **more: Any) -> os.stat_result:
        stats.append(path)
        return real(path, **more)

    monkeypatch.setattr(os, "stat", counted)
    assert looked(glance) == []
    assert (len(stats), opened) == (1, [])
    monkeypatch.undo()
    add(log, 100, 3500)
    pieces = looked(glance)
    assert len(pieces) > 1, "a long text comes in pieces"
    assert max(len(piece.data) for piece in pieces if isinstance(piece, Data)) <= PIECE
    assert text(pieces) == b"".join(LINES[100:3500])
    assert glance.position == sum(map(len, LINES[:3500]))


def test_it_begins_where_it_is_told_to_and_reads_the_rotations_before(log: Path, tmp_path: Path) -> None:
    start = len(LINES[0])
    assert text(looked(Glance(Log(log, "", start=start)))) == b"".join(LINES[1:100])
    older = tmp_path / "train.log.1"
    older.write_bytes(b"older\noldest\n")
    assert text(looked(Glance(Log(log, "", (older,), start=6)))) == b"oldest\n|" + b"".join(LINES[:100])


@pytest.mark.parametrize("between", [0, 7])
def test_a_rotation_between_two_looks_loses_nothing(log: Path, between: int) -> None:
    glance = Glance(Log(log, ""))
    looked(glance)
    add(log, 100, 100 + between)
    log.rename(log.with_name("train.log.1"))
    log.write_bytes(b"the new file\n" + LINES[5])
    assert text(looked(glance)) == b"".join(LINES[100 : 100 + between]) + b"|the new file\n" + LINES[5]
    add(log, 6, 8)
    assert text(looked(glance)) == b"".join(LINES[6:8])


def test_copy_and_truncate_between_two_looks_loses_nothing(log: Path) -> None:
    glance = Glance(Log(log, ""))
    looked(glance)
    add(log, 100, 120)
    shutil.copy(log, log.with_name("train.log.1"))
    log.write_bytes(b"")
    assert text(looked(glance)) == b"".join(LINES[100:120])
    assert looked(glance) == [], "an empty file changes nothing yet"
    add(log, 120, 140)
    assert text(looked(glance)) == b"|" + b"".join(LINES[120:140])


def test_a_file_of_another_name_is_no_rotation(log: Path) -> None:
    glance = Glance(Log(log, ""))
    looked(glance)
    add(log, 100, 120)
    log.rename(log.with_name("notes.txt"))
    add(log, 120, 140)
    assert text(looked(glance)) == b"|" + b"".join(LINES[120:140])


def test_a_rewritten_file_of_the_same_size_is_another_text(log: Path) -> None:
    glance = Glance(Log(log, ""))
    looked(glance)
    other = b"".join(LINES[:100]).replace(b"log", b"LOG")
    log.write_bytes(other)
    assert text(looked(glance)) == b"|" + other


def test_a_file_restored_anew_goes_on_where_it_was(log: Path) -> None:
    glance = Glance(Log(log, ""))
    looked(glance)
    whole = log.read_bytes()
    log.unlink()
    assert isinstance(looked(glance)[0], Missing)
    assert looked(glance) == [], "said once"
    log.write_bytes(whole + LINES[100])
    appeared, *rest = looked(glance)
    assert isinstance(appeared, Appeared)
    assert text(rest) == LINES[100]


def test_what_is_no_readable_file_is_missing_with_a_word(log: Path) -> None:
    glance = Glance(Log(log, ""))
    looked(glance)
    log.unlink()
    log.mkdir()
    assert looked(glance) == [Missing("is a folder")]
    log.rmdir()
    log.symlink_to(log)
    (missing,) = looked(glance)
    assert isinstance(missing, Missing)
    log.unlink()
    os.mkfifo(log)
    assert looked(glance) == [Missing("is not a file")], "and it does not wait for a writer"
    log.unlink()
    log.write_bytes(b"anew\n")
    appeared, cut, data = looked(glance)
    assert isinstance(appeared, Appeared)
    assert isinstance(cut, Cut)
    assert data == Data(b"anew\n")


def test_a_packed_log_is_given_whole_and_anew_where_it_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(b"".join(LINES)))
    glance = Glance(Log(path, ""))
    assert text(looked(glance)) == b"".join(LINES)
    assert looked(glance) == []
    path.write_bytes(gzip.compress(b"other\n"))
    assert text(looked(glance)) == b"|other\n"
