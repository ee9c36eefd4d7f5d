"""Each condition on runs with and without its fault: when it is raised, and what must not raise it."""

from __future__ import annotations

import math

import pytest
from simulated import PLAIN, SETUPS, Change, Setup, judged, raised, run, the

from miles_tui.core.alerting.conditions import ALL, CONDITIONS
from miles_tui.core.alerting.conditions.base import Severity, State
from miles_tui.core.alerting.conditions.stalled import is_stalled, stall_after, stalled_evidence
from miles_tui.core.alerting.engine import PATIENCE, Judge
from miles_tui.core.alerting.rule_slot import IDLE
from miles_tui.core.model.rollout import Rollout
from miles_tui.core.text.numbers import number
from miles_tui.present.alerts.evidence_words import evidence_sentence, evidence_words

Values = dict[str, float]


def after(at: int, change: Change, until: int = 10**9) -> Change:
    """`change`, given the rollouts since `at` from 1, from `at` to before `until`."""
    return lambda n, v: change(n - at + 1, v) if at <= n < until else None


def scaled(name: str, factor: float) -> Change:
    def change(k: int, values: Values) -> None:
        values[name] *= factor

    return change


def growing(name: str, rate: float) -> Change:
    def change(k: int, values: Values) -> None:
        values[name] *= (1 + rate) ** k

    return change


def test_every_condition_has_its_words() -> None:
    assert len(CONDITIONS) == len(ALL) == 17
    for c in ALL:
        assert all((c.title, c.likely_cause, c.first_check, c.rule))
        assert c.likely_cause.endswith(".")
        assert c.first_check.endswith(".") or c.id == "known-message"


@pytest.mark.parametrize("setup", SETUPS)
def test_healthy_runs_raise_next_to_nothing(setup: Setup) -> None:
    found = [alert for seed in range(40) for alert in raised(judged(run(120, seed, setup)))]
    assert len(found) <= 4, f"{len(found)} in 4,800 rollouts: {found}"


@pytest.mark.parametrize("updates", [2, 4])
def test_several_updates_are_no_fault(updates: int) -> None:
    assert raised(judged(run(60, 3, updates=updates))) == []


# -- gap-jump ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1.3, 2.5])
def test_a_gap_that_jumps_is_raised_on_the_third_rollout(factor: float) -> None:
    for seed in range(12):
        alerts = raised(judged(run(60, seed, change=after(30, scaled("gap", factor)))))
        assert ("gap-jump", 32) in alerts


def test_a_gap_above_exactly_zero_is_raised() -> None:
    def leaves_zero(k: int, values: Values) -> None:
        values["gap"] = 0.004

    alert = the(judged(run(50, 1, SETUPS[2], after(30, leaves_zero))), "gap-jump")
    assert alert.raised_step == 32
    assert alert.severity is Severity.CRITICAL
    assert "rollout 30" in evidence_words(alert)


@pytest.mark.parametrize("length", [1, 2])
def test_one_or_two_high_gaps_are_noise(length: int) -> None:
    for seed in range(10):
        change = after(30, scaled("gap", 3), until=30 + length)
        assert "gap-jump" not in dict(raised(judged(run(50, seed, change=change))))


@pytest.mark.parametrize("start", [0, 25])
def test_a_gap_that_climbs_is_raised(start: int) -> None:
    def climbs(k: int, values: Values) -> None:
        values["gap"] *= 1 + 0.06 * k

    alert = the(judged(run(50, 2, change=after(start, climbs))), "gap-jump")
    assert alert.raised_step is not None
    assert start + 3 <= alert.raised_step <= start + 20


def test_a_repaired_gap_is_resolved_and_one_that_stays_is_not() -> None:
    for seed in range(8):
        fixed = the(judged(run(80, seed, change=after(30, scaled("gap", 2), until=45))), "gap-jump")
        assert fixed.resolved_step is not None
        assert 45 <= fixed.resolved_step <= 53
        stays = the(judged(run(200, seed, change=after(30, scaled("gap", 1.3)))), "gap-jump")
        assert stays.resolved_step is None


# -- grad-norm-growth ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "latest"), [(0.05, 26), (0.15, 12)])
def test_a_gradient_norm_that_grows_is_raised_and_stays(rate: float, latest: int) -> None:
    delays = []
    for seed in range(20):
        alerts = [
            a
            for a in judged(run(75, seed, change=after(35, growing("gradient norm", rate)))).alerts
            if a.condition == "grad-norm-growth" and (a.raised_step or 0) >= 35
        ]
        assert alerts, seed
        delays.append((alerts[0].raised_step or 0) - 35)
        assert alerts[0].resolved_step is None
    assert max(delays) <= latest
    assert min(delays) >= 1


