"""What becomes of a run: the end that was planned is not the end, and a silence has reasons."""

from __future__ import annotations

import calendar

import pytest
from runs import SECONDS, args, healthy, raised, rollout, state

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.records import Event, EventKind, Item, Source
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.daylight_saving import put_forward
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.present.alerts.evidence_words import evidence_words

PLAN: list[Item] = [args(num_rollout=10), *healthy(10)]
END = 1000.0 + 9 * SECONDS + 101  # the last planned rollout's line
SAVES = Event(EventKind.TIMER_START, "save_model", END)
OOM = Event(EventKind.TROUBLE, "torch.OutOfMemoryError: CUDA out of memory", None, {"driver": "1"})
WORKERS = Event(EventKind.TROUBLE, "OSError: [Errno 28] No space left on device", None, {"driver": ""})
FAILED, DONE, LAUNCH = (
    Event(EventKind.JOB_FAILED, "Job 'r' failed"),
    Event(EventKind.JOB_DONE, "Job 'r' succeeded"),
    Event(EventKind.LAUNCH, "Running entrypoint for job"),
)


def alive(time: float) -> Event:
    """An engine's line."""
    return Event(EventKind.CLOCK, "", time, source=Source("SGLangEngine", "7"))


# -- behind the last planned rollout --------------------------------------------------------------


@pytest.mark.parametrize(("after", "said"), [
    ([SAVES, OOM], "CUDA out of memory"),
    ([OOM], "CUDA out of memory"),
    ([SAVES, OOM, FAILED], "CUDA out of memory"),
    ([SAVES, FAILED], "the job failed"),
    ([SAVES, WORKERS], "No space left"),
    ([SAVES, Event(EventKind.TROUBLE, "2 Workers killed due to memory pressure (OOM)", None, {"driver": ""})], "OOM"),
    ([Event(EventKind.TROUBLE, "Killed   python3 train.py", None, {"driver": "1"})], "Killed"),
    ([LAUNCH, OOM], "CUDA out of memory"),
    ([DONE, LAUNCH, OOM], "CUDA out of memory"),
])  # fmt: skip
def test_a_crash_in_the_last_save_is_one(after: list[Item], said: str) -> None:
    run = state([*PLAN, *after])
    assert raised(run) == [("crashed", 9, None)]
    assert said in evidence_words(run.alerts[0])
    assert run.verdict() == run.ended == "crashed"


@pytest.mark.parametrize(
    "after",
    [
        [],
        [WORKERS],  # workers complain when they are ended
        [OOM, DONE],  # whatever was caught, the job's word is the last
        [SAVES, DONE],
        [DONE, WORKERS, OOM],
        [SAVES, Event(EventKind.TIMER_END, "save_model", END + 60)],
        [Event(EventKind.TIMER_START, "train_wait", END)],  # the trainer waits for a rollout that does not come
        [Event(EventKind.CLOCK, "", END + 9000)],  # somebody else's line in the same file
        [LAUNCH, alive(END + 9000)],
        [SAVES, Event(EventKind.TIMER_END, "save_model", END + 60), alive(END + 100)],
    ],
)
def test_a_run_that_ended_as_planned_is_finished(after: list[Item]) -> None:
    run = state([*PLAN, *after])
    assert raised(run) == []
    assert run.verdict() == run.ended == "finished"


@pytest.mark.parametrize("after", [
    [SAVES, Event(EventKind.CLOCK, "", END + 3000)],
    [SAVES, alive(END + 3000)],
    [alive(END + 3000)],  # no timers, but the workers live on
])  # fmt: skip
def test_a_hang_in_the_last_save_is_a_stall(after: list[Item]) -> None:
    run = state([*PLAN, *after])
    assert raised(run) == [("stalled", 9, None)]
    assert run.ended == ""
    assert "50 min" in evidence_words(run.alerts[0])


def test_a_save_of_which_nothing_more_is_known_is_not_finished() -> None:
    run = state([*PLAN, SAVES])
    assert (run.ended, raised(run)) == ("", [])


def test_live_the_last_save_hangs_and_then_ends() -> None:
    run = RunState(Judge())
    run.feed(PLAN, now=0.0)
    assert run.ended == "finished"
    run.tick(5000.0)
    assert raised(run) == [], "nothing is open: it just ended"
    run.feed([SAVES], now=5000.0)
    assert not snapshot_of(run).ended
    run.tick(5001.0)
    assert run.verdict() == "stalled"
    run.feed([Event(EventKind.TIMER_END, "save_model", END + 5002)], now=5002.0)
    assert raised(run) == [("stalled", 9, 9)]
    assert run.verdict() == "finished"


def test_live_a_crash_in_the_last_save_is_said_after_a_minute() -> None:
    run = RunState(Judge())
    run.feed([*PLAN, SAVES, OOM], now=0.0)
    run.tick(59.0)
    assert raised(run) == []
    run.tick(60.0)
    assert run.verdict() == "crashed"


