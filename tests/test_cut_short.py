"""A log that can't be read whole is judged as far as it goes, and never without a word."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from commands import LOGS, run

from miles_tui.config.paths import sample_log
from miles_tui.core.model.records import Event, EventKind
from miles_tui.ingest.discovery import find_logs
from miles_tui.ingest.files.log_file import read_all
from miles_tui.ingest.history.log_items import read_items


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    log = tmp_path / "train.log.gz"
    log.write_bytes(gzip.compress(sample_log("gap-jump.log").read_bytes(), mtime=0))
    return log


@pytest.mark.parametrize("command", ["check", "export", "status", "report"])
@pytest.mark.parametrize("fault", ["damaged", "too early"])
def test_a_gzip_file_that_is_not_whole_is_told(packed: Path, command: str, fault: str) -> None:
    data = bytearray(packed.read_bytes())
    if fault == "damaged":
        data[len(data) // 2 : len(data) // 2 + 8] = b"\xff" * 8
    else:
        del data[len(data) * 3 // 4 :]
    packed.write_bytes(data)
    done = run(command, str(packed))
    assert done.returncode == 2
    assert done.stdout
    assert fault in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("tail", [b"", b"\0" * 512])
def test_a_whole_one_is_not(packed: Path, tail: bytes) -> None:
    packed.write_bytes(packed.read_bytes() + tail)
    done = run("export", str(packed))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_log_that_is_emptied_while_it_is_read_is_told(tmp_path: Path) -> None:
    log, told = tmp_path / "train.log", list[str]()
    log.write_bytes(sample_log("gap-jump.log").read_bytes() * 8)
    chunks = read_all(log, told=told)
    assert next(chunks)
    os.truncate(log, 0)
    assert list(chunks) == []
    assert told == [f"{log} could not be read whole (it was emptied or cut off meanwhile): what follows is not judged"]


def test_a_fact_tells_it_behind_all_that_was_read(packed: Path) -> None:
    packed.write_bytes(packed.read_bytes()[:-20])
    last = [item for batch in read_items(find_logs([packed])[0]) for item in batch][-1]
    assert isinstance(last, Event)
    assert last.kind is EventKind.CUT_SHORT
    assert last.text == f"{packed} could not be read whole (the gzip file ends too early): what follows is not judged"


def test_ranges_learned_from_a_part_are_told(packed: Path) -> None:
    packed.write_bytes(packed.read_bytes()[:-5000])
    done = run("calibrate", str(packed), str(LOGS / "plain-seed1.log"))
    assert done.returncode == 0
    assert "train.log.gz could not be read whole (the gzip file ends too early)" in done.stderr


def test_a_file_cut_before_its_first_text_is_told(packed: Path) -> None:
    packed.write_bytes(packed.read_bytes()[:12])
    for command in ("check", "export", "status", "report"):
        done = run(command, str(packed))
        assert done.returncode == 3
        assert "ends too early" in done.stderr
