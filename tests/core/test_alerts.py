"""The life of an alert, what silences it, and what the person says to it."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import judged, raised, run, the
from test_conditions import after, growing, scaled

from miles_tui.core.alerting.alert import AlertState
from miles_tui.core.alerting.conditions.base import Severity, State
from miles_tui.core.alerting.engine import GRACE, KEPT_ALERTS, Judge
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.alerting.ranges import RANGE_FROM, Learning, Range
from miles_tui.core.model.rollout import Rollout
from miles_tui.present.alerts.alert_report import alert_report
from miles_tui.present.alerts.evidence_words import evidence_words, told_words


def states(rollouts: Sequence[Rollout], condition: str) -> list[State]:
    """The condition's state after each rollout."""
    judge, found = Judge(), []
    for rollout in rollouts:
        judged([rollout], judge=judge)
        found.append(judge.states[condition].state)
    return found


def test_the_whole_life_is_told() -> None:
    found = states(run(60, 1, change=after(30, scaled("gap", 2), until=40)), "gap-jump")
    assert found[0] is State.LEARNING
    assert found[29] is State.OK
    assert found[31] is State.PENDING
    assert found[32] is State.FIRING
    assert found[40] is State.RECOVERING
    assert found[42] is State.OK


def test_learning_is_counted() -> None:
    judge = judged(run(3, 1))
    assert (judge.states["gap-jump"].count, judge.states["gap-jump"].of) == (3, 6)
    assert judge.ranges["reward"] == Learning(3, RANGE_FROM)


def test_the_runs_own_range_is_of_its_first_rollouts() -> None:
    rollouts = run(30, 1, change=after(12, scaled("gap", 5)))
    known = judged(rollouts).ranges["gap"]
    first = [r.values["gap"] for r in rollouts[:RANGE_FROM]]
    assert known == Range(min(first), max(first), "first 10")


@pytest.mark.parametrize(("factor", "counts"), [(8.0, False), (-8.0, False), (1.3, True), (0.7, True)])
def test_a_pause_among_the_first_rollouts_is_no_part_of_the_range(factor: float, counts: bool) -> None:
    rollouts = run(12, 1, change=after(4, scaled("rollout time", factor), until=5))
    times = [r.values["rollout time"] for r in rollouts[:RANGE_FROM]]
    if not counts:
        del times[4]
    assert judged(rollouts).ranges["rollout time"] == Range(min(times), max(times), "first 10")


def test_one_value_beside_equal_ones_is_in_the_range() -> None:
    rollouts = run(12, 1, change=lambda n, values: values.update({"clip fraction": 0.01 if n == 4 else 0.0}))
    assert judged(rollouts).ranges["clip fraction"] == Range(0.0, 0.01, "first 10")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 89))
def test_judging_never_looks_ahead(seed: int, cut: int) -> None:
    rollouts = run(90, seed, change=after(40, growing("gradient norm", 0.1)))
    whole, part = judged(rollouts), judged(rollouts[:cut])
    before = [(a.condition, a.raised_step) for a in whole.alerts if a.raised_step is not None and a.raised_step < cut]
    assert [(a.condition, a.raised_step) for a in part.alerts] == before


def test_what_comes_back_soon_is_the_same_alert() -> None:
    def twice(n: int, values: dict[str, float]) -> None:
        if 30 <= n < 40 or 44 <= n < 50:
            values["gap"] *= 2

    alert = the(judged(run(70, 1, change=twice)), "gap-jump")
    assert alert.count == 2
    assert alert.raised_step == 32
    assert alert.resolved_step == 52
    assert alert.evidence == the(judged(run(33, 1, change=twice)), "gap-jump").evidence, "as it was raised"
    assert alert.evidence.since == 30
    assert told_words(alert).startswith(f"{evidence_words(alert)}; back at rollout 4")
    assert alert.later is not None
    assert alert.later.evidence.since == 44


