"""What the rules leave out to be fast decides nothing: each shortcut against the whole work."""

from __future__ import annotations

import random

import pytest
from simulated import SETUPS, run

from miles_tui.core.conditions import reward_down_length_up
from miles_tui.core.conditions.base import Reading, State
from miles_tui.core.conditions.reward_down_length_up import LENGTHS, RewardDownLengthUp
from miles_tui.core.conditions.signal_lost import SignalLost
from miles_tui.core.rollouts import Rollout, Stage
from miles_tui.core.stats import RAMP, STEP, Match, Shape, best_match


@pytest.mark.parametrize("shape", [STEP, RAMP, Shape(0.7, 0.3)])
@pytest.mark.parametrize("prior", [0.0, 17.5])
def test_starts_that_are_passed_over_could_not_have_reached_the_need(shape: Shape, prior: float) -> None:
    rng, reached = random.Random(7), 0
    for _ in range(400):
        size, grows = rng.randrange(5, 97), rng.choice((0.0, 0.03, 0.1, 0.3))
        values = [min(max(rng.gauss(0, 1) + grows * max(i - size + 12, 0), -3.0), 3.0) for i in range(size)]
        trust, at = 8.0 + prior, rng.uniform(-2, 2)
        whole = best_match(values, shape, 4, 40, 4, prior, at, trust)
        for need in (whole.score * (1 - 1e-12), whole.score / 2):
            assert best_match(values, shape, 4, 40, 4, prior, at, trust, need) == whole
        reached += best_match(values, shape, 4, 40, 4, prior, at, trust, 4.0).score >= 4.0
        assert (best_match(values, shape, 4, 40, 4, prior, at, trust, 4.0) == whole) or whole.score < 4.0
    assert 20 < reached < 380


def _readings(rollouts: list[Rollout]) -> tuple[list[Reading], list[int]]:
    rule = RewardDownLengthUp()
    found = [(rule.judge(rollout, Stage.SAMPLED), rule.alone) for rollout in rollouts]
    return [reading for reading, _ in found], [alone for _, alone in found]


def _turning(seed: int) -> list[Rollout]:
    rng = random.Random(seed)
    at, fall, rise = rng.randrange(8, 80), rng.uniform(0, 0.02), rng.uniform(0, 0.03)

    def change(number: int, values: dict[str, float]) -> None:
        grown = max(number - at, 0) % 40
        values["reward"] -= fall * grown
        values["answer length"] *= 1 + rise * grown

    return run(160, seed, SETUPS[seed % len(SETUPS)], change)


def test_turns_that_are_out_of_reach_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [_turning(seed) for seed in range(24)]
    quick = [_readings(rollouts) for rollouts in runs]
    looked: list[int] = []

    def all_of_them(self: RewardDownLengthUp, losses: list[float], lengths: list[float]) -> list[int]:
        looked.append(len(losses))
        return [k for k in LENGTHS if len(losses) - k >= 4]

    monkeypatch.setattr(RewardDownLengthUp, "_within_reach", all_of_them)
    assert quick == [_readings(rollouts) for rollouts in runs]
    assert looked
    assert sum(any(r.state is State.FIRING for r in readings) for readings, _ in quick) > 5
    assert max(max(alone) for _, alone in quick) > 1


def test_bounds_lie_above_every_score() -> None:
    rng, rule = random.Random(3), RewardDownLengthUp()
    for size in (9, 14, 40, 72):
        values = [rng.gauss(5, 1) for _ in range(size)]
        tried = [k for k in LENGTHS if size - k >= 4]
        rule.tokens.noise = rule.reward.noise = 0.8
        bounds = reward_down_length_up._bounds(values, tried, 0.8)
        for k, bound in zip(tried, bounds, strict=True):
            assert bound >= rule._score(values, k, rule.reward, -1.0)[0]
            assert bound >= rule._score(values, k, rule.tokens, 1.0)[0]
        assert min(bounds) < 3  # a bound that is always high would save nothing


def test_a_signal_lost_after_a_long_steady_stretch_names_its_last_rollout() -> None:
    rule, whole = SignalLost(), {"reward": 0.5, "gap": 0.01}
    for number in range(50):
        assert rule.judge(Rollout(number, values=dict(whole)), Stage.TRAINED).state is State.OK
    states = [rule.judge(Rollout(n, values={"gap": 0.01}), Stage.TRAINED) for n in range(50, 53)]
    assert [s.state for s in states] == [State.PENDING, State.PENDING, State.FIRING]
    assert "reward: last logged in rollout 49" in states[-1].evidence


def test_no_match_where_nothing_can_be_tried() -> None:
    assert best_match([], STEP, 3, 10, 3) == Match(0.0, 0)
    assert best_match([1.0, 2.0, 3.0], STEP, 3, 10, 3).length == 0