# -- a stall that ended in a timeout ----------------------------------------------------------------


def test_an_hour_of_silence_that_a_timeout_ended_is_said_too() -> None:
    last = 1000.0 + 9 * SECONDS + 101
    timeout = Event(EventKind.TROUBLE, "ray.exceptions.GetTimeoutError: Get timed out", last + 3000, {"driver": "1"})
    for items in ([timeout], [timeout, FAILED], [alive(last + 3000), OOM], [alive(last + 3000), FAILED]):
        run = state([*healthy(10), *items])
        assert raised(run) == [("stalled", 9, None), ("crashed", 9, None)], items
        assert "50 min" in evidence_words(run.alerts[0])
        assert run.verdict() == "crashed"


def test_what_the_watchdog_waited_is_silence() -> None:
    words = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9) ran for {} milliseconds before timing out"
    for waited, stalled in (("1800033", ["stalled"]), ("600033", [])):
        run = state([*healthy(10), Event(EventKind.TROUBLE, words.format(waited), None, {"driver": ""})])
        assert [c for c, *_ in raised(run)] == [*stalled, "crashed"]


def test_slurm_says_when_the_time_was_up() -> None:
    words = "slurmstepd: error: *** JOB 12 ON n3 CANCELLED AT 2026-09-02T{} DUE TO TIME LIMIT ***"
    start = at("2026-09-02 12:00")
    for time, stalled in (("13:25:00", ["stalled"]), ("12:27:00", [])):
        run = state([*healthy(10, start=start), Event(EventKind.TROUBLE, words.format(time), None, {"driver": "1"})])
        assert [c for c, *_ in raised(run)] == [*stalled, "crashed"]


def test_a_crash_at_once_is_no_stall_though_engines_talk_on() -> None:
    last = 1000.0 + 9 * SECONDS + 101
    assert [c for c, *_ in raised(state([*healthy(10), alive(last + 20), OOM, alive(last + 9000)]))] == ["crashed"]


def test_the_reader_dates_a_traceback_by_the_line_before_it() -> None:
    def line(kind: str, hour: int, minute: int) -> str:
        stamp = f"(Trainer pid=4) [2026-09-02 {hour:02}:{minute:02}:00 actor_cell0_rank0]"
        return f"{stamp} log_utils.py:123 - {kind}: {{'rollout/raw_reward': 0.5}}\n"

    health = '(SGLangEngine pid=5) [2026-09-02 {}:00] INFO: "GET /health HTTP/1.1" 200 OK\n'
    text = "".join(line(f"rollout {n}", 18, n) for n in range(12)) + health.format("18:59")
    text += "Traceback (most recent call last):\nRuntimeError: NCCL error: timeout\n" + health.format("20:30")
    reader, run = Reader(), RunState(Judge())
    run.feed([*reader.feed(text.encode()), *reader.finish()])
    run.finish()
    assert [c for c, *_ in raised(run)] == ["stalled", "crashed"]
    assert "48 min" in evidence_words(run.alerts[0])


# -- a clock that jumps, a pause ---------------------------------------------------------------------


def at(text: str) -> float:
    """Seconds of `year-month-day hour:minute` on the log's clock."""
    day, time = text.split()
    year, month, date = map(int, day.split("-"))
    hour, minute = map(int, time.split(":"))
    return float(calendar.timegm((year, month, date, hour, minute, 0)))


@pytest.mark.parametrize(("before", "after", "jumps"), [
    ("2026-03-29 01:58", "2026-03-29 03:01", True),  # Berlin
    ("2026-03-29 00:59", "2026-03-29 02:00", True),  # London
    ("2026-03-08 01:57", "2026-03-08 03:02", True),  # New York
    ("2026-03-27 01:59", "2026-03-27 03:00", True),  # Jerusalem
    ("2026-04-23 23:59", "2026-04-24 01:01", True),  # Cairo
    ("2026-10-04 01:59", "2026-10-04 03:01", True),  # Sydney
    ("2026-03-29 12:58", "2026-03-29 14:01", False),  # no clock jumps at noon,
    ("2026-03-25 01:58", "2026-03-25 03:01", False),  # on a Wednesday,
    ("2026-07-05 01:58", "2026-07-05 03:01", False),  # or in July
    ("2026-03-29 01:58", "2026-03-29 02:57", False),  # less than the hour, and a time that does not exist then
    ("2026-03-29 01:50", "2026-03-29 03:20", False),  # more than it
    ("2026-03-29 02:10", "2026-03-29 03:12", False),  # begins in the hour that is left out
])  # fmt: skip
def test_a_clock_that_was_put_forward(before: str, after: str, jumps: bool) -> None:
    assert put_forward(at(before), at(after), SECONDS) is jumps
    first = at(before) - 9 * SECONDS - 101  # so that the tenth rollout's last line is the one before
    later = [i for n in range(10, 14) for i in rollout(n, start=at(after) - 10 * SECONDS)]
    stalled = [c for c, *_ in raised(state([*healthy(10, start=first), *later]))]
    assert stalled == ([] if jumps else ["stalled"])


