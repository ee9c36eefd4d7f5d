"""Robust scales and the likelihood ratio of a change, against what they promise."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from miles_tui.core.stats.mann_kendall import trend
from miles_tui.core.stats.robust import (
    RAMP_SHAPE,
    STEP_SHAPE,
    Shape,
    best_match,
    center_and_scale,
    median,
    step_noise,
    threshold,
)


def noise(n: int, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(0, 1) for _ in range(n)]


def test_center_and_scale_hold_spikes_back() -> None:
    values = noise(200)
    spiked = [*values[:190], *[50.0] * 10]
    center, scale = center_and_scale(spiked)
    assert abs(center) < 0.3
    assert 0.8 < scale < 1.4


def test_the_scale_of_equal_values_is_zero() -> None:
    assert center_and_scale([0.3] * 9) == (0.3, 0.0)


def test_step_noise_does_not_see_a_slow_curve() -> None:
    curve = [i * 0.3 + v for i, v in enumerate(noise(300))]
    assert 0.85 < step_noise(curve) < 1.15
    assert step_noise([1.0, 2.0]) == 0.0


def test_median_of_an_even_count_is_between() -> None:
    assert median([4.0, 1.0, 2.0, 3.0]) == 2.5


@pytest.mark.parametrize(("shape", "fault"), [(STEP_SHAPE, lambda k: 2.0), (RAMP_SHAPE, lambda k: 0.3 * k)])
def test_best_match_finds_the_start_of_a_change(shape: Shape, fault: Callable[[int], float]) -> None:
    values = noise(40) + [v + fault(k) for k, v in enumerate(noise(12, 2), 1)]
    match = best_match(values, shape, 3, 40, 4)
    assert match.score > 5
    assert 9 <= match.length <= 15


def test_a_short_baseline_lowers_the_score() -> None:
    fault = [2.0] * 5
    long, short = (
        best_match([*([0.5, -0.5] * 20), *fault], STEP_SHAPE, 5, 5, 3),
        best_match([*([0.5, -0.5] * 3), *fault], STEP_SHAPE, 5, 5, 3),
    )
    assert long.score > short.score > 0


def test_a_profile_stands_in_for_a_baseline() -> None:
    assert best_match([2.0] * 5, STEP_SHAPE, 3, 10, 3).length == 0
    assert best_match([2.0] * 5, STEP_SHAPE, 3, 10, 3, prior=40).score > 3


@pytest.mark.parametrize(("freedom", "exact"), [(5, 11.178), (10, 6.211), (30, 4.482), (100, 4.061)])
def test_threshold_is_students_t(freedom: float, exact: float) -> None:
    # two-sided 1e-4 of Student's t, from tables; the normal quantile is 3.891
    assert threshold(3.891, freedom) == pytest.approx(exact, rel=0.04)
    assert threshold(3.891, 0) == pytest.approx(3 * 3.891)


def test_trend_tells_a_rise_from_noise() -> None:
    rise = [i * 0.4 + v for i, v in enumerate(noise(20))]
    assert trend(rise) == 1
    assert trend([-v for v in rise]) == -1
    assert trend([1.0] * 20) == 0
    assert trend([1, 2, 3, 4, 5, 6, 7]) == 0, "seven values are too few"
    assert trend([1, 2, math.nan, 3, 4, 5, 6, 7, 8, 9]) == 1


def test_trend_is_rarely_wrong_on_noise_and_on_autocorrelated_noise() -> None:
    wrong = wrong_ar = 0
    for seed in range(400):
        values, drift, walk = noise(24, seed), 0.0, []
        for v in values:
            drift = 0.6 * drift + v
            walk.append(drift)
        wrong += trend(values) != 0
        wrong_ar += trend(walk) != 0
    assert wrong <= 12
    assert wrong_ar <= 60, "without the correction some 100 of these look like trends"
