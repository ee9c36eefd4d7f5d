"""Where the screen's bytes come from: a log that grows, or a finished one that is played.

What follows and reads is imported with the first batch: 25 ms that the first paint does not wait for.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from miles_tui.core.model.chunks import Data, Ended
from miles_tui.core.model.records import Event, Record
from miles_tui.ingest.discovery import age_seconds
from miles_tui.ingest.files.log_file import STDIN, Log, is_stream, read_all
from miles_tui.ingest.follow.watcher import Attention

if TYPE_CHECKING:
    from miles_tui.ingest.follow.follower import Batch

SHOWN_AT_ONCE = 3  # rollouts that a replay begins with


class Feed(Protocol):
    """A source of batches. `live`: does time count, so that silence means something? `attention`: is it on the screen?

    `parts` are the files that it reads, oldest first; none where it is a pipe.
    """

    name: str
    live: bool

    @property
    def attention(self) -> Attention: ...

    @property
    def parts(self) -> Sequence[Path]: ...

    def age(self) -> float:
        """Seconds since the log was written to, as far as known without asking the disk; 0 where that means nothing."""
        ...

    def batches(self, stop: asyncio.Event) -> AsyncGenerator[Batch, None]:
        """The batches in their order, until `stop` is set or the input is over."""
        ...


@dataclass(slots=True)
class LiveFeed:
    """A log that grows. `before` are its rotations, oldest first; `stdin` is read where `path` is `-`.

    Reading begins at the offset `start`; `launch` holds what the part before says of the run's arguments.
    """

    path: str
    name: str
    before: Sequence[Path] = ()
    polling: bool | None = None
    stdin: int = 0
    live: bool = True
    start: int = 0
    launch: Sequence[Event] = ()
    attention: Attention = field(default_factory=Attention)
    written: float = field(init=False, default=0.0)  # when the log was written to last; 0 where nobody knows
    parts: Sequence[Path] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Asks the disk, as `look` does; all else here must not wait for it."""
        if self.path != STDIN and not is_stream(self.path):
            self.parts = (*self.before, Path(self.path))
        self.look()

    def look(self) -> None:
        """See when the log was written to. Blocks; for a thread."""
        now = time.time()
        age = age_seconds(self.path, now)
        self.written = self.written if age is None else now - age

    def age(self) -> float:
        return max(0.0, time.time() - self.written) if self.written else 0.0

    async def batches(self, stop: asyncio.Event) -> AsyncGenerator[Batch, None]:
        from miles_tui.ingest.follow.follower import follow

        following = follow(
            self.path, stop=stop, polling=self.polling, before=self.before, stdin=self.stdin, start=self.start,
            attention=self.attention,
        )  # fmt: skip
        caught_up = False
        async with aclosing(following) as batches:
            async for batch in batches:
                if caught_up and any(isinstance(piece, Data) for piece in batch.pieces):
                    self.written = time.time()
                caught_up |= batch.caught_up
                yield batch


@dataclass(slots=True)
class ReplayFeed:
    """A finished log, played at `speed` rollouts a second; the first rows are there at once.

    Lines up to and with the one that begins another rollout are one batch, so that an alert is seen
    at the rollout at which it was raised. While `held` it stands still. `stdin` is read where `log` is `-`.
    """

    log: PathLike[str]
    name: str
    speed: float
    stdin: int = 0
    live: bool = False
    attention: Attention = field(default_factory=Attention)
    _plays: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._plays.set()

    def hold(self, held: bool) -> None:
        """Stand still, or go on from there."""
        if held:
            self._plays.clear()
        else:
            self._plays.set()

    @property
    def parts(self) -> Sequence[Path]:
        """The files, oldest first."""
        if self._piped:
            return ()
        return self.log.parts if isinstance(self.log, Log) else (Path(self.log),)

    @property
    def _piped(self) -> bool:
        return os.fspath(self.log) == STDIN or is_stream(os.fspath(self.log))

    def age(self) -> float:
        return 0.0

    async def batches(self, stop: asyncio.Event) -> AsyncGenerator[Batch, None]:
        from miles_tui.ingest.follow.follower import Batch

        loop = asyncio.get_running_loop()
        begin, position, count = loop.time(), 0, 0
        async with aclosing(self._rollouts(stop)) as rollouts:
            async for text in rollouts:
                due = begin + max(0, count - SHOWN_AT_ONCE) / self.speed
                if due > loop.time() and await _stopped_by(stop, due - loop.time()):
                    return
                if not self._plays.is_set():
                    paused = loop.time()
                    await _either(self._plays, stop)
                    begin += loop.time() - paused
                if stop.is_set():
                    return
                count, position = count + 1, position + len(text)
                yield Batch([Data(text)], True, position, position, "")
                await asyncio.sleep(0)  # keys are read between two rollouts at any speed
        yield Batch([Ended()], True, position, position, "")

    async def _rollouts(self, stop: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """The log's text in pieces of one rollout each."""
        from miles_tui.core.parsing.reader import Reader

        reader, waiting, highest = Reader(keys=False), bytearray(), -1
        async with aclosing(self._texts(stop)) as texts:
            async for text in texts:
                # Cut at each line's end, and where a chunk ends: the reader joins what belongs together.
                *lines, rest = text.split(b"\n")
                for line in (*(line + b"\n" for line in lines), rest):
                    waiting += line
                    records = [r for r in reader.feed(line) if isinstance(r, Record) and r.kind == "perf"]
                    number = max((r.number for r in records), default=-1)
                    if number >= 0 and number != highest:
                        highest = number
                        yield bytes(waiting)
                        waiting.clear()
        if waiting:
            yield bytes(waiting)

    async def _texts(self, stop: asyncio.Event) -> AsyncGenerator[bytes, None]:
        """The log's text as it comes; a pipe is waited for beside the keys, not before them."""
        if not self._piped:
            for text in read_all(self.log):
                yield text
            return
        from miles_tui.ingest.follow.follower import follow

        async with aclosing(follow(os.fspath(self.log), stop=stop, stdin=self.stdin)) as batches:
            async for batch in batches:
                for piece in batch.pieces:
                    if isinstance(piece, Data):
                        yield piece.data


async def _either(one: asyncio.Event, other: asyncio.Event) -> None:
    """Wait until one of them is set."""
    waits = [asyncio.create_task(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _stopped_by(stop: asyncio.Event, seconds: float) -> bool:
    """Wait; True when `stop` was set meanwhile."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return False
    return True