def test_what_was_held_back_has_its_evidence_when_it_is_raised() -> None:
    """Most answers are cut while the reward falls and the length rises; then only the cutting stays."""

    def talks(n: int, values: dict[str, float]) -> None:
        if n >= 42:
            values["cut share"] = 0.6
        if 30 <= n < 50:
            values["reward"] -= 0.03 * (n - 29)
            values["answer length"] *= 1 + 0.05 * (n - 29)

    judge = judged(run(60, 1, change=talks))
    assert [a.condition for a in judge.alerts] == ["reward-down-length-up", "cut-share-high"]
    first, second = judge.alerts
    assert second.raised_step is not None
    assert first.resolved_step is not None
    assert second.raised_step > first.resolved_step - 1
    assert evidence_words(second).startswith("60 % of the answers are cut, ")
    assert evidence_words(second).endswith("; held back until now")


def test_what_comes_back_late_is_a_new_alert() -> None:
    def twice(n: int, values: dict[str, float]) -> None:
        if 30 <= n < 40 or 60 <= n < 66:
            values["gap"] *= 2

    assert raised(judged(run(80, 1, change=twice))) == [("gap-jump", 32), ("gap-jump", 62)]


def test_more_signals_join_the_same_alert() -> None:
    def lost(n: int, values: dict[str, float]) -> None:
        if n >= 5:
            values["gradient norm"] = float("nan")
        if n >= 7:
            values["gap"] = float("inf")

    alert = the(judged(run(12, 1, change=lost)), "not-finite")
    assert alert.raised_step == 5
    assert alert.signals == ("gradient norm", "gap")
    assert evidence_words(alert) == "gradient norm is NaN in rollout 5", "as it was raised"
    assert (
        told_words(alert)
        == f"{evidence_words(alert)}; worse at rollout 7: gap and gradient norm are NaN and inf in rollout 7"
    )


def test_a_restart_gives_grace_and_keeps_the_baselines() -> None:
    first = run(30, 1)
    second = [
        Rollout(r.number, 2, r.rank, r.values, r.metrics, r.first, 1, 1)
        for r in run(30, 2, change=after(0, scaled("gap", 3)))
    ]
    judge = judged(first)
    judge.restarted(20, 5000.0, Evidence(text="attempt 2 begins at rollout 20"))
    assert judge.grace == GRACE
    judged(second[:10], judge=judge)
    assert judge.grace == 0
    notice, jump = judge.alerts
    assert (notice.condition, notice.severity, notice.resolved_step) == ("restarted", Severity.NOTICE, GRACE - 1)
    assert (jump.condition, jump.raised_step, jump.attempt) == ("gap-jump", GRACE + 2, 2)


def test_facts_are_raised_once_and_anew_after_they_were_cleared() -> None:
    judge = Judge()
    judge.raise_("crashed", 3, 1.0, Evidence(text="RuntimeError: one"))
    judge.raise_("crashed", 3, 2.0, Evidence(text="RuntimeError: its echo"))
    judge.clear("crashed", 4, 3.0)
    judge.raise_("crashed", 6, 4.0, Evidence(text="RuntimeError: two"))
    assert [(a.raised_step, a.resolved_step, evidence_words(a)) for a in judge.alerts] == [
        (3, 4, "RuntimeError: one"),
        (6, None, "RuntimeError: two"),
    ]


def test_known_messages_carry_their_own_words() -> None:
    judge = Judge()
    judge.raise_("known-message", None, None, Evidence(text="unsupported operand"), message="wandb-group")
    judge.raise_("known-message", None, None, Evidence(text="W&B offline mode"), message="wandb-offline")
    judge.raise_("known-message", None, None, Evidence(text="W&B offline mode"), message="wandb-offline")
    group, offline = judge.alerts
    assert "--wandb-group" in group.first_check
    assert offline.count == 2
    assert group.first_check != offline.first_check


