"""One log on the screen: bytes go in, a run and its merged changes come out. No Textual in it."""

from __future__ import annotations

from dataclasses import dataclass

from miles_tui.core.diagnose import diagnose
from miles_tui.core.reader import Reader
from miles_tui.core.run import Change, RunState
from miles_tui.ingest.follow import Batch
from miles_tui.ingest.pieces import Appeared, Cut, Data, Ended, Missing

SAMPLE = 64 * 1024  # bytes of a log without metrics that its usual cause is told from


@dataclass(slots=True)
class Status:
    """How the input is: what is missing, how far catching up is, how changes are noticed."""

    missing: str = ""
    ended: bool = False
    caught_up: bool = False
    position: int = 0
    size: int = 0
    how: str = ""

    @property
    def percent(self) -> int | None:
        """How much of a log was read, while it is still being caught up."""
        if self.caught_up or self.ended or self.size <= 0:
            return None
        return min(99, 100 * self.position // self.size)


class Session:
    """The single writer of a run. Not thread-safe: the event loop calls it. `live`: it is no replay."""

    def __init__(self, name: str, run: RunState, reader: Reader, *, live: bool = True) -> None:
        self.name = name
        self.live = live
        self.run = run
        self.status = Status()
        self._reader = reader
        self._change = Change()
        self._sample = bytearray()

    def take(self, batch: Batch, now: float) -> bool:
        """Read a batch; whether anything that is shown changed. `now` is a monotonic clock in seconds."""
        before = (self.status.missing, self.status.ended, self.status.percent, self.status.how)
        change = Change()
        for piece in batch.pieces:
            self._take(piece, now, change)
        status = self.status
        status.caught_up, status.position, status.size = batch.caught_up, batch.position, batch.size
        status.how = batch.how
        if batch.caught_up and not status.ended:
            _merge(change, self.run.feed(self._reader.settle(), now))
        if before != (status.missing, status.ended, status.percent, status.how):
            change.header = True
        _merge(self._change, change)
        return bool(change)

    def tick(self, now: float) -> bool:
        """Time went by: is the run stalled, was a traceback its end?"""
        change = self.run.tick(now)
        _merge(self._change, change)
        return bool(change)

    def touch(self) -> None:
        """The person changed something: the views of the run are to be taken anew."""
        _merge(self._change, Change(set(self.run.signals), metrics=True, alerts=True, header=True))

    def changed(self) -> Change:
        """What changed since this was asked last."""
        change, self._change = self._change, Change()
        return change

    def why_empty(self) -> str | None:
        """The usual cause that a log without metrics looks like; None while it looks like a start."""
        return diagnose(bytes(self._sample)) if self._sample else None

    def _take(self, piece: object, now: float, change: Change) -> None:
        match piece:
            case Data(data):
                if not self.run.records and len(self._sample) < SAMPLE:
                    self._sample += data[: SAMPLE - len(self._sample)]
                    change.header = True  # why there is no metric may be told otherwise now
                _merge(change, self.run.feed(self._reader.feed(data), now))
            case Cut():
                _merge(change, self.run.feed(self._reader.cut(), now))
            case Missing(why):
                self.status.missing = why
            case Appeared():
                self.status.missing = ""
            case Ended():
                self.status.ended = True
                _merge(change, self.run.feed(self._reader.finish(), now))
                _merge(change, self.run.finish())


def _merge(into: Change, other: Change) -> None:
    into.signals |= other.signals
    into.metrics |= other.metrics
    into.alerts |= other.alerts
    into.header |= other.header
