"""What a metric means: one line each, in our words, from the field manual and from what Miles and slime compute.

The manual's ranges hold for its own setup: Qwen3-0.6B on GSM8K, one GB10, 32 prompts of 8 answers,
a limit of 1,024 tokens (edition 2026.10).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from miles_tui.core.model.signals import BY_LOG_NAME, scores_of
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.core.text.words import listed


class Meaning(NamedTuple):
    """A metric's meaning, unit, healthy trend and the manual's range; empty where there is nothing to say.

    `log_name` is the name or the pattern of the table that says so.
    """

    log_name: str
    meaning: str
    unit: str = ""
    healthy: str = ""
    manual: str = ""

    @property
    def said(self) -> str:
        """The meaning, with the unit where it does not hold that word."""
        return (
            f"{self.meaning} ({self.unit})"
            if self.unit and not re.search(rf"\b{re.escape(self.unit)}\b", self.meaning)
            else self.meaning
        )

    def line(self) -> str:
        """All of it in one line."""
        healthy = f"; healthy: {self.healthy}" if self.healthy else ""
        manual = f"; manual: {self.manual}" if self.manual else ""
        return f"{self.said}{healthy}{manual}"


Row = tuple[str, str] | tuple[str, str, str] | tuple[str, str, str, str] | tuple[str, str, str, str, str]
_FLAT, _NONE, _NEAR_NONE = "stays flat", "0", "0 or near it"
_MEDIAN = "median of 48 rollouts"
_STATS = "{mean,median,max,min}"

# A name, or a pattern for a family: `*` is any text without a slash, `**` any text, `{a,b}` one of these. In the
# meaning `{0}` is what the first of them stands for; `@name` there stands for what that name means, and is no meaning
# where that has none. Names go first; of a group's patterns the first that fits counts.
TABLE: tuple[Row, ...] = (
    # The manual's, in its order.
    ("rollout/raw_reward", "mean reward of the rollout", "", "rises, with swings", "0.53 to 0.87"),
    ("rollout/response_lengths", "mean answer length", "tokens", "falls as answers get shorter", "396 to 787"),
    ("rollout/truncated", "share of answers that hit the length limit", "share", "falls with the length", "0.02 to 0.43"),
    ("train/train_rollout_logprob_abs_diff", "mean absolute gap between trainer and engine log probabilities, per token", "nats", _FLAT, "0.0136 to 0.0164 with plain sampling"),
    ("train/train_rollout_kl", "KL between engine and trainer at the sampled tokens", "nats", _FLAT, "0.00063 to 0.00076"),
    ("train/grad_norm", "gradient norm, before it is clipped", "", "one range, rare spikes", "0.35 to 4.95"),
    ("train/pg_clipfrac", "share of tokens where the update hit the clip limit", "share", "0 with one update per rollout", "0"),
    ("train/ppo_kl", "KL between the trainer before and after the update", "nats", "0 at the first update of a rollout", "0 at step 0"),
    ("train/entropy_loss", "entropy term of the loss; constant 0 tells nothing", "nats", "", "0 at every step"),
    ("perf/step_time", "the whole step", "s", "", f"152.6 s, {_MEDIAN}"),
    ("perf/rollout_time", "the rollout phase", "s", "falls with the length", f"47.5 s, {_MEDIAN}"),
    ("perf/log_probs_time", "the trainer scoring the samples", "s", "", f"23.4 s, {_MEDIAN}"),
    ("perf/train_time", "the training phase, scoring included", "s", "", f"100.3 s, {_MEDIAN}"),
    ("perf/update_weights_time", "copying new weights into the engine", "s", "", "0.63 to 0.65 s"),
    ("perf/sleep_time", "the trainer moving its state to host memory", "s", "", f"0.76 s, {_MEDIAN}; 1.9 to 3.7 s in the first two"),
    ("perf/wake_up_time", "the trainer moving its state back", "s", "", f"0.87 s, {_MEDIAN}"),
    ("perf/train_wait_time", "the trainer waiting for samples", "s"),
    ("eval/lag_steps", "rollouts by which an evaluation on its own machines finished late", "rollouts"),
    # What the trainer says of the samples (`rollout N`).
    ("rollout/rewards", "mean reward as the update uses it; near 0, and no accuracy, where it is normalised within each group"),
    ("rollout/advantages", "mean advantage: how much better than its baseline an answer counts; near 0 where it is normalised"),
    ("rollout/returns", "mean return that the advantages were made of; without a critic the same as the advantages or close"),
    ("rollout/values", "mean reward that the critic expects"),
    ("rollout/log_probs", "mean log probability of the sampled tokens as the trainer scores them", "nats"),
    ("rollout/rollout_log_probs", "mean log probability of the sampled tokens as the engine gave it", "nats", "close to rollout/log_probs"),
    ("rollout/ref_log_probs", "mean log probability of the sampled tokens under the reference model", "nats"),
    ("rollout/teacher_log_probs", "mean log probability of the sampled tokens under the teacher of a distillation", "nats"),
    ("rollout/opd_reverse_kl", "KL from the trained model to its teacher at the sampled tokens (on-policy distillation)", "nats"),
    ("rollout/total_lengths", "mean length of prompt and answer together", "tokens"),
    ("rollout/entropy", "mean entropy of the next token: how undecided the model is", "nats", "no slide to 0"),
    ("rollout/kl", "KL between the trained and the reference model at the sampled tokens; 0 where it has no coefficient", "nats"),
    ("rollout/step", "number by which a tracker orders rollouts"),
    ("rollout/correct_length/*", "share of the right answers whose length lies in the quarter of the limit that ends at {0}", "share"),
    ("rollout/correct_response_lengths", "mean length of the right answers", "tokens"),
    ("rollout/correct_entropy", "mean negative log probability of the tokens of right answers", "nats"),
    # What the rollout side says of them (`perf N`).
    (f"rollout/response_len/{_STATS}", "{0} answer length", "tokens"),
    (f"rollout/episode_response_length/{_STATS}", "{0} number of trained tokens of an episode, all of its samples together", "tokens"),
    (f"rollout/episode_total_response_length/{_STATS}", "{0} number of answer tokens of an episode, those that are not trained on too", "tokens"),
    ("rollout/num_training_samples", "samples that the rollout gave for training", "samples"),
    ("rollout/repetition_frac", "share of answers that repeat themselves", "share", _NEAR_NONE),
    ("rollout/prefix_cache_hit_rate", "share of the prompts' tokens that the engine had in its prefix cache", "share"),
    ("rollout/avg_cached_tokens_per_sample", "tokens of a prompt that were in the engine's prefix cache, mean", "tokens"),
    ("rollout/spec_accept_rate", "share of the draft's tokens that the model accepted (speculative decoding)", "share"),
    ("rollout/spec_accept_length", "tokens that one check of a draft brings, mean (speculative decoding)", "tokens"),
    ("rollout/top_p_kept_vocab_per_token", "tokens of the vocabulary that top-p sampling leaves to choose from, mean", "tokens"),
    ("rollout/error_cat/**", "share of answers that the reward function put into the category {0}", "share"),
    ("rollout/zero_std/count_*", "groups whose answers all got the reward {0}: nothing to learn from", "groups"),
    ("rollout/zero_std/all_zero_percentage", "share of groups whose answers all got the reward 0: too hard; stays 0 where rewards are whole numbers", "share"),
    ("rollout/zero_std/all_one_percentage", "share of groups whose answers all got the reward 1: too easy; stays 0 where rewards are whole numbers", "share"),
    ("rollout/dynamic_filter/drop_zero_std_*", "groups that the dynamic filter dropped as all of their answers got the reward {0}", "groups"),
    ("rollout/dynamic_filter/drop_**", "groups that the dynamic filter dropped, for the reason {0}", "groups"),
    ("rollout/weight_version/mixed_version_ratio", "share of samples made by more than one version of the weights", "share", "0 in a synchronous run"),
    (f"rollout/weight_version/{_STATS}", "{0} of the oldest weights that each sample was made with: how old an async run's samples are", "version", "rises with the updates"),
    ("rollout/tito_session_mismatch_rate{,/v1,/v2}", "share of sessions whose tokens differ from what the chat template makes of the same messages", "share"),
    ("rollout/tito_session_mismatch_rate{/v1/,/v2/,/}assistant_text", "share of sessions whose own answers would be tokenised otherwise; harmless alone", "share"),
    ("rollout/tito_session_mismatch_rate{/v1/,/v2/,/}{special_token_count,special_token_type,non_assistant_text}", "share of sessions whose tokens differ from the chat template's in {1}", "share", _NONE),
    # A buffer of a fully asynchronous run.
    ("rollout/fully_async/queue_size", "finished groups that wait in the buffer", "groups"),
    ("rollout/fully_async/queue_capacity", "groups that the buffer holds at most", "groups"),
    ("rollout/fully_async/queue_high_watermark", "most groups that were in the buffer", "groups"),
    ("rollout/fully_async/avg_queue_size", "groups in the buffer, mean over the time", "groups"),
    ("rollout/fully_async/queue_occupancy_ratio", "share of the buffer that was full, mean over the time", "share"),
    ("rollout/fully_async/queue_{empty,full}_time_ratio", "share of the time in which the buffer was {0}", "share"),
    ("rollout/fully_async/aborted_groups_filtered", "groups left out as their generation was aborted", "groups", _NONE),
    ("rollout/fully_async/stale_groups_filtered", "groups left out as their weights were too old", "groups"),
    ("rollout/fully_async/{avg,max}_staleness", "{0} number of updates by which the weights of the samples taken are behind", "versions"),
    ("rollout/fully_async/buffer_{avg,max}_staleness", "{0} number of updates by which the weights of the samples in the buffer are behind", "versions"),
    ("rollout/fully_async/{avg,max}_post_generation_staleness", "{0} number of updates since the samples taken were finished", "versions"),
    ("rollout/fully_async/{avg,max}_generation_version_span", "{0} number of updates that passed while a sample was generated", "versions"),
    ("rollout/fully_async/token_weighted_staleness", "updates by which the weights of a token are behind, mean", "versions"),
    ("rollout/fully_async/weight_version_sample_coverage", "share of samples whose version of the weights is known", "share"),
    ("rollout/fully_async/groups_*_total", "groups since the start, counted as: {0}", "groups"),
    ("rollout/fully_async/producer_blocked_time_ratio", "share of the time in which the generation waited for room in the buffer", "share"),
    ("rollout/fully_async/producer_block_events", "times that the generation waited for room in the buffer"),
    ("rollout/fully_async/consumer_wait_time_ratio", "share of the time in which the trainer waited for the buffer", "share"),
    ("rollout/fully_async/consumer_wait_events", "times that the trainer waited for the buffer"),
    # The update (`step N`).
    ("train/loss", "the loss that is minimised: policy loss with its entropy and KL terms; in supervised training the negative log likelihood"),
    ("train/pg_loss", "policy gradient loss, clipped; near 0 and of either sign is normal"),
    ("train/kl_loss", "KL between the trained and the reference model, before its coefficient", "nats"),
    ("train/ess_ratio", "effective sample size as a share, from the new to old probability of each token: 1 is on policy, near 0 few tokens decide", "share", "near 1"),
    ("train/ois", "probability of a token after to before the update, mean ratio", "", "near 1"),
    ("train/tis", "probability of a token in the trainer to that in the engine, mean ratio before it is cut", "", "near 1"),
    ("train/tis_abs", "distance of that ratio (trainer to engine) from 1, mean", "", _NEAR_NONE),
    ("train/tis_clipfrac", "share of tokens whose ratio of trainer to engine was cut", "share", _NEAR_NONE),
    ("train/is_weight", "probability of a token in the trainer of now to that in the engine, mean ratio before it is cut", "", "near 1"),
    ("train/is_clipfrac", "share of tokens whose ratio of the trainer of now to the engine was cut", "share"),
    ("train/opsm_clipfrac", "share of tokens left out: of bad answers that the weights have moved away from (off-policy sequence masking)", "share"),
    ("train/mis_{,tis_,rs_}catastrophic_token_fraction", "share of tokens that the trainer finds all but impossible", "share", _NEAR_NONE),
    ("train/mis_{,tis_,rs_}catastrophic_seq_fraction", "share of answers left out for a token that the trainer finds all but impossible", "share", _NEAR_NONE),
    ("train/mis_{kl,k3_kl}", "KL between engine and trainer at the sampled tokens ({0} estimate)", "nats"),
    ("train/mis_{training,rollout}_ppl", "perplexity of the answers {0}"),
    ("train/mis_{training,rollout}_log_ppl", "logarithm of the perplexity of the answers {0}", "nats"),
    ("train/mis_log_ppl_{diff,abs_diff}", "logarithm of the trainer's perplexity less that of the engine's, {0}", "nats", _NEAR_NONE),
    ("train/mis_ppl_ratio", "perplexity of the answers in the trainer to that in the engine", "", "near 1"),
    ("train/mis_chi2_{token,seq}", "chi-squared distance between trainer and engine: by {0}", "", _NEAR_NONE),
    ("train/mis_*fraction{,_low,_high}", "share of weights (trainer to engine) that were cut or left out, by {0}fraction{1}", "share"),
    ("train/mis_batch_norm_factor", "mean of the weights (trainer to engine) by which they were divided", "", "near 1"),
    ("train/mis_{tis_weight,is_ratio,mean_is_weight,ratio_mean}_*", "weight of a token, trainer to engine, that corrects the mismatch: {0} {1}", "", "near 1"),
    ("train/opd_reverse_kl", "KL from the trained model to its teacher at the sampled tokens (on-policy distillation)", "nats"),
    ("train/mtp_loss", "loss of the heads that predict several tokens ahead"),
    ("train/mtp_*_loss", "loss of head {0} of those that predict several tokens ahead"),
    ("train/current_rollout_kl", "KL between the engine and the trainer as it is at this update, at the sampled tokens", "nats"),
    ("train/current_rollout_logprob_abs_diff", "mean absolute gap between the log probabilities of the trainer as it is at this update and the engine", "nats"),
    ("train/train_rollout_logprob_abs_diff_max", "largest absolute gap between trainer and engine log probabilities", "nats"),
    ("train/lr-pg_*", "learning rate of parameter group {0}"),
    ("train/global_batch_size", "samples of the update", "samples"),
    ("train/step", "number of the update"),
    ("train/value_loss", "squared error of the reward that a critic expects, clipped"),
    ("train/value_clipfrac", "share of a critic's values that hit the clip limit", "share"),
    ("train/critic-*", "of the critic: @train/{0}"),
    # Time and speed.
    ("perf/data_preprocess_time", "the trainer fetching and packing the samples", "s"),
    ("perf/ref_log_probs_time", "the reference model scoring the samples", "s"),
    ("perf/actor_train_time", "the optimizer updates", "s"),
    ("perf/save_model_time", "writing a checkpoint", "s"),
    ("perf/update_weights_implementation_time", "the transfer alone within the weight update", "s"),
    ("perf/finalize_and_resume_engines_time", "the engines taking up work again after a weight update", "s"),
    ("perf/total_train_time", "the whole step, in older versions", "s"),
    ("perf/wait_time_ratio", "share of the step in which the trainer waits for samples", "share"),
    ("perf/{log_probs,ref_log_probs,actor_train}_tflops", "speed of one GPU in {0}", "TFLOPS"),
    ("perf/mfu_peak_tflops", "the most that one GPU could do, which utilization is compared with", "TFLOPS"),
    ("perf/actor_train_mfu", "share of a GPU's possible speed that the optimizer updates reach (model FLOPs utilization)", "share"),
    ("perf/actor_train_tok_per_s", "speed of the optimizer updates, all GPUs together", "tokens/s"),
    ("perf/tokens_per_gpu_per_sec", "speed of the generation, per GPU of the engines", "tokens/s"),
    ("perf/effective_tokens_per_gpu_per_sec", "speed of the generation, per GPU of the engines, only of tokens that are trained on", "tokens/s"),
    ("perf/longest_sample_tokens_per_sec", "tokens of the longest answer by the time of the rollout phase", "tokens/s"),
    ("perf/longest_effective_sample_tokens_per_sec", "trained tokens of the longest answer by the time of the rollout phase", "tokens/s"),
    ("perf/longest_{,effective_}sample_tokens_per_sec_without_non_generation", "tokens of the longest answer by the time that it was really generated in", "tokens/s"),
    ("perf/longest_{,effective_}sample_non_generation_time", "time of the longest answer in tools, environments and rewards", "s"),
    (f"perf/non_generation_time/{_STATS}", "{0} time of an answer in tools, environments and rewards", "s"),
    ("perf/cpu_memory_*_gb", "host memory in use on the trainer's machine, {0}", "GB"),
    ("perf/update_weights_density", "share of the weights that differ from the last update and are sent", "share"),
    ("perf/update_weights_wire_bytes", "size of what a weight update sends", "bytes"),
    ("perf/update_weights_disk_bytes_{pre,post}_compress", "size of a weight update by way of the disk, {0} compression", "bytes"),
    ("perf/update_weights_compression_ratio", "size of a weight update before to after its compression"),
    ("perf/update_weights_flushes_per_rank", "portions in which a weight update is sent, per process", "portions"),
    ("perf/update_weights_*_s", "part of the weight update: {0}", "s"),
    ("perf/fully_async/queue_length", "finished groups that wait in the buffer", "groups"),
    ("perf/fully_async/batch_wait_time", "waiting until the buffer had a batch", "s"),
    ("perf/fully_async/batch_n_adapters", "adapters that the batch has groups of", "adapters"),
    ("perf/fully_async/batch_n_adapters_to_step", "adapters that are updated after the batch", "adapters"),
    ("perf/fully_async/batch_n_groups", "groups in the batch", "groups"),
    ("perf/fully_async/batch_n_samples", "samples in the batch", "samples"),
    ("perf/fully_async/stale_dropped", "groups dropped as their weights were too old", "groups"),
    ("perf/fully_async/stale_dropped_{avg,max}_staleness", "{0} number of updates by which the dropped groups were behind", "versions"),
    (f"perf/request/e2e_latency/{_STATS}", "{0} time of a request to the engine, from end to end", "s"),
    (f"perf/request/queue_time/{_STATS}", "{0} time of a request in the engine's queue", "s"),
    (f"perf/decode/throughput/{_STATS}", "{0} speed at which the engine decodes a request", "tokens/s"),
    (f"perf/{{prefill,decode}}/*_duration/{_STATS}", "{2} time of a request in the engine's {0}, part {1}", "s"),
    (f"perf/prefill/transfer_speed_gb_s/{_STATS}", "{0} speed at which a prompt's cache goes to the decoding engine", "GB/s"),
    (f"perf/prefill/transfer_total_mb/{_STATS}", "{0} size of a prompt's cache that goes to the decoding engine", "MB"),
    (f"perf/prefill/retry_count/{_STATS}", "{0} number of repeated transfers of a prompt's cache", "", _NONE),
    ("perf/*_time", "time in the trainer's timer {0}", "s"),
    # Several answers, turns, agents.
    ("passrate/pass@*", "share of prompts solved by at least one of {0} answers, estimated from each group", "share"),
    ("multi_turn/raw_response_length/response_length_{mean,max,min}", "{0} length of all turns together, tools' output too", "tokens"),
    ("multi_turn/raw_response_length/response_length_clip_ratio", "share of samples that hit the length limit, tools' output too", "share"),
    ("multi_turn/wo_obs_response_length/response_length_{mean,max,min}", "{0} length of all turns together, without the tools' output", "tokens"),
    ("multi_turn/multi_turn_metric/round_number_{mean,max,min}", "{0} number of turns of a sample", "turns"),
    ("agent/turns_{mean,sum}", "{0} of the turns of the agents", "turns"),
    ("agent/tool_calls_{mean,sum}", "{0} of the calls of tools by the agents", "calls"),
    ("agent/total_time_{mean,max,min}", "{0} whole time of an agent", "s"),
    ("agent/model_query_time_sum_mean", "time in which an agent waits for the model, mean of the agents", "s"),
    ("agent/env_execution_time_sum_mean", "time in which an agent waits for its environment, mean of the agents", "s"),
    ("agent/time_per_turn", "time of one turn, mean", "s"),
    ("agent/model_query_time_avg", "time in which an agent waits for the model in one turn, mean", "s"),
    ("agent/env_execution_time_avg", "time in which an agent waits for its environment in one turn, mean", "s"),
    ("agent/{model,env,eval}_time_ratio", "share of an agent's time for {0}", "share"),
    ("agent/*_time_mean", "time of an agent in {0}, mean of the agents", "s"),
    # Evaluations.
    ("eval/duration_seconds", "time that an evaluation on its own machines took", "s"),
    ("eval/export_time_seconds", "time that writing the weights for an evaluation took", "s"),
    ("eval/skipped_*", "1 where an evaluation was left out, for the reason {0}"),
    ("eval/step", "number by which a tracker orders evaluations"),
    ("eval/*-truncated_ratio", "share of answers in the evaluation {0} that hit the length limit", "share"),
    ("eval/*-none_reward_ratio", "share of answers in the evaluation {0} without a reward, which count as 0", "share", _NONE),
    ("eval/*-pass@*", "share of prompts of the evaluation {0} solved by at least one of {1} answers", "share"),
    ("eval/*/**", "evaluation {0}: @rollout/{1}"),
    ("eval/*", "mean score in the evaluation {0}", "", "rises"),
    # Several adapters or models in one log.
    ("*/perf/{queue_length,stale_dropped,stale_dropped_avg_staleness,stale_dropped_max_staleness}", "{0} alone: @perf/fully_async/{1}"),
    ("*/{train,rollout,perf,eval,multi_turn,passrate}/**", "{0} alone: @{1}/{2}"),
)  # fmt: skip

_WILD = re.compile(r"(\*\*|\*|\{[^}]*\})")
_SAID = {  # members of `{a,b}` in words
    "avg": "mean", "max": "largest", "min": "smallest", "seq": "sequence", "pre": "before", "post": "after",
    "log_probs": "the scoring", "ref_log_probs": "the reference model's scoring", "actor_train": "the optimizer updates",
    "special_token_count": "the number of special tokens", "special_token_type": "the kind of special tokens",
    "non_assistant_text": "text that is not the model's", "model": "the model", "env": "its environment",
    "eval": "its evaluation", "training": "by the trainer", "rollout": "by the engine",
    "diff": "mean", "abs_diff": "mean of the absolute values",
}  # fmt: skip
ANY = "*"  # the group of patterns that begin with any text, which are tried last
_DEEPEST = 2  # references that are followed: the critic of one model


@lru_cache(maxsize=4096)
def meaning_of(log_name: str) -> Meaning | None:
    """The meaning of a metric by any of its log names; None where nothing is known. 20 us once, then 0.1."""
    return _meaning(log_name, 0)


def shown(pattern: str) -> str:
    """A name or pattern of the table as people write it."""
    return pattern.replace("**", "*")


def all_meanings() -> Iterator[Meaning]:
    """The whole table in its order, families by what is common to them."""
    for row in TABLE:
        wilds = _WILD.findall(row[0])
        words = [listed((_SAID.get(c, c) for c in _choices(w) if c), "or") or "*" for w in wilds]
        text, at, reference = row[1].partition("@")
        as_that = f"as {reference.format(*map(shown, wilds))}" if at else ""
        yield Meaning(shown(row[0]), text.format(*words) + as_that, *row[2:])


def members(pattern: str) -> list[str]:
    """The names that a pattern of the table stands for, each of `{a,b}` by itself; `*` stays: any text may be there."""
    names = [""]
    for part in _WILD.split(pattern):
        names = [name + choice for name in names for choice in _choices(part) or (part,)]
    return names


def _meaning(name: str, depth: int) -> Meaning | None:
    row = _named().get(name)
    if row is None and name in BY_LOG_NAME:
        row = _named().get(BY_LOG_NAME[name].log_names[0])
    if row is not None:
        return Meaning(*row)
    for group in (name.partition("/")[0], ANY):
        for begin, row in _families().get(group, ()):
            if name.startswith(begin) and (found := _regex(row[0]).fullmatch(name)) is not None:
                return _of_family(name, row, found.groups(), depth)
    return None


def _of_family(name: str, row: Row, pieces: tuple[str, ...], depth: int) -> Meaning | None:
    text, at, reference = row[1].partition("@")
    wilds = _WILD.findall(row[0])
    words = [_SAID.get(p, p) if _choices(w) else harmless_name(p) for w, p in zip(wilds, pieces, strict=True)]
    if not at:
        if row[0] == "eval/*" and not scores_of([name]):
            return None
        return Meaning(row[0], text.format(*words), *row[2:])
    known = _meaning(reference.format(*pieces), depth + 1) if depth < _DEEPEST else None
    # The range and the trend are those of the run's own signal.
    return Meaning(row[0], text.format(*words) + known.meaning, known.unit) if known is not None else None


def _choices(wild: str) -> list[str]:
    """The members of `{a,b}`; none for other parts."""
    return wild[1:-1].split(",") if wild.startswith("{") else []


@cache
def _named() -> dict[str, Row]:
    return {row[0]: row for row in TABLE if not _WILD.search(row[0])}


@cache
def _families() -> dict[str, list[tuple[str, Row]]]:
    """The families by what stands before their first slash, each with what its names begin with."""
    families: dict[str, list[tuple[str, Row]]] = {}
    for row in TABLE:
        if found := _WILD.search(row[0]):
            families.setdefault(row[0].partition("/")[0], []).append((row[0][: found.start()], row))
    return families


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    """What a family's names are. Costs 0.2 ms, and only for families that a name may be of."""
    return re.compile("".join(map(_family_part, _WILD.split(pattern))), re.DOTALL)


def _family_part(part: str) -> str:
    if part.startswith("{"):
        return f"({'|'.join(map(re.escape, _choices(part)))})"
    return {"*": "([^/]+)", "**": "(.+)"}.get(part) or re.escape(part)
