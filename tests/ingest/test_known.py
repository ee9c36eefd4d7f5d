"""Copies, packed, partial and cut: what was read of a text is not read again, and what was not is."""

from __future__ import annotations

import gzip
import os
import random
import shutil
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from ingest.tailing import Clock, append, look

from miles_tui.core.model.chunks import Cut, Data, Why
from miles_tui.ingest.files import fingerprint as known
from miles_tui.ingest.files.fingerprint import Unread, end_in, find_unread
from miles_tui.ingest.files.log_file import Log, read_all
from miles_tui.ingest.files.open_file import NOTHING, OPENING, SPOTS, Fingerprint, PlainFile
from miles_tui.ingest.follow.follower import follow_blocking
from miles_tui.ingest.follow.tailer import LATE_SECONDS, Tailer
from miles_tui.ingest.follow.watcher import Stop


@cache
def lines(begin: int, end: int) -> bytes:
    return b"".join(
        b"2026-10-15 16:%02d:%02d line %d of a log\n" % (n // 60 % 60, n % 60, n) for n in range(begin, end)
    )


def pack(path: Path, text: bytes, like: Path | None = None) -> Path:
    """`text` in a gzip file, with the time of `like` as gzip itself does it."""
    path.write_bytes(gzip.compress(text))
    if like:
        shutil.copystat(like, path)
    return path


LENGTHS = [30, 3000, 40_000]  # lines: less than `FIRST_BYTES`, than an opening, and half as much again as one


@pytest.mark.parametrize("count", LENGTHS)
def test_packed_while_the_writer_goes_on_in_the_old_file(tail: Tailer, log: Path, count: int) -> None:
    append(log, lines(0, count))
    look(tail)
    old = log.open("ab", buffering=0)
    rotated = log.rename(f"{log}.1")
    log.touch()
    old.write(lines(count, count + 5))
    pack(Path(f"{log}.1.gz"), rotated.read_bytes(), rotated)
    rotated.unlink()
    old.write(lines(count + 5, count + 10))
    assert look(tail) == [lines(count, count + 10)]
    old.close()
    append(log, lines(count + 10, count + 12))
    assert look(tail) == [Cut(Why.RECREATED), lines(count + 10, count + 12)]


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("truncated", [True, False])
def test_a_copy_of_the_beginning(tail: Tailer, log: Path, count: int, packed: bool, truncated: bool) -> None:
    append(log, lines(0, count))
    look(tail)
    pack(Path(f"{log}.bak.gz"), lines(0, count)) if packed else shutil.copy(log, f"{log}.bak")
    append(log, lines(count, count + 9))
    assert look(tail) == [lines(count, count + 9)]
    if truncated:
        os.truncate(log, 0)
    else:
        log.rename(f"{log}.1")
    append(log, lines(count + 9, count + 11))
    assert look(tail) == [Cut(Why.TRUNCATED if truncated else Why.ROTATED), lines(count + 9, count + 11)]


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("unread", [0, 7])
def test_copied_packed_and_truncated_before_a_look(tail: Tailer, log: Path, count: int, unread: int) -> None:
    append(log, lines(0, count))
    look(tail)
    append(log, lines(count, count + unread))
    pack(Path(f"{log}.1.gz"), log.read_bytes(), log)
    os.truncate(log, 0)
    append(log, lines(count + 20, count + 22))
    rest = [lines(count, count + unread)] if unread else []
    assert look(tail) == [*rest, Cut(Why.TRUNCATED), lines(count + 20, count + 22)]
    log.rename(f"{log}.2")
    append(log, lines(count + 22, count + 23))
    assert look(tail) == [Cut(Why.ROTATED), lines(count + 22, count + 23)]


def test_a_packed_copy_that_goes_on_where_the_file_was_left(tail: Tailer, log: Path) -> None:
    """A deleted file is let go after its last line was read; its packed copy has lines that came later."""
    append(log, lines(0, 3000))
    look(tail)
    pack(Path(f"{log}.1.gz"), lines(0, 3010))
    log.unlink()
    append(log, lines(3010, 3020))
    assert look(tail) == [lines(3000, 3010), Cut(Why.ROTATED), lines(3010, 3020)]


def test_an_older_file_that_is_packed_while_we_follow(tail: Tailer, log: Path) -> None:
    append(Path(f"{log}.1"), lines(0, 100))
    append(log, lines(100, 200))
    assert look(tail) == [lines(100, 200)]
    Path(f"{log}.1").unlink()
    pack(Path(f"{log}.2.gz"), lines(0, 100))
    log.rename(f"{log}.1")
    append(log, lines(200, 210))
    assert look(tail) == [Cut(Why.ROTATED), lines(200, 210)]


def test_another_text_with_the_same_opening_is_read(tail: Tailer, log: Path) -> None:
    banner = b"====\n" * 9000
    append(log, banner + lines(0, 100))
    look(tail)
    log.rename(f"{log}.2")
    pack(Path(f"{log}.1.gz"), banner + lines(100, 150))
    append(log, banner + lines(150, 160))
    got = look(tail)
    assert got[1::2] == [banner + lines(100, 150), banner + lines(150, 160)]


@pytest.mark.parametrize("keep", [10, 200, 2999])
@pytest.mark.parametrize("way", ["over", "renamed"])
def test_the_head_was_cut_off(tail: Tailer, log: Path, keep: int, way: str) -> None:
    append(log, lines(0, 3000) + b"torn ")
    look(tail)
    newest = lines(3000 - keep, 3000) + b"torn "
    if way == "over":
        log.write_bytes(newest)
    else:
        log.with_name("part").write_bytes(newest)
        log.with_name("part").replace(log)
    append(log, b"line\n" + lines(3000, 3005))
    assert look(tail) == [b"line\n" + lines(3000, 3005)], "and the torn line is whole"


def test_the_head_was_cut_off_seen_half_way(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 3000))
    look(tail)
    os.truncate(log, 0)
    assert look(tail) == [Cut(Why.TRUNCATED)]
    append(log, lines(2900, 3005))
    assert look(tail) == [lines(3000, 3005)]