def told(judge: Judge) -> list[tuple[object, ...]]:
    """All that is said of a run's alerts and conditions."""
    return [
        *(dataclasses.astuple(alert_report(alert.snapshot())) for alert in judge.alerts),
        *sorted(judge.states.items()),
    ]


def test_switched_off_is_said_and_is_silent() -> None:
    rollouts = run(60, 1, change=after(30, scaled("gap", 2)))
    off = judged(rollouts, judge=Judge(off=["gap-jump"]))
    assert raised(off) == []
    assert off.states["gap-jump"].state is State.OFF
    judge = judged(rollouts[:40])
    (alert,) = judge.alerts
    judge.switch("gap-jump", on=False)
    assert (alert.state, alert.raised_step, alert.resolved_step) == (AlertState.SWITCHED_OFF, 32, 39)
    assert not alert.open
    judged(rollouts[40:], judge=judge)
    assert alert.state is AlertState.SWITCHED_OFF
    assert judge.states["gap-jump"].state is State.OFF
    assert all(reading.state is not State.FIRING for reading in judge.readings_of("gap"))


@pytest.mark.parametrize("off", [0, 20, 31, 33, 40, 52])
@pytest.mark.parametrize("on", [34, 45, 53, 58, 70])
def test_switched_on_again_it_is_as_if_it_had_never_been_off(off: int, on: int) -> None:
    """The gap jumps at 30, is mended at 48, and jumps again at 56; nothing is learned from what is broken."""
    rollouts = run(75, 1, change=lambda n, values: scaled("gap", 2)(n, values) if 30 <= n < 48 or n >= 56 else None)
    always, judge = Judge(), Judge()
    for rollout in rollouts:
        for one in (always, judge):
            if one is judge and rollout.number == off < on:
                one.switch("gap-jump", on=False)
            if one is judge and rollout.number == on > off:
                one.switch("gap-jump", on=True)
            judged([rollout], judge=one)
            if one is judge and off <= rollout.number < on:
                assert not any(a.open for a in judge.alerts if a.condition == "gap-jump")
    assert ("gap-jump", 32) in raised(always)
    assert told(judge) == told(always)


def state_of(judge: Judge) -> State:
    return judge.states["stalled"].state


def test_what_a_line_raised_is_there_again_too() -> None:
    judge = Judge()
    judge.raise_("stalled", 3, None, Evidence(text="silent"))
    judge.switch("stalled", on=False)
    assert [a.state for a in judge.alerts] == [AlertState.SWITCHED_OFF]
    assert state_of(judge) is State.OFF
    judge.switch("stalled", on=True)
    assert [(a.state, a.raised_step) for a in judge.alerts] == [(AlertState.FIRING, 3)]
    assert state_of(judge) is State.FIRING
    judge.switch("stalled", on=False)
    judge.clear("stalled", 5, None)
    judge.raise_("stalled", 8, None, Evidence(text="silent again"))
    judge.raise_("crashed", 9, None, Evidence(text="a traceback"))
    judge.clear("stalled", 10, None)
    assert [a.condition for a in judge.alerts] == ["stalled", "crashed"]
    judge.switch("stalled", on=True)
    assert [(a.condition, a.raised_step, a.resolved_step) for a in judge.alerts] == [
        ("stalled", 3, 5), ("stalled", 8, 10), ("crashed", 9, None),
    ]  # fmt: skip


def test_an_alert_that_is_off_silences_no_other() -> None:
    off = Judge(off=["not-finite"])
    judged(run(40, 1, change=after(30, scaled("gap", 2))), judge=off)
    rollouts = run(44, 1, change=after(30, scaled("gap", 2)))
    for rollout in rollouts[29:]:
        rollout.values["reward"] = math.nan
    off = judged(rollouts, judge=Judge(off=["not-finite"]))
    assert [condition for condition, _ in raised(off)] == ["gap-jump"]
    off.switch("not-finite", on=True)
    assert "not-finite" in [condition for condition, _ in raised(off)]


