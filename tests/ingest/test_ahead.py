"""A second process reads the same items in the same order, whatever happens to it; and it never stays behind."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import psutil
import pytest

from miles_tui.config.paths import sample_log
from miles_tui.core.model.records import Event, EventKind, Item, Record, Source
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.discovery import find_logs
from miles_tui.ingest.history import log_items as items_module
from miles_tui.ingest.history.log_items import read_items
from miles_tui.ingest.history.subprocess_reader import BATCH, can_read_ahead, read_ahead

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no second process here")


def flat(batches: Iterator[list[Item]]) -> list[Item]:
    return [item for batch in batches for item in batch]


def records(count: int) -> list[Item]:
    return [
        Record("step", n, {"train/loss": n / 7, "big": 10**30}, None, Source("T", str(n % 3))) for n in range(count)
    ]


@pytest.fixture
def always_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_module, "LONG", 0)
    monkeypatch.setattr(items_module, "can_read_ahead", lambda: True)


@pytest.mark.parametrize("pause", [None, re.compile(rb"Decode")])
def test_the_items_are_the_same(always_ahead: None, pause: re.Pattern[bytes] | None) -> None:
    log = find_logs([sample_log("gap-jump.log")])[0]
    alone, ahead = (flat(read_items(log, pause=pause, ahead=way)) for way in (False, True))
    assert ahead == alone
    assert any(isinstance(item, Event) for item in ahead)
    assert sum(isinstance(item, Record) for item in ahead) == 4 * 48


def test_more_than_a_pipe_holds_comes_whole_and_in_order() -> None:
    expected = [*records(20_000), Event(EventKind.TROUBLE, "boom", 1.5, {"driver": "1"})]
    batches = [expected[at : at + 7] for at in range(0, len(expected), 7)]
    assert flat(read_ahead(lambda: iter(batches))) == expected


def test_when_the_second_process_dies_nothing_is_lost_and_nothing_comes_twice() -> None:
    expected, here = records(5 * BATCH), os.getpid()

    def batches() -> Iterator[list[Item]]:
        for at in range(0, len(expected), BATCH):
            if at == 3 * BATCH and os.getpid() != here:
                os.kill(os.getpid(), signal.SIGKILL)
            yield expected[at : at + BATCH]

    assert flat(read_ahead(batches)) == expected


def test_an_error_of_the_second_process_is_met_here() -> None:
    def batches() -> Iterator[list[Item]]:
        yield records(3)
        raise UnreadableLog("it is gone")

    reading = read_ahead(batches)
    assert next(reading) == records(3)
    with pytest.raises(UnreadableLog, match="it is gone"):
        next(reading)


def test_whoever_stops_early_leaves_no_process_behind() -> None:
    def endless() -> Iterator[list[Item]]:
        while True:
            yield records(BATCH)

    reading = read_ahead(endless)
    assert next(reading)
    children = psutil.Process().children()
    assert len(children) == 1
    assert isinstance(reading, Generator)
    reading.close()
    assert not children[0].is_running()


def test_a_short_log_and_a_stream_are_read_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_module, "read_ahead", lambda batches: pytest.fail("a second process began"))
    log = find_logs([sample_log("gap-jump.log")])[0]
    assert flat(read_items(log, ahead=True))
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    monkeypatch.setattr(items_module, "LONG", -1)
    monkeypatch.setattr(items_module, "can_read_ahead", lambda: True)
    assert not items_module._is_long(find_logs([fifo])[0])


def test_without_a_core_to_spare_there_is_no_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert not can_read_ahead()
