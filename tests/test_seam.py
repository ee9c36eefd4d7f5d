"""A record torn by a rotation: whoever reads the log, live or from its files, has the same records."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from ingest.tailing import Clock

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.chunks import Cut
from miles_tui.core.model.records import Item, Record
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.change import Change
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.run_state import RunState
from miles_tui.ingest.files.log_file import Log
from miles_tui.ingest.follow.follower import Batch
from miles_tui.ingest.follow.glance import Glance
from miles_tui.ingest.follow.tailer import Tailer
from miles_tui.ingest.history.log_items import read_items
from miles_tui.runs.session import Session


def line(number: int) -> bytes:
    prefix = "(Trainer pid=42) [2026-10-15 16:02:38.214 actor_cell0_rank0] log_utils.py:542 - "
    return f"{prefix}step {number}: {{'train/loss': 0.25, 'train/note': 'σ', 'train/grad_norm': {number}.5}}\n".encode()


BEFORE, TORN, BEHIND = line(0), line(1), line(2)
CUTS = range(len(TORN) + 1)
WHOLE = [(0, 0.5), (1, 1.5), (2, 2.5)]
Told = list[tuple[int, object]]


def told(items: Iterable[Item]) -> Told:
    return [(i.number, i.metrics["train/grad_norm"]) for i in items if isinstance(i, Record)]


def as_check_has_it(log: Path, *before: Path) -> Told:
    return told(item for items in read_items(Log(log, "train.log", before)) for item in items)


class Hearing(RunState):
    def __init__(self, records: Told) -> None:
        super().__init__(Judge())
        self.told = records

    def feed(self, items: Iterable[Item], now: float | None = None) -> Change:
        items = list(items)
        self.told += told(items)
        return super().feed(items, now)


class Heard(Session):
    """A session whose records are kept."""

    def __init__(self) -> None:
        self.records: Told = []
        monitor = Monitor()
        monitor.state = Hearing(self.records)
        super().__init__("train.log", monitor)


def torn(folder: Path, cut: int, rest: bytes | None = None) -> tuple[Path, Path]:
    """A log and its rotation, which ends within a record."""
    log, old = folder / "train.log", folder / "train.log.1"
    old.write_bytes(BEFORE + TORN[:cut])
    log.write_bytes((TORN[cut:] if rest is None else rest) + BEHIND)
    return log, old


def begun(folder: Path, cut: int) -> Path:
    log = folder / f"{cut}" / "train.log"
    log.parent.mkdir()
    log.write_bytes(BEFORE + TORN[:cut])
    return log


def test_what_the_files_hold_is_what_was_written(tmp_path: Path) -> None:
    joined = [as_check_has_it(*torn(tmp_path, cut)) == WHOLE for cut in CUTS]
    assert sum(joined) > len(TORN) / 3, "where the first half is the longer one, it can be told"
    assert (joined[0], joined[-2], joined[-1]) == (True, True, True)


def test_a_session_that_follows_has_what_check_has(tmp_path: Path) -> None:
    for cut in CUTS:
        log, clock, session = begun(tmp_path, cut), Clock(), Heard()
        tail = Tailer(str(log), clock=clock)
        session.take(Batch(tail.read(), True, 0, 0, ""), 0.0)
        old = log.rename(f"{log}.1")
        log.write_bytes(TORN[cut:] + BEHIND)
        while True:
            session.take(Batch(tail.read(), True, 0, 0, ""), 0.0)
            if tail.caught_up and tail.retry_in is None:
                break
            clock.now += tail.retry_in or 0
        tail.close()
        assert session.records == as_check_has_it(log, old), cut


def glanced(glance: Glance) -> Iterator[Batch]:
    while True:
        yield Batch(glance.read(), glance.caught_up, 0, 0, "")
        if glance.caught_up:
            return


def test_a_log_that_is_looked_at_now_and_then_has_what_check_has(tmp_path: Path) -> None:
    head = b"".join(b"a line before the first record, number %d\n" % n for n in range(200))  # it is known by these
    for cut in CUTS:
        log, session = begun(tmp_path, cut), Heard()
        log.write_bytes(head + log.read_bytes())
        glance = Glance(Log(log, "train.log"))
        for batch in glanced(glance):
            session.take(batch, 0.0)
        old = log.rename(f"{log}.1")
        log.write_bytes(TORN[cut:] + BEHIND)
        for batch in glanced(glance):
            session.take(batch, 0.0)
        assert session.records == as_check_has_it(log, old), cut
        parts = Heard()
        for batch in glanced(Glance(Log(log, "train.log", (old,)))):
            parts.take(batch, 0.0)
        assert parts.records == session.records, "its rotations are read as its own are followed"


@pytest.mark.parametrize("kept", [2, 1])
def test_a_glance_joins_nothing_over_a_file_that_it_missed(tmp_path: Path, kept: int) -> None:
    cut = len(TORN) - 5
    log = begun(tmp_path, cut)
    log.write_bytes(BEFORE * 200 + TORN[:cut])
    glance = Glance(Log(log, "train.log"))
    list(glanced(glance))
    log.rename(f"{log}.2")
    os.utime(f"{log}.2", ns=(10**18, 10**18))
    Path(f"{log}.1").write_bytes(TORN[cut:] + BEHIND + line(7)[:cut])
    if kept == 1:
        Path(f"{log}.2").unlink()
    log.write_bytes(line(7)[cut:] + BEHIND)
    cuts = [piece for batch in glanced(glance) for piece in batch.pieces if isinstance(piece, Cut)]
    assert len(cuts) == 1
    assert not cuts[0].goes_on, "what came between is not known"


def test_an_export_that_follows_has_what_one_of_the_files_has(tmp_path: Path) -> None:
    """A rotation a cut, all in one log."""
    log, last = tmp_path / "train.log", line(99_999)
    parts = [b"", *(line(n)[:cut] + b"|" + line(n)[cut:] for n, cut in enumerate(CUTS)), last]
    files = b"".join(parts).split(b"|")
    for age, text in enumerate(reversed(files)):
        (Path(f"{log}.{age}") if age else log).write_bytes(text)
    argv = [sys.executable, "-m", "miles_tui", "export", str(log), "--rotated"]
    whole = subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout
    with subprocess.Popen([*argv, "--follow"], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        got = b""
        for row in program.stdout:
            got += row
            if json.loads(row)["step"] == 99_999:
                break
        program.send_signal(signal.SIGINT)
        got += program.stdout.read()
    assert len(whole.splitlines()) > len(CUTS) / 3
    assert got == whole


def test_a_rest_that_never_comes_costs_nothing_of_the_next_file() -> None:
    for cut in CUTS:
        reader = Reader()
        items = [*reader.feed(BEFORE + TORN[:cut]), *reader.seam(), *reader.feed(BEHIND + line(3)), *reader.finish()]
        whole = [(1, 1.5)] if cut >= len(TORN) - 1 else []
        assert told(items) == [(0, 0.5), *whole, (2, 2.5), (3, 3.5)], cut


def test_over_a_truncation_nothing_is_joined() -> None:
    for cut in range(1, len(TORN) - 1):
        reader = Reader()
        items = [*reader.feed(BEFORE + TORN[:cut]), *reader.cut(), *reader.feed(TORN[cut:] + BEHIND), *reader.finish()]
        whole = [(1, 1.5)] if b"step 1: {'" in TORN[cut:] else []
        assert told(items) == [(0, 0.5), *whole, (2, 2.5)], cut
