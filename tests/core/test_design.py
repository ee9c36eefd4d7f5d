"""By design is no fault: settings that fix a signal's value are read wherever they are printed, and said."""

from __future__ import annotations

import pytest
from runs import args, healthy, raised, rollout, state, word

from miles_tui.core.alerting.conditions.base import State
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.records import Event, EventKind, Item, Record
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.parsing.events import Searcher
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.design import MEANINGS, NONE, design_of
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of

ONE = {"rollout_batch_size": 32, "n_samples_per_prompt": 8, "global_batch_size": 256}
ROW = "  use_rollout_logprobs ............................ True\n"
TABLE = f"---------------- arguments ----------------\n{ROW}------------ end of arguments ------------\n"
PRINTED = {
    "the table": TABLE,
    "the table behind Ray": "".join(f"(Driver pid=3) {row}\n" for row in TABLE.splitlines()),
    "the entrypoint": "Running entrypoint for job raysubmit_x: python3 train.py --use-rollout-logprobs --lr 1e-6\n",
    "EXEC": "EXEC: ray job submit -- python3 train.py --lr 1e-6 --use-rollout-logprobs\n",
    "a shell's trace": "+ python3 train_async.py --use-rollout-logprobs\n",
    "underscores": "+ python3 train.py --use_rollout_logprobs --lr 1e-6\n",
    "an equals sign": "+ python3 train.py --use-rollout-logprobs=True\n",
    "a redirection behind it": "EXEC: python3 train.py --use-rollout-logprobs 2>&1 | tee train.log\n",
    "the later one wins": "+ python3 train.py --use-rollout-logprobs=False --use-rollout-logprobs\n",
    "one pair of quotes": "EXEC: bash -c 'python3 train.py --use-rollout-logprobs --lr 1e-6'\n",
}


