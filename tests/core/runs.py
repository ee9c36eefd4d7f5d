"""Small runs as items, for tests of what lies above the reader."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.records import Event, EventKind, Item, Record, Source
from miles_tui.core.run.monitor import Curves
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of

MANAGER, TRAINER = Source("RolloutManager", "41"), Source("MegatronTrainRayActor", "42")
SECONDS = 160.0  # from one rollout to the next


def rollout(
    n: int, *, k: int = 1, start: float = 1000.0, pid: str = "42", rng: random.Random | None = None, **values: float
) -> Iterator[Item]:
    """The records of one healthy rollout, in their order; `values` overrides metrics by a short name."""
    rng = rng or random.Random(n)
    at = start + n * SECONDS
    trainer = Source(TRAINER.role, pid)
    length = values.get("length", 600 + rng.gauss(0, 20))
    yield Record("perf", n, {"rollout/response_len/mean": length, "rollout/truncated_ratio": values.get("cut", 0.2),
                             "perf/rollout_time": values.get("seconds", 6 + 0.078 * length)}, at, MANAGER)  # fmt: skip
    yield Record("rollout", n, {"rollout/raw_reward": values.get("reward", 0.6 + rng.gauss(0, 0.04)),
                                "rollout/response_lengths": length, "rollout/truncated": values.get("cut", 0.2)},
                 at + 27, trainer)  # fmt: skip
    for u in range(k):
        metrics = {
            "train/train_rollout_logprob_abs_diff": values.get("gap", 0.015 + rng.gauss(0, 0.0004)),
            "train/train_rollout_kl": 0.0007,
            "train/grad_norm": values.get("grad", math.exp(rng.gauss(0, 0.3))),
            "train/pg_clipfrac": values.get("clip", 0.0) if u or k == 1 else 0.0,
            "train/ppo_kl": 0.0,
        }
        record = Record("step", n * k + u, metrics, at + 99, trainer, "log_utils.py")
        yield record
        yield record  # Megatron prints each twice
    yield Record("perf", n, {"perf/train_time": 100.0, "perf/step_time": 158.0}, at + 101, trainer)


def healthy(count: int, first: int = 0, **more: float) -> list[Item]:
    return [item for n in range(first, first + count) for item in rollout(n, **more)]  # type: ignore[arg-type]


def args(**values: object) -> Event:
    return Event(EventKind.ARGS, "", None, {name: str(value) for name, value in values.items()})


def state(items: list[Item], *, finish: bool = True) -> RunState:
    run = RunState(Judge())
    run.feed(items)
    if finish:
        run.finish()
    return run


def raised(run: RunState) -> list[tuple[str, int | None, int | None]]:
    return [(a.condition, a.raised_step, a.resolved_step) for a in run.alerts]


def curves(run: RunState) -> Curves:
    """The values of a run, as a monitor gives them."""
    return Curves(run.signals, run.metrics, run.window)


def word(run: RunState, name: str) -> tuple[str, Severity | None]:
    """The word on a signal, and the severity that comes with it."""
    signal = snapshot_of(run).signals[name]
    return signal.state, signal.severity
