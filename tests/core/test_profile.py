"""Profiles: what calibration learns, how they are written and read, and what is wrong in one."""

from __future__ import annotations

import math

import pytest
from simulated import PLAIN, SETUPS, Setup, judged, raised, run, the
from test_conditions import after, growing, scaled, talks

from miles_tui.config.profile_file import read_profile, write_profile
from miles_tui.core.alerting.calibration import doubts, learn
from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.alerting.profile import Profile, SignalProfile
from miles_tui.core.alerting.ranges import Range
from miles_tui.errors import BadSetting
from miles_tui.present.alerts.evidence_words import evidence_words


@pytest.fixture(scope="module")
def plain() -> Profile:
    return learn("plain", [run(96, seed) for seed in (101, 102, 103)], ["a.log", "b.log", "c.log"])


def test_learning_finds_the_setup(plain: Profile) -> None:
    assert plain.rollouts == 288
    gap = plain.signals["gap"]
    assert gap.level == pytest.approx(PLAIN.gap, rel=0.02)
    assert gap.noise == pytest.approx(PLAIN.gap_noise, rel=0.2)
    assert gap.trend == "flat"
    assert gap.mean5_low is not None
    assert gap.level is not None
    assert gap.mean5_high is not None
    assert gap.low < gap.mean5_low < gap.level < gap.mean5_high < gap.high
    assert plain.signals["reward"].trend == "rises"
    assert plain.signals["answer length"].trend == "falls"
    assert plain.signals["gradient norm"].noise == pytest.approx(PLAIN.norm_noise, rel=0.25)
    law = plain.time
    assert law is not None
    at = PLAIN.fixed + PLAIN.per_token * law.length
    assert law.seconds == pytest.approx(at, rel=0.05)
    assert law.share == pytest.approx(1 - PLAIN.fixed / at, abs=0.1)
    assert law.noise == pytest.approx(PLAIN.time_noise, rel=0.3)


def test_a_profile_is_read_back_as_it_was_written(plain: Profile) -> None:
    assert read_profile(write_profile(plain), "x.toml") == plain


def test_every_field_is_explained_in_the_file(plain: Profile) -> None:
    text = write_profile(plain)
    for field in (*Profile.model_fields.values(), *SignalProfile.model_fields.values()):
        assert field.description
        assert field.description in text


def test_odd_characters_survive() -> None:
    odd = Profile(name='a"b\\c\n\x07é', about="tab\there", pause=r"heat \d+ \"guard\"", logs=["x\u2028y"])
    assert read_profile(write_profile(odd), "x.toml") == odd


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "not a TOML file"),
        ('nam = "x"', 'unknown key; did you mean "name"?'),
        ("", "name: this key is missing"),
        ('name = "x"\n[signals.gapp]\nlow = 0.0\nhigh = 1.0', 'did you mean "gap"?'),
        ('name = "x"\n[signals.gap]\nlow = 0.0\nhigh = 1.0\nlevle = 1.0', 'did you mean "level"?'),
        ('name = "x"\n[signals.gap]\nlow = 2.0\nhigh = 1.0', "low is above high"),
        ('name = "x"\n[signals.gap]\nlow = nan\nhigh = 1.0', "signals.gap.low"),
        ('name = "x"\nswitched_off = ["gap-jmp"]', 'did you mean "gap-jump"?'),
        ('name = "x"\npause = "("', "no regular expression"),
        ('name = "x"\n[time]\nlength = 0.0', "time.length"),
    ],
)
def test_a_wrong_profile_names_file_and_key(text: str, said: str) -> None:
    with pytest.raises(BadSetting) as error:
        read_profile(text, "x.toml")
    assert str(error.value).startswith("x.toml: ")
    assert said in str(error.value)


