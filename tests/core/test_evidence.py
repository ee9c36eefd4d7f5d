"""The evidence of each condition as data: its numbers are those that were fed, and the words need nothing else."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from statistics import fmean, median

import pytest
from runs import healthy, rollout, state
from simulated import judged, run, the
from test_golden import of_own

from miles_tui.core.alerting.alert import Alert, AlertState
from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence, Measured
from miles_tui.core.model.records import Event, EventKind
from miles_tui.core.model.rollout import Rollout
from miles_tui.core.run.run_state import RunState
from miles_tui.present.alerts.evidence_words import evidence_sentence, evidence_words, told_words


def changed(at: int, **by: Callable[[int, float], float]) -> list[Rollout]:
    """A run of 60 rollouts whose values are changed from rollout `at` on: (rollouts since, value) -> value."""

    def change(n: int, values: dict[str, float]) -> None:
        for name, new in by.items() if n >= at else ():
            values[name.replace("_", " ")] = new(n - at, values[name.replace("_", " ")])

    return run(60, 1, change=change)


def always(value: float) -> Callable[[int, float], float]:
    return lambda since, before: value


def without_gap() -> list[Rollout]:
    rollouts = run(40, 1)
    for one in rollouts[30:]:
        del one.values["gap"]
    return rollouts


def off_policy() -> list[Rollout]:
    rollouts = run(30, 1, updates=2)
    for one in rollouts[20:]:
        one.first = {"train/ppo_kl": 1.4e-4, "train/pg_clipfrac": 0.003}
    return rollouts


def stalled() -> RunState:
    silent = state(healthy(21), finish=False)
    silent.tick(0.0)
    silent.tick(7200.0)
    return silent


def said(kind: EventKind, text: str, **data: str) -> RunState:
    return state([*healthy(8), Event(kind, text, None, data)])


TALKS = {
    "reward": lambda since, before: before - 0.02 * (since + 1),
    "answer_length": lambda since, before: before + 25.0 * (since + 1),
    "rollout_time": lambda since, before: before + 1.2 * (since + 1),
}
RUNS: dict[str, Callable[[], list[Rollout]]] = {
    "gap-jump": lambda: changed(30, gap=always(0.05)),
    "grad-norm-growth": lambda: changed(30, gradient_norm=lambda since, before: 1.2 ** (since + 1)),
    "reward-down-length-up": lambda: changed(30, **TALKS),
    "clipped-on-policy": lambda: changed(30, clip_fraction=always(4e-4)),
    "rollout-slowdown": lambda: changed(30, rollout_time=lambda since, before: before * 1.3),
    "not-finite": lambda: changed(30, gap=always(math.inf), gradient_norm=always(math.nan)),
    "signal-lost": without_gap,
    "off-policy-at-start": off_policy,
    "reward-collapse": lambda: changed(30, reward=always(0.01)),
    "cut-share-high": lambda: changed(30, cut_share=always(0.7)),
    "no-signal": lambda: changed(30, reward=always(0.0), gradient_norm=always(0.0)),
}
STATES: dict[str, Callable[[], RunState]] = {
    "stalled": stalled,
    "crashed": lambda: said(EventKind.TROUBLE, "RuntimeError: boom"),
    "secret-in-log": lambda: said(EventKind.SECRET, "hf_***", id="hf"),
    "known-message": lambda: said(EventKind.MESSAGE, "W&B offline mode", id="wandb-offline"),
    "restarted": lambda: state(
        [*healthy(20), *(item for n in range(10, 13) for item in rollout(n, start=9000.0, pid="43"))]
    ),
}


def alert_of(condition: str) -> Alert:
    """The first alert of a condition."""
    if condition == "out-of-range":
        length = changed(30, answer_length=always(1200.0))
        found = judged(length, of_own()).alerts
    elif condition in RUNS:
        found = judged(RUNS[condition]()).alerts
    else:
        found = STATES[condition]().alerts
    return next(alert for alert in found if alert.condition == condition)


def raised(condition: str) -> tuple[Evidence, list[Rollout], int]:
    """The evidence, what was fed up to the alert, and when it was raised."""
    alert = alert_of(condition)
    assert alert.raised_step is not None
    return alert.evidence, RUNS[condition]()[: alert.raised_step + 1], alert.raised_step


def last_mean(fed: list[Rollout], name: str, over: int) -> float:
    return fmean(one.values[name] for one in fed[-over:])


def test_gap_jump() -> None:
    evidence, fed, _ = raised("gap-jump")
    (gap,) = evidence.measured
    assert (gap.name, gap.last, gap.over, evidence.since, evidence.source) == ("gap", 0.05, 3, 30, "run")
    assert gap.mean == pytest.approx(0.05)
    assert gap.level == pytest.approx(median(one.values["gap"] for one in fed[:30]), rel=0.05)
    assert gap.scale is not None
    assert 0 < gap.scale < 0.002


def test_grad_norm_growth() -> None:
    evidence, fed, at = raised("grad-norm-growth")
    (norm,) = evidence.measured
    assert norm.last == pytest.approx(fed[at].values["gradient norm"])
    assert norm.mean == pytest.approx(last_mean(fed, "gradient norm", norm.over))
    assert norm.level == pytest.approx(median(one.values["gradient norm"] for one in fed[:30]), rel=0.3)
    assert norm.low is not None
    assert norm.level is not None
    assert norm.high is not None
    assert norm.low < norm.level < norm.high
    assert evidence.source == "run"
    assert evidence.since == pytest.approx(30, abs=4)


def test_reward_down_length_up() -> None:
    evidence, fed, _ = raised("reward-down-length-up")
    for measured, name in zip(evidence.measured, ("reward", "answer length"), strict=True):
        assert (measured.name, measured.over) == (name, 5)
        assert measured.mean == pytest.approx(last_mean(fed, name, 5), rel=0.1)
        assert measured.level == pytest.approx(fmean(one.values[name] for one in fed[20:30]), rel=0.15)
    assert evidence.source == "run"
    assert evidence.since == pytest.approx(30, abs=4)


def test_rollout_slowdown() -> None:
    evidence, fed, at = raised("rollout-slowdown")
    time, length = evidence.measured
    values = fed[at].values
    assert (time.name, time.last) == ("rollout time", values["rollout time"])
    assert (length.name, length.last) == ("answer length", values["answer length"])
    assert time.level == pytest.approx(values["rollout time"] / 1.3, rel=0.05)
    assert dict(evidence.facts)["slower"] == pytest.approx(0.3, abs=0.15), "five rollouts, the last of them slow"
    assert evidence.source == "run"
    assert evidence.since == pytest.approx(30, abs=4)


def test_reward_collapse() -> None:
    evidence, fed, at = raised("reward-collapse")
    before = median(one.values["reward"] for one in fed[18:30])
    assert at == 31
    (reward,) = evidence.measured
    assert reward.level == pytest.approx(before)
    assert reward == Measured("reward", last=0.01, level=reward.level)
    assert evidence.facts == (("rollouts", 2),)


def test_cut_share_high() -> None:
    evidence, fed, _ = raised("cut-share-high")
    (share,) = evidence.measured
    assert share.mean == pytest.approx(last_mean(fed, "cut share", 5))
    assert share == Measured("cut share", last=0.7, mean=share.mean, over=5)


def test_a_cut_share_that_creeps_has_its_level_before() -> None:
    creeps = {"cut_share": lambda since, before: min(before + 0.03 * since, 0.49), "reward": always(0.6)}
    rollouts = changed(30, **creeps)
    alert = the(judged(rollouts), "cut-share-high")
    assert alert.raised_step is not None
    fed = rollouts[: alert.raised_step + 1]
    mean, before = last_mean(fed, "cut share", 5), last_mean(fed[:-8], "cut share", 4)
    (share,) = alert.evidence.measured
    assert share.mean == pytest.approx(mean)
    assert share.level == pytest.approx(before)
    assert share == Measured("cut share", mean=share.mean, over=5, level=share.level)
    assert alert.evidence.facts == (("rollouts", 12),)
    assert evidence_words(alert).endswith(" were 12 rollouts ago, and the reward has not risen")


def test_out_of_range() -> None:
    (length,), known = alert_of("out-of-range").evidence.measured, of_own().signals["answer length"]
    assert length.name == "answer length"
    assert length.over == 5
    assert (length.low, length.high) == (known.low, known.high)
    assert length.mean is not None
    assert known.high < length.mean <= 1200
    assert alert_of("out-of-range").evidence.source == "profile own"


def test_what_is_an_identity_has_what_it_was_and_what_it_must_be() -> None:
    assert alert_of("clipped-on-policy").evidence.measured == (Measured("clip fraction", last=4e-4, level=0.0),)
    kl, clipped = Measured("train/ppo_kl", last=1.4e-4, level=0.0), Measured("clip fraction", last=0.003, level=0.0)
    assert alert_of("off-policy-at-start").evidence.measured == (kl, clipped)
    evidence = alert_of("no-signal").evidence
    assert evidence.measured == (Measured("gradient norm", last=0.0), Measured("reward", last=0.0))
    assert evidence.facts == (("rollouts", 3),)


def test_not_finite_counts_what_it_does_not_name() -> None:
    evidence = alert_of("not-finite").evidence
    assert {m.name: str(m.last) for m in evidence.measured} == {"gap": "inf", "gradient norm": "nan"}
    assert dict(evidence.facts) == {"rollout": 30, "nan": 1, "inf": 1}


def test_signal_lost() -> None:
    evidence = alert_of("signal-lost").evidence
    assert (evidence.measured, evidence.facts) == ((Measured("gap", rollout=29),), (("rollouts", 3),))


def test_what_no_rollout_decides() -> None:
    silent = alert_of("stalled").evidence
    assert silent == Evidence((Measured("silence", last=7200.0, level=160.0),), facts=(("last", "perf 20"),))
    assert alert_of("crashed").evidence == Evidence(facts=(("last", "perf 7"),), text="RuntimeError: boom")
    assert alert_of("restarted").evidence == Evidence(since=10, facts=(("attempt", 2), ("reached", 19)))
    assert alert_of("secret-in-log").evidence == Evidence(text="hf_***")
    assert alert_of("known-message").evidence == Evidence(text="W&B offline mode")


def test_a_profiles_level_is_named() -> None:
    rollouts = changed(5, gap=always(0.05), gradient_norm=lambda since, before: 1.2 ** (since + 1))
    judge = judged(rollouts, of_own())
    assert {the(judge, name).evidence.source for name in ("gap-jump", "grad-norm-growth")} == {"profile own"}


def test_what_was_held_back_says_from_when_and_until_when() -> None:
    def talks(n: int, values: dict[str, float]) -> None:
        if n >= 42:
            values["cut share"] = 0.6
        if 30 <= n < 50:
            values["reward"] -= 0.03 * (n - 29)
            values["answer length"] *= 1 + 0.05 * (n - 29)

    alert = the(judged(run(60, 1, change=talks)), "cut-share-high")
    assert alert.evidence.held_until == alert.raised_step
    assert dict(alert.evidence.facts)["rollout"] == 43
    assert evidence_words(alert).endswith(", at rollout 43; held back until now")


def test_a_snapshot_stays_as_the_alert_was() -> None:
    def twice(n: int, values: dict[str, float]) -> None:
        values["gap"] *= 2 if 30 <= n < 40 or 44 <= n < 50 else 1

    alert = the(judged(run(70, 1, change=twice)), "gap-jump")
    first, over, back, end = alert.turns
    assert [turn.serial for turn in alert.turns] == [1] * 4
    assert [turn.state for turn in alert.turns] == [AlertState.FIRING, AlertState.RESOLVED] * 2
    assert [turn.open for turn in alert.turns] == [True, False] * 2
    assert first.later is over.later is None
    assert back.later is not None
    assert (back.later.what, back.later.evidence.since, back.count) == ("back", 44, 2)
    assert end == dataclasses.replace(alert.snapshot(), turns=(), turned=0)
    assert told_words(first) == evidence_words(alert)
    assert told_words(end) == told_words(alert) != evidence_words(alert)


def test_a_snapshot_is_quiet_as_long_as_it_was_snoozed() -> None:
    judge = Judge()
    judge.raise_("crashed", 3, None, Evidence(text="boom"))
    judge.at = 3
    before = judge.alerts[0].snapshot()
    judge.alerts[0].snooze(5, judge.at)
    assert not before.snoozed(4)
    assert judge.alerts[0].snapshot().snoozed(4)
    assert not judge.alerts[0].snapshot().snoozed(8)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_words_are_made_from_the_data_alone(condition: str) -> None:
    """Also from data that were written down as JSON: nothing but numbers, words and lists of them."""
    alert = alert_of(condition)
    data = json.loads(json.dumps(dataclasses.asdict(alert.evidence)))
    measured = tuple(Measured(**one) for one in data.pop("measured"))
    facts = tuple((name, value) for name, value in data.pop("facts"))
    again = evidence_sentence(condition, Evidence(measured, facts=facts, **data))
    assert again
    assert again == evidence_words(alert)
