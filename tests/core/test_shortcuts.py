"""What the rules leave out to be fast decides nothing: each shortcut against the whole work."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from simulated import SETUPS, run

from miles_tui.core.alerting.conditions import reward_down_length_up
from miles_tui.core.alerting.conditions.base import Evaluation, State
from miles_tui.core.alerting.conditions.reward_down_length_up import LENGTHS, RewardDownLengthUp
from miles_tui.core.alerting.conditions.signal_lost import SignalLost
from miles_tui.core.model.rollout import Rollout, Stage
from miles_tui.core.stats.baseline import Baseline
from miles_tui.core.stats.mann_kendall import ALPHA_Z, trend
from miles_tui.core.stats.robust import (
    MAD_TO_SD,
    RAMP_SHAPE,
    STEP_SHAPE,
    InOrder,
    Match,
    Shape,
    best_match,
    center_and_scale,
    deviation,
    median,
    pulled_in,
    step_noise,
)
from miles_tui.present.alerts.evidence_words import evidence_sentence


@pytest.mark.parametrize("shape", [STEP_SHAPE, RAMP_SHAPE, Shape(0.7, 0.3)])
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


def _readings(rollouts: list[Rollout]) -> tuple[list[Evaluation], list[int]]:
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
    assert states[-1].evidence is not None
    assert "reward: last logged in rollout 49" in evidence_sentence("signal-lost", states[-1].evidence)


def test_no_match_where_nothing_can_be_tried() -> None:
    assert best_match([], STEP_SHAPE, 3, 10, 3) == Match(0.0, 0)
    assert best_match([1.0, 2.0, 3.0], STEP_SHAPE, 3, 10, 3).length == 0


def _plain_deviation(values: list[float], middle: float) -> float:
    return MAD_TO_SD * median([abs(v - middle) for v in values])


def _plain_noise(values: list[float]) -> float:
    steps = [b - a for a, b in pairwise(values)]
    scale = MAD_TO_SD * median([abs(s) for s in steps]) or math.sqrt(sum(s * s for s in steps) / len(steps))
    return math.sqrt(sum(min(max(s, -3 * scale), 3 * scale) ** 2 for s in steps) / len(steps) / 2)


def _plain_scale(values: list[float]) -> float:
    middle = median(values)
    reach = 2.5 * _plain_deviation(values, middle)
    held = [min(max(v, middle - reach), middle + reach) for v in values]
    center = sum(held) / len(held)
    return math.sqrt(sum((v - center) ** 2 for v in held) / (len(held) - 1))


def _samples() -> Iterator[tuple[random.Random, list[float]]]:
    """Values of all sorts: smooth, tied, with spikes, of few and of many."""
    rng = random.Random(11)
    for _ in range(600):
        size, tails = rng.randrange(3, 97), rng.choice((0.0, 0.03, 0.3))
        values = [rng.gauss(0, 1) * (rng.uniform(3, 9) if rng.random() < tails else 1) for _ in range(size)]
        yield rng, [round(v) / 4 for v in values] if rng.random() < 0.3 else values


def test_what_is_read_from_values_in_order_is_what_a_look_at_each_gives() -> None:
    for rng, values in _samples():
        ordered, at = sorted(values), rng.choice((median(values), rng.uniform(-12, 12)))
        assert deviation(ordered, at) == _plain_deviation(values, at)
        low, high = sorted((rng.uniform(-4, 4), rng.uniform(-4, 4)))
        assert pulled_in(values, ordered, low, high) == [min(max(v, low), high) for v in values]
        assert step_noise(values) == pytest.approx(_plain_noise(values), rel=1e-12, abs=1e-300)
        assert center_and_scale(values)[1] == pytest.approx(_plain_scale(values), rel=1e-12, abs=1e-300)


def test_huge_values_have_a_scale() -> None:
    assert center_and_scale([1e200, 2e200, 3e200, 4e200])[1] == pytest.approx(1.29e200, rel=0.01)
    assert step_noise([1e-200, 2e-200, 4e-200]) > 0


def test_a_window_that_moves_on_is_kept_in_order() -> None:
    rng, order, at = random.Random(5), InOrder(4), 0
    values = [round(rng.gauss(0, 1), rng.choice((1, 9))) for _ in range(3000)]
    last, kept = order.of([]), 0
    while at < 2900:
        at, size = at + (4 if rng.random() < 0.9 else rng.randrange(9)), 60 if rng.random() < 0.9 else rng.randrange(99)
        found = order.of(values[at : at + size])
        assert found == sorted(values[at : at + size])
        kept, last = kept + (found is last), found
    assert kept > 300


def test_a_baseline_is_that_of_its_values_whatever_came_and_went() -> None:
    rng, base = random.Random(5), Baseline(6, hold=4)
    for number in range(2000):
        base.add(round(rng.gauss(5, 1), rng.choice((1, 9))))
        if base.ready and base._due == (1 if len(base.values) < 32 else base.EVERY):  # a fit of just these values
            old = base.values[: max(len(base.values) - 4, min(len(base.values), 6))]
            assert (base.center, base.scale) == center_and_scale(old)
        if rng.random() < 0.004:
            base.forget_last(rng.randrange(1, 9))
        if number == 900:
            base.rebase()


def test_no_trend_is_found_before_the_variance_is_widened() -> None:
    """The shortcut of `trend`: a score that is too small for the plain variance is too small for any."""
    found = {-1: 0, 0: 0, 1: 0}
    for _, values in _samples():
        slope = random.Random(len(values)).uniform(-0.2, 0.2)
        some = [v + slope * i for i, v in enumerate(values[:24])]
        score = sum((b > a) - (b < a) for i, a in enumerate(some) for b in some[i + 1 :])
        told = trend(some)
        found[told] += 1
        assert told == 0 or (score > 0) is (told > 0)
        ties = sum(c * (c - 1) * (2 * c + 5) for c in Counter(some).values())
        n = len(some)
        sure = abs(score) - 1 >= ALPHA_Z * math.sqrt(max(n * (n - 1) * (2 * n + 5) - ties, 0) / 18)
        assert sure or told == 0
    assert min(found.values()) > 20