def test_the_same_last_words_are_no_same_text(tail: Tailer, log: Path) -> None:
    done = b"-- the job is over, all is well, the files are in their place " * 5 + b"\n"
    append(log, lines(0, 100) + done)
    look(tail)
    log.write_bytes(lines(100, 130) + done)
    assert look(tail) == [Cut(Why.TRUNCATED), lines(100, 130) + done]


@pytest.mark.parametrize("times", [0, 2])
def test_an_end_that_is_not_there_once_says_nothing(tmp_path: Path, times: int) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    whole.write_bytes(lines(0, 900))
    part.write_bytes(lines(800, 850) + lines(890, 900) * times)
    with PlainFile(str(whole)) as read, PlainFile(str(part)) as file:
        read.read(1 << 20)
        assert end_in(file, read.trace) == 0


@pytest.mark.parametrize("behind", [0, 9, 5000])
def test_an_end_counts_where_all_that_is_known_of_the_text_is_there(tmp_path: Path, behind: int) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    text = random.Random(1).randbytes(3 * OPENING)
    whole.write_bytes(text)
    with PlainFile(str(whole)) as read:
        trace = read.whole_of(len(text))
    at, kept = trace.spots[3]
    cut = at + behind
    later = next(at for at, spot in trace.spots if at - len(spot) >= cut)
    part.write_bytes(text[cut:])
    with PlainFile(str(part)) as file:
        assert end_in(file, trace) == len(text) - cut
    part.write_bytes(text[cut : later - len(kept)] + kept + text[later:])
    with PlainFile(str(part)) as file:
        assert end_in(file, trace) == 0


@pytest.mark.parametrize(
    ("words", "known"), [(b"the job is over, all is well. ", False), (b"done at 2026-10-15 16:02:05.123", True)]
)
def test_an_end_of_which_nothing_else_is_known_needs_digits(tmp_path: Path, words: bytes, known: bool) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    end = words.rjust(300, b".")
    whole.write_bytes(b"x" * 1000 + b"|" + end)
    part.write_bytes(b"|" + end)
    with PlainFile(str(whole)) as read, PlainFile(str(part)) as file:
        trace = read.trace_of(1301)
        assert end_in(file, trace) == (len(end) + 1 if known else 0)


def test_lines_that_come_a_minute_after_the_rotation(tail: Tailer, log: Path, clock: Clock) -> None:
    append(log, lines(0, 9))
    look(tail)
    log.rename(f"{log}.1")
    append(log, lines(10, 12))
    look(tail)
    for late in range(3):
        clock.now += LATE_SECONDS - 1
        append(Path(f"{log}.1"), lines(100 + late, 101 + late))
        assert look(tail) == [lines(100 + late, 101 + late)], "each begins the wait anew"
    clock.now += 1
    pack(Path(f"{log}.1.gz"), Path(f"{log}.1").read_bytes())
    Path(f"{log}.1").unlink()
    log.rename(f"{log}.2")
    append(log, lines(20, 21))
    assert look(tail) == [Cut(Why.ROTATED), lines(20, 21)], "the late lines are known too"