def test_bursts_of_the_gradient_norm_are_healthy() -> None:
    found = 0
    for seed in range(30):
        judge = judged(run(60, seed, change=after(30, scaled("gradient norm", 6), until=32)))
        found += "grad-norm-growth" in dict(raised(judge))
    assert found <= 1


def test_an_explosion_is_raised_with_few_rollouts_behind_it() -> None:
    norms = [0.31, 0.29, 0.33, 0.3, 0.34, 0.31, 0.36, 0.35, 0.7, 1.9, 7.0, 60.0]

    def explodes(n: int, values: Values) -> None:
        values["gradient norm"] = norms[n]

    alert = the(judged(run(len(norms), 1, change=explodes)), "grad-norm-growth")
    assert alert.raised_step in (10, 11)


# -- reward-down-length-up -----------------------------------------------------------------------------


def talks(reward: float, length: float) -> Change:
    def change(k: int, values: Values) -> None:
        values["reward"] -= reward * k
        values["answer length"] += length * k
        values["rollout time"] += PLAIN.per_token * length * k

    return change


def test_reward_down_and_length_up_is_raised() -> None:
    for seed in range(12):
        judge = judged(run(80, seed, change=after(45, talks(0.012, 15))))
        steps = [s for c, s in raised(judge) if c == "reward-down-length-up"]
        assert steps
        assert 48 <= (steps[0] or 0) <= 60


@pytest.mark.parametrize(("reward", "length"), [(0.012, 0.0), (0.0, 15.0)])
def test_one_of_the_two_alone_is_not_enough(reward: float, length: float) -> None:
    found = 0
    for seed in range(30):
        judge = judged(run(75, seed, change=after(45, talks(reward, length))))
        found += "reward-down-length-up" in dict(raised(judge))
    # one rises or falls for ever here: each further rollout is another chance for the other's noise
    assert found <= 7


def test_harder_prompts_for_a_while_are_healthy() -> None:
    def harder(k: int, values: Values) -> None:
        values["reward"] -= 0.1

    found = sum(bool(raised(judged(run(70, seed, change=after(40, harder, until=48))))) for seed in range(30))
    assert found <= 2


# -- rollout-slowdown ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "latest"), [(0.02, 18), (0.06, 8)])
def test_a_rollout_time_that_grows_is_raised(rate: float, latest: int) -> None:
    def slower(k: int, values: Values) -> None:
        values["rollout time"] *= 1 + rate * k

    for seed in range(15):
        judge = judged(run(80, seed, change=after(40, slower)))
        steps = [s for c, s in raised(judge) if c == "rollout-slowdown" and (s or 0) >= 40]
        assert steps, seed
        assert (steps[0] or 0) <= 40 + latest


@pytest.mark.parametrize("length", [1, 2])
def test_a_pause_is_no_slowdown(length: int) -> None:
    def pause(k: int, values: Values) -> None:
        values["rollout time"] += 140

    for seed in range(12):
        judge = judged(run(60, seed, change=after(30, pause, until=30 + length)))
        assert "rollout-slowdown" not in dict(raised(judge))


def test_marked_pauses_are_left_out() -> None:
    def pause(n: int, values: Values) -> None:
        values["rollout time"] += 90 if n >= 30 else 0

    rollouts = run(60, 4, change=pause)
    for rollout in rollouts[30:]:
        rollout.paused = True
    assert "rollout-slowdown" not in dict(raised(judged(rollouts)))


def test_time_that_follows_the_length_is_no_slowdown() -> None:
    found = sum("rollout-slowdown" in dict(raised(judged(run(120, s, SETUPS[1])))) for s in range(15))
    assert found <= 1


# -- identities ----------------------------------------------------------------------------------------


def test_clipping_with_one_update_is_raised_at_once_and_resolved() -> None:
    def clips(k: int, values: Values) -> None:
        values["clip fraction"] = 4e-4

    alert = the(judged(run(50, 1, change=after(26, clips, until=27))), "clipped-on-policy")
    assert alert.raised_step == 26
    assert alert.resolved_step == 29
    assert raised(judged(run(5, 1, change=after(0, clips))))[0] == ("clipped-on-policy", 0)


