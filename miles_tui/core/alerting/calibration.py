"""Learning a profile from healthy runs: ranges, levels, noise, starts, and the law of the rollout time."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from miles_tui.core.alerting.conditions.rollout_slowdown import RolloutSlowdown
from miles_tui.core.alerting.profile import Profile, SignalProfile, TimeProfile, Trend
from miles_tui.core.model.rollout import Rollout
from miles_tui.core.model.signals import SIGNALS
from miles_tui.core.stats.duration_model import fit_law
from miles_tui.core.stats.robust import center_and_scale, mean, median, step_noise

MOST_WEIGHT = 60.0  # rollouts: a new run is a new machine state; its own values must be able to win within a day
START = 5  # rollouts that a start is the mean of
FEWEST_RUNS, SHORTEST_RUN = 2, 20  # below these a profile is made with a warning
# Printed arguments that decide what is normal; the rest (paths, ports, names) differ between any two runs.
PROFILE_ARGUMENTS = (
    "hf_checkpoint", "prompt_data", "rollout_batch_size", "n_samples_per_prompt", "global_batch_size",
    "num_steps_per_rollout", "rollout_max_response_len", "rollout_temperature", "advantage_estimator", "lr",
    "kl_loss_coef", "entropy_coef", "eps_clip", "num_gpus_per_node", "actor_num_gpus_per_node", "rollout_num_gpus",
    "rollout_num_gpus_per_engine", "colocate", "tensor_model_parallel_size",
)  # fmt: skip


def learn(
    name: str,
    runs: Sequence[Sequence[Rollout]],
    logs: Iterable[str] = (),
    arguments: Sequence[Mapping[str, str]] = (),
) -> Profile:
    """A profile of healthy runs, each given as its rollouts in order. `arguments` are their printed ones."""
    signals = {}
    for signal in SIGNALS:
        series = [_finite(run, signal.name) for run in runs]
        known = _signal_profile(signal.name, [s for s in series if s])
        if known is not None:
            signals[signal.name] = known
    return Profile(
        name=name,
        logs=list(logs),
        rollouts=sum(len(run) for run in runs),
        arguments=_common(arguments),
        signals=signals,
        time=_time_profile(runs),
    )


def doubts(
    runs: Sequence[Sequence[Rollout]],
    alerts: Sequence[Sequence[str]] = (),
    arguments: Sequence[Mapping[str, str]] = (),
    logs: Sequence[str] = (),
) -> list[str]:
    """What speaks against a profile of these runs, a sentence each. `alerts`: each run's conditions above a notice."""
    names = list(logs) or [f"run {i + 1}" for i in range(len(runs))]
    found = []
    if len(runs) < FEWEST_RUNS:
        found.append("one run can't show how runs differ: use two or three seeds of the same setup")
    for log, run in zip(names, runs, strict=True):
        if len(run) < SHORTEST_RUN:
            found.append(f"{log}: {len(run)} rollouts are few; {SHORTEST_RUN} or more make a range that holds")
    for log, raised in zip(names, alerts, strict=False):
        if raised:
            found.append(
                f"{log}: not a healthy run, it raised {', '.join(dict.fromkeys(raised))}; these ranges take that for "
                f"normal: learn again without this log (miles-tui report {shlex.quote(log)} tells what happened)"
            )
    if arguments:
        first = arguments[0]
        for log, given in zip(names[1:], arguments[1:], strict=False):
            differ = [k for k in PROFILE_ARGUMENTS if k in first and k in given and first[k] != given[k]]
            if differ:
                found.append(
                    f"{log}: another setup than {names[0]} ({', '.join(differ)} differ{'s' * (len(differ) == 1)})"
                )
    return found