def test_a_new_baseline_can_be_taken_back_until_the_next_rollout() -> None:
    rollouts = run(80, 1, change=after(30, scaled("gap", 2)))
    always, judge = judged(rollouts[:40]), judged(rollouts[:40])
    judge.rebase()
    assert told(judge) != told(always)
    assert judge.undo_rebase()
    assert not judge.undo_rebase(), "once"
    assert judge.rebased_at is None
    assert (told(judge), judge.ranges) == (told(always), always.ranges)
    for one in (always, judge):
        judged(rollouts[40:], judge=one)
    assert (told(judge), judge.ranges) == (told(always), always.ranges)
    judge.rebase()
    judged(run(81, 1)[80:], judge=judge)
    assert not judge.can_undo_rebase
    assert not judge.undo_rebase()


def test_a_new_baseline_makes_the_change_the_normal() -> None:
    rollouts = run(80, 1, change=after(30, scaled("gap", 2)))
    judge = judged(rollouts[:40])
    judge.rebase()
    assert judge.rebased_at == 39
    assert judge.alerts[0].resolved_step == 39
    judged(rollouts[40:], judge=judge)
    assert raised(judge) == [("gap-jump", 32)]


@pytest.mark.parametrize("at", [1, 4, 9, 20, 45])
def test_a_new_attempt_or_baseline_at_any_time_is_no_fault(at: int) -> None:
    rollouts = run(90, 1)
    for anew in (Judge.rebase, lambda judge: judge.restarted(at, None, Evidence())):
        judge = judged(rollouts[:at])
        anew(judge)
        assert raised(judged(rollouts[at:], judge=judge)) == []


def test_what_is_missing_behind_a_new_baseline_is_learned() -> None:
    judge = judged(run(40, 1))
    judge.rebase()
    (empty,) = run(41, 1)[40:]
    empty.values.clear()
    judged([empty], judge=judge)
    assert {judge.states[name].state for name in ("gap-jump", "grad-norm-growth")} == {State.LEARNING}


def test_what_can_not_apply_is_off_until_it_can() -> None:
    judge = judged(run(12, 1))
    for design, state in ((frozenset({"gap-jump"}), State.OFF), (frozenset[str](), State.LEARNING)):
        judge.apply(design)
        assert judge.states["gap-jump"].state is state


def test_what_a_line_raised_fires_and_says_so() -> None:
    judge, evidence = Judge(), Evidence(text="boom")
    judge.raise_("crashed", 3, 9.0, evidence)
    assert (judge.states["crashed"].state, judge.states["crashed"].evidence) == (State.FIRING, evidence)
    judge.switch("crashed", on=False)
    judge.clear("crashed", 4, 10.0)
    judge.raise_("crashed", 5, 11.0, evidence)
    assert judge.states["crashed"].state is State.OFF


@pytest.mark.parametrize(("condition", "change", "first", "of"), [
    ("gap-jump", scaled("gap", 3.0), 2, 3),
    ("reward-collapse", scaled("reward", 0.0), 1, 2),
    ("signal-lost", lambda k, values: values.pop("reward"), 1, 3),
])  # fmt: skip
def test_what_is_pending_says_how_far_it_is(
    condition: str, change: Callable[[int, dict[str, float]], None], first: int, of: int
) -> None:
    rollouts = run(60, 1, change=after(40, change))
    judge = judged(rollouts[:40])
    for count in range(1, of):
        judged([rollouts[39 + count]], judge=judge)
        word = judge.states[condition]
        wanted = (State.PENDING, count, of) if count >= first else (State.OK, 0, 0)
        assert (word.state, word.count, word.of) == wanted
    judged([rollouts[39 + of]], judge=judge)
    (alert,) = judge.alerts
    assert (alert.condition, alert.raised_step, alert.raised_time) == (condition, 39 + of, rollouts[39 + of].time)