def test_clipping_says_nothing_while_the_updates_are_unknown() -> None:
    def clips(k: int, values: Values) -> None:
        values["clip fraction"] = 4e-4

    rollouts = run(20, 1, change=after(0, clips))
    for rollout in rollouts:
        rollout.planned_updates = None
    judge = judged(rollouts)
    assert raised(judge) == []
    assert judge.states["clipped-on-policy"] == IDLE
    assert judged(rollouts[: PATIENCE - 1]).states["clipped-on-policy"].state is State.LEARNING


def test_a_first_update_of_which_nothing_is_told_is_not_called_fine() -> None:
    rollouts = run(12, 1)
    for rollout in rollouts:
        rollout.first = {"train/loss": 0.1}
    assert judged(rollouts).states["off-policy-at-start"] == IDLE


def test_the_mean_of_the_gradient_norm_is_the_rows() -> None:
    rollouts = run(60, 1, change=after(30, growing("gradient norm", 0.25)))
    alert = the(judged(rollouts), "grad-norm-growth")
    at = alert.raised_step
    assert at is not None
    newest = [r.values["gradient norm"] for r in rollouts[at - 4 : at + 1]]
    assert f"mean of the last five {number(sum(newest) / 5)}, " in evidence_words(alert)


def test_a_first_update_that_is_off_policy_is_raised() -> None:
    rollouts = run(12, 1, updates=2)
    rollouts[7].first = {"train/ppo_kl": 1.4e-4, "train/pg_clipfrac": 0.003}
    rollouts[9].first = {"train/ppo_kl": 9e-9, "train/pg_clipfrac": 0.0}
    alert = the(judged(rollouts), "off-policy-at-start")
    assert alert.raised_step == 7
    assert alert.resolved_step == 10


def test_a_first_update_is_off_policy_by_its_clip_fraction_alone() -> None:
    rollouts = run(12, 1, updates=2)
    rollouts[7].first = {"train/ppo_kl": 0.0, "train/pg_clipfrac": 0.003}
    (measured,) = the(judged(rollouts), "off-policy-at-start").evidence.measured
    assert (measured.name, measured.last, measured.level) == ("clip fraction", 0.003, 0.0)


def test_off_policy_is_silent_behind_clipped_on_policy() -> None:
    rollouts = run(12, 1, change=after(5, lambda k, v: v.update({"clip fraction": 0.001})))
    for rollout in rollouts[5:]:
        rollout.first["train/ppo_kl"] = 1e-4
    assert raised(judged(rollouts)) == [("clipped-on-policy", 5)]


# -- not-finite ----------------------------------------------------------------------------------------


def test_not_finite_is_raised_at_once_and_silences_gap_and_gradient_norm() -> None:
    def lost(k: int, values: Values) -> None:
        values["gradient norm"] = math.nan
        values["gap"] = 0.3 if k > 1 else values["gap"]
        values["reward"] = 0.0

    judge = judged(run(50, 1, change=after(30, lost)))
    assert raised(judge)[0] == ("not-finite", 30)
    assert {c for c, _ in raised(judge)} == {"not-finite", "reward-collapse"}
    assert the(judge, "not-finite").signals == ("gradient norm",)


def test_one_nan_is_resolved_after_three_finite_rollouts() -> None:
    judge = judged(run(45, 1, change=after(30, lambda k, v: v.update({"gradient norm": math.inf}), until=31)))
    assert the(judge, "not-finite").resolved_step == 33


def test_not_finite_names_what_another_model_of_the_run_has_lost() -> None:
    rollouts = run(8, 1)
    rollouts[5].metrics["beta/train/grad_norm"] = -math.inf
    evidence = the(judged(rollouts), "not-finite").evidence
    assert [(m.name, m.last) for m in evidence.measured] == [("beta/train/grad_norm", -math.inf)]
    assert evidence.facts == (("rollout", 5), ("-inf", 1))


# -- reward-collapse, cut-share-high, no-signal, signal-lost ---------------------------------------------


def test_a_collapse_needs_no_long_run() -> None:
    judge = judged(run(12, 1, change=after(6, lambda k, v: v.update({"reward": 0.01}))))
    assert ("reward-collapse", 7) in raised(judge)
    once = judged(run(12, 1, change=after(6, lambda k, v: v.update({"reward": 0.01}), until=7)))
    assert "reward-collapse" not in dict(raised(once))