def test_without_a_usual_time_only_the_hour_itself_is_none() -> None:
    before = at("2026-03-29 02:00")
    assert [put_forward(before, before + seconds, None) for seconds in (3599, 3600, 3601)] == [False, False, False]
    assert put_forward(before, before + 3601, 1.0)


@pytest.mark.parametrize(("last", "time"), [
    ([Event(EventKind.TROUBLE, OOM.text, 1800.0, OOM.data)], 1800.0),
    ([Event(EventKind.JOB_FAILED, FAILED.text, 1850.0)], 1850.0),
    ([Event(EventKind.TROUBLE, OOM.text, 1800.0, OOM.data), Event(EventKind.JOB_FAILED, FAILED.text, 1850.0)], 1800.0),
])  # fmt: skip
def test_a_crash_has_the_time_of_its_line(last: list[Item], time: float) -> None:
    (alert,) = state([*healthy(5), *last]).alerts
    assert (alert.condition, alert.raised_step, alert.raised_time) == ("crashed", 4, time)


def test_a_crash_that_the_run_outlived_ends_with_the_record_that_goes_on() -> None:
    failed = Event(EventKind.JOB_FAILED, FAILED.text, 2000.0)
    (alert,) = state([*healthy(5), failed, LAUNCH, *healthy(3, first=5)]).alerts
    assert alert.resolved_step == 5
    assert alert.resolved_time == 1000.0 + 5 * SECONDS


def test_a_stall_that_the_job_outlived_ends_with_its_last_word() -> None:
    run = RunState(Judge())
    run.feed([*PLAN, SAVES], 0.0)
    run.tick(100_000.0)
    run.feed([Event(EventKind.JOB_DONE, DONE.text, END + 100_100)], 100_100.0)
    (alert,) = run.alerts
    assert (alert.condition, alert.resolved_step, alert.resolved_time) == ("stalled", 9, END + 100_100)


def test_a_line_in_the_hour_that_would_be_left_out_says_that_it_was_there() -> None:
    before, after = at("2026-03-29 01:58"), at("2026-03-29 03:01")
    assert not put_forward(before, after, SECONDS, heard=at("2026-03-29 02:30"))
    assert put_forward(before, after, SECONDS, heard=at("2026-03-29 01:59"))


@pytest.mark.parametrize("minutes", [30, 54, 55, 58, 60, 62, 65])
def test_a_silence_around_an_hour_is_a_stall(minutes: int) -> None:
    noon = at("2026-09-02 12:00")
    late = [i for n in range(10, 14) for i in rollout(n, start=noon + 60 * minutes)]
    assert ("stalled", 9, 10) in raised(state([*healthy(10, start=noon), *late]))


class Paused:
    def __init__(self, *times: float) -> None:
        self.times = times

    def between(self, after: float, until: float) -> bool:
        return any(after < time <= until for time in self.times)


@pytest.mark.parametrize("told_by", ["a pause log", "a line of the log"])
def test_a_pause_is_no_stall(told_by: str) -> None:
    last = 1000.0 + 9 * SECONDS + 101
    late = [i for n in range(10, 14) for i in rollout(n, start=1000.0 + 3000)]
    line: list[Item] = [Event(EventKind.PAUSE, "heat guard: paused")] if told_by != "a pause log" else []
    pauses = Paused(last + 5) if told_by == "a pause log" else None
    for rest, now in ((late, None), ([Event(EventKind.CLOCK, "", last + 3000)], None), ([], 3000.0)):
        run = RunState(Judge(), pauses=pauses)
        run.feed([*healthy(10), *line, *rest], now=0.0)
        if now is not None:
            run.tick(now)
        run.finish()
        assert raised(run) == []


def test_a_silence_that_no_pause_touches_is_a_stall_beside_a_pause_log() -> None:
    run = RunState(Judge(), pauses=Paused(1000.0, 99_000.0))
    run.feed([*healthy(10), Event(EventKind.CLOCK, "", 1000.0 + 9 * SECONDS + 101 + 3000)])
    run.finish()
    assert raised(run) == [("stalled", 9, None)]


def test_a_log_in_reverse_order_is_told_and_how_to_turn_it() -> None:
    run = state(healthy(12)[::-1])
    assert [c for c, *_ in raised(run)] == ["known-message"]
    assert "tac" in evidence_words(run.alerts[0])
    assert "tac" in run.alerts[0].first_check
    assert len(run.cut_short) == 1
    assert state(healthy(12)).cut_short == []
