"""The word on a signal: what is judged, by whom, and what is not."""

from __future__ import annotations

import math

from runs import healthy, rollout, state

from miles_tui.core.conditions.base import Severity
from miles_tui.core.judge import Judge
from miles_tui.core.profile import Profile, SignalProfile
from miles_tui.core.run import RunState
from miles_tui.core.standing import standing


def words(run: RunState) -> dict[str, str]:
    return {name: standing(run, name)[0] for name in run.signals}


def test_a_signal_that_no_condition_reads_is_not_called_ok() -> None:
    said = words(state(healthy(40), finish=False))
    assert said.pop("KL to the engine") == "not judged"
    assert set(said.values()) == {"ok"}


def test_a_profiles_range_judges_it() -> None:
    kl = SignalProfile(low=0.0006, high=0.0008)
    run = RunState(Judge(Profile(name="mine", signals={"KL to the engine": kl})))
    run.feed(healthy(40))
    assert standing(run, "KL to the engine") == ("ok", None)


def test_what_still_learns_claims_nothing() -> None:
    said = words(state(healthy(5), finish=False))
    assert said["gap"] == said["reward"] == said["rollout time"] == "learning"
    assert words(state([], finish=False))["gap"] == "missing"
    assert words(state(healthy(12), finish=False))["rollout time"] == "learning", (
        "its rule learns longer than its range"
    )


def test_the_worst_alert_comes_first() -> None:
    items = healthy(21) + [i for n in range(21, 30) for i in rollout(n, gap=0.04)]
    run = state(items, finish=False)
    assert standing(run, "gap") == ("firing", Severity.CRITICAL)
    two = len(healthy(23))
    assert standing(state(items[:two]), "gap") == ("pending", None)
    run = state([*healthy(21), *rollout(21, reward=math.nan)], finish=False)
    assert standing(run, "reward") == ("firing", Severity.CRITICAL)


def test_a_condition_that_is_off_judges_nothing() -> None:
    run = state(healthy(30), finish=False)
    assert standing(run, "gap")[0] == "ok"
    run.judge.switch("gap-jump", on=False)
    assert standing(run, "gap") == ("not judged", None)
