"""Simulated runs as rollouts, for tests of the judging: a learning curve, noise, spikes, an autocorrelated clock.

Of our own making, with the standard library's generator: the figures of merit are measured elsewhere on other runs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from miles_tui.core.alerting.alert import Alert
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.profile import Profile
from miles_tui.core.model.rollout import Rollout

Change = Callable[[int, dict[str, float]], None]  # (rollout, its values, to be changed in place)


@dataclass(frozen=True)
class Setup:
    """What a healthy run of a setup looks like."""

    reward: tuple[float, float] = (0.45, 0.7)
    reward_noise: float = 0.04
    length: tuple[float, float] = (900.0, 600.0)
    length_noise: float = 30.0
    limit: int = 2048
    gap: float = 0.02
    gap_noise: float = 0.0006
    norm: float = 0.6
    norm_noise: float = 0.35
    fixed: float = 8.0
    per_token: float = 0.05
    carry: float = 0.75
    time_noise: float = 0.012


PLAIN = Setup()
SETUPS = (
    PLAIN,
    Setup(reward=(0.1, 0.4), length=(3000, 6000), length_noise=200, limit=16384, gap=0.15, gap_noise=0.006, norm=40),
    Setup(gap=0.0, gap_noise=0.0, norm=0.05, norm_noise=0.15, carry=0.3),
)


def run(
    steps: int, seed: int = 0, setup: Setup = PLAIN, change: Change | None = None, updates: int = 1
) -> list[Rollout]:
    """A run of `steps` rollouts; `change` puts a fault into the values of each."""
    rng, drift, found = random.Random(seed), 0.0, []
    for n in range(steps):
        share = 1 / (1 + math.exp(-(n - 15) / 8))
        length = setup.length[0] + (setup.length[1] - setup.length[0]) * share + rng.gauss(0, setup.length_noise)
        drift = setup.carry * drift + rng.gauss(0, setup.time_noise)
        norm = setup.norm * math.exp(rng.gauss(0, setup.norm_noise))
        values = {
            "reward": setup.reward[0] + (setup.reward[1] - setup.reward[0]) * share + rng.gauss(0, setup.reward_noise),
            "answer length": length,
            "cut share": min(max((length / setup.limit - 0.4) * 0.9, 0.005), 0.97),
            "rollout time": (setup.fixed + setup.per_token * length) * (1 + drift) * (1.3 if n < 2 else 1.0),
            "gap": abs(setup.gap + rng.gauss(0, setup.gap_noise)),
            "KL to the engine": setup.gap * 0.05,
            "gradient norm": norm * (rng.uniform(3, 5) if rng.random() < 0.03 else 1.0),
            "clip fraction": 0.0 if updates == 1 else 0.002,
        }
        if change is not None:
            change(n, values)
        first = {"train/ppo_kl": 0.0, "train/pg_clipfrac": values["clip fraction"] if updates == 1 else 0.0}
        found.append(Rollout(n, 1, n, values, dict(first), first, updates, updates, time=1000.0 + 150.0 * n))
    return found


def judged(rollouts: Sequence[Rollout], profile: Profile | None = None, judge: Judge | None = None) -> Judge:
    """A judge that has seen these rollouts."""
    judge = judge or Judge(profile)
    for rollout in rollouts:
        judge.sampled(rollout)
        judge.trained(rollout)
    return judge


def raised(judge: Judge, notices: bool = False) -> list[tuple[str, int | None]]:
    """(condition, rollout) of every alert above a notice, in the order raised."""
    return [(a.condition, a.raised_step) for a in judge.alerts if notices or a.severity.value != "notice"]


def the(judge: Judge, condition: str) -> Alert:
    """The only alert of a condition."""
    (alert,) = [a for a in judge.alerts if a.condition == condition]
    return alert
