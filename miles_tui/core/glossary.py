"""What a metric means: one line each, from the field manual, in our words.

The manual's ranges hold for its own setup: Qwen3-0.6B on GSM8K, one GB10, 32 prompts of 8 answers,
a limit of 1,024 tokens (edition 2026.10).
"""

from __future__ import annotations

from dataclasses import dataclass

from miles_tui.core.signals import BY_LOG_NAME


@dataclass(slots=True, frozen=True)
class Meaning:
    """A metric's meaning, unit, healthy trend and the manual's range; empty where the manual says nothing."""

    log_name: str
    meaning: str
    unit: str = ""
    healthy: str = ""
    manual: str = ""

    def line(self) -> str:
        """All of it in one line."""
        unit = f" ({self.unit})" if self.unit else ""
        healthy = f"; healthy: {self.healthy}" if self.healthy else ""
        manual = f"; manual: {self.manual}" if self.manual else ""
        return f"{self.meaning}{unit}{healthy}{manual}"


_FLAT, _TIME = "stays flat", "s"
_MEDIAN = "median of 48 rollouts"

MEANINGS: dict[str, Meaning] = {
    m.log_name: m
    for m in (
        Meaning("rollout/raw_reward", "mean reward of the rollout", "", "rises, with swings", "0.53 to 0.87"),
        Meaning("rollout/response_lengths", "mean answer length", "tokens", "falls as answers get shorter", "396 to 787"),
        Meaning("rollout/truncated", "share of answers that hit the length limit", "", "falls with the length", "0.02 to 0.43"),
        Meaning("train/train_rollout_logprob_abs_diff", "mean absolute gap between trainer and engine log probabilities", "per token", _FLAT, "0.0136 to 0.0164 with plain sampling"),
        Meaning("train/train_rollout_kl", "KL between engine and trainer at the sampled tokens", "", _FLAT, "0.00063 to 0.00076"),
        Meaning("train/grad_norm", "gradient norm", "", "one range, rare spikes", "0.35 to 4.95"),
        Meaning("train/pg_clipfrac", "share of tokens where the update hit the clip limit", "", "0 with one update per rollout", "0"),
        Meaning("train/ppo_kl", "KL between the trainer before and after the update", "", "0 at the first update of a rollout", "0 at step 0"),
        Meaning("train/entropy_loss", "entropy term of the loss; constant 0 tells nothing", "", "", "0 at every step"),
        Meaning("perf/step_time", "the whole step", _TIME, "", f"152.6 s, {_MEDIAN}"),
        Meaning("perf/rollout_time", "the rollout phase", _TIME, "falls with the length", f"47.5 s, {_MEDIAN}"),
        Meaning("perf/log_probs_time", "the trainer scoring the samples", _TIME, "", f"23.4 s, {_MEDIAN}"),
        Meaning("perf/train_time", "the training phase, scoring included", _TIME, "", f"100.3 s, {_MEDIAN}"),
        Meaning("perf/update_weights_time", "copying new weights into the engine", _TIME, "", "0.63 to 0.65 s"),
        Meaning("perf/sleep_time", "the trainer moving its state to host memory", _TIME, "", f"0.76 s, {_MEDIAN}; 1.9 to 3.7 s in the first two"),
        Meaning("perf/wake_up_time", "the trainer moving its state back", _TIME, "", f"0.87 s, {_MEDIAN}"),
        Meaning("perf/train_wait_time", "the trainer waiting for samples", _TIME),
        Meaning("eval/lag_steps", "rollouts by which an evaluation on its own machines finished late", "rollouts"),
    )
}  # fmt: skip

# Families whose members differ in their last word only; no range is claimed for any of them.
FAMILIES: tuple[tuple[str, str, str], ...] = (
    ("rollout/weight_version/mixed_version_ratio", "share of samples made by more than one version of the weights", ""),
    ("rollout/weight_version/", "version of the weights that made the samples: how old an async run's samples are", ""),
    ("rollout/fully_async/", "the buffer of a fully asynchronous run: its size, and how stale its samples are", ""),
    ("rollout/zero_std/count_", "groups whose answers all got this one reward: nothing to learn from", "groups"),
    ("rollout/response_len/", "answer length", "tokens"),
    ("passrate/pass@", "share of prompts solved by at least one of k answers", ""),
    ("eval/", "an evaluation's score or statistic", ""),
    ("perf/actor_train_time", "the optimizer updates", ""),
    ("perf/ref_log_probs_time", "the reference model scoring the samples", ""),
    ("perf/save_model_time", "writing a checkpoint", ""),
    ("perf/", "time or speed of a part of the step", ""),
    ("train/lr-", "learning rate of a parameter group", ""),
)


def meaning_of(log_name: str) -> Meaning | None:
    """The meaning of a metric by any of its log names; None where nothing is known."""
    found = MEANINGS.get(log_name)
    if found is None and log_name in BY_LOG_NAME:
        found = MEANINGS.get(BY_LOG_NAME[log_name].log_names[0])
    if found is not None:
        return found
    for prefix, meaning, unit in FAMILIES:
        if log_name.startswith(prefix):
            return Meaning(log_name, meaning, _TIME if log_name.endswith("_time") else unit)
    return None
