"""How old the data is, in which zone it happened, when a phase usually ends."""

from __future__ import annotations

from itertools import pairwise

import pytest

from miles_tui.core.model.chunks import Data
from miles_tui.core.model.records import Event, EventKind, Record
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.phase import Phase
from miles_tui.ingest.follow.follower import Batch
from miles_tui.runs.log_clock import Zone, age_words
from miles_tui.runs.session import Session

NOON = 1_792_065_600.0
HOUR = 3600


@pytest.mark.parametrize(
    ("silence", "usual", "words"),
    [
        (50, 10, ""), (61, 10, "1 min ago"), (119, 10, "1 min ago"), (120, 10, "2 min ago"),
        (200, 150, ""), (225, 150, "3 min ago"), (500, None, ""), (601, None, "10 min ago"),
        (3 * HOUR + 59, 150, "3 h 00 min ago"), (3 * HOUR + 60, 150, "3 h 01 min ago"),
    ],
)  # fmt: skip
def test_age_is_told_when_it_is_more_than_usual(silence: float, usual: float | None, words: str) -> None:
    assert age_words(silence, usual) == words


def test_age_changes_once_a_minute() -> None:
    said = [age_words(s, 60) for s in range(90, 90 + 3 * HOUR)]
    changes = sum(a != b for a, b in pairwise(said))
    assert changes <= 181


@pytest.mark.parametrize(
    ("shift", "zone", "name"),
    [
        (0, 0, ""), (7 * HOUR, -7 * HOUR, "UTC"), (2 * HOUR, 0, "UTC+2"), (-5 * HOUR, 0, "UTC-5"),
        (5.5 * HOUR, 0, "UTC+5:30"), (-2 * HOUR, 2 * HOUR, "UTC"), (40 * 24 * HOUR, 0, ""), (400, 0, ""),
    ],
)  # fmt: skip
def test_the_zone_of_a_live_log(shift: float, zone: int, name: str) -> None:
    seen = Zone()
    for n in range(3):
        local = NOON + zone + 100 * n
        seen.see(local + shift - 5, local, zone, fresh=True)
    assert seen.name == name


def test_a_zone_is_claimed_of_fresh_records_alone_and_not_at_once() -> None:
    seen = Zone()
    for n in range(3):
        seen.see(NOON - 2 * HOUR + n, NOON, 0, fresh=False)
    assert seen.offset is None, "a log of two hours ago is no log of another zone"
    assert not seen.see(NOON - 2 * HOUR + 10, NOON, 0, fresh=True)
    assert not seen.see(NOON - 2 * HOUR + 10, NOON + 60, 0, fresh=True), "the same record again"
    assert seen.see(NOON - 2 * HOUR + 70, NOON + 60, 0, fresh=True)
    assert seen.name == "UTC-2"
    seen.see(NOON + 200, NOON + 200, 0, fresh=True)
    assert seen.see(NOON + 300, NOON + 300, 0, fresh=True)
    assert seen.name == "", "the clocks agree again"


def timer(kind: EventKind, name: str, time: float) -> Event:
    return Event(kind, name, time)


def test_a_phase_usually_ends_after_the_median_of_its_timer() -> None:
    phase = Phase()
    at = 0.0
    for length in (100.0, 140.0, 120.0):
        phase.see_fact(timer(EventKind.TIMER_START, "train", at))
        phase.see_fact(timer(EventKind.TIMER_START, "log_probs", at + 1))
        phase.see_fact(timer(EventKind.TIMER_END, "log_probs", at + 31))
        phase.see_fact(timer(EventKind.TIMER_START, "actor_train", at + 31))
        phase.see_fact(timer(EventKind.TIMER_END, "actor_train", at + 31 + length))
        phase.see_fact(timer(EventKind.TIMER_END, "train", at + 40 + length))
        at += 1000
    phase.see_fact(timer(EventKind.TIMER_START, "train", at))
    assert (phase.name, phase.usual_end) == ("training", at + 160)
    phase.see_fact(timer(EventKind.TIMER_START, "log_probs", at + 5))
    assert (phase.name, phase.usual_end) == ("scoring", at + 35)
    phase.see_fact(timer(EventKind.TIMER_END, "log_probs", at + 35))
    assert (phase.name, phase.usual_end) == ("training", at + 160), "the outer timer goes on"
    phase.see_fact(timer(EventKind.TIMER_START, "actor_train", at + 36))
    assert phase.usual_end == at + 156


def test_without_timers_records_tell_the_phases() -> None:
    phase = Phase()
    for n in range(3):
        phase.see_record(Record("perf", n, {}, 300.0 * n), False)
        phase.see_record(Record("rollout", n, {}, 300.0 * n + 1), False)
        phase.see_record(Record("perf", n, {}, 300.0 * n + 90), True)
    assert (phase.name, phase.since, phase.usual_end) == ("rollout", 690, 900)
    phase.see_record(Record("perf", 3, {}, 905.0), False)
    assert (phase.name, phase.usual_end) == ("training", 995)


def test_nothing_is_claimed_of_two_phases() -> None:
    phase = Phase()
    phase.see_fact(timer(EventKind.TIMER_START, "rollout", 1))
    assert phase.usual_end is None
    phase.see_fact(Event(EventKind.TIMER_END, "rollout", None))
    phase.see_fact(Event(EventKind.TIMER_START, "rollout", None))
    assert phase.usual_end is None


@pytest.mark.parametrize(
    ("written", "zone", "words"), [(0, 0, "20 min ago"), (3 * HOUR, 0, ""), (40 * 24 * HOUR, 0, ""), (-HOUR, 0, "")]
)
def test_no_age_that_the_logs_own_stamps_contradict(blocks: list[bytes], written: float, zone: int, words: str) -> None:
    """`written`: how much later than its newest record the file says that it was written, as a copy does."""
    session = Session("train.log", Monitor())
    age, now = 1200.0, 10_000.0
    session.take(Batch([Data(b"".join(blocks[:20]))], True, 1, 1, ""), now - age)
    session.place_in_time((session.monitor.state.pace.last or 0) + written + age - zone, zone, age)
    session.tick(now)
    assert session.age == words
    session.take(Batch([Data(blocks[20])], True, 2, 2, ""), now + 60)
    session.tick(now + 60 + age)
    assert session.age == "20 min ago", "it grew before our eyes: our clock says how old it is"


def test_a_run_that_is_over_has_no_age(blocks: list[bytes]) -> None:
    session = Session("train.log", Monitor())
    session.take(Batch([Data(b"".join(blocks))], True, 1, 1, ""), 0.0)
    session.tick(10_000.0)
    assert (session.monitor.state.ended, session.age) == ("finished", "")
