"""What a signal means with the arguments that a run was started with: some values are as they are by design.

A value that a setting fixes says nothing of the run: it is shown, and no rule is asked about it. Sources: Miles's and
slime's arguments and their policy loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from miles_tui.core.parsing.launch_args import count_of, is_on, value_of

Arguments = Mapping[str, str]
OLD_POLICY = ("clipped-on-policy", "off-policy-at-start")  # read the ratio to the policy that sampled, taken anew


class Meaning(NamedTuple):
    """What a setting makes of some signals.

    `zero`: only while the value is exactly 0. `absent`: the log has no value then. `judged`: the value is measured all
    the same, only its words differ.
    """

    flag: str  # as on the command line
    set: Callable[[Arguments], bool]
    signals: tuple[str, ...]
    why: str
    off: tuple[str, ...] = ()  # conditions that can't apply
    zero: bool = False
    absent: bool = False
    judged: bool = False


def _flag(name: str) -> Callable[[Arguments], bool]:
    return lambda args: is_on(args, name)


def _custom_loss(args: Arguments) -> bool:
    return value_of(args, "loss_type") == "custom_loss"


def _sft(args: Arguments) -> bool:
    return value_of(args, "loss_type") == "sft_loss"


def _distils(args: Arguments) -> bool:
    return is_on(args, "use_opd") or _float_of(args, "opd_kl_coef") > 0


def _fully_async(args: Arguments) -> bool:
    return is_on(args, "fully_async") or "fully_async" in args.get("rollout_function_path", "")


def _lags(args: Arguments) -> bool:
    return _fully_async(args) or (count_of(args, "update_weights_interval") or 1) > 1


def _float_of(args: Arguments, name: str, unknown: float = 0.0) -> float:
    try:
        return float(value_of(args, name))
    except ValueError:
        return unknown


_GAPS, _CLIP = ("gap", "KL to the engine"), ("clip fraction",)
_UPDATES = (*_GAPS, "gradient norm", *_CLIP)
# Of two that say something of one signal the first counts.
MEANINGS = (
    Meaning("--debug-rollout-only", _flag("debug_rollout_only"), _UPDATES, "nothing is trained", absent=True),
    Meaning("--loss-type sft_loss", _sft, ("reward",), "0 by design: there is no reward", zero=True),
    Meaning("--loss-type sft_loss", _sft, (*_GAPS, *_CLIP, "rollout time"), "nothing is sampled", absent=True),
    Meaning("--debug-train-only", _flag("debug_train_only"), ("rollout time",), "nothing is sampled", absent=True),
    Meaning(
        "--load-debug-rollout-data", _flag("load_debug_rollout_data"), ("rollout time",), "nothing is sampled",
        absent=True,
    ),
    Meaning(
        "--use-rollout-logprobs", _flag("use_rollout_logprobs"), _GAPS,
        "0 by design: the engine's log-probs are taken for the trainer's", zero=True,
    ),
    Meaning(
        "--use-rollout-logprobs", _flag("use_rollout_logprobs"), _CLIP,
        "above 0 by design: the old policy is the engine's", OLD_POLICY,
    ),
    Meaning(
        "--keep-old-actor", _flag("keep_old_actor"), _CLIP,
        "above 0 by design: the old policy is the one that sampled", OLD_POLICY,
    ),
    Meaning("--loss-type custom_loss", _custom_loss, _CLIP, "what the custom loss calls so", OLD_POLICY),
    Meaning(
        "--skip-actor-forward-only", _flag("skip_actor_forward_only"), _CLIP,
        "0 by design: the training pass scores itself", zero=True,
    ),
    Meaning(
        "--clip-grad 0", lambda args: _float_of(args, "clip_grad", 1.0) == 0, ("gradient norm",),
        "0 by design: without clipping no norm is computed", zero=True,
    ),
    Meaning("--use-opd", _distils, ("reward",), "0 by design: the teacher is the signal", zero=True),
    Meaning(
        "--fully-async", _fully_async, ("rollout time",), "the wait for the buffer, not the generation",
        ("rollout-slowdown",),
    ),
    Meaning(
        "--true-on-policy-mode", _flag("true_on_policy_mode"), _GAPS, "0 is right: trainer and engine compute the same",
        judged=True,
    ),
    Meaning("--update-weights-interval", _lags, _GAPS, "with the age of the samples", judged=True),
)  # fmt: skip


@dataclass(slots=True, frozen=True)
class Design:
    """What the arguments make of the signals. `groups_tell`: a group of answers with one reward teaches nothing."""

    meanings: Mapping[str, Meaning] = field(default_factory=dict)  # by signal
    off: frozenset[str] = frozenset()
    groups_tell: bool = True

    def measures(self, signal: str, value: float) -> bool:
        """Whether this value of the signal was measured: whether a rule may read it."""
        meaning = self.meanings.get(signal)
        return meaning is None or meaning.judged or (meaning.zero and value != 0)


NONE = Design()


def design_of(args: Arguments) -> Design:
    """The design of a run with these printed arguments."""
    meanings: dict[str, Meaning] = {}
    off: set[str] = set()
    for meaning in MEANINGS:
        if meaning.set(args):
            off.update(meaning.off)
            for signal in meaning.signals:
                meanings.setdefault(signal, meaning)
    tells = not (
        _sft(args)
        or _custom_loss(args)
        or _distils(args)
        or value_of(args, "advantage_estimator") in ("ppo", "reinforce_plus_plus")
        or count_of(args, "n_samples_per_prompt") == 1
        or is_on(args, "disable_rewards_normalization")
        or value_of(args, "rewards_normalization") == "False"
    )
    return Design(meanings, frozenset(off), tells) if meanings or not tells else NONE


# What is said once in a launch: a flag that a later one leaves out is not set there.
FLAGS = (
    "use_rollout_logprobs", "keep_old_actor", "skip_actor_forward_only", "true_on_policy_mode", "fully_async",
    "use_opd", "opd_kl_coef", "clip_grad", "loss_type", "debug_rollout_only", "debug_train_only",
    "load_debug_rollout_data", "update_weights_interval", "rollout_function_path", "advantage_estimator",
    "disable_rewards_normalization", "rewards_normalization",
)  # fmt: skip
