"""What every condition says of the same runs, rollout for rollout, held against a table: `golden.txt`.

A case is a setup, a fault and a seed. Of each condition that said more than "learning" and "ok" the table has its
states as lengths (`l6 ·24 p2 F13 r2 ·3`: six rollouts learning, 24 ok, two pending, 13 firing, two recovering, three
ok), and every alert with its severity, first and last rollout and evidence. It says what is, not what is right: a
rule that is changed on purpose is recorded anew (`UPDATE_GOLDEN=1 pytest tests/core/test_golden.py`), and `git diff`
is read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pytest
from simulated import PLAIN, SETUPS, Change, Setup, run

from miles_tui.core.alerting.conditions.base import State
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.alerting.profile import Profile, SignalProfile, TimeProfile
from miles_tui.core.model.rollout import Rollout
from miles_tui.present.alerts.evidence_words import evidence_words

TABLE = Path(__file__).with_name("golden.txt")
Values = dict[str, float]
LETTERS = {
    State.LEARNING: "l",
    State.OK: "·",
    State.PENDING: "p",
    State.FIRING: "F",
    State.RECOVERING: "r",
    State.OFF: "-",
}
HIGH, LONG, FLAT = SETUPS[1], Setup(length=(600.0, 1500.0)), SETUPS[2]


@dataclass(frozen=True)
class Case:
    """`shape` puts into whole rollouts what no value can say; `told` is what the person or the log says in between."""

    name: str
    change: Change | None = None
    setups: tuple[Setup, ...] = (PLAIN,)
    seeds: tuple[int, ...] = (1, 2)
    steps: int = 80
    updates: int = 1
    shape: Callable[[list[Rollout]], None] | None = None
    told: dict[int, Callable[[Judge], None]] = field(default_factory=dict)
    profile: Callable[[], Profile] | None = None


def times(name: str, factor: float, at: int = 30, until: int = 10**9) -> Change:
    """`name` is `factor` times as high from rollout `at` to before `until`."""

    def change(n: int, v: Values) -> None:
        v[name] *= factor if at <= n < until else 1.0

    return change


def grows(name: str, rate: float, at: int = 30, until: int = 10**9) -> Change:
    """`name` grows by `rate` with every rollout from `at` to before `until`."""

    def change(n: int, v: Values) -> None:
        v[name] *= (1 + rate) ** (n - at + 1) if at <= n < until else 1.0

    return change


def fixed(at: int, until: int = 10**9, **values: float) -> Change:
    """These values (`_` for a blank) instead of the run's, from rollout `at` to before `until`."""

    def change(n: int, v: Values) -> None:
        v.update({name.replace("_", " "): value for name, value in values.items()} if at <= n < until else {})

    return change


def drifts(at: int, until: int = 10**9, **values: float) -> Change:
    """So much more of these with every rollout from `at`, back at once at `until`."""

    def change(n: int, v: Values) -> None:
        for name, step in values.items() if at <= n < until else ():
            v[name.replace("_", " ")] += step * (n - at + 1)

    return change


def both(*changes: Change) -> Change:
    def change(n: int, v: Values) -> None:
        for one in changes:
            one(n, v)

    return change


def alternating(name: str, factor: float, at: int, period: int) -> Change:
    """High, with one usual value in every `period` rollouts: clear rollouts, but never in a row."""

    def change(n: int, v: Values) -> None:
        v[name] *= factor if n >= at and (n - at) % period != period - 1 else 1.0

    return change


def without(name: str, at: int, until: int = 10**9) -> Change:
    def change(n: int, v: Values) -> None:
        if at <= n < until:
            del v[name]

    return change


def first_update(**metrics: float) -> Callable[[list[Rollout]], None]:
    def shape(rollouts: list[Rollout]) -> None:
        for rollout in rollouts[20:24]:
            rollout.first = {f"train/{name}": value for name, value in metrics.items()}

    return shape


def equal_groups(rollouts: list[Rollout]) -> None:
    for rollout in rollouts:
        rollout.groups = 32
        rollout.metrics["rollout/zero_std/count_0"] = 32.0 if 30 <= rollout.number < 36 else 5.0


def paused(rollouts: list[Rollout]) -> None:
    for rollout in rollouts[30:40]:
        rollout.paused = True


def unknown_updates(rollouts: list[Rollout]) -> None:
    for rollout in rollouts:
        rollout.planned_updates = None if rollout.number < 50 else 1


def resumed(rollouts: list[Rollout]) -> None:
    for rollout in rollouts[40:]:
        rollout.attempt, rollout.rank = 2, rollout.number - 40


