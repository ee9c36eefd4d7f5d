"""The word on a signal: what is judged, by whom, and what is not."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from runs import args, healthy, rollout, state, word

from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.profile import Profile, SignalProfile
from miles_tui.core.model.records import Record
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.present.alerts.evidence_words import evidence_of, evidence_words

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"


def words(run: RunState) -> dict[str, str]:
    return {name: word(run, name)[0] for name in run.signals}


def sample(name: str) -> RunState:
    run = RunState(Judge())
    run.feed(Reader().feed((LOGS / name).read_bytes()))
    return run


def test_a_signal_that_no_condition_reads_is_not_called_ok() -> None:
    said = words(state(healthy(40), finish=False))
    assert said.pop("KL to the engine") == "not judged"
    assert set(said.values()) == {"ok"}


def test_a_profiles_range_judges_it() -> None:
    kl = SignalProfile(low=0.0006, high=0.0008)
    run = RunState(Judge(Profile(name="mine", signals={"KL to the engine": kl})))
    run.feed(healthy(40))
    assert word(run, "KL to the engine") == ("ok", None)


def test_what_still_learns_claims_nothing() -> None:
    said = words(state(healthy(5), finish=False))
    assert said["gap"] == said["reward"] == said["rollout time"] == "learning"
    assert words(state([], finish=False))["gap"] == "missing"
    assert words(state(healthy(12), finish=False))["rollout time"] == "learning", (
        "its rule learns longer than its range"
    )


def test_what_will_never_be_judged_does_not_learn_for_ever() -> None:
    """The actor trains late, a signal that a rule needs is not logged, the run was too short."""
    without = [i for i in healthy(30) if not (isinstance(i, Record) and i.kind != "perf")]
    without = [replace(i, metrics={"perf/rollout_time": 50.0 + i.number % 3}) for i in without if isinstance(i, Record)]
    run = state(list(without), finish=False)
    assert words(run)["rollout time"] == "not judged", "nobody tells the answers' length"
    assert snapshot_of(run).signals["gap"].learning is None
    assert run.verdict() == "not judged"
    early = state(list(without[:3]), finish=False)
    assert words(early)["rollout time"] == "learning"
    assert early.verdict() == "learning"

    late = [i for i in healthy(40) if not (isinstance(i, Record) and i.kind == "step" and i.number < 30)]
    assert words(state(late, finish=False))["gap"] == "ok", "it began to train"
    once = [i for i in healthy(40) if not (isinstance(i, Record) and i.kind == "step" and i.number != 4)]
    said = words(state(once, finish=False))
    assert said["gap"] == said["gradient norm"] == said["clip fraction"] == "not judged"
    assert snapshot_of(state(once, finish=False)).signals["gap"].learning is None

    short = state([args(num_rollout=4), *healthy(4)])
    assert short.verdict() == "finished"
    assert words(short)["gap"] == "not judged"
    assert "learning" not in words(short).values()


def test_the_worst_alert_comes_first() -> None:
    items = healthy(21) + [i for n in range(21, 30) for i in rollout(n, gap=0.04)]
    run = state(items, finish=False)
    assert word(run, "gap") == ("firing", Severity.CRITICAL)
    two = len(healthy(23))
    assert word(state(items[:two]), "gap") == ("pending", None)
    run = state([*healthy(21), *rollout(21, reward=math.nan)], finish=False)
    assert word(run, "reward") == ("firing", Severity.CRITICAL)


def test_a_condition_that_is_off_judges_nothing() -> None:
    run = state(healthy(30), finish=False)
    assert word(run, "gap")[0] == "ok"
    run.judge.switch("gap-jump", on=False)
    assert word(run, "gap") == ("not judged", None)


def test_a_signal_that_is_only_read_beside_another_is_not_marked() -> None:
    for condition, about in (("rollout-slowdown", "rollout time"), ("cut-share-high", "cut share")):
        assert CONDITIONS[condition].signals != CONDITIONS[condition].about == (about,)
    run = sample("slow-engine.log")
    assert word(run, "rollout time")[0] == "firing"
    assert word(run, "answer length")[0] == "ok"
    assert [a.signals for a in run.alerts] == [("rollout time", "answer length")], "it was read all the same"


def test_a_condition_that_another_alert_holds_back_is_not_ok() -> None:
    run = sample("talks-longer.log")
    assert run.judge.held == {"cut-share-high": "reward-down-length-up"}
    assert word(run, "cut share") == ("held back", None)
    assert snapshot_of(run).signals["cut share"].held_by == "reward-down-length-up"
    assert snapshot_of(run).signals["reward"].held_by == ""


def test_an_open_alerts_evidence_ends_with_the_newest_value() -> None:
    items = healthy(21) + [i for n in range(21, 30) for i in rollout(n, gap=0.04)]
    run = state([*items, *rollout(30, gap=0.0512)], finish=False)
    (alert,) = run.alerts
    assert evidence_of(snapshot_of(run), alert.snapshot()) == f"{evidence_words(alert.snapshot())}; now 0.0512"
    raised = len(healthy(1)) * ((alert.raised_step or 0) + 1)
    fresh = state(items[:raised], finish=False)
    then = fresh.alerts[0].snapshot()
    assert evidence_of(snapshot_of(fresh), then) == evidence_words(then), "nothing came since"
    run.judge.rebase()
    assert evidence_of(snapshot_of(run), alert.snapshot()) == evidence_words(alert.snapshot()), "it is over"
