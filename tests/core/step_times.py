"""Metrics of a run whose steps all take the same times."""

from __future__ import annotations

from miles_tui.core.model.series import Series

TIMES = {"step": 150.0, "train_wait": 50.0, "train": 100.0, "log_probs": 15.0, "ref_log_probs": 5.0,
         "actor_train": 70.0, "update_weights": 1.0, "sleep": 2.0, "wake_up": 3.0}  # fmt: skip


def logged(rollouts: int = 20, **times: float) -> dict[str, Series]:
    """The metrics of a run whose steps all take the same times, but for those given."""
    out: dict[str, Series] = {}
    for name, seconds in (TIMES | times).items():
        series = out[f"perf/{name}_time"] = Series()
        for n in range(rollouts):
            series.set(n, seconds)
    return out