def printed(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for fact in Searcher().search(text.encode()):
        found |= fact.data if fact.kind is EventKind.ARGS else {}
    return found


@pytest.mark.parametrize("where", PRINTED)
def test_a_setting_is_read_wherever_it_is_printed(where: str) -> None:
    design = design_of(printed(PRINTED[where]))
    assert set(design.meanings) == {"gap", "KL to the engine", "clip fraction"}
    assert design.off == {"clipped-on-policy", "off-policy-at-start"}


@pytest.mark.parametrize("text", [
    "+ python3 train.py --lr 1e-6\n",
    "+ python3 train.py --use-rollout-logprobs --use-rollout-logprobs=False\n",
    "+ python3 train.py --use-rollout-logprobs=0\n",
    TABLE.replace("True", "False"),
    TABLE.replace("True", "None"),
    "+ python3 train.py --use-rollout-logprobs-of nothing\n",
])  # fmt: skip
def test_a_setting_that_is_off(text: str) -> None:
    assert design_of(printed(text)) is NONE


SETTINGS: list[tuple[dict[str, object], str, float, str, list[str]]] = [
    # arguments, signal, the value that they fix, its short name in a rollout, what it would raise without them
    ({"use_rollout_logprobs": True}, "clip fraction", 0.001, "clip", ["clipped-on-policy"]),
    ({"use_rollout_logprobs": True}, "gap", 0.0, "gap", []),
    ({"keep_old_actor": True}, "clip fraction", 0.001, "clip", ["clipped-on-policy"]),
    ({"loss_type": "custom_loss"}, "clip fraction", 0.001, "clip", ["clipped-on-policy"]),
    ({"skip_actor_forward_only": True}, "clip fraction", 0.0, "clip", []),
    ({"clip_grad": "0.0"}, "gradient norm", 0.0, "grad", ["no-signal"]),
    ({"loss_type": "sft_loss"}, "reward", 0.0, "reward", []),
    ({"use_opd": True, "opd_kl_coef": 1.0}, "reward", 0.0, "reward", []),
    ({"opd_kl_coef": 0.5}, "reward", 0.0, "reward", []),
    ({"fully_async": True}, "rollout time", 50.0, "seconds", []),
    (
        {"rollout_function_path": "fully_async_rollout.generate"},
        "rollout time",
        5.0,
        "seconds",
        [],
    ),
]


@pytest.mark.parametrize(("settings", "signal", "value", "short", "without"), SETTINGS)
def test_a_value_that_is_so_by_design_is_not_judged_and_the_row_says_so(
    settings: dict[str, object], signal: str, value: float, short: str, without: list[str]
) -> None:
    run = state([args(**ONE, **settings), *healthy(14, 0, **{short: value})])
    assert raised(run) == []
    assert word(run, signal) == ("not measured", None)
    seen = snapshot_of(run).signals[signal]
    said = seen.meaning
    assert said is not None
    assert not seen.measured
    assert said.flag.startswith("--")
    assert run.signals[signal].extent.count == 14, "shown it is"
    others = [name for name in run.signals if name not in run.design.meanings]
    assert {word(run, name)[0] for name in others} <= {"ok", "learning", "not judged"}
    plain = state([args(**ONE), *healthy(14, 0, **{short: value})])
    assert [c for c, *_ in raised(plain)] == without
    assert word(plain, signal)[0] != "not measured"


def test_the_first_updates_ppo_kl_is_by_design_too() -> None:
    def with_kl(n: int) -> list[Item]:
        items = list(rollout(n, clip=0.001))
        for item in items:
            if isinstance(item, Record) and item.kind == "step":
                item.metrics["train/ppo_kl"] = 2e-4
        return items

    items = [item for n in range(12) for item in with_kl(n)]
    assert {c for c, *_ in raised(state([args(**ONE), *items]))} >= {"clipped-on-policy"}
    for flag in ("use_rollout_logprobs", "keep_old_actor"):
        run = state([args(**ONE, **{flag: True}), *items])
        assert raised(run) == []
        assert run.judge.states["clipped-on-policy"].state is State.OFF
        assert run.judge.states["off-policy-at-start"].state is State.OFF


def test_what_is_not_fixed_is_judged_all_the_same() -> None:
    """slime compares the trainer's own log-probs although the engine's are the old policy: such a gap is measured."""
    items = [*healthy(21), *(i for n in range(21, 30) for i in rollout(n, gap=0.04))]
    run = state([args(**ONE, use_rollout_logprobs=True), *items])
    assert [c for c, *_ in raised(run)] == ["gap-jump"]
    assert word(run, "gap")[0] == "firing"


def test_one_reward_in_every_group_teaches_where_groups_are_not_compared() -> None:
    def alike(**more: object) -> RunState:
        items: list[Item] = [args(**(ONE | more))]
        for n in range(8):
            for item in rollout(n):
                if isinstance(item, Record) and "perf/rollout_time" in item.metrics:
                    item.metrics["rollout/zero_std/count_0.0"] = 32
                items.append(item)
        return state(items)

    assert [c for c, *_ in raised(alike())] == ["no-signal"]
    assert [c for c, *_ in raised(alike(advantage_estimator="gspo"))] == ["no-signal"]
    for more in (
        {"loss_type": "sft_loss"}, {"use_opd": True}, {"advantage_estimator": "reinforce_plus_plus"},
        {"n_samples_per_prompt": 1, "global_batch_size": 32}, {"disable_rewards_normalization": True},
        {"rewards_normalization": False},
    ):  # fmt: skip
        run = alike(**more)
        assert raised(run) == [], more
        assert run.updates_per_rollout == 1


def test_without_training_the_rollout_side_ends_the_run() -> None:
    sampled = [item for n in range(10) for item in list(rollout(n))[:1]]
    run = state([args(num_rollout=10, debug_rollout_only=True), *sampled])
    assert run.ended == "finished"
    assert {word(run, name)[0] for name in ("gap", "KL to the engine", "gradient norm", "clip fraction")} == {
        "not measured"
    }
    assert state([args(num_rollout=10), *sampled]).ended == ""


def test_a_new_launch_without_the_flag_ends_it() -> None:
    before = [args(**ONE, use_rollout_logprobs=True), *healthy(12, clip=0.001)]
    launch = Event(EventKind.LAUNCH, "Running entrypoint")
    again = [i for n in range(10, 20) for i in rollout(n, pid="99", start=9000.0, clip=0.001)]
    run = state([*before, launch, args(lr="1e-6"), *again])
    assert [c for c, *_ in raised(run)] == ["restarted", "clipped-on-policy"]
    assert run.updates_per_rollout == 1, "what else was printed still counts"
    run = state([*before, launch, args(lr="1e-6"), args(use_rollout_logprobs=True), *again])
    assert [c for c, *_ in raised(run)] == ["restarted"]


def test_true_on_policy_is_judged_and_its_zero_is_right() -> None:
    run = state([args(**ONE, true_on_policy_mode=True), *healthy(20, gap=0.0)])
    assert word(run, "gap")[0] != "not measured"
    assert run.design.meanings["gap"].why.startswith("0 is right")


def test_every_meaning_names_signals_that_there_are() -> None:
    assert {signal for meaning in MEANINGS for signal in meaning.signals} <= set(BY_NAME)


def test_the_whole_way_from_bytes() -> None:
    sizes = "--rollout-batch-size 32 --n-samples-per-prompt 8 --global-batch-size 256"
    text = PRINTED["EXEC"].replace("--lr 1e-6", sizes)
    for n in range(12):
        text += f"rollout {n}: {{'rollout/raw_reward': 0.5}}\n"
        text += f"step {n}: {{'train/pg_clipfrac': 0.01, 'train/ppo_kl': 1e-4}}\n"
    reader, run = Reader(), RunState(Judge())
    run.feed([*reader.feed(text.encode()), *reader.finish()])
    run.finish()
    assert raised(run) == []
    assert word(run, "clip fraction")[0] == "not measured"
