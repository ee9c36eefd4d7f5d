"""Does the run go on, stand still, has it crashed or finished? From records, errors, silence and last words.

The last planned rollout's line is not the end: the last checkpoint is written after it, and a crash or a hang there
loses the run. What ends it is the job's own word; without one, that no phase is left open and nobody complains.
"""

from __future__ import annotations

from typing import Literal, Protocol

from miles_tui.core.alerting.conditions.stalled import LEAST_SECONDS as LEAST_STALL
from miles_tui.core.alerting.conditions.stalled import is_stalled, stall_after, stalled_evidence
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.model.records import Event, EventKind, Record
from miles_tui.core.run.daylight_saving import put_forward
from miles_tui.core.run.failure import SILENCE as CRASH_SILENCE
from miles_tui.core.run.failure import clock_of, is_fatal, says_more, was_the_end
from miles_tui.core.run.phase import Phase
from miles_tui.core.run.progress import Pace

LEAST_GROWTH = 60.0  # seconds between the last record and the newest line that show that the file still grows


class Pauses(Protocol):
    """Who knows of pauses that the log itself does not tell of."""

    def between(self, after: float, until: float) -> bool:
        """Whether the job was paused in (`after`, `until`], seconds of the log's clock."""
        ...


class Fate:
    """The life of one run, told by whoever reads its log; raises and clears `stalled` and `crashed`.

    `paused` is set where a line told of a pause since the last record: silence that a pause touches is no stall.
    """

    def __init__(self, judge: Judge, pace: Pace, phase: Phase, pauses: Pauses | None) -> None:
        self.judge, self.pace, self.phase, self.pauses = judge, pace, phase, pauses
        self.paused = False
        self._crashed = False
        self._planned = False  # the last planned rollout is trained
        self._over = False  # the job itself said that it is done
        self._deaf = False  # and nothing was started since: what is still printed is nobody's trouble
        self._stalled = False
        self._trouble: Event | None = None
        self._troubled_at: float | None = None  # the log's clock at the trouble
        self._workers: float | None = None  # the newest time stamp of a Ray process behind the last record

    @property
    def ended(self) -> Literal["", "finished", "crashed"]:
        """What became of it, if it is over."""
        if self._crashed:
            return "crashed"
        done = self._over or (self._planned and not self._stalled and not self._open)
        return "finished" if done else ""

    @property
    def _open(self) -> str:
        """The innermost timer that is open and does something: the trainer's waiting ends with no line."""
        return next((name for name in reversed(self.phase.timers) if not name.endswith("wait")), "")

    # -- what the log says ---------------------------------------------------------------------

    def hear(self, record: Record) -> bool:
        """A record: text that looked like an error was none. Whether a crash or a stall is over by it (`resume`)."""
        self._trouble = self._workers = None
        last, time = self.pace.last, record.time
        if time is not None and last is not None and time - last > LEAST_STALL and record.kind != "eval":
            self._check_stalled(time)
        return self._stalled or self._crashed

    def resume(self, number: int, time: float | None) -> None:
        """The run goes on with rollout `number`."""
        if self._crashed:
            self._crashed = False
            self.judge.clear("crashed", number, time)
        self._end_stall(number, time)

    def plan_done(self) -> None:
        """The last planned rollout is trained."""
        self._planned = True

    def note(self, fact: Event) -> bool:
        """A fact between two records. Whether what is said of the run may have changed."""
        match fact.kind:
            case EventKind.TROUBLE:
                if not self._deaf and (self._trouble is None or says_more(fact, self._trouble)):
                    self._trouble, self._troubled_at = fact, self._clock(fact)
            case EventKind.JOB_FAILED:
                if not self._crashed:
                    self._crash(fact)
                return True
            case EventKind.JOB_DONE:
                self._check_stalled(self._clock(fact))
                if "succeeded" in fact.text:
                    self._end_stall(self.pace.number, fact.time)
                self._over = self._deaf = True
                self._trouble = None
                return True
            case EventKind.LAUNCH | EventKind.ARGS:  # of something else, where all was done
                self._over |= self._planned
                self._deaf = False
            case EventKind.PAUSE:
                self.paused = True
            case EventKind.TIMER_END if self._planned and self._stalled and not self._open:
                self._end_stall(self.pace.number, fact.time)  # the last save was a long one
            case EventKind.CLOCK if fact.source.pid and fact.time is not None:
                self._workers = fact.time
        return False

    def restart(self, at: int, time: float | None) -> None:
        """A new attempt begins at rollout `at`: what stood at the end of the one before counts now."""
        if self._trouble is not None and not self._crashed and (not self._planned or self._was_the_end()):
            self._crash()
        else:
            self._check_stalled(self.pace.clock)  # what the engines still said after the last record
        self._end_stall(at, time)
        self._crashed = self._planned = self._over = self._deaf = False
        self._trouble = self._workers = None

    def close(self) -> None:
        """The log is at its end, and nobody writes to it."""
        if self._trouble is not None and not self.ended_by_word and self._was_the_end():
            self._crash()
        self._check_stalled(self.pace.clock)

    def tick(self, silence: float) -> bool:
        """Nothing but lines without a metric came for so many seconds. Whether that was a crash."""
        if self.ended_by_word:
            return False
        wait = CRASH_SILENCE if self._trouble and is_fatal(self._trouble) else stall_after(self.pace.usual)
        if self._trouble is not None and silence >= wait and (not self._planned or self._was_the_end()):
            self._crash()
            return True
        if self.pace.last is not None:
            self._check_stalled(self.pace.last + silence)
        return False

    # -- what it means ---------------------------------------------------------------------------

    @property
    def ended_by_word(self) -> bool:
        """Whether its crash or its end was said already, and nothing was started since."""
        return self._crashed or (self._over and self._deaf)

    def _was_the_end(self) -> bool:
        """Whether the trouble ended the run. Behind the last planned rollout workers complain of their own end too."""
        trouble = self._trouble
        if trouble is None:
            return False
        if self._planned or self._over:
            return is_fatal(trouble) or (bool(self._open) and was_the_end(trouble, self.pace.clock))
        return was_the_end(trouble, self.pace.clock)

    def _clock(self, fact: Event) -> float | None:
        return clock_of(fact, self.pace.clock, self.pace.last)

    def _check_stalled(self, clock: float | None) -> None:
        pace, last = self.pace, self.pace.last
        if clock is None or last is None or self._crashed or self._over:
            return
        if self._planned:
            if self._open:
                last = max(last, self.phase.timers[self._open] or last)
            elif self._workers is None or not is_stalled(self._workers - last, pace.usual):
                return  # nothing is open, and nobody lives on
        if self._stalled or not is_stalled(clock - last, pace.usual):
            return
        if self.paused or put_forward(last, clock, pace.usual, heard=pace.clock):
            return
        if self.pauses is not None and self.pauses.between(last, clock):
            return
        grows = pace.clock is not None and pace.clock - last > LEAST_GROWTH
        evidence = stalled_evidence(clock - last, pace.usual, pace.said, self.phase.open_timer or "", grows)
        self.judge.raise_("stalled", pace.number, clock, evidence)
        self._stalled = True

    def _end_stall(self, number: int | None, time: float | None) -> None:
        if self._stalled:
            self._stalled = False
            self.judge.clear("stalled", number, time)

    def _crash(self, job: Event | None = None) -> None:
        """A crash that ended a silence: the silence is said as well, it is what the timeout waited for."""
        trouble = self._trouble
        told = trouble or job
        self._check_stalled(self._troubled_at if trouble else self._clock(job) if job else None)
        self._crashed = True
        facts = () if self.pace.number is None else (("last", self.pace.said),)
        evidence = Evidence(facts=facts, text=trouble.text) if trouble else Evidence(facts=(*facts, ("job", "failed")))
        time = told.time if told is not None and told.time is not None else self.pace.clock
        self.judge.raise_("crashed", self.pace.number, time, evidence)
