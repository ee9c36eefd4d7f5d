"""A log, and a tail that leaves no descriptor open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ingest.tailing import Clock

from miles_tui.ingest.follow.tailer import Tailer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


@pytest.fixture
def tail(log: Path, clock: Clock) -> Iterator[Tailer]:
    before = len(list(Path("/dev/fd").iterdir()))
    tail = Tailer(str(log), clock=clock)
    yield tail
    tail.close()
    assert len(list(Path("/dev/fd").iterdir())) <= before, "a descriptor stayed open"
