"""What metrics mean: every name that Miles prints has a true line of its own, with its unit."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import pytest
from costs import grows_less
from hypothesis import given
from hypothesis import strategies as st

from miles_tui.core.model.glossary import TABLE, all_meanings, meaning_of, members
from miles_tui.core.model.records import Record
from miles_tui.core.model.signals import BY_LOG_NAME, SIGNALS
from miles_tui.core.parsing.reader import Reader

SAMPLES = Path(__file__).resolve().parents[2] / "sample_logs"

# Names of public forms (Miles, slime, their examples) -> the unit, and a word that a true line has.
PUBLIC = {
    "train/loss": ("", "minimised"),
    "train/pg_loss": ("", "policy gradient"),
    "train/kl_loss": ("nats", "reference"),
    "train/entropy_loss": ("nats", "entropy"),
    "train/ess_ratio": ("share", "effective sample size"),
    "train/ois": ("", "after to before the update"),
    "train/tis": ("", "trainer to that in the engine"),
    "train/tis_abs": ("", "from 1"),
    "train/tis_clipfrac": ("share", "cut"),
    "train/opsm_clipfrac": ("share", "sequence masking"),
    "train/mtp_loss": ("", "several tokens ahead"),
    "train/mtp_1_loss": ("", "head 1"),
    "train/opd_reverse_kl": ("nats", "teacher"),
    "train/step": ("", "number"),
    "train/global_batch_size": ("samples", "update"),
    "train/lr-pg_3": ("", "learning rate of parameter group 3"),
    "train/critic-grad_norm": ("", "of the critic: gradient norm"),
    "train/critic-value_loss": ("", "of the critic: squared error"),
    "train/critic-value_clipfrac": ("share", "of the critic: share"),
    "train/critic-lr-pg_0": ("", "of the critic: learning rate"),
    "train/mis_kl": ("nats", "engine and trainer"),
    "train/mis_k3_kl": ("nats", "engine and trainer"),
    "train/mis_training_ppl": ("", "perplexity"),
    "train/mis_rollout_log_ppl": ("nats", "by the engine"),
    "train/mis_tis_truncate_fraction": ("share", "cut or left out"),
    "train/mis_clip_fraction_high": ("share", "cut or left out"),
    "train/mis_rs_mask_fraction_low": ("share", "cut or left out"),
    "train/mis_rs_catastrophic_token_fraction": ("share", "all but impossible"),
    "train/mis_tis_weight_before_bound": ("", "corrects the mismatch"),
    "train/mis_is_ratio_max_final": ("", "corrects the mismatch"),
    "train/mis_chi2_seq": ("", "by sequence"),
    "rollout/rewards": ("", "no accuracy"),
    "rollout/advantages": ("", "advantage"),
    "rollout/returns": ("", "return"),
    "rollout/values": ("", "critic"),
    "rollout/log_probs": ("nats", "trainer"),
    "rollout/ref_log_probs": ("nats", "reference"),
    "rollout/rollout_log_probs": ("nats", "engine"),
    "rollout/total_lengths": ("tokens", "prompt and answer"),
    "rollout/entropy": ("nats", "entropy"),
    "rollout/kl": ("nats", "reference"),
    "rollout/prefix_cache_hit_rate": ("share", "prefix cache"),
    "rollout/avg_cached_tokens_per_sample": ("tokens", "prefix cache"),
    "rollout/spec_accept_rate": ("share", "accepted"),
    "rollout/spec_accept_length": ("tokens", "draft"),
    "rollout/error_cat/can't parse/at all": ("share", "category can't parse/at all"),
    "rollout/repetition_frac": ("share", "repeat themselves"),
    "rollout/response_len/max": ("tokens", "largest answer length"),
    "rollout/zero_std/count_-1.0": ("groups", "reward -1.0"),
    "rollout/zero_std/all_zero_percentage": ("share", "reward 0"),
    "rollout/dynamic_filter/drop_zero_std_0.0": ("groups", "reward 0.0"),
    "rollout/dynamic_filter/drop_too_long_26490": ("groups", "reason too_long_26490"),
    "rollout/weight_version/min": ("version", "smallest"),
    "rollout/weight_version/mixed_version_ratio": ("share", "more than one version"),
    "rollout/tito_session_mismatch_rate": ("share", "sessions"),
    "rollout/tito_session_mismatch_rate/v2": ("share", "sessions"),
    "rollout/tito_session_mismatch_rate/v2/special_token_count": ("share", "number of special tokens"),
    "rollout/tito_session_mismatch_rate/assistant_text": ("share", "harmless alone"),
    "rollout/fully_async/queue_size": ("groups", "wait in the buffer"),
    "rollout/fully_async/avg_staleness": ("versions", "mean number of updates"),
    "rollout/fully_async/buffer_max_staleness": ("versions", "largest number of updates"),
    "rollout/fully_async/aborted_groups_filtered": ("groups", "aborted"),
    "rollout/num_training_samples": ("samples", "training"),
    "perf/step_time": ("s", "whole step"),
    "perf/save_model_time": ("s", "checkpoint"),
    "perf/finalize_and_resume_engines_time": ("s", "engines"),
    "perf/sgd_of_my_own_time": ("s", "timer sgd_of_my_own"),
    "perf/wait_time_ratio": ("share", "waits for samples"),
    "perf/actor_train_mfu": ("share", "FLOPs utilization"),
    "perf/mfu_peak_tflops": ("TFLOPS", "one GPU"),
    "perf/actor_train_tflops": ("TFLOPS", "optimizer updates"),
    "perf/ref_log_probs_tflops": ("TFLOPS", "reference model's scoring"),
    "perf/actor_train_tok_per_s": ("tokens/s", "optimizer updates"),
    "perf/tokens_per_gpu_per_sec": ("tokens/s", "per GPU"),
    "perf/longest_sample_tokens_per_sec": ("tokens/s", "longest answer"),
    "perf/longest_effective_sample_non_generation_time": ("s", "tools"),
    "perf/non_generation_time/median": ("s", "median time"),
    "perf/update_weights_wire_bytes": ("bytes", "sends"),
    "perf/update_weights_density": ("share", "weights that differ"),
    "perf/cpu_memory_after_offload_train_gb": ("GB", "host memory in use"),
    "perf/fully_async/queue_length": ("groups", "wait in the buffer"),
    "codebot/perf/queue_length": ("groups", "codebot alone: finished groups"),
    "perf/request/e2e_latency/mean": ("s", "mean time of a request"),
    "perf/prefill/transfer_speed_gb_s/max": ("GB/s", "largest speed"),
    "perf/decode/forward_duration/mean": ("s", "decode, part forward"),
    "passrate/pass@8": ("share", "at least one of 8 answers"),
    "multi_turn/raw_response_length/response_length_max": ("tokens", "largest length"),
    "multi_turn/raw_response_length/response_length_clip_ratio": ("share", "length limit"),
    "multi_turn/multi_turn_metric/round_number_mean": ("turns", "mean number of turns"),
    "agent/turns_mean": ("turns", "mean of the turns"),
    "agent/tool_calls_sum": ("calls", "sum of the calls"),
    "agent/env_time_ratio": ("share", "its environment"),
    "agent/eval_time_mean": ("s", "in eval"),
    "eval/gsm8k": ("", "mean score in the evaluation gsm8k"),
    "eval/max": ("", "mean score in the evaluation max"),
    "eval/gsm8k-truncated_ratio": ("share", "length limit"),
    "eval/aime-pass@16": ("share", "at least one of 16 answers"),
    "eval/AIME 2024 (hard)/response_len/mean": ("tokens", "evaluation AIME 2024 (hard): mean answer length"),
    "eval/lag_steps": ("rollouts", "late"),
    "eval/duration_seconds": ("s", "took"),
    "alpha/train/grad_norm": ("", "alpha alone: gradient norm"),
    "alpha/train/critic-kl_loss": ("nats", "alpha alone: of the critic: KL"),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_its_meaning_and_unit(name: str) -> None:
    meaning = meaning_of(name)
    assert meaning is not None
    unit, word = PUBLIC[name]
    assert meaning.unit == unit
    assert word in meaning.meaning


def test_every_name_in_the_sample_logs_has_one() -> None:
    names: set[str] = set()
    for log in SAMPLES.glob("*.log"):
        reader = Reader()
        items = [*reader.feed(log.read_bytes()), *reader.finish()]
        names |= {name for item in items if isinstance(item, Record) for name in item.metrics}
    assert len(names) > 50
    assert not [name for name in names if meaning_of(name) is None]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_each_row_is_reached_by_its_own_names_and_says_a_sentence(row: tuple[str, ...]) -> None:
    for name in members(row[0].replace("**", "*")):
        meaning = meaning_of(name.replace("*", "train") if name.startswith("*/") else name.replace("*", "some"))
        if "@" in row[1] and meaning is None:
            continue  # what it refers to has no meaning: rollout/some
        assert meaning is not None, name
        assert meaning.log_name == row[0] or name in BY_LOG_NAME, f"{name} is taken for {meaning.log_name}"
        assert "{" not in meaning.line()
        assert len(meaning.meaning.split()) > 1


@pytest.mark.parametrize(
    "name",
    ["", "train/my_metric", "perf/note", "perf/", "rollout/fork/thing", "sandbox/error_rate", "eval/foo_ratio",
     "train/critic-nothing", "rollout/response_len/p99", "eval/a/nothing", "x/perf/y", "train/lr-pg_", "loss"],
)  # fmt: skip
def test_what_is_not_known_is_said_to_be_so(name: str) -> None:
    assert meaning_of(name) is None


def test_the_signals_have_the_same_unit_everywhere() -> None:
    for signal in SIGNALS:
        for name in signal.log_names:
            meaning = meaning_of(name)
            assert meaning is not None
            # A share has none in a row: its name says so.
            assert signal.unit == ("" if meaning.unit == "share" else meaning.unit)


def test_a_unit_is_not_said_twice() -> None:
    lines = [m.line() for m in all_meanings()]
    assert not [line for line in lines if re.search(r"\bshare\b.*\(share\)", line)]
    assert any(line.endswith("(bytes)") for line in lines)


def test_log_text_in_a_meaning_is_harmless() -> None:
    meaning = meaning_of("rollout/error_cat/\x1b[31mred\x1b]0;title\x07")
    assert meaning is not None
    assert "\x1b" not in meaning.line()
    assert "\x07" not in meaning.line()


@given(st.text(alphabet="abz/*{}@-_.0 train/rollout/perf/eval/critic-", max_size=80))
def test_any_name_is_answered(name: str) -> None:
    meaning = meaning_of(name)
    assert meaning is None or meaning.line()


def test_a_hostile_name_costs_what_it_is_long() -> None:
    turns = count()  # a name of its own each time: a known one is looked up

    def work(length: int) -> None:
        for name in ("train/" * length, "x/train/" * length, "eval/" * length, "train/mis_" + "fraction" * length):
            meaning_of(f"{name}{next(turns)}!")

    assert grows_less(work, 10_000)