def test_a_trace_is_the_same_however_the_text_was_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(random.Random(1).randbytes(3 * OPENING))
    traces = []
    for most in (1 << 20, OPENING, 1000, 77_777):
        with PlainFile(str(path)) as file:
            while file.read(most):
                pass
            traces.append(file.trace)
    assert len(set(traces)) == 1
    assert len(traces[0].spots) == 64 + 1, "every 32 KiB, behind the opening"
    assert all(path.read_bytes()[:at].endswith(spot) for at, spot in traces[0].spots)


def test_a_short_text_is_known_only_where_it_is_all_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    short = lines(0, 2)
    path.write_bytes(short)
    with PlainFile(str(path)) as file:
        read = file.whole_of(len(short))
        assert find_unread(file, [read]) is None
    path.write_bytes(lines(0, 5))
    for least, begin in ((2 * len(short), 0), (len(short), len(short))):
        with PlainFile(str(path)) as file:
            assert find_unread(file, [read], short=least) == Unread(begin, len(lines(0, 5)))
            assert file.offset == begin


def test_a_trace_of_a_long_text_stays_small() -> None:
    trace, chunk = NOTHING, bytes(1 << 20)
    for _ in range(600):
        trace = trace.grown(trace.tail + chunk)
    assert trace.size == 600 << 20
    assert SPOTS // 2 <= len(trace.spots) <= 2 * SPOTS + 64


@pytest.fixture(scope="module")
def text() -> bytes:
    """Longer than an opening: the spots of its trace were thinned twice."""
    return random.Random(1).randbytes(4 * OPENING)


@pytest.fixture(scope="module")
def trace(text: bytes, tmp_path_factory: pytest.TempPathFactory) -> Fingerprint:
    return read(tmp_path_factory.mktemp("text"), text)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("cut", [10, 300, OPENING - 1, OPENING, 2 * OPENING, 3 * OPENING, 3 * OPENING + 5])
def test_any_beginning_of_a_read_text_is_known(
    tmp_path: Path, text: bytes, trace: Fingerprint, packed: bool, cut: int
) -> None:
    for beginning, unread in ((text[:cut], False), (text[: cut - 5] + b"other", True), (text + b"more", True)):
        part = tmp_path / "part"
        part.write_bytes(gzip.compress(beginning, 1) if packed else beginning)
        with PlainFile(str(part)) as file:
            found = find_unread(file, [trace])
        near = cut > OPENING and cut % OPENING  # no spot lies between the difference and the end
        assert near or (found is not None) is unread
        if beginning.endswith(b"more"):
            assert found
            assert found.begin == len(text)


def read(folder: Path, text: bytes) -> Fingerprint:
    path = folder / "read"
    path.write_bytes(text)
    with PlainFile(str(path)) as file:
        while file.read(10_000):
            pass
        return file.trace


def test_a_text_that_begins_otherwise_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = read(tmp_path, lines(0, 5000))
    packed = pack(tmp_path / "x.gz", lines(5000, 40_000))  # more than is unpacked at once
    monkeypatch.setattr(known, "_looked_into", lambda *_: pytest.fail("it was unpacked"))
    with PlainFile(str(packed)) as file:
        assert find_unread(file, [trace]) == known.Unread()
    whole = pack(tmp_path / "y.gz", lines(0, 5000))
    with PlainFile(str(whole)) as file:
        assert find_unread(file, [trace]) is None


@pytest.mark.parametrize("times", [1, 2])
def test_rotated_while_the_rotations_are_read(log: Path, times: int) -> None:
    append(Path(f"{log}.2"), lines(0, 10))
    append(Path(f"{log}.1"), lines(10, 20))
    append(log, lines(20, 30))

    def rotate(begin: int) -> None:
        for number in range(times + 2, 0, -1):
            older = Path(f"{log}.{number}")
            if older.exists():
                older.rename(f"{log}.{number + 1}")
        log.rename(f"{log}.1")
        append(log, lines(begin, begin + 10))

    stop, text, turn = Stop(), b"", 0
    with closing(follow_blocking(log, stop=stop, before=[f"{log}.2", f"{log}.1"])) as batches:
        for batch in batches:
            text += b"".join(piece.data for piece in batch.pieces if isinstance(piece, Data))
            while turn < times:
                rotate(30 + 10 * turn)
                turn += 1
            if batch.caught_up:
                stop.set()
    stop.close()
    assert text == lines(0, 30 + 10 * times)

    whole = Log(log, "train.log", (Path(f"{log}.2"), Path(f"{log}.1")))
    expected = b"".join(part.read_bytes() for part in whole.parts)
    reading = read_all(whole)
    first = next(reading)
    rotate(90)
    assert first + b"".join(reading) == expected