def of_own() -> Profile:
    """Ranges and levels as `calibrate` would learn them of PLAIN."""
    signals = {
        "gap": SignalProfile(low=0.018, high=0.022, level=0.02, noise=0.0006, weight=20),
        "gradient norm": SignalProfile(low=0.2, high=1.5, level=0.6, noise=0.35, weight=20),
        "reward": SignalProfile(low=0.35, high=0.8, start=0.48, start_weight=10),
        "answer length": SignalProfile(low=550, high=950, start=880, start_weight=10),
    }
    time = TimeProfile(length=700, seconds=43, share=0.8, carry=0.7, noise=0.012, weight=40)
    return Profile(name="own", signals=signals, time=time)


CASES = (
    Case("healthy", setups=(PLAIN, HIGH, LONG, FLAT), seeds=(1, 2, 3), steps=120),
    Case("healthy, four updates", updates=4, seeds=(1,)),
    Case("gap a quarter higher", times("gap", 1.3), (PLAIN, HIGH)),
    Case("gap much higher, mended", times("gap", 2.5, 30, 45), (PLAIN, HIGH)),
    Case("gap high, one usual value in three", alternating("gap", 2.0, 30, 3), seeds=(1,)),
    Case("gap high, one usual value in four", alternating("gap", 1.6, 30, 4), seeds=(1,)),
    Case("gap one step", times("gap", 4, 30, 31)),
    Case("gap two steps", times("gap", 4, 30, 32)),
    Case("gap climbs", drifts(30, gap=0.0008), (PLAIN,)),
    Case("gap climbs from the start", drifts(0, gap=0.001), (PLAIN,), steps=40),
    Case("gap above zero", fixed(30, 50, gap=0.004), (FLAT,)),
    Case("gap high, then no data", both(times("gap", 2.0), without("gap", 40, 60)), seeds=(1,)),
    Case("gap comes back at once", both(times("gap", 2, 30, 40), times("gap", 2, 47, 60)), seeds=(1, 2)),
    Case("gradient norm grows slowly", grows("gradient norm", 0.04), (PLAIN, HIGH)),
    Case("gradient norm grows fast, mended", grows("gradient norm", 0.12, 30, 50), (PLAIN, HIGH)),
    Case("gradient norm bursts", times("gradient norm", 6, 30, 32)),
    Case("gradient norm explodes early", grows("gradient norm", 0.9, 8), steps=20),
    Case("gradient norm a step up", times("gradient norm", 3)),
    Case("talks longer", drifts(40, reward=-0.012, answer_length=15, rollout_time=0.75), (PLAIN, LONG)),
    Case("talks longer, mended", drifts(40, 60, reward=-0.02, answer_length=25, rollout_time=1.2, cut_share=0.02)),
    Case("talks longer for good", drifts(20, reward=-0.02, answer_length=25, rollout_time=1.2), steps=50),
    Case("reward falls alone", drifts(40, reward=-0.01), seeds=(1,)),
    Case("length rises alone", drifts(40, answer_length=15, rollout_time=0.75), seeds=(1,)),
    Case("harder prompts", both(drifts(40, 41), fixed(40, 48, reward=0.5)), seeds=(1,)),
    Case("slower by and by", drifts(40, rollout_time=0.8), (PLAIN, HIGH)),
    Case("slower at once, mended", times("rollout time", 1.3, 40, 55), (PLAIN, HIGH)),
    Case("one pause", times("rollout time", 4, 40, 41)),
    Case("told pauses", times("rollout time", 2, 30, 40), shape=paused, seeds=(1,)),
    Case("clipped once", fixed(30, 31, clip_fraction=4e-4), seeds=(1,)),
    Case("clipped, updates unknown", fixed(30, clip_fraction=4e-4), shape=unknown_updates, seeds=(1,)),
    Case("clipped with four updates", fixed(30, clip_fraction=0.1), updates=4, seeds=(1,)),
    Case("off policy by the KL", shape=first_update(ppo_kl=1.4e-4), updates=2, seeds=(1,), steps=40),
    Case("off policy by the clip fraction", shape=first_update(pg_clipfrac=0.003), updates=2, seeds=(1,), steps=40),
    Case("a KL of rounding", shape=first_update(ppo_kl=9e-9, pg_clipfrac=0.0), updates=2, seeds=(1,), steps=40),
    Case("NaN in two signals", fixed(30, 35, gradient_norm=math.nan, gap=math.inf), seeds=(1,)),
    Case("NaN now and then", fixed(30, 31, reward=math.nan), seeds=(1,)),
    Case("NaN, then another signal", both(fixed(30, gap=math.nan), fixed(34, gradient_norm=math.inf)), seeds=(1,)),
    Case("reward collapses, mended", fixed(30, 40, reward=0.01), (PLAIN, HIGH)),
    Case("reward collapses for one rollout", fixed(30, 31, reward=0.0), seeds=(1,)),
    Case("reward collapses early", fixed(7, reward=0.02), seeds=(1,), steps=30),
    Case("most answers cut, mended", fixed(30, 45, cut_share=0.7), seeds=(1, 2)),
    Case("half of the answers cut", fixed(30, cut_share=0.55), seeds=(1,)),
    Case("cut share creeps", drifts(30, cut_share=0.008), seeds=(1, 2)),
    Case("no reward, no gradient", fixed(30, 36, reward=0.0, gradient_norm=0.0), seeds=(1,)),
    Case("no reward and no gradient from the start", fixed(0, reward=0.0, gradient_norm=0.0), seeds=(1,), steps=12),
    Case("equal groups", shape=equal_groups, seeds=(1,)),
    Case("a signal is lost and comes back", without("gap", 30, 40), seeds=(1,)),
    Case("two signals are lost", both(without("gap", 30), without("gradient norm", 31)), seeds=(1,)),
    Case("a signal is lost for two rollouts", without("gap", 30, 32), seeds=(1,)),
    Case("own ranges, healthy", profile=of_own),
    Case("own ranges, early jump", times("gap", 1.4, 5, 20), profile=of_own),
    Case("own ranges, early slowdown", times("rollout time", 1.3, 6, 20), profile=of_own),
    Case("own ranges, early growth", grows("gradient norm", 0.15, 5, 30), profile=of_own),
    Case("own ranges, early talk", drifts(6, 40, reward=-0.02, answer_length=30), profile=of_own),
    Case("own ranges, out of range", times("answer length", 1.4, 30, 50), profile=of_own, seeds=(1,)),
    Case("resumed while it fires", times("gap", 2.0, 35, 50), shape=resumed, seeds=(1,),
         told={40: lambda j: j.restarted(40, None, Evidence(since=40, facts=(("attempt", 2),)))}),
    Case("a new baseline", times("gap", 2.0), seeds=(1,), told={40: Judge.rebase}),
    Case("switched off", times("gap", 2.0, 30, 50), seeds=(1,), told={25: lambda j: j.switch("gap-jump", False)}),
)  # fmt: skip