def test_faults_before_a_run_could_have_learned_are_found(plain: Profile) -> None:
    for seed in range(8):
        gap = judged(run(40, seed, change=after(3, scaled("gap", 1.3))), plain)
        assert ("gap-jump", 5) in raised(gap)
        norm = judged(run(60, seed, change=after(4, growing("gradient norm", 0.12))), plain)
        assert 5 <= (the(norm, "grad-norm-growth").raised_step or 0) <= 20
        talk = dict(raised(judged(run(60, seed, change=after(4, talks(0.015, 25))), plain)))
        assert 6 <= (talk["reward-down-length-up"] or 0) <= 20

        def slower(k: int, values: dict[str, float]) -> None:
            values["rollout time"] *= 1 + 0.04 * k

        slow = dict(raised(judged(run(60, seed, change=after(5, slower)), plain)))
        assert 7 <= (slow["rollout-slowdown"] or 0) <= 16


def test_a_gap_that_is_wrong_from_the_first_rollout_says_so(plain: Profile) -> None:
    alert = the(judged(run(20, 1, change=after(0, scaled("gap", 1.5))), plain), "gap-jump")
    assert "since the first rollout" in evidence_words(alert)
    assert "profile plain" in evidence_words(alert)


def test_healthy_runs_of_the_profiles_setup_raise_next_to_nothing() -> None:
    for setup in SETUPS:
        profile = learn("own", [run(96, seed, setup) for seed in (101, 102, 103)])
        found = [alert for seed in range(25) for alert in raised(judged(run(100, seed, setup), profile))]
        assert len(found) <= 3, found


def test_a_profile_of_another_setup_is_given_up() -> None:
    profile = learn("own", [run(96, seed) for seed in (101, 102, 103)])
    other = Setup(norm=1.8, reward=(0.3, 0.55), length=(1100, 800), per_token=0.06)
    found = [alert for seed in range(15) for alert in raised(judged(run(120, seed, other), profile))]
    assert len(found) <= 6, found


def test_out_of_range_speaks_of_the_profile_only(plain: Profile) -> None:
    far = after(20, lambda k, v: v.update({"cut share": 0.45}))
    judge = judged(run(40, 1, change=far), plain)
    (alert,) = [a for a in judge.alerts if a.signals == ("cut share",)]
    assert (alert.condition, alert.severity) == ("out-of-range", Severity.NOTICE)
    assert "profile plain" in evidence_words(alert)
    assert "out-of-range" not in {a.condition for a in judged(run(40, 1, change=far)).alerts}
    known = judge.ranges["cut share"]
    assert isinstance(known, Range)
    assert known.owner == "plain"


def test_conditions_that_the_profile_switches_off_stay_off() -> None:
    profile = Profile(name="x", switched_off=["gap-jump"])
    assert raised(judged(run(50, 1, change=after(30, scaled("gap", 3))), profile)) == []


def test_doubts_are_told() -> None:
    runs = [run(30, 1), run(8, 2), run(30, 3)]
    arguments = [
        {"lr": "1e-6", "n_samples_per_prompt": "8"},
        {"lr": "1e-6"},
        {"lr": "5e-6", "n_samples_per_prompt": "8"},
    ]
    said = doubts(runs, [[], [], ["gap-jump"]], arguments, ["a", "b", "c"])
    assert [s.split(":")[0] for s in said] == ["b", "c", "c"]
    assert "lr" in said[2]
    assert "one run" in doubts(runs[:1])[0]
    assert doubts([run(30, 1), run(30, 2)]) == []


def test_arguments_that_all_runs_share_are_kept() -> None:
    profile = learn("x", [run(20, 1), run(20, 2)], arguments=[{"lr": "1e-6", "x": "1"}, {"lr": "1e-6"}])
    assert profile.arguments == {"lr": "1e-6"}
    assert profile.differences({"lr": "5e-6"}) == ["lr: 1e-6 there, 5e-6 here"]
    assert profile.differences({}) == []


def test_runs_without_a_signal_leave_it_out() -> None:
    rollouts = run(30, 1)
    for rollout in rollouts:
        del rollout.values["gap"]
        rollout.values["reward"] = math.nan
    profile = learn("x", [rollouts, rollouts])
    assert "gap" not in profile.signals
    assert "reward" not in profile.signals
    assert "answer length" in profile.signals


def test_runs_that_differ_give_a_level_little_weight() -> None:
    apart = learn("x", [run(60, 1), run(60, 2, change=after(0, scaled("gap", 1.4))), run(60, 3)])
    assert apart.signals["gap"].weight < 1
    assert apart.norm("gap") is None
