"""From a log to batches of its bytes: followed on an event loop, followed by a program, or read once.

    watch (something changed) -> tail.read under a budget, in a thread -> Batch -> the event loop

One thread of its own follows a log: it sleeps in the watch and wakes the loop only for what is new,
so that a loop that follows a silent log does nothing at all. A program's batches come from such a thread
too: where the file system hangs, a signal is heard all the same, and the thread is left behind.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from os import PathLike
from typing import NamedTuple

from miles_tui.core.model.chunks import Appeared, Cut, Data, Missing, Piece, Why
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.files.away import DISK
from miles_tui.ingest.files.log_file import STDIN, is_stream, open_parts, read_all, read_open
from miles_tui.ingest.files.open_file import PlainFile, unreadable
from miles_tui.ingest.follow.pipe import Stream
from miles_tui.ingest.follow.tailer import BUDGET, Tailer
from miles_tui.ingest.follow.watcher import POLL, Attention, Stop, Watch, Woke, is_remote

__all__ = ["Batch", "follow", "follow_blocking", "read_all"]

LAST_SECONDS = 0.5  # a stop in the middle of catching up does not wait for its end
JOIN_SECONDS = 0.2  # a thread that hangs in a dead file system is left behind


class Batch(NamedTuple):
    """What one look gave. `caught_up`: the log's end was reached; `position` of `size` bytes were given so far.

    `how`: how changes are noticed, in a few words for the header.
    """

    pieces: list[Piece]
    caught_up: bool
    position: int
    size: int
    how: str


def open_input(path: str, *, stdin: int = 0, start: int = 0) -> Tailer | Stream:
    """What reads `path`: a `Stream` for `-` (the descriptor `stdin`), a FIFO or a device, else a `Tailer`."""
    if path == STDIN:
        return Stream(stdin)
    if is_stream(path):
        try:
            return Stream(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), owned=True)
        except OSError as error:
            raise unreadable(path, error) from None
    return Tailer(path, start=start, remote=is_remote(path))


def follow_blocking(
    path: str | PathLike[str],
    *,
    stop: Stop,
    polling: bool | None = None,
    before: Sequence[str | PathLike[str]] = (),
    stdin: int = 0,
    start: int = 0,
) -> Generator[Batch, None, None]:
    """The log's batches as it grows, until `stop` is set or the input is over (`Ended` is its last piece).

    The rotations `before` it are read first, oldest first; of the first file read only what stands behind the offset
    `start` of its text. When stopped it looks once more, so that what was written before the stop is given; where the
    file system hangs that is not waited for. Raises UnreadableLog where `before` can't be read.
    """
    inbox: queue.SimpleQueue[Batch | BaseException | None] = queue.SimpleQueue()
    halt, attention, stopping = Stop(), Attention(), TimeoutError()

    def leave() -> None:  # in a signal handler, where this queue may be used
        halt.set()
        inbox.put(stopping)

    stop.then = leave
    if stop.is_set():
        leave()
    batches = _batches(path, halt, attention, polling=polling, before=before, stdin=stdin, start=start)
    pump = _Pump(batches, halt, attention, inbox.put)
    patience = None
    try:
        while (got := inbox.get(timeout=patience)) is not None:
            if got is stopping:
                patience = LAST_SECONDS + JOIN_SECONDS
            elif isinstance(got, BaseException):
                raise got
            else:
                yield got
                pump.room.release()
    except queue.Empty:
        return
    finally:
        pump.leave()


def _batches(
    path: str | PathLike[str],
    stop: Stop,
    attention: Attention,
    *,
    polling: bool | None,
    before: Sequence[str | PathLike[str]],
    stdin: int,
    start: int,
) -> Generator[Batch, None, None]:
    """As `follow_blocking`, for the thread that reads. `attention` is told of each look."""
    name = os.fspath(path)
    attention.began = time.monotonic()
    with closing(open_input(name, stdin=stdin, start=0 if before else start)) as source:
        if isinstance(source, Stream):
            attention.began = None
            yield from _follow_stream(source, stop)
            return
        if before:
            attention.began = None
            yield from _read_before(source, before, start, stop)
        with closing(Watch(name, stop, polling=polling, attention=attention)) as watch:
            yield from _follow_file(source, watch, stop, attention)


def _read_before(source: Tailer, before: Sequence[str | PathLike[str]], start: int, stop: Stop) -> Iterator[Batch]:
    """The rotations, and whether the log is there. All are held open, whatever is rotated while they are read."""
    with ExitStack() as stack:
        files: list[PlainFile] = []
        while not files and not stop.is_set():
            try:
                files = stack.enter_context(open_parts(before))
            except UnreadableLog as error:
                yield _when_away(error, stop)
        pieces = source.hold()
        for file in files:
            yield from _follow_part(file, start, stop)
            if stop.is_set():
                return
            yield Batch([Cut(Why.ROTATED)], False, 0, 0, "")
            start = 0
    if pieces:
        yield Batch(pieces, False, 0, source.size, "")


def _follow_part(file: PlainFile, start: int, stop: Stop) -> Iterator[Batch]:
    """The text of a rotation; where the file system gives no answer, the rest of it once it does."""
    head, back = None, list[Piece]()
    while not stop.is_set():
        try:
            head = head or file.trace_of(file.stat().st_size)
            for data in read_open(file, start):
                yield Batch([*back, Data(data)], False, 0, 0, "")
                start += len(data)
                back = []
                if stop.is_set():
                    return
            return
        except (UnreadableLog, OSError) as error:
            yield _when_away(error if isinstance(error, UnreadableLog) else unreadable(file.path, error), stop)
            back = [Appeared()]
        with suppress(OSError), PlainFile(file.path) as again:
            if again.key == file.key or (head and again.fits(head)):
                file.take(again)


def _when_away(error: UnreadableLog, stop: Stop) -> Batch:
    """That a rotation can't be read, and after a moment another try may be made. Raises `error` where none helps."""
    if not error.away:
        raise error
    stop.wait(POLL)
    return Batch([Missing("can't be read (no answer)")], False, 0, 0, "")


