"""A log followed from its writes to batches: on an event loop, and by a program."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from miles_tui.core.model.chunks import Cut, Data, Ended, Missing, Why
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.files.log_file import Log, read_all
from miles_tui.ingest.files.open_file import CHUNK
from miles_tui.ingest.follow.follower import Batch, follow, follow_blocking
from miles_tui.ingest.follow.watcher import Stop

DEADLINE = 20.0


def text_of(batch: Batch) -> bytes:
    return b"".join(piece.data for piece in batch.pieces if isinstance(piece, Data))


async def until(batches: AsyncIterator[Batch], wanted: bytes) -> bytes:
    """The text up to the batch that ends with `wanted`."""
    text = b""
    async with asyncio.timeout(DEADLINE):
        async for batch in batches:
            text += text_of(batch)
            if text.endswith(wanted):
                return text
    raise AssertionError(f"the log ended with {text[-100:]!r}")


def append(path: Path, text: bytes) -> None:
    with path.open("ab") as file:
        file.write(text)


@pytest.mark.parametrize("polling", [True, False])
async def test_what_is_written_arrives(tmp_path: Path, polling: bool) -> None:
    log, stop = tmp_path / "train.log", asyncio.Event()
    async with aclosing(follow(log, stop=stop, polling=polling)) as batches:
        first = await anext(batches)
        assert first.pieces == [Missing("does not exist")]
        assert first.caught_up
        for n in range(5):
            append(log, b"line %d\n" % n)
            assert await until(batches, b"line %d\n" % n) == b"line %d\n" % n
        log.rename(tmp_path / "train.log.1")
        append(log, b"after\n")
        assert await until(batches, b"after\n") == b"after\n"


async def test_a_stop_ends_it_with_what_was_written_last(tmp_path: Path) -> None:
    log, stop = tmp_path / "train.log", asyncio.Event()
    append(log, b"one\n")
    text = b""
    async with asyncio.timeout(DEADLINE), aclosing(follow(log, stop=stop)) as batches:
        async for batch in batches:
            text += text_of(batch)
            if text == b"one\n" and not stop.is_set():
                append(log, b"two\n")
                stop.set()
    assert text == b"one\ntwo\n"


async def test_nothing_stays_behind(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    append(log, b"one\n")

    async def once() -> None:
        async with aclosing(follow(log, stop=asyncio.Event())) as batches:
            await until(batches, b"one\n")

    descriptors, threads = open_descriptors(), threading.active_count()
    for _ in range(5):
        await once()
    assert threading.active_count() == threads
    async with asyncio.timeout(DEADLINE):
        while open_descriptors() > descriptors:  # watchfiles' own thread closes its three a moment later
            await asyncio.sleep(0)


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


async def test_the_loop_lives_while_a_long_log_is_read(tmp_path: Path) -> None:
    log, stop = tmp_path / "train.log", asyncio.Event()
    log.write_bytes(b"a line of engine noise, as there are many of them\n" * 1_000_000)
    turns, batches_seen, positions = 0, 0, []

    async def others() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    async with asyncio.timeout(DEADLINE), aclosing(follow(log, stop=stop)) as batches:
        async for batch in batches:
            batches_seen += 1
            positions.append(batch.position)
            assert batch.size == log.stat().st_size
            if batch.caught_up:
                break
    stop.set()
    await task
    assert batches_seen >= 40
    assert positions == sorted(positions)
    assert positions[-1] == log.stat().st_size
    assert turns > batches_seen, "the loop had a turn of its own between two batches"


async def test_rotations_come_first(tmp_path: Path) -> None:
    (tmp_path / "train.log.2.gz").write_bytes(gzip.compress(b"one\n"))
    (tmp_path / "train.log.1").write_bytes(b"two\nto")
    (tmp_path / "train.log").write_bytes(b"three\n")
    before = [tmp_path / "train.log.2.gz", tmp_path / "train.log.1"]
    pieces = []
    async with asyncio.timeout(DEADLINE):
        async with aclosing(follow(tmp_path / "train.log", stop=asyncio.Event(), before=before)) as batches:
            async for batch in batches:
                pieces += batch.pieces
                if batch.caught_up:
                    break
    cut = Cut(Why.ROTATED)
    assert pieces == [Data(b"one\n"), cut, Data(b"two\nto"), cut, Data(b"three\n")]


def test_a_log_that_is_not_there_is_said_before_it_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "train.log.1").write_bytes(b"one\n")
    stop = Stop()
    batches = follow_blocking(tmp_path / "train.log", stop=stop, before=[tmp_path / "train.log.1"])
    first = [next(batches) for _ in range(3)]
    assert [batch.pieces for batch in first] == [[Data(b"one\n")], [Cut(Why.ROTATED)], [Missing("does not exist")]]
    assert not any(batch.caught_up for batch in first), "it was not looked at yet"
    batches.close()
    stop.close()


async def test_an_error_is_raised_where_batches_are_awaited(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLog, match="does not exist"):
        async with aclosing(follow(tmp_path / "x", stop=asyncio.Event(), before=[tmp_path / "gone"])) as batches:
            await anext(batches)


async def test_a_pipe_that_is_closed_ends_it() -> None:
    read, write = os.pipe()
    os.write(write, b"one\n")
    pieces = []
    async with asyncio.timeout(DEADLINE), aclosing(follow("-", stop=asyncio.Event(), stdin=read)) as batches:
        async for batch in batches:
            pieces += batch.pieces
            if pieces == [Data(b"one\n")]:
                os.write(write, b"two")
                os.close(write)
    assert text_of(Batch(pieces, True, 0, 0, "")) == b"one\ntwo"
    assert pieces[-1] == Ended()
    os.close(read)


async def test_a_silent_pipe_can_be_stopped() -> None:
    read, write = os.pipe()
    stop = asyncio.Event()
    async with asyncio.timeout(DEADLINE), aclosing(follow("-", stop=stop, stdin=read)) as batches:
        async for _ in batches:
            stop.set()
    os.close(read)
    os.close(write)


async def test_a_named_pipe(tmp_path: Path) -> None:
    fifo = tmp_path / "train.log"
    os.mkfifo(fifo)
    async with aclosing(follow(fifo, stop=asyncio.Event())) as batches:
        await anext(batches)  # opened
        writer = os.open(fifo, os.O_WRONLY)
        os.write(writer, b"one\n")
        await until(batches, b"one\n")
        os.close(writer)
        async with asyncio.timeout(DEADLINE):
            assert [batch.pieces async for batch in batches] == [[Ended()]]


def test_a_stop_set_before_it_begins_still_reads(tmp_path: Path) -> None:
    append(tmp_path / "train.log", b"one\n")
    stop = Stop()
    stop.set()
    assert b"".join(map(text_of, follow_blocking(tmp_path / "train.log", stop=stop))) == b"one\n"
    stop.close()


PROGRAM = """
import signal, sys
from miles_tui.ingest.follow.follower import follow_blocking
from miles_tui.core.model.chunks import Data
from miles_tui.ingest.follow.watcher import Stop