def words() -> Iterator[str]:
    for case in CASES:
        for setup in case.setups:
            for seed in case.seeds:
                named = [["plain", "high", "long", "flat"][(PLAIN, HIGH, LONG, FLAT).index(setup)], f"seed {seed}"]
                yield "\n".join([", ".join([case.name, *named]), *said(case, setup, seed)])


def said(case: Case, setup: Setup, seed: int) -> list[str]:
    """The lines of one case below its name."""
    judge = Judge(case.profile() if case.profile else None)
    rollouts = run(case.steps, seed, setup, case.change, case.updates)
    if case.shape is not None:
        case.shape(rollouts)
    states: dict[str, list[str]] = {name: [] for name in judge.states}
    for rollout in rollouts:
        if rollout.number in case.told:
            case.told[rollout.number](judge)
        judge.sampled(rollout)
        judge.trained(rollout)
        for name, letters in states.items():
            letters.append(LETTERS[judge.states[name].state])
    lines = []
    for name, letters in states.items():
        if set(letters) - {"l", "·"} or (case.name == "healthy" and seed == 1):
            lines.append(f"  {name}: " + " ".join(f"{letter}{len(list(same))}" for letter, same in groupby(letters)))
    for alert in judge.alerts:
        end = "" if alert.resolved_step is None else f" to {alert.resolved_step}"
        again = f", {alert.count} times" if alert.count > 1 else ""
        head = f"  {alert.condition} ({alert.severity}, {alert.state}) {alert.raised_step}{end}{again}"
        lines.append(f"{head}, {' and '.join(alert.signals)}: {evidence_words(alert)}")
    return lines


def test_every_condition_says_what_the_table_has() -> None:
    found = list(words())
    if os.environ.get("UPDATE_GOLDEN"):
        TABLE.write_text("\n\n".join(found) + "\n", encoding="utf-8")
    known = TABLE.read_text(encoding="utf-8").strip().split("\n\n")
    for now, before in zip(found, known, strict=True):
        assert now == before


@pytest.mark.parametrize("condition", sorted(Judge(of_own()).states))
def test_the_table_has_every_condition_raised_and_resolved(condition: str) -> None:
    text = TABLE.read_text(encoding="utf-8")
    assert f"  {condition} (" in text
    assert any(line.startswith(f"  {condition} (") and "resolved)" in line for line in text.splitlines())
