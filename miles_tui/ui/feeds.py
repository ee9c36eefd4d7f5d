"""Where the screen's bytes come from: a log that grows, or a finished one that is played.

What follows and reads is imported with the first batch: 25 ms that the first paint does not wait for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from miles_tui.core.records import Fact, Record
from miles_tui.ingest.logs import age_seconds
from miles_tui.ingest.pieces import Data, Ended
from miles_tui.ingest.read import STDIN, Log, is_stream, read_all
from miles_tui.ingest.watch import Attention

if TYPE_CHECKING:
    from miles_tui.ingest.follow import Batch

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
        """Seconds since the log was written to; 0 where that means nothing."""
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
    launch: Sequence[Fact] = ()
    attention: Attention = field(default_factory=Attention)

    @property
    def parts(self) -> Sequence[Path]:
        """The files, oldest first."""
        return (*self.before, Path(self.path)) if self.path != STDIN and not is_stream(self.path) else ()

    def age(self) -> float:
        return age_seconds(self.path, time.time()) or 0.0

    async def batches(self, stop: asyncio.Event) -> AsyncGenerator[Batch, None]:
        from miles_tui.ingest.follow import follow

        following = follow(
            self.path, stop=stop, polling=self.polling, before=self.before, stdin=self.stdin, start=self.start,
            attention=self.attention,
        )  # fmt: skip
        async with aclosing(following) as batches:
            async for batch in batches:
                yield batch


@dataclass(slots=True)
class ReplayFeed:
    """A finished log, played at `speed` rollouts a second; the first rows are there at once.

    Lines up to and with the one that begins another rollout are one batch, so that an alert is seen
    at the rollout at which it was raised. While `held` it stands still.
    """

    log: PathLike[str]
    name: str
    speed: float
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
        return self.log.parts if isinstance(self.log, Log) else (Path(self.log),)

    def age(self) -> float:
        return 0.0

    async def batches(self, stop: asyncio.Event) -> AsyncGenerator[Batch, None]:
        from miles_tui.ingest.follow import Batch

        loop = asyncio.get_running_loop()
        begin, position = loop.time(), 0
        for count, text in enumerate(self._rollouts()):
            due = begin + max(0, count - SHOWN_AT_ONCE) / self.speed
            if due > loop.time() and await _stopped_by(stop, due - loop.time()):
                return
            if not self._plays.is_set():
                paused = loop.time()
                await _either(self._plays, stop)
                begin += loop.time() - paused
            if stop.is_set():
                return
            position += len(text)
            yield Batch([Data(text)], True, position, position, "")
            await asyncio.sleep(0)  # keys are read between two rollouts at any speed
        yield Batch([Ended()], True, position, position, "")

    def _rollouts(self) -> Iterator[bytes]:
        """The log's text in pieces of one rollout each."""
        from miles_tui.core.reader import Reader

        reader, waiting = Reader(), bytearray()
        highest = -1
        for line in self._lines():
            records = [item for item in reader.feed(line) if isinstance(item, Record) and item.kind != "eval"]
            waiting += line
            number = max((r.number for r in records if r.kind == "perf"), default=-1)
            if number >= 0 and number != highest:
                highest = number
                yield bytes(waiting)
                waiting.clear()
        if waiting:
            yield bytes(waiting)

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for chunk in read_all(self.log):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line + b"\n" for line in lines)
        if rest:
            yield rest


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
