"""The manual's eight signals: their names, where the log has them, and what a healthy run shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Signal(NamedTuple):
    """One signal of the manual; its name there is its name everywhere, in files and JSON too.

    `log_names` are accepted names, the manual's own first; the others mean the same thing in
    older or sibling trainers. `healthy` is the manual's last column in a few words. `digits` is
    the number of significant digits that mean something. `unit` is empty for a share: the name says it.
    """

    name: str
    log_names: tuple[str, ...]
    unit: str
    meaning: str
    healthy: str
    digits: int = 3
    from_updates: bool = False  # logged once an optimizer update (`step N`), not once a rollout

    @property
    def label(self) -> str:
        """The name with its unit, as the rows have it."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


SIGNALS: tuple[Signal, ...] = (
    Signal(
        "reward", ("rollout/raw_reward", "rollout/episode_raw_reward"), "",
        "the mean reward of the rollout", "rises, with swings",
    ),
    Signal(
        "answer length",
        ("rollout/response_lengths", "rollout/response_len/mean", "rollout/episode_response_length/mean"), "tokens",
        "the mean answer length", "falls as the model learns shorter answers",
    ),
    Signal(
        "cut share", ("rollout/truncated", "rollout/truncated_ratio"), "",
        "the share of answers that hit the length limit", "falls with the length",
    ),
    Signal(
        "gap", ("train/train_rollout_logprob_abs_diff",), "nats",
        "the mean absolute gap between trainer and engine log probabilities, per token", "stays flat",
        from_updates=True,
    ),
    Signal(
        "KL to the engine", ("train/train_rollout_kl",), "nats",
        "the KL between the engine and trainer distributions at the sampled tokens", "stays flat",
        from_updates=True,
    ),
    Signal(
        "gradient norm", ("train/grad_norm",), "",
        "the gradient norm", "one range, rare spikes", from_updates=True,
    ),
    Signal(
        "clip fraction", ("train/pg_clipfrac",), "",
        "the share of tokens where the update hit the clip limit", "0 with one update per rollout",
        from_updates=True,
    ),
    Signal(
        "rollout time", ("perf/rollout_time",), "s",
        "the time of the rollout phase", "falls with the length",
    ),
)  # fmt: skip

BY_NAME: dict[str, Signal] = {s.name: s for s in SIGNALS}
BY_LOG_NAME: dict[str, Signal] = {name: s for s in SIGNALS for name in s.log_names}

# Statistics beside an evaluation's score, by the end of their name; what has a further `/` is one, too.
NO_SCORE = ("_ratio", "_steps", "_seconds", "_time", "_frac", "_len", "_count")


def scores_of(names: Iterable[str]) -> list[str]:
    """The evaluation scores among log names: `eval/gsm8k`, not `eval/gsm8k-truncated_ratio`."""
    rest = ((name, name.removeprefix("eval/")) for name in names if name.startswith("eval/"))
    return [name for name, score in rest if "/" not in score and "-pass@" not in score and not score.endswith(NO_SCORE)]
