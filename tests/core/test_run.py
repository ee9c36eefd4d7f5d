"""The state of a run: rollouts, attempts, crashes and stalls, whatever the cuts and without looking ahead."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import SECONDS, args, healthy, raised, rollout, state

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.records import Event, EventKind, Item, Record
from miles_tui.core.model.series import DEAD, PAUSED
from miles_tui.core.run.change import Change
from miles_tui.core.run.failure import SILENCE as CRASH_SILENCE
from miles_tui.core.run.run_state import RunState
from miles_tui.present.alerts.evidence_words import evidence_words

JUMPED: list[Item] = healthy(21) + [i for n in range(21, 30) for i in rollout(n, gap=0.04)]

LAUNCH = Event(EventKind.LAUNCH, "Running entrypoint for job")


def test_a_healthy_run_is_kept_and_raises_nothing() -> None:
    run = state(
        [args(num_rollout=30, rollout_batch_size=32, n_samples_per_prompt=8, global_batch_size=256), *healthy(30)]
    )
    assert run.pace.count == 30
    assert run.pace.number == 29
    assert run.total == 30
    assert run.updates_per_rollout == 1
    assert run.attempt == 1
    assert raised(run) == []
    assert run.verdict() == "finished"
    assert {name: s.extent.count for name, s in run.signals.items()} == dict.fromkeys(run.signals, 30)
    assert run.log_names["reward"] == "rollout/raw_reward"
    assert run.log_names["answer length"] == "rollout/response_lengths"
    assert run.pace.usual == SECONDS


def test_a_run_is_not_healthy_before_a_rule_was_asked() -> None:
    run = RunState(Judge())
    assert run.verdict() == "waiting"
    seen = []
    for item in healthy(30):
        run.feed([item])
        seen.append(run.verdict())
    assert seen[0] == "learning"
    assert "learning" not in seen[seen.index("healthy") :]


def test_a_signal_of_several_updates_counts_once_as_their_mean() -> None:
    run = state(healthy(12, k=4))
    assert run.updates_per_rollout == 4
    assert run.signals["gap"].extent.count == 12


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 40), max_size=60))
def test_feeding_in_pieces_changes_nothing(cuts: list[int]) -> None:
    whole = state(JUMPED)
    pieces, at = RunState(Judge()), 0
    for cut in cuts:
        pieces.feed(JUMPED[at : at + cut])
        at += cut
    pieces.feed(JUMPED[at:])
    pieces.finish()
    assert raised(pieces) == raised(whole) != []
    for name, series in whole.signals.items():
        assert series.points() == pieces.signals[name].points()


def test_judging_is_causal() -> None:
    whole = raised(state(JUMPED, finish=False))
    ((condition, step, _),) = whole
    assert condition == "gap-jump"
    assert step is not None
    for n in range(10, 30):
        seen = [(c, s) for c, s, _ in raised(state(JUMPED[: (n + 1) * 5], finish=False))]
        assert seen == ([("gap-jump", step)] if n >= step else [])


def test_a_resume_goes_on_with_the_baselines_and_kills_the_dead_branch() -> None:
    crash = Event(EventKind.TROUBLE, "RuntimeError: CUDA error", 3900.0, {"driver": "1"})
    again = [i for n in range(15, 30) for i in rollout(n, pid="99", start=20_000.0)]
    run = state([*healthy(18), crash, Event(EventKind.LAUNCH, "Running entrypoint"), *again])
    assert run.attempt == 2
    assert [(c, s) for c, s, _ in raised(run)] == [("crashed", 17), ("restarted", 15)]
    assert run.signals["reward"].extent.count == 30
    assert run.pace.count == 30
    dead = [p.rollout for p in run.signals["reward"].points() if p.flags & DEAD]
    assert dead == [15, 16, 17]
    assert all(a.resolved_step is not None for a in run.alerts if a.condition == "crashed")


def test_text_that_looks_like_an_error_and_is_followed_by_a_step_is_none() -> None:
    trouble = Event(EventKind.TROUBLE, "litellm.NotFoundError: cost map entry missing")
    run = state([*healthy(8), trouble, *healthy(4, first=8)])
    assert raised(run) == []


def test_a_traceback_at_the_end_is_a_crash_with_its_last_line() -> None:
    run = state(
        [*healthy(8), Event(EventKind.TROUBLE, "torch.OutOfMemoryError: CUDA out of memory", 99.0, {"driver": "1"})]
    )
    ((condition, step, resolved),) = raised(run)
    assert (condition, step, resolved) == ("crashed", 7, None)
    assert "CUDA out of memory" in evidence_words(run.alerts[0])
    assert run.verdict() == "crashed"


def test_the_drivers_last_word_stands_although_a_worker_talks_on() -> None:
    driver = Event(EventKind.TROUBLE, "RayTaskError: boom", None, {"driver": "1"})
    worker = Event(EventKind.TROUBLE, "ConnectionError: engine gone", None, {})
    assert "boom" in evidence_words(state([*healthy(8), driver, worker]).alerts[0])


def test_a_caught_error_of_a_worker_that_the_engines_outlive_is_no_crash() -> None:
    caught = Event(EventKind.TROUBLE, "httpx.ReadTimeout: trying again", 2600.0)
    assert raised(state([*healthy(10), caught, Event(EventKind.CLOCK, "", 2700.0)])) == []
    assert [c for c, *_ in raised(state([*healthy(10), caught, Event(EventKind.CLOCK, "", 2610.0)]))] == ["crashed"]
    run = RunState(Judge())
    run.feed([*healthy(10), caught], now=0.0)
    assert not run.tick(400.0).alerts
    assert run.tick(5 * SECONDS + 1).alerts
    assert run.verdict() == "crashed"


def test_the_cause_is_shown_and_not_its_wrapper() -> None:
    wrapper = Event(
        EventKind.TROUBLE, "ray.exceptions.RayTaskError(OutOfMemoryError): ray::train()", None, {"driver": "1"}
    )
    cause = Event(EventKind.TROUBLE, "torch.OutOfMemoryError: CUDA out of memory", None, {"driver": "1"})
    for order in ((wrapper, cause), (cause, wrapper)):
        assert "CUDA out of memory" in evidence_words(state([*healthy(8), *order]).alerts[0])


def test_live_a_traceback_is_a_crash_after_a_minute_of_silence() -> None:
    run = RunState(Judge())
    run.feed(healthy(8), now=100.0)
    run.feed([Event(EventKind.TROUBLE, "RuntimeError: x", None, {"driver": "1"})], now=101.0)
    assert not run.tick(100.0 + CRASH_SILENCE - 1).alerts
    assert run.tick(100.0 + CRASH_SILENCE).alerts
    assert run.verdict() == "crashed"
    run.feed(healthy(1, first=8), now=500.0)
    assert run.alerts[0].resolved_step == 8
    assert run.verdict() != "crashed"


def test_live_a_silent_run_is_stalled_by_the_time_since_arrival() -> None:
    run = RunState(Judge())
    run.feed(healthy(10), now=0.0)
    assert run.tick(5 * SECONDS - 1).alerts is False
    assert run.tick(5 * SECONDS + 1).alerts
    assert run.verdict() == "stalled"
    run.feed(healthy(1, first=10), now=2000.0)
    assert raised(run) == [("stalled", 9, 10)]


def test_a_stall_in_the_middle_of_a_log_is_told_as_it_would_have_been_live() -> None:
    late = [i for n in range(10, 14) for i in rollout(n, start=1000.0 + 9000.0)]
    assert ("stalled", 9, 10) in raised(state([*healthy(10), *late]))


def test_engine_lines_after_the_last_record_are_no_progress() -> None:
    run = state(
        [*healthy(10), Event(EventKind.TIMER_START, "update_weights", 2600.0), Event(EventKind.CLOCK, "", 9000.0)]
    )
    assert raised(run) == [("stalled", 9, None)]
    assert "update_weights" in evidence_words(run.alerts[0])
    assert "still grows" in evidence_words(run.alerts[0])


def test_a_job_that_failed_says_its_tail_again_and_that_is_no_news() -> None:
    lines = healthy(6)
    failed = [
        Event(EventKind.TROUBLE, "AssertionError: x", None, {"driver": "1"}),
        Event(EventKind.JOB_FAILED, "Job 'r' failed"),
    ]
    run = state([*lines, *failed, *lines[-8:], failed[0]])
    assert [c for c, _, _ in raised(run)] == ["crashed"]
    assert run.pace.count == 6
    assert run.attempt == 1


def test_not_a_number_is_kept_and_seen() -> None:
    run = state([*healthy(12), *rollout(12, grad=math.nan)])
    assert ("not-finite", 12, None) in raised(run)
    assert evidence_words(run.alerts[-1]) == "gradient norm is NaN in rollout 12"
    last = run.signals["gradient norm"].last
    assert last is not None
    assert math.isnan(last.value)
    assert math.isfinite(run.signals["gradient norm"].extent.high)


def test_a_million_different_metrics_are_bounded() -> None:
    run = RunState(Judge(), most_metrics=50)
    for n in range(40):
        run.feed([Record("perf", n, {f"perf/{n}-{i}": 1.0 for i in range(100)})])
    assert len(run.metrics) == 50
    assert run.metrics_left_out == 3950


def test_absurd_numbers_are_no_rollouts() -> None:
    run = state([*healthy(3), Record("rollout", 10**15, {"rollout/raw_reward": 0.1})])
    assert run.pace.number == 2


def test_change_names_only_what_changed() -> None:
    run = RunState(Judge())
    perf, scored, *_ = rollout(0)
    assert run.feed([perf]).signals == {"answer length", "cut share", "rollout time"}
    assert run.feed([scored]).signals == {"reward", "answer length", "cut share"}
    assert not run.feed([])
    assert run.feed([Event(EventKind.TIMER_START, "actor_train", 5.0)]).header
    assert not run.feed([Event(EventKind.CLOCK, "", 6.0)])


@pytest.mark.parametrize("change", [Change({"reward"}), Change(metrics=True), Change(alerts=True), Change(header=True)])
def test_a_change_takes_in_what_another_feed_changed(change: Change) -> None:
    other, mine = Change(), Change(set(change.signals), change.metrics, change.alerts, change.header)
    other.merge(change)
    mine.merge(Change())
    assert change
    assert other == mine == change


def test_the_end_of_a_log_changes_its_header() -> None:
    assert RunState(Judge()).finish().header


def test_a_record_says_which_phase_it_closes() -> None:
    run = RunState(Judge())
    sampled, scored, *_, trained = rollout(0)
    for record, phase in ((sampled, "training"), (trained, "rollout"), (scored, "training")):
        run.feed([record])
        assert run.phase.name == phase
    run.feed([item for n in range(1, 5) for item in rollout(n)])
    assert run.phase.usual_end == 1000 + 4 * SECONDS + 101 + (SECONDS - 101)
    run.feed([next(rollout(5))])
    assert run.phase.usual_end == 1000 + 5 * SECONDS + 101


@pytest.mark.parametrize(("given_args", "k"), [
    ({"rollout_batch_size": 32, "n_samples_per_prompt": 8, "global_batch_size": 64}, 4),
    ({"num_steps_per_rollout": 2, "global_batch_size": "None"}, 2),
    ({"rollout_batch_size": 32, "n_samples_per_prompt": "None", "global_batch_size": 64}, None),
    ({"global_batch_size": 0, "rollout_batch_size": 8, "n_samples_per_prompt": 8}, None),
])  # fmt: skip
def test_k_from_the_printed_arguments(given_args: dict[str, object], k: int | None) -> None:
    assert state([args(**given_args)]).updates_per_rollout == k


def test_k_that_the_lines_told_stands_whatever_is_printed_later() -> None:
    run = state([*healthy(4, k=4), args(num_steps_per_rollout=2)])
    assert run.updates_per_rollout == 4


def test_a_restart_says_how_far_the_run_had_come() -> None:
    (alert,) = state([*healthy(5), LAUNCH, *rollout(3, pid="99", start=9000.0)]).alerts
    assert (alert.condition, alert.evidence.facts) == ("restarted", (("attempt", 2), ("reached", 4)))


def test_the_phase_follows_the_timers() -> None:
    run = RunState(Judge())
    run.feed([Event(EventKind.TIMER_START, "train", 1.0), Event(EventKind.TIMER_START, "log_probs", 2.0)])
    assert (run.phase.name, run.phase.since, run.phase.open_timer) == ("scoring", 2.0, "log_probs")
    run.feed([Event(EventKind.TIMER_END, "log_probs", 3.0)])
    assert (run.phase.name, run.phase.open_timer) == ("training", "train")
    perf = next(iter(rollout(0)))
    run.feed([perf])
    assert run.phase.open_timer is None


@pytest.mark.parametrize("told_by", ["a line of the log", "a pause log"])
def test_a_rollout_that_a_pause_touched_is_marked_and_not_judged(told_by: str) -> None:
    class Pauses:
        def between(self, after: float, until: float) -> bool:
            return told_by == "a pause log" and after < 1000.0 + 25 * SECONDS - 5 <= until

    run = RunState(Judge(), pauses=Pauses())
    for n in range(30):
        if n == 25 and told_by == "a line of the log":
            run.feed([Event(EventKind.PAUSE, "heat guard: paused")])
        run.feed(rollout(n, seconds=400.0 if n == 25 else 53.0))
    hollow = [p.rollout for p in run.signals["rollout time"].points() if p.flags & PAUSED]
    assert hollow == [25]
    assert [p.rollout for p in run.signals["gap"].points() if p.flags & PAUSED] == [25]
    assert raised(run) == []


def test_the_records_own_clock_counts_where_others_disagree() -> None:
    ahead = Event(EventKind.CLOCK, "", 10_000_000.0)
    assert raised(state([ahead, *healthy(20)])) == []
    back = [i for n in range(20, 30) for i in rollout(n, start=1000.0 - 30_000.0)]
    assert raised(state([*healthy(20), *back])) == []
    hang = Event(EventKind.CLOCK, "", 1000.0 - 30_000.0 + 30 * SECONDS + 7200)
    assert [c for c, *_ in raised(state([*healthy(20), *back, hang]))] == ["stalled"]


def test_a_block_that_is_printed_again_changes_nothing() -> None:
    run = state([*healthy(50, k=4), *healthy(25, first=5, k=4), *healthy(5, first=50, k=4)])
    assert raised(run) == []
    assert run.attempt == 1
    assert run.pace.count == 55


def test_not_a_number_in_another_model_of_the_run_is_seen() -> None:
    items: list[Item] = []
    for n in range(14):
        items += list(rollout(n))[:2]
        bad = math.nan if n == 12 else 1.0
        items += [
            Record("step", n, {f"{name}/train/grad_norm": value}) for name, value in (("alpha", 1.0), ("beta", bad))
        ]
    run = state(items)
    assert [(c, s) for c, s, _ in raised(run)] == [("not-finite", 12)]
    assert "beta/train/grad_norm" in evidence_words(run.alerts[0])


def test_groups_that_all_got_one_reward_are_no_signal() -> None:
    items: list[Item] = [args(rollout_batch_size=32)]
    for n in range(8):
        for item in rollout(n):
            if isinstance(item, Record) and item.kind == "perf" and "perf/rollout_time" in item.metrics:
                item.metrics.update({"rollout/zero_std/count_0.1": 30, "rollout/zero_std/count_1.0": 2})
            items.append(item)
    assert [c for c, *_ in raised(state(items))] == ["no-signal"]
    assert raised(state(items[1:])) == [], "without the number of groups nothing is claimed"
