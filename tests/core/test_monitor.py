"""The front door of a run: whatever drives it, one state; what is known of it is one immutable value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path

import pytest
from runs import SECONDS, args, healthy, rollout

from miles_tui.core.alerting.alert import AlertState
from miles_tui.core.alerting.profile import Profile
from miles_tui.core.model.chunks import CaughtUp, Cut, Data, Elapsed, Ended, Items, Missing, Why
from miles_tui.core.model.records import Event, EventKind
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.snapshot import PhaseSnapshot

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
JUMPED = healthy(21) + [item for n in range(21, 30) for item in rollout(n, gap=0.04)]


def jumped() -> Monitor:
    monitor = Monitor()
    monitor.apply(Items(JUMPED))
    return monitor


# -- drivers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", ["gap-jump.log", "crash.log", "resume.log", "four-updates.log"])
def test_a_log_says_the_same_whoever_feeds_it(log: str) -> None:
    """As pieces of any size, as items that another process read, in one batch or in many."""
    text = (LOGS / log).read_bytes()
    whole, torn, read = Monitor(), Monitor(), Monitor()
    whole.apply(Data(text))
    whole.apply(Ended())
    for at in range(0, len(text), 3001):
        torn.apply(Data(text[at : at + 3001]))
    torn.apply(Ended())
    reader = Reader()
    read.apply(Items([*reader.feed(text), *reader.finish()]))
    read.finish()
    assert whole.snapshot().records > 0
    assert whole.snapshot() == torn.snapshot() == read.snapshot()


def test_what_is_caught_up_with_can_be_written_on() -> None:
    text = (LOGS / "gap-jump.log").read_bytes()
    live, at_once = Monitor(), Monitor()
    for at in range(0, len(text), 50_000):
        live.apply(Data(text[at : at + 50_000]))
        live.apply(CaughtUp())
    live.apply(Ended())
    at_once.apply(Data(text))
    at_once.apply(Ended())
    alerts = [(a.condition, a.raised_step, a.state) for a in live.snapshot().alerts]
    assert alerts == [(a.condition, a.raised_step, a.state) for a in at_once.snapshot().alerts]


def test_a_seam_goes_on_and_a_cut_does_not() -> None:
    line = b"[2026-10-15 16:02:38] log_utils.py:542 - step 0: {'train/loss': 0.25, 'train/grad_norm': 0.5}\n"
    behind = line.replace(b"step 0", b"step 1").replace(b"0.25", b"0.26")
    for why, records in ((Why.ROTATED, 2), (Why.TRUNCATED, 1)):
        monitor = Monitor()
        for piece in (Data(line[:70]), Cut(why), Data(line[70:] + behind), Ended()):
            monitor.apply(piece)
        assert monitor.records == records, why


def test_time_alone_tells_of_a_stall_and_a_second_without_news_makes_no_snapshot() -> None:
    monitor = Monitor()
    monitor.apply(Items(healthy(20)), 1000.0)
    monitor.apply(Elapsed(), 1001.0)
    before = monitor.snapshot()
    monitor.apply(Elapsed(), 1002.0)
    assert monitor.snapshot() is before
    change = monitor.apply(Elapsed(), 100_000.0)
    assert change.alerts
    assert monitor.snapshot().verdict == "stalled"
    assert before.verdict == "healthy", "a snapshot is of its moment"


def test_what_happens_to_the_file_is_no_record() -> None:
    monitor = Monitor()
    assert not monitor.apply(Missing("does not exist"))
    assert monitor.snapshot().verdict == "waiting"


# -- the snapshot ------------------------------------------------------------------------------------


def parts(value: object, path: str = "run") -> Iterator[tuple[str, object]]:
    """A value and all that it is made of."""
    yield path, value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from parts(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from parts(one, f"{path}[{key}]")
    elif isinstance(value, tuple):
        for i, one in enumerate(value):
            yield from parts(one, f"{path}[{i}]")


def test_nothing_of_a_snapshot_can_be_changed() -> None:
    plain = (str, int, float, bool, type(None), Enum, tuple, frozenset)
    seen = 0
    for path, value in parts(jumped().snapshot()):
        if dataclasses.is_dataclass(value):
            seen += 1
            field = dataclasses.fields(value)[0].name
            if callable(getattr(value, field, None)):
                continue
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(value, field, None)
        elif isinstance(value, Mapping):
            with pytest.raises(TypeError):
                value["x"] = 1  # type: ignore[index]
        else:
            assert isinstance(value, plain) or callable(value), path
    assert seen > 30, "the run, its phase, eight signals, the conditions, an alert with its evidence"


def test_a_snapshot_stays_as_it_was() -> None:
    monitor = jumped()
    before = monitor.snapshot()
    copy = dataclasses.replace(before)
    monitor.apply(Items([item for n in range(30, 45) for item in rollout(n)]))
    monitor.acknowledge(before.alerts[0].serial)
    after = monitor.snapshot()
    assert before == copy
    assert (before.rollout, after.rollout) == (29, 44)
    assert [a.state for a in before.alerts] == [AlertState.FIRING]
    assert [a.state for a in after.alerts] == [AlertState.RESOLVED]


def test_it_has_what_a_signal_says_in_numbers_and_words() -> None:
    run = jumped().snapshot()
    gap, kl = run.signals["gap"], run.signals["KL to the engine"]
    assert gap.log_name == "train/train_rollout_logprob_abs_diff"
    assert (gap.values.last, gap.values.rollout, gap.values.mean, gap.values.high) == (0.04, 29, 0.04, 0.04)
    assert gap.values.count == 30
    assert (gap.state, gap.severity, kl.state) == ("firing", "critical", "not judged")
    assert gap.range is not None
    assert gap.range.low < 0.015 < gap.range.high
    (alert,) = run.firing
    (measured,) = alert.evidence.measured
    assert measured.last == 0.04
    assert measured.level == pytest.approx(0.015, rel=0.05)
    assert alert.evidence.since == 21
    assert run.conditions["gap-jump"].state == "firing"
    assert run.kind == "alert"


def test_it_has_where_the_run_stands() -> None:
    monitor = Monitor(window=1)
    monitor.apply(Items(healthy(4)))
    begun = 1000.0 + 4 * SECONDS
    trained, done = Event(EventKind.TIMER_END, "train", begun - 30), {"done": "3", "total": "8"}
    monitor.apply(Items([trained, Event(EventKind.TIMER_START, "rollout", begun - 20)]))
    monitor.apply(Items([Event(EventKind.PROGRESS, "", begun - 10, done)]))
    run = monitor.snapshot()
    between = SECONDS - 101  # from the trainer's last line of a rollout to the answers of the next
    assert run.phase == PhaseSnapshot("rollout", begun - SECONDS + 101, begun - 20 + between, 3, 8)
    assert (run.rollout, run.rollouts, run.first, run.attempt, run.window) == (3, 4, 0, 1, 5)
    assert (run.profile, run.profile_warning, run.misfit) == ("", "", ())
    monitor.apply(Items([Event(EventKind.JOB_FAILED, "Job 'r' failed", begun)]))
    assert monitor.snapshot().phase == PhaseSnapshot(done=3, total=8), "nothing goes on any more"


def test_it_says_whose_levels_it_is_judged_by() -> None:
    profile = Profile(name="ours", warning="of one run", arguments={"lr": "1e-6"})
    monitor = Monitor(profile)
    monitor.apply(Items([args(lr="2e-6"), *healthy(2)]))
    run = monitor.snapshot()
    assert (run.profile, run.profile_warning) == ("ours", "of one run")
    assert len(run.misfit) == 1


def test_a_swing_is_between_two_rollouts() -> None:
    monitor = Monitor()
    monitor.apply(Items(list(rollout(0, reward=0.25))))
    assert monitor.snapshot().signals["reward"].values.swing is None
    monitor.apply(Items(list(rollout(1, reward=0.75))))
    reward = monitor.snapshot().signals["reward"].values
    assert (reward.swing, reward.low, reward.high, reward.mean) == (0.5, 0.25, 0.75, None)


# -- what a person says ------------------------------------------------------------------------------


def test_alerts_are_seen_and_silenced_by_their_serial() -> None:
    monitor = jumped()
    serial = monitor.snapshot().alerts[0].serial
    monitor.acknowledge(serial)
    monitor.silence(serial, 5)
    (alert,) = monitor.snapshot().alerts
    assert alert.seen
    assert (alert.snoozed(29), alert.snoozed(33), alert.snoozed(34)) == (True, True, False)
    monitor.silence(serial, 0)
    assert not monitor.snapshot().alerts[0].snoozed(29)


def test_a_condition_goes_off_and_comes_back_as_if_it_had_never_been_off() -> None:
    monitor, never = jumped(), jumped()
    monitor.disable("gap-jump")
    off = monitor.snapshot()
    assert off.conditions["gap-jump"].off
    assert [a.state for a in off.alerts] == [AlertState.SWITCHED_OFF]
    assert off.signals["gap"].state == "not judged"
    more = [item for n in range(30, 34) for item in rollout(n, gap=0.041)]
    monitor.apply(Items(more))
    never.apply(Items(more))
    monitor.enable("gap-jump")
    assert monitor.snapshot() == never.snapshot()


def test_a_new_baseline_can_be_taken_back_until_the_next_rollout() -> None:
    monitor = jumped()
    before = monitor.snapshot()
    monitor.rebase()
    run = monitor.snapshot()
    assert (run.rebased_at, run.can_undo_rebase, run.firing) == (29, True, ())
    assert monitor.undo_rebase()
    assert monitor.snapshot() == before
    monitor.rebase()
    monitor.apply(Items(list(rollout(30, gap=0.04))))
    assert not monitor.snapshot().can_undo_rebase
    assert not monitor.undo_rebase()