def test_a_reward_around_zero_has_no_part_to_fall_to() -> None:
    setup = Setup(reward=(-0.5, 0.5), reward_noise=0.08)
    assert sum("reward-collapse" in dict(raised(judged(run(100, s, setup)))) for s in range(25)) == 0


def test_most_answers_cut_is_raised() -> None:
    def cut(k: int, values: Values) -> None:
        values["cut share"] = 0.7

    assert ("cut-share-high", 31) in raised(judged(run(50, 1, change=after(30, cut))))


def test_cut_share_is_silent_behind_talking_longer() -> None:
    def change(k: int, values: Values) -> None:
        talks(0.02, 25)(k, values)
        values["cut share"] = min(0.1 + 0.04 * k, 0.99)

    judge = judged(run(90, 2, change=after(45, change)))
    first = next(s for c, s in raised(judge) if c == "reward-down-length-up")
    assert "cut-share-high" not in dict(raised(judge))
    assert first is not None


def test_nothing_to_learn_from_is_raised_on_the_third_rollout() -> None:
    def zero(k: int, values: Values) -> None:
        values["reward"] = values["gradient norm"] = 0.0

    judge = judged(run(9, 1, change=after(0, zero)))
    assert raised(judge) == [("no-signal", 2)]
    evidence = the(judge, "no-signal").evidence
    assert [(m.name, m.last) for m in evidence.measured] == [("gradient norm", 0.0), ("reward", 0.0)]
    assert raised(judged(run(9, 1, change=after(4, zero, until=6)))) == []


def test_equal_groups_are_no_signal_where_the_number_of_groups_is_known() -> None:
    rollouts = run(10, 1)
    for rollout in rollouts:
        rollout.metrics.update({"rollout/zero_std/count_0": 20, "rollout/zero_std/count_1": 12})
    assert raised(judged(rollouts)) == []
    for rollout in rollouts:
        rollout.groups = 32
    assert raised(judged(rollouts)) == [("no-signal", 2)]


def test_a_signal_that_is_logged_no_more_is_raised_and_comes_back() -> None:
    rollouts = run(30, 1)
    for rollout in rollouts[12:20]:
        del rollout.values["gap"]
    alert = the(judged(rollouts), "signal-lost")
    assert (alert.raised_step, alert.resolved_step) == (14, 20)
    assert alert.signals == ("gap",)
    assert "rollout 11" in evidence_words(alert)
    for rollout in rollouts[20:22]:
        rollout.values.pop("reward")
    assert len([a for a in judged(rollouts).alerts if a.condition == "signal-lost"]) == 1


# -- stalled -------------------------------------------------------------------------------------------


def test_a_stall_is_several_usual_times_and_some_minutes() -> None:
    assert stall_after(30.0) == 600
    assert stall_after(400.0) == 2000
    assert stall_after(None) == 1800
    assert not is_stalled(600, 60)
    assert is_stalled(601, 60)
    text = evidence_sentence("stalled", stalled_evidence(7200, 150, "step 74", "update_weights", grows=True))
    for part in ("2.0 h", "2 min", "step 74", "update_weights", "still grows"):
        assert part in text


# -- missing data --------------------------------------------------------------------------------------


def test_missing_values_raise_and_resolve_nothing() -> None:
    rollouts = run(60, 1, change=after(30, scaled("gap", 2)))
    for rollout in rollouts[40:]:
        rollout.values.clear()
    judge = judged(rollouts)
    assert raised(judge) == [("gap-jump", 32)]
    assert judge.alerts[0].resolved_step is None
    assert raised(judged([Rollout(n, rank=n) for n in range(30)])) == []


def test_constant_signals_are_no_fault() -> None:
    def still(n: int, values: Values) -> None:
        values.update({"reward": 0.3, "answer length": 1800.0, "rollout time": 95.0, "gap": 0.01, "gradient norm": 0.2})

    assert raised(judged(run(80, 1, change=still), judge=Judge())) == []


def test_what_is_still_learned_is_less_than_what_is_needed() -> None:
    for setup in SETUPS:
        judge, counts = Judge(), dict[str, list[tuple[int, int]]]()
        for rollout in run(40, 3, setup):
            judged([rollout], judge=judge)
            for name, reading in judge.states.items():
                if reading.of and reading.state is State.LEARNING:
                    counts.setdefault(name, []).append((reading.count, reading.of))
        assert {"gap-jump", "rollout-slowdown"} <= counts.keys()
        for told in counts.values():
            assert told == sorted(told)
            assert told[-1] == (told[-1][1] - 1, told[-1][1]), "then it is ready"