def _follow_file(source: Tailer, watch: Watch, stop: Stop, attention: Attention) -> Iterator[Batch]:
    woke, told, deadline = Woke.RETRY, "", 0.0
    attention.began = time.monotonic()
    watch.arm()  # before the first look: what is written after it ends the wait
    while True:
        stopping = stop.is_set()
        if stopping:
            deadline = deadline or time.monotonic() + LAST_SECONDS
        attention.began = time.monotonic()
        pieces = source.read()
        attention.began = None
        watch.learn(woke, any(isinstance(piece, Data) for piece in pieces))
        state = f"{source.caught_up} {watch.how}"
        if pieces or state != told:
            told = state
            yield Batch(pieces, source.caught_up, source.position, source.size, watch.how)
        if source.ended or (stopping and (source.caught_up or time.monotonic() > deadline)):
            return
        # The folders to listen at (20 us) are found anew only where something moved, and with the
        # heartbeat; where they changed, the log is looked at once more before the wait.
        attention.began = time.monotonic()
        if not source.caught_up or ((source.unsettled or woke is Woke.BEAT) and watch.arm()):
            woke = Woke.RETRY
        else:
            attention.began = None
            woke = watch.wait(source.retry_in)


def _follow_stream(source: Stream, stop: Stop) -> Iterator[Batch]:
    told = False
    while True:
        stopping = stop.is_set()
        pieces = source.read(BUDGET)
        if pieces or not told:
            told = source.caught_up
            yield Batch(pieces, source.caught_up, source.position, source.size, "from a pipe")
        if source.ended or stopping:
            return
        if source.caught_up:
            stop.wait(None, source.fd)


async def follow(
    path: str | PathLike[str],
    *,
    stop: asyncio.Event,
    polling: bool | None = None,
    before: Sequence[str | PathLike[str]] = (),
    stdin: int = 0,
    start: int = 0,
    attention: Attention | None = None,
) -> AsyncGenerator[Batch, None]:
    """`follow_blocking` in a thread of its own, for an event loop. At most one batch is read ahead.

    Close it (`aclosing`), or set `stop`: otherwise its thread goes on.
    """
    halt, attention, loop = Stop(), attention or Attention(), asyncio.get_running_loop()
    inbox: asyncio.Queue[Batch | BaseException | None] = asyncio.Queue()

    def hand_over(what: Batch | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(inbox.put_nowait, what)

    batches = _batches(path, halt, attention, polling=polling, before=before, stdin=stdin, start=start)
    pump = _Pump(batches, halt, attention, hand_over)
    waiter = asyncio.get_running_loop().create_task(stop.wait())
    waiter.add_done_callback(lambda _: halt.set())
    try:
        while (got := await inbox.get()) is not None:
            if isinstance(got, BaseException):
                raise got
            yield got
            pump.room.release()
    finally:
        waiter.cancel()
        pump.leave()


class _Pump:
    """Takes batches in a thread, and hands them and what ends them (None, or an error) over.

    `room` is released for each batch that was dealt with.
    """

    def __init__(
        self,
        batches: Generator[Batch, None, None],
        halt: Stop,
        attention: Attention,
        hand_over: Callable[[Batch | BaseException | None], None],
    ) -> None:
        self.room = threading.Semaphore(1)
        self._batches = batches
        self._halt = halt
        self._attention = attention
        self._hand_over = hand_over
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._run, name=DISK, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with closing(self._batches):
                for batch in self._batches:
                    self._hand_over(batch)
                    self.room.acquire()
                    if self._left.is_set():
                        return
            self._hand_over(None)
        except BaseException as error:  # noqa: BLE001  # raised again where the batches are awaited
            self._hand_over(error)

    def leave(self) -> None:
        """Nobody takes batches any more: end the thread, and wait for it unless it hangs in a dead file system."""
        self._left.set()
        self._halt.set()
        self.room.release()
        hangs = self._attention.hangs(time.monotonic(), JOIN_SECONDS)
        self._thread.join(0 if hangs else JOIN_SECONDS)
        if not self._thread.is_alive():
            self._halt.close()