def _common(arguments: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The arguments that matter and that all runs share."""
    if not arguments:
        return {}
    return {
        key: arguments[0][key]
        for key in PROFILE_ARGUMENTS
        if key in arguments[0] and len({a.get(key) for a in arguments}) == 1
    }


def _finite(run: Sequence[Rollout], name: str) -> list[float]:
    timed = name == "rollout time"
    return [
        value
        for r in run
        if math.isfinite(value := r.values.get(name, math.nan))
        and not (timed and (r.paused or r.rank < RolloutSlowdown.WARM_UP))
    ]


def _signal_profile(name: str, series: list[list[float]]) -> SignalProfile | None:
    values = [v for run in series for v in run]
    if not values:
        return None
    fives = [mean(run[i : i + 5]) for run in series for i in range(len(run) - 4)]
    steps = [abs(b - a) for run in series for a, b in pairwise(run)]
    logs = name == "gradient norm"
    unit = [[math.log(v) for v in run if v > 0] for run in series] if logs else series
    unit = [run for run in unit if len(run) >= START]
    level = noise = start = None
    weight = start_weight = 0.0
    if unit:
        # flat signals scatter around a level, learning ones around a curve: differences of neighbours see past that
        curved = name in ("reward", "answer length", "cut share")
        parts = [(step_noise(run), mean(run)) if curved else center_and_scale(run)[::-1] for run in unit]
        count = sum(len(run) for run in unit)
        noise = math.sqrt(sum(len(run) * s * s for run, (s, _) in zip(unit, parts, strict=True)) / count)
        center = sum(len(run) * c for run, (_, c) in zip(unit, parts, strict=True)) / count
        weight = _weight(noise, count, [c for _, c in parts])
        level = math.exp(center) if logs else center
        starts = [mean(run[:START]) for run in unit]
        start = math.exp(mean(starts)) if logs else mean(starts)
        start_weight = _weight(noise, START * len(unit), starts)
    return SignalProfile(
        low=min(values),
        high=max(values),
        mean5_low=min(fives) if fives else None,
        mean5_high=max(fives) if fives else None,
        swing=max(steps) if steps else None,
        trend=_trend(series),
        level=level,
        noise=noise,
        weight=weight,
        start=start,
        start_weight=start_weight,
    )


def _weight(noise: float, count: int, centers: list[float]) -> float:
    """How many values a level of `count` values is worth to a new run: fewer where the runs' own levels differ by more
    than their noise explains (the variance of a random effect, method of moments)."""
    runs = len(centers)
    if noise <= 0:
        return min(float(count), MOST_WEIGHT) if max(centers) == min(centers) else 0.0
    between = 0.0
    if runs > 1:
        middle = mean(centers)
        between = sum((c - middle) ** 2 for c in centers) / (runs - 1) - noise * noise * runs / count
    new = noise * noise / count + max(between, 0.0) * (1 + 1 / runs)
    return round(min(noise * noise / new, MOST_WEIGHT), 1)


def _trend(series: list[list[float]]) -> Trend | None:
    """The trend that most runs show: the last third against the first, by three deviations and half a step's noise."""
    found = []
    for run in series:
        third = len(run) // 3
        if third >= 3:
            noise = step_noise(run)
            far = max(3.0 * noise * math.sqrt(2 / third), 0.5 * noise)
            change = mean(run[-third:]) - mean(run[:third])
            found.append((change > far) - (change < -far))
    if not found:
        return None
    middle = median(found)
    return "rises" if middle > 0 else "falls" if middle < 0 else "flat"


def _time_profile(runs: Sequence[Sequence[Rollout]]) -> TimeProfile | None:
    series = [
        [
            (length, seconds)
            for r in run
            if 0 < (seconds := r.values.get("rollout time", 0.0)) < math.inf
            and 0 < (length := r.values.get("answer length", 0.0)) < math.inf
            and not r.paused
            and r.rank >= RolloutSlowdown.WARM_UP
        ]
        for run in runs
    ]
    series = [points for points in series if len(points) >= RolloutSlowdown.LEAST]
    if not series:
        return None
    # end to end: the two false neighbours at each seam are clipped like any spike
    law = fit_law([point for points in series for point in points], None, None)
    levels = [median([math.log(s) - law.explained(x) for x, s in points]) for points in series]
    count = sum(len(points) for points in series)
    spread = law.noise / max(1.0 - law.rho, 0.05)  # of a level's estimate from one rollout
    return TimeProfile(
        length=law.typical,
        seconds=math.exp(law.level),
        share=law.share,
        carry=law.rho,
        noise=law.noise,
        weight=_weight(spread, count, levels),
    )
