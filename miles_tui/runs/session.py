"""One log on the screen: bytes go in, a run and its merged changes come out. No Textual in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.model.chunks import Appeared, CaughtUp, Cut, Data, Elapsed, Ended, Missing, Piece
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.parsing.diagnose import diagnose
from miles_tui.core.run.change import Change
from miles_tui.core.run.monitor import Curves, Monitor
from miles_tui.ingest.discovery import binary
from miles_tui.runs.alert_news import Known
from miles_tui.runs.log_clock import Zone, age_words
from miles_tui.runs.selection import Chosen

if TYPE_CHECKING:
    from miles_tui.core.alerting.alert import AlertSnapshot
    from miles_tui.core.parsing.tail_buffer import Ring
    from miles_tui.core.run.snapshot import RunSnapshot
    from miles_tui.ingest.follow.follower import Batch

GLANCE_SECONDS = 10.0
DOUBT_SECONDS = 600.0  # records may be that much older than the lines behind them
GONE = "does not exist"  # as `ingest.source.in_words` has it
NO_ANSWER = "can't be read (no answer)"
DIAGNOSED_BYTES = 64 * 1024  # bytes of a log without metrics that its usual cause is told from


@dataclass(slots=True)
class Status:
    """How the input is: what is missing, how far catching up is, how changes are noticed."""

    missing: str = ""
    ended: bool = False
    wrong: str = ""  # why what was read till the end is not the whole log
    caught_up: bool = False
    position: int = 0
    size: int = 0
    how: str = ""
    hangs: bool = False  # a look at the log gets no answer
    since: float | None = None  # since when the log can't be read though it may be there, seconds since 1970

    @property
    def trouble(self) -> str:
        """Why nothing can be read now, in a few words that follow the log's name."""
        return NO_ANSWER if self.hangs else self.missing

    @property
    def unreadable(self) -> bool:
        """Whether the log can't be read, though it may be there."""
        return self.trouble not in ("", GONE)

    @property
    def percent(self) -> int | None:
        """How much of a log was read, while it is still being caught up."""
        if self.caught_up or self.ended or self.size <= 0:
            return None
        return min(99, 100 * self.position // self.size)


class Session:
    """A followed run. Not thread-safe: the event loop calls it. `live`: it is no replay.

    Without `keep_text` the end of the log's text is not kept: 2 MiB. `known`: what an earlier reading of the log told,
    where there was one.
    """

    def __init__(
        self,
        name: str,
        monitor: Monitor,
        *,
        live: bool = True,
        keep_text: bool = True,
        known: Known | None = None,
    ) -> None:
        self.name = name
        self.live = live
        self.monitor = monitor
        self.status = Status()
        self.age = ""  # how old the newest record is, in words, where that is worth one
        self.zone = Zone()
        self.bar: tuple[int, int] | None = None  # the generation bar as it was when it was looked at last
        self._glanced = -GLANCE_SECONDS
        self._was_caught_up = False
        self._doubted = False  # the file was written when its own stamps say that nothing was
        self.known = known
        if known is not None and known.off is not None:
            for condition in monitor.snapshot().off - known.off:
                monitor.enable(condition)
            for condition in known.off - monitor.snapshot().off:
                monitor.disable(condition)
        # Alerts of before we watched; None while there is no such moment yet. A replay is watched from its start.
        self._past: set[int] | None = None if live else set()  # serials
        self.grew = known is not None and known.grew  # since we watch
        self._keep_text = keep_text
        self.chosen = Chosen()
        self.watcher: Callable[[], None] | None = None  # told of every batch: the log pane, while it is open
        self._change = Change()
        self._sample = bytearray()

    @property
    def curves(self) -> Curves:
        """The run's values over its rollouts."""
        return self.monitor.curves

    @property
    def snapshot(self) -> RunSnapshot:
        """What is known of the run now."""
        return self.monitor.snapshot()

    @cached_property
    def ring(self) -> Ring:
        """The end of the log's text. Made for the first bytes: a first paint does not wait for its import."""
        from miles_tui.core.parsing.tail_buffer import Ring

        return Ring()

    def take(self, batch: Batch, now: float) -> bool:
        """Read a batch; whether anything that is shown changed. `now` is a monotonic clock in seconds."""
        before = (self.status.trouble, self.status.ended, self.status.percent, self.status.how)
        self.status.hangs = False
        change, records = Change(), self.monitor.records
        for piece in batch.pieces:
            self._take(piece, now, change)
            if isinstance(piece, Data):
                self._doubted &= not batch.caught_up or not self.status.caught_up  # it grows: our clock heard it
                if self._keep_text:
                    self.ring.add(piece.data, live=batch.caught_up)
                self.grew |= self._past is not None
            elif isinstance(piece, Cut) and self._keep_text:
                self.ring.cut(piece.why.value)
        status = self.status
        self._was_caught_up = status.caught_up
        status.caught_up, status.position, status.size = batch.caught_up, batch.position, batch.size
        status.how = batch.how
        if batch.caught_up and not status.ended:
            change.merge(self.monitor.apply(CaughtUp(), now))
        if before != (status.trouble, status.ended, status.percent, status.how):
            change.header = True
        if self.monitor.records != records:
            self.bar = self.monitor.bar
            change.header |= self._grow_older(now)
        self._change.merge(change)
        if self.watcher is not None and batch.pieces:
            self.watcher()
        return bool(change)

    def tick(self, now: float) -> bool:
        """Time went by: is the run stalled, was a traceback its end, is what is known old?

        While the log can't be read nobody knows whether the run is silent.
        """
        change = self.monitor.apply(Elapsed(), now) if not self.status.unreadable else Change()
        change.header |= self._grow_older(now)
        self._change.merge(change)
        return bool(change)

    def hear(self, clock: float, silent: float | None) -> bool:
        """Whether a look at the log gets an answer: `silent`, for how many seconds by `clock` (since 1970) it did not.

        Whether what is shown changed.
        """
        before, self.status.hangs = self.status.hangs, silent is not None
        self._note_since(clock - (silent or 0.0))
        self._change.header |= before != self.status.hangs
        return before != self.status.hangs

    def _note_since(self, clock: float) -> None:
        if not self.status.unreadable:
            self.status.since = None
        elif self.status.since is None:
            self.status.since = clock

    def watch_from_here(self) -> None:
        """The log was caught up with: what fires by now is past. Called again it changes nothing."""
        if self._past is None:
            self._past = {alert.serial for alert in self.snapshot.firing}
            if self.known is not None:
                self.known.mark(self.monitor)
                self._past &= {alert.serial for alert in self.known.among(self.snapshot.alerts)}

    @property
    def watched(self) -> bool:
        """Whether what is raised from now on is news."""
        return self._past is not None

    def rest(self, *, over: bool) -> None:
        """Nothing is taken for a while: let go of what that needs no more. `over`: the last line has no end to come."""
        self._change.merge(self.monitor.rest(over=over))

    @property
    def news(self) -> list[AlertSnapshot]:
        """What other runs' screens and the title are to say of it: alerts, worst first, that fire in a run that was
        written to since we watch, or that began to fire since. What an old log ended with is past."""
        past = self._past
        if past is None:
            return []
        return [alert for alert in self.snapshot.firing if self.grew or alert.serial not in past]

    @property
    def news_rank(self) -> int:
        """How bad the news is: 0 where there is none, 1 a warning, 2 critical."""
        news = self.news
        return 0 if not news else 2 if news[0].severity is Severity.CRITICAL else 1

    def glance(self, now: float) -> bool:
        """Somebody looks: the generation bar of now, at most every `GLANCE_SECONDS`; whether it moved.

        Without anybody it moves with the records alone: it changes all the time, and each change is bytes.
        """
        if now - self._glanced < GLANCE_SECONDS:
            return False
        self._glanced = now
        before, self.bar = self.bar, self.monitor.bar
        self._change.header |= before != self.bar
        return before != self.bar

    def place_in_time(self, clock: float, zone: int, age: float = 0.0) -> None:
        """After a batch: `clock` is our time in seconds since 1970, `zone` our local time's seconds from UTC.

        `age`: for how many seconds nothing was written, as the file system has it. A copied file is younger there
        than its stamps are: then nothing is said of its age, until it grows before our eyes.
        """
        self._note_since(clock)
        last, usual = self.monitor.last, self.monitor.usual or 0.0
        if age and last is not None:
            self._doubted = abs(clock + zone - age - last) > max(DOUBT_SECONDS, 2 * usual)
        fresh = self.live and self._was_caught_up and self.status.caught_up
        if self.zone.see(last, clock + zone, zone, fresh=fresh):
            self._change.header = True

    def _grow_older(self, now: float) -> bool:
        before, heard = self.age, self.monitor.heard
        over = self.status.ended or bool(self.monitor.ended)
        known = self.live and not over and not self._doubted and heard is not None
        self.age = age_words(now - heard, self.monitor.usual) if known and heard is not None else ""
        return before != self.age

    def touch(self) -> None:
        """The person changed something: the views of the run are to be taken anew."""
        self._change.merge(Change(set(BY_NAME), metrics=True, alerts=True, header=True))

    def changed(self) -> Change:
        """What changed since this was asked last."""
        change, self._change = self._change, Change()
        return change

    def why_empty(self) -> str | None:
        """The usual cause that a log without metrics looks like; None while it looks like a start.

        "" where there is nothing to say: there are metrics, the log is still read, or its trouble is told elsewhere.
        """
        status, sample = self.status, bytes(self._sample)
        if self.monitor.records or status.trouble or not (status.caught_up or status.ended):
            return ""
        if not status.position:
            return "the log is empty so far"
        return f"it is no text, it is {what}" if (what := binary(sample)) else diagnose(sample) if sample else None

    def _take(self, piece: Piece, now: float, change: Change) -> None:
        match piece:
            case Data(data) if not self.monitor.records and len(self._sample) < DIAGNOSED_BYTES:
                self._sample += data[: DIAGNOSED_BYTES - len(self._sample)]
                change.header = True  # why there is no metric may be told otherwise now
            case Missing(why):
                self.status.missing = why
            case Appeared():
                self.status.missing = ""
            case Ended(wrong):
                self.status.ended, self.status.wrong = True, wrong
        change.merge(self.monitor.apply(piece, now))
