"""Truncated, rewritten, deleted, moved, a link swapped: the same for what is no rotation."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from ingest.tailing import Clock, append, lines, look, look_now

from miles_tui.core.model.chunks import Appeared, Cut, Ended, Missing, Piece, Why
from miles_tui.ingest.follow.tailer import DELETED_SECONDS, GONE_SECONDS, SHRINK_SECONDS, Tailer


def test_copied_and_truncated(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    shutil.copy(log, f"{log}.1")
    os.truncate(log, 0)
    append(log, lines(10, 12))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(10, 12)]
    log.rename(f"{log}.2")
    append(log, lines(13, 15))
    assert look(tail) == [Cut(Why.ROTATED), lines(13, 15)], "the copy is no rotation that was missed"


def test_truncated_and_grown_past_the_offset(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    os.truncate(log, 0)
    append(log, lines(100, 200))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(100, 200)]


def test_what_was_not_read_before_a_truncation_is_in_the_copy(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 20))
    look(tail)
    append(log, lines(20, 30))
    shutil.copy(log, f"{log}.1")
    os.truncate(log, 0)
    append(log, lines(30, 90))
    assert look(tail) == [lines(20, 30), Cut(Why.TRUNCATED), lines(30, 90)]


def test_a_text_that_came_and_went_in_an_emptied_file_has_a_cut_at_either_end(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 20))
    look(tail)
    os.truncate(log, 0)
    assert look(tail) == [Cut(Why.TRUNCATED)]
    append(log, lines(20, 30))
    shutil.copy(log, f"{log}.1")
    os.truncate(log, 0)
    assert look(tail) == [lines(20, 30), Cut(Why.TRUNCATED)]


def test_a_packed_copy_is_known(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 20))
    look(tail)
    os.truncate(log, 0)
    append(log, lines(30, 31))
    look(tail)
    Path(f"{log}.1.gz").write_bytes(gzip.compress(lines(0, 20)))
    log.rename(f"{log}.2")
    append(log, lines(31, 32))
    assert look(tail) == [Cut(Why.ROTATED), lines(31, 32)]


def test_rewritten_with_the_same_size(tail: Tailer, log: Path) -> None:
    append(log, lines(10, 20))
    look(tail)
    log.write_bytes(lines(30, 40))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(30, 40)]
    log.write_bytes(lines(50, 51) + lines(31, 40))
    assert look(tail) == [Cut(Why.TRUNCATED), lines(50, 51)], "the others stand where they were read"


def rewrite(path: Path, text: bytes, tail: Tailer, step: int, mode: str = "wb") -> list[Piece | bytes]:
    """What the tail gives while the text is put there, `step` bytes at a time."""
    out: list[Piece | bytes] = []
    with path.open(mode) as file:
        for at in range(0, len(text), step):
            file.write(text[at : at + step])
            file.flush()
            out += look(tail)
    return out


def given(pieces: list[Piece | bytes]) -> bytes:
    return b"".join(piece for piece in pieces if isinstance(piece, bytes))


@pytest.mark.parametrize("step", [777, 5000, 1 << 20])
@pytest.mark.parametrize("count", [1000, 5000])
def test_what_is_written_again_is_not_new(tail: Tailer, log: Path, step: int, count: int) -> None:
    append(log, lines(0, count))
    look(tail)
    assert given(rewrite(log, lines(0, count // 2), tail, step)) == b""
    assert given(rewrite(log, lines(0, count + 20), tail, step)) == lines(count, count + 20)
    log.unlink()
    assert given(rewrite(log, lines(0, count + 40), tail, step)) == lines(count + 20, count + 40)
    append(log, lines(0, 3))
    assert look(tail) == [lines(0, 3)]


@pytest.mark.parametrize("step", [777, 1 << 20])
def test_a_text_that_only_begins_like_the_last_one_is_given_whole(tail: Tailer, log: Path, step: int) -> None:
    append(log, lines(0, 1000))
    look(tail)
    text = lines(0, 400) + lines(2000, 2400)
    assert given(rewrite(log, text, tail, step)) == text


@pytest.mark.parametrize("step", [1, 3, 40])
@pytest.mark.parametrize("more", [b"", b"!", b" and some more words, so that it is longer"])
def test_lines_that_are_put_over_others_are_given_once(tail: Tailer, log: Path, step: int, more: bytes) -> None:
    append(log, lines(0, 400))
    look(tail)
    new = [line + more + b"\n" for line in lines(500, 920).splitlines()]
    out = b""
    with log.open("r+b") as file:
        for at in range(0, len(new), step):
            file.write(b"".join(new[at : at + step]))
            file.flush()
            out += given(look(tail))
    assert out == b"".join(new)


def test_a_line_that_is_half_put_over_another_is_not_given(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 400))
    look(tail)
    with log.open("r+b") as file:
        for text in (lines(500, 501) + lines(501, 502)[:9], lines(501, 502)[9:], lines(502, 503)):
            file.write(text)
            file.flush()
            out = look_now(tail)
            assert b"line 501" not in given(out) or lines(501, 502) in given(out)
    assert given(look(tail)).endswith(lines(502, 503))
    append(log, lines(400, 401))
    assert given(look(tail)) == lines(400, 401)


@pytest.mark.parametrize("hole", [(0, 100), (0, 9000), (0, 20_000), (300, 12_000), (9000, 20_600)])
def test_a_hole_in_what_was_read_changes_nothing(tail: Tailer, log: Path, hole: tuple[int, int]) -> None:
    append(log, lines(0, 400))
    assert hole[1] < log.stat().st_size
    look(tail)
    for _ in range(2):
        with log.open("r+b") as file:  # as `fallocate --punch-hole` leaves it, on any file system
            file.seek(hole[0])
            file.write(bytes(hole[1] - hole[0]))
        append(log, lines(400, 405))
        assert look(tail) == [lines(400, 405)]


def test_a_stale_size_seen_once_is_no_truncation(
    tail: Tailer, log: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, lines(0, 20))
    look(tail)
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, size, at: real(fd, max(0, min(size, 100 - at)), at))
    monkeypatch.setattr(os, "fstat", lambda _: SimpleNamespace(st_size=100))
    assert tail.read() == []
    assert tail.retry_in == pytest.approx(SHRINK_SECONDS)
    clock.now += SHRINK_SECONDS
    monkeypatch.undo()
    append(log, lines(20, 21))
    assert look(tail) == [lines(20, 21)]


def test_a_stale_handle_is_opened_anew(tail: Tailer, log: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    append(log, lines(0, 20))
    look(tail)

    def stale(*_: object) -> bytes:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(os, "pread", stale)
    assert look(tail) == [], "a moment of it is not said"
    clock.now += GONE_SECONDS
    assert look(tail) == [Missing("can't be read (stale file handle)")]
    monkeypatch.undo()
    append(log, lines(20, 21))
    assert look(tail) == [Appeared(), lines(20, 21)]


def test_each_moment_without_an_answer_is_a_new_one(
    tail: Tailer, log: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, lines(0, 20))
    look(tail)
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(os, "pread", fails_with(errno.ESTALE))
            assert look(tail) == []
        assert look(tail) == []
        clock.now += GONE_SECONDS


def fails_with(number: int) -> Callable[..., bytes]:
    def failing(*_: object) -> bytes:
        raise OSError(number, os.strerror(number))

    return failing


def test_a_hole_left_by_a_writer_that_does_not_append(tail: Tailer, log: Path) -> None:
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


def test_deleted_and_recreated(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    log.unlink()
    assert look(tail) == []
    append(log, lines(10, 19))
    assert look(tail) == [Cut(Why.RECREATED), lines(10, 19)]


def test_what_was_not_read_of_a_deleted_file(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    append(log, lines(9, 10))
    log.unlink()
    append(log, lines(10, 19))
    assert look(tail) == [lines(9, 10), Cut(Why.RECREATED), lines(10, 19)]


def test_a_deleted_file_is_let_go_in_the_end(tail: Tailer, log: Path, clock: Clock) -> None:
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


def test_synced_anew_is_no_new_log(tail: Tailer, log: Path) -> None:
    """rsync writes the whole text to a new file, longer each time, and renames it."""
    append(log, lines(0, 50))
    look(tail)
    for end in (60, 70):
        new = log.with_name(".train.log.x")
        new.write_bytes(lines(0, end))
        new.replace(log)
        assert look(tail) == [lines(end - 10, end)]


def test_moved_away_and_back(tail: Tailer, log: Path, clock: Clock) -> None:
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
    tail = Tailer(str(link), clock=clock)
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


def test_late_lines_are_not_read_again_by_a_link_that_leads_back(tmp_path: Path, clock: Clock) -> None:
    link = tmp_path / "train.log"
    append(tmp_path / "a.log", lines(0, 9))
    append(tmp_path / "b.log", lines(10, 19))
    link.symlink_to("a.log")
    tail = Tailer(str(link), clock=clock)
    look(tail)
    swap(link, "b.log")
    look(tail)
    append(tmp_path / "a.log", lines(20, 22)[:-9])
    assert look(tail) == [lines(20, 21)]
    swap(link, "a.log")
    append(tmp_path / "a.log", lines(20, 22)[-9:])
    assert look(tail) == [Cut(Why.LINK_SWAPPED), lines(21, 22)]
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
    tail = Tailer(str(link / "train.log"), clock=clock)
    assert look(tail) == [lines(0, 9)]
    swap(link, "two")
    assert look(tail) == [Cut(Why.LINK_SWAPPED), lines(10, 19)]
    tail.close()


def test_the_folder_vanishes_and_comes_back(tmp_path: Path, clock: Clock) -> None:
    log = tmp_path / "runs" / "one" / "train.log"
    tail = Tailer(str(log), clock=clock)
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


def test_a_folder_is_no_log(tail: Tailer, log: Path) -> None:
    log.mkdir()
    assert look(tail) == [Missing("is a folder")]
    log.rmdir()
    append(log, b"one\n")
    assert look(tail) == [Appeared(), b"one\n"]


def test_permission_denied(tail: Tailer, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(log, b"one\n")
    real = os.open

    def denied(path: str, *rest: int) -> int:
        if path == str(log):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, *rest)

    monkeypatch.setattr(os, "open", denied)
    assert look(tail) == [Missing("may not be read (permission denied)")]
    assert look(tail) == [], "said once"
    monkeypatch.undo()
    assert look(tail) == [Appeared(), b"one\n"]


@pytest.fixture(scope="module")
def members() -> dict[str, bytes]:
    whole, first, second = ((0, 100_000), (0, 50_000), (50_000, 100_000))
    return {name: gzip.compress(lines(*part), 1) for name, part in zip("W12", (whole, first, second), strict=True)}


@pytest.mark.parametrize("form", ["W", "12", "W0", "102", "W?"])
def test_a_packed_log_ends(tail: Tailer, log: Path, members: dict[str, bytes], form: str) -> None:
    """In one member or two; zeros stand behind one, or what is not gzip any more."""
    parts = {**members, "0": b"\0" * 512, "?": b"not gzip any more"}
    log.write_bytes(b"".join(parts[part] for part in form))
    assert look(tail) == [lines(0, 100_000), Ended()]
    assert tail.ended
    assert tail.read() == []


def test_a_packed_log_is_read_from_an_offset_of_its_text(log: Path) -> None:
    log.write_bytes(gzip.compress(lines(0, 90)))
    tail = Tailer(str(log), start=len(lines(0, 80)))
    assert look_now(tail) == [lines(80, 90), Ended()]
    tail.close()


def test_a_packed_log_that_is_cut_off_gives_what_there_is(tail: Tailer, log: Path) -> None:
    packed = gzip.compress(lines(0, 100_000))
    log.write_bytes(packed[: len(packed) // 2])
    text, end = look(tail)
    assert isinstance(text, bytes)
    assert lines(0, 100_000).startswith(text)
    assert len(text) > 100_000
    assert end == Ended("the gzip file ends too early")


def test_texts_that_begin_with_the_same_megabytes_are_two(tail: Tailer, log: Path) -> None:
    """Noise without a time stamp can be the same for long: what follows is given while the file still has it."""
    noise = b"engine noise without a time stamp\n" * 60_000
    append(log, noise + lines(0, 20))
    assert given(look(tail)) == noise + lines(0, 20)
    os.truncate(log, 0)
    look(tail)
    append(log, noise + lines(20, 22))
    assert given(look(tail)).endswith(lines(20, 22))
    os.truncate(log, 0)
    look(tail)
    append(log, lines(22, 24))
    assert given(look(tail)) == lines(22, 24)