stop = Stop()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: stop.set())
for batch in follow_blocking(sys.argv[1], stop=stop, polling=sys.argv[2] == "polling"):
    for piece in batch.pieces:
        if isinstance(piece, Data):
            sys.stdout.buffer.write(piece.data)
    sys.stdout.flush()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("way", ["polling", "events"])
def test_a_signal_ends_a_program_at_once_with_the_last_write(tmp_path: Path, number: signal.Signals, way: str) -> None:
    log = tmp_path / "train.log"
    append(log, b"one\n")
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(log), way], stdout=subprocess.PIPE)
    assert program.stdout
    assert program.stdout.readline() == b"one\n"
    append(log, b"two\n")
    begin = time.monotonic()
    program.send_signal(number)
    assert program.communicate(timeout=DEADLINE)[0] == b"two\n"
    assert program.returncode == 0
    assert time.monotonic() - begin < 2


def test_read_once(tmp_path: Path) -> None:
    text = b"".join(b"line %d\n" % n for n in range(200_000))
    (tmp_path / "plain").write_bytes(text)
    (tmp_path / "packed").write_bytes(gzip.compress(text))
    for name in ("plain", "packed"):
        chunks = list(read_all(tmp_path / name))
        assert b"".join(chunks) == text
        assert max(map(len, chunks)) <= CHUNK


def test_a_torn_rotation_is_not_joined_with_the_next(tmp_path: Path) -> None:
    (tmp_path / "train.log.1").write_bytes(b"{'a': 1")
    (tmp_path / "train.log").write_bytes(b"2}\n")
    log = Log(tmp_path / "train.log", "train.log", (tmp_path / "train.log.1",))
    assert b"".join(read_all(log)) == b"{'a': 1\n2}\n"


def test_standard_input_is_read_to_its_end() -> None:
    read, write = os.pipe()
    os.write(write, gzip.compress(b"one\n"))
    os.close(write)
    assert list(read_all("-", stdin=read)) == [b"one\n"]
    os.close(read)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "does not exist"),
        (Path.mkdir, "is a folder"),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08garbage that is no gzip"), "the gzip file is damaged"),
    ],
)
def test_what_can_not_be_read_is_one_plain_line(tmp_path: Path, make: Callable[[Path], object], message: str) -> None:
    make(tmp_path / "x")
    with pytest.raises(UnreadableLog, match=message) as error:
        list(read_all(tmp_path / "x"))
    assert "\n" not in str(error.value)
    assert str(tmp_path / "x") in str(error.value)