def test_seen_and_snoozed() -> None:
    judge = judged(run(40, 1, change=after(30, scaled("gap", 2))))
    alert = the(judge, "gap-jump")
    alert.seen = True
    assert alert.seen
    alert.snooze(5, judge.at)
    assert alert.snoozed(39)
    assert alert.snoozed(43)
    assert not alert.snoozed(44)
    alert.snooze(0, judge.at)
    assert not alert.snoozed(39)


def test_memory_is_bounded() -> None:
    judge = Judge()
    for n in range(KEPT_ALERTS + 50):
        judge.raise_("crashed", n, None, Evidence(text=str(n)))
        judge.clear("crashed", n, None)
    assert len(judge.alerts) == KEPT_ALERTS
    assert evidence_words(judge.alerts[-1]) == str(KEPT_ALERTS + 49)


def test_no_open_alert_makes_room_for_a_resolved_or_a_milder_one() -> None:
    judge = Judge()
    judge.raise_("crashed", 1, None, Evidence(text="the end"))
    judge.raise_("secret-in-log", 1, None, Evidence(text="a key"))
    for n in range(2 * KEPT_ALERTS):
        judge.raise_("stalled", n, None, Evidence(text=str(n)))
        judge.clear("stalled", n, None)
        judge.restarted(n, None, Evidence(text=str(n)))
    assert len(judge.alerts) == KEPT_ALERTS
    assert [a.condition for a in judge.alerts[:2]] == ["crashed", "secret-in-log"]
    assert [a.condition for a in judge.alerts if a.open] == ["crashed", "secret-in-log", "restarted"]
    assert sum(a.condition == "stalled" for a in judge.alerts) == KEPT_ALERTS - 3, "resolved notices went first"


def test_lines_that_say_the_same_are_one_alert() -> None:
    judge = Judge()
    judge.raise_("secret-in-log", None, None, Evidence(text="hf_***"))
    assert evidence_words(judge.alerts[0]) == "hf_***"
    judge.raise_("secret-in-log", None, None, Evidence(text="export HF_TOKEN=***"))
    assert evidence_words(judge.alerts[0]) == "hf_*** (and 1 more line)"
    for n in range(600):
        judge.raise_("secret-in-log", n, None, Evidence(text=f"{n} ***"))
    for name in ("wandb-offline", "tensorboard", "wandb-offline"):
        judge.raise_("known-message", 1, None, Evidence(text=f"{name} is said"), message=name)
    assert [(evidence_words(a), a.count) for a in judge.alerts] == [
        ("hf_*** (and 601 more lines)", 602),
        ("wandb-offline is said (and 1 more line)", 2),
        ("tensorboard is said", 1),
    ]


def test_thousands_of_bad_names_are_told_by_a_few() -> None:
    judge, bad = Judge(), {f"{n}/train/loss": math.nan for n in range(3000)}
    for n in range(3):
        judge.sampled(Rollout(n, metrics={**bad, f"{n}/x/train/loss": math.nan}))
    alert = the(judge, "not-finite")
    assert evidence_words(alert).endswith("15/train/loss and 2985 more are NaN in rollout 0")
    assert len(alert.signals) == 16


def test_a_rollout_costs_well_under_a_millisecond() -> None:
    rollouts = run(1500, 1)
    began = time.process_time()
    judged(rollouts)
    # 100 µs on the machine where it was measured; a test must not fail because another one is slow
    assert (time.process_time() - began) / len(rollouts) < 0.001


def test_going_back_to_an_earlier_point_of_the_curve_is_no_fall() -> None:
    for seed in range(12):
        judge = judged(run(60, seed))
        judge.restarted(0, None, Evidence(text="attempt 2 begins at rollout 0"))
        again = run(60, seed + 100)
        for rollout in again:
            rollout.attempt = 2
        before = len(judge.alerts)
        judged(again, judge=judge)
        assert [a.condition for a in judge.alerts[before:] if a.severity is not Severity.NOTICE] == []
