"""A file system that gives no answer: whichever call of ours fails, nothing is lost and nothing comes twice."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ingest.hostile import Watched, numbers
from ingest.tailing import Clock, append, lines, look

from miles_tui.core.model.chunks import Appeared, Cut, Data, Missing, Why
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.discovery import find_logs
from miles_tui.ingest.files.log_file import read_all
from miles_tui.ingest.follow.follower import follow_blocking
from miles_tui.ingest.follow.tailer import DEAD_SECONDS, GONE_SECONDS, LATE_SECONDS, Tailer
from miles_tui.ingest.follow.watcher import Stop
from miles_tui.ingest.history.pause_log import PauseLog

CALLS = ("open", "close", "pread", "read", "fstat", "stat", "lstat", "lseek", "scandir", "readlink")
OF_A_DESCRIPTOR = ("close", "pread", "read", "fstat", "lseek")
ERRORS = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN, errno.EMFILE)


class Disk:
    """The calls of a file system, which fail as told. `left`: how many are answered before; None: all are."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.left: int | None = None
        self.error = errno.EIO
        self.dead: set[int] = set()  # descriptors that never answer again
        self.opened: set[int] = set()
        for name in CALLS:
            patch.setattr(os, name, self._failing(name, getattr(os, name)))

    def _failing(self, name: str, real: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            dead = name in OF_A_DESCRIPTOR and args[0] in self.dead
            if self.left is not None:
                self.left -= 1
            fails = dead or (self.left is not None and self.left < 0)
            if name == "close":
                self.dead.discard(args[0])
                self.opened.discard(args[0])
                real(*args)  # it is gone, whatever is said of it
            if fails:
                raise OSError(errno.ENOTCONN if dead else self.error, "no answer")
            got: Any = None if name == "close" else real(*args, **options)
            if name == "open":
                self.opened.add(got)
            return got

        return call

    def mount_anew(self) -> None:
        """What is open now never answers again."""
        self.dead |= self.opened


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    with monkeypatch.context() as patch:
        yield Disk(patch)


class OnAFlakyDisk(Watched):
    """As `Watched`; before each look some are made that fail in the middle, at any call."""

    def __init__(self, folder: Path, seed: int, disk: Disk) -> None:
        super().__init__(folder, seed)
        self.disk = disk

    def look(self) -> None:
        disk, tail = self.disk, self.reader.tail
        if self.rng.random() < 0.1:
            disk.mount_anew()
        for _ in range(self.rng.choice((0, 1, 3))):
            disk.left, disk.error = self.rng.choice((0, 1, 2, 5, 10, 20, 40)), self.rng.choice(ERRORS)
            for piece in tail.read(self.rng.choice((1 << 20, 100))):
                self.reader.text += piece.data if isinstance(piece, Data) else b"\n" if isinstance(piece, Cut) else b""
            disk.left = None
        super().look()

    def write(self) -> None:
        disk = self.disk
        disk.opened.discard(self.out.fileno())
        super().write()


@pytest.mark.parametrize("seed", range(60))
def test_whichever_call_fails_every_line_comes_once(tmp_path: Path, seed: int, disk: Disk) -> None:
    writer = OnAFlakyDisk(tmp_path, seed, disk)
    rng = random.Random(seed)
    acts = {writer.write: 8, writer.rotate: 3, writer.copy_and_truncate: 2, writer.recreate: 1, writer.swap_link: 1}
    writer.look()
    for _ in range(40):
        (act,) = rng.choices(list(acts), list(acts.values()))
        if act in (writer.recreate, writer.swap_link):
            writer.look()
        act()
        if act == writer.swap_link or rng.random() < 0.5:
            writer.look()
    writer.write()
    writer.look()
    assert numbers(writer.reader.text) == writer.sent
    writer.reader.tail.close()
    writer.close()


def test_that_nothing_can_be_read_is_said_once_and_takes_nothing_back(
    tail: Tailer, log: Path, clock: Clock, disk: Disk
) -> None:
    append(log, lines(0, 20))
    look(tail)
    disk.left = 0
    assert look(tail) == []
    clock.now += GONE_SECONDS
    assert look(tail) == [Missing("can't be read (no answer)")]
    clock.now += 2 * LATE_SECONDS
    assert look(tail) == []
    disk.left = None
    append(log, lines(20, 21))
    assert look(tail) == [Appeared(), lines(20, 21)]


def test_rotated_while_away_and_mounted_anew(tail: Tailer, log: Path, disk: Disk) -> None:
    append(log, lines(0, 20))
    look(tail)
    append(log, lines(20, 22))
    log.rename(f"{log}.1")
    append(log, lines(30, 31))
    disk.mount_anew()
    assert look(tail) == [lines(20, 22), Cut(Why.ROTATED), lines(30, 31)]


def test_another_log_lies_there_when_it_is_mounted_anew(tail: Tailer, log: Path, clock: Clock, disk: Disk) -> None:
    append(log, lines(0, 20))
    look(tail)
    new = Path(f"{log}.new")
    append(new, lines(30, 31))
    disk.mount_anew()
    new.replace(log)
    begin = clock.now
    assert look(tail)[-1] == lines(30, 31)
    assert clock.now - begin >= DEAD_SECONDS


def test_a_close_that_fails_is_made_once(log: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    append(log, lines(0, 2))
    closed: list[int] = []
    real = os.close

    def fail(fd: int) -> None:
        closed.append(fd)
        real(fd)
        raise OSError(errno.EIO, "no answer")

    monkeypatch.setattr(os, "close", fail)
    assert b"".join(read_all(log)) == lines(0, 2)
    assert len(closed) == 1


@pytest.mark.parametrize("calls", range(12))
def test_without_a_screen_it_is_one_line_that_names_the_log(log: Path, disk: Disk, calls: int) -> None:
    append(log, lines(0, 2))
    disk.left, text = calls, b""
    error: UnreadableLog | None = None
    try:
        (found,) = find_logs([log])
        text = b"".join(read_all(found))
    except UnreadableLog as raised:
        error = raised
    disk.left = None
    assert text == lines(0, 2) or (error and error.away and str(error) == f"{log} can't be read (no answer)")


def test_a_pause_log_that_fails_loses_no_pause(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "pauses.log"
    path.write_text("")
    pauses = PauseLog(path)
    path.write_text("[2026-10-15 16:00:10] paused\n")
    for calls in range(4):
        disk.left = calls
        pauses.between(0.0, 1.0)
    disk.left = None
    assert pauses.between(0.0, 4e9)


def test_a_rotation_before_the_log_is_read_on(tmp_path: Path, disk: Disk) -> None:
    log, old, stop = tmp_path / "train.log", tmp_path / "train.log.1", Stop()
    old.write_bytes(lines(0, 60_000))
    log.write_bytes(lines(60_000, 60_001))
    text, failed = b"", False
    for batch in follow_blocking(log, stop=stop, before=[old], polling=True):
        for piece in batch.pieces:
            text += piece.data if isinstance(piece, Data) else b""
            failed |= isinstance(piece, Missing)
        if len(text) < 2 << 20 and not failed:
            disk.left = 0
        if failed:
            disk.left = None
        if batch.caught_up:
            stop.set()
    assert failed
    assert text == lines(0, 60_001)
