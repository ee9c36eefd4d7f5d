"""PPO's critic: whatever tells it apart from the actor, its values never become the actor's."""

from __future__ import annotations

import pytest

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.run_state import RunState

ACTOR = "(MegatronTrainRayActor pid=41) [2026-09-02 18:{n:02}:00.125 actor_cell0_rank0] log_utils.py:542 - "
OTHER = "(MegatronTrainRayActor pid=49) [2026-09-02 18:{n:02}:01.125 "
VALUES = "{{'train/grad_norm': 4.5, 'train/step': {n}}}"
LOSSES = "{{'train/value_loss': 0.04, 'train/value_clipfrac': 0.0, 'train/grad_norm': 4.5}}"
HEADS = {
    "its logger's name": OTHER + "critic_cell0_rank0] step {n}: " + VALUES,
    "its logger's name, with a file": OTHER + "critic_cell0_rank0] log_utils.py:542 - step {n}: " + VALUES,
    "another cell and rank": "[2026-09-02 18:{n:02}:01.125 critic_cell12_rank24] model.py:854 - step {n}: " + VALUES,
    "one word": "[2026-09-02 18:{n:02}:01 critic] log_utils.py:5 - step {n}: " + VALUES,
    "a stamp by ts before": "[2026-09-03 09:00:00] " + OTHER + "critic_cell0_rank0] step {n}: " + VALUES,
    "logging's own form": "2026-09-02 18:{n:02}:01,125 - critic_cell0_rank0 - INFO - step {n}: " + VALUES,
    "its class": "(CriticTrainRayActor pid=49) [2026-09-02 18:{n:02}:01] log_utils.py:5 - step {n}: " + VALUES,
    "a class in a repr": "(TrainRayActor(role='critic') pid=49) step {n}: " + VALUES,
    "its kind": ACTOR + "critic-step {n}: " + VALUES,
    "its names": ACTOR + "step {n}: " + LOSSES,
}


def read(text: str) -> RunState:
    reader, run = Reader(), RunState(Judge())
    run.feed([*reader.feed(text.encode()), *reader.finish()])
    run.finish()
    return run


def actor(n: int) -> list[str]:
    head = ACTOR.format(n=n)
    return [
        f"{head}rollout {n}: {{'rollout/raw_reward': 0.5}}",
        f"{head}step {n}: {{'train/pg_loss': 0.1, 'train/grad_norm': 0.9, 'train/step': {n}}}",
        f"{head}perf {n}: {{'perf/train_time': 60.0, 'perf/step_time': 90.0}}",
    ]


@pytest.mark.parametrize("told_by", HEADS)
@pytest.mark.parametrize("first", [True, False])
def test_a_critic_never_overwrites_the_actor(told_by: str, first: bool) -> None:
    lines: list[str] = []
    for n in range(12):
        if told_by == "its kind":  # whose process is the actor's then
            critic = HEADS[told_by].format(n=n).replace("pid=41", "pid=49")
        else:
            critic = HEADS[told_by].format(n=n)
        lines += [critic, *actor(n)] if first else [*actor(n)[:2], critic, actor(n)[2]]
    run = read("\n".join(lines) + "\n")
    norm = run.signals["gradient norm"]
    assert norm.last is not None
    assert (norm.last.value, norm.extent.low, norm.extent.high, norm.extent.count) == (0.9, 0.9, 0.9, 12)
    assert (run.attempt, run.pace.count, run.records) == (1, 12, 48)
    critics = run.metrics["train/critic-grad_norm"]
    assert critics.extent.count == 12


@pytest.mark.parametrize("head", [
    "[pod/ppo-critic-0/main] [2026-09-02 18:{n:02}:00 actor_cell0_rank0] model.py:8 - ",
    "runs/critic_test/train.log:12:[2026-09-02 18:{n:02}:00] model.py:8 - ",
    "(Trainer pid=4) [2026-09-02 18:{n:02}:00] critical.py:8 - ",
])  # fmt: skip
def test_what_else_is_called_critic_is_none(head: str) -> None:
    lines = [head.format(n=n) + f"step {n}: {{'train/grad_norm': 0.9}}" for n in range(5)]
    assert read("\n".join(lines) + "\n").signals["gradient norm"].extent.count == 5


def test_a_critic_that_is_ahead_ends_nothing() -> None:
    plan = "+ ray job submit -- python3 train.py --num-rollout 3\n"
    critic = "[2026-09-02 18:02:01 critic_cell0_rank0] train_metric_utils.py:56 - perf 2: {'perf/train_time': 9.0}"
    run = read(plan + "\n".join([*actor(0), critic, *actor(1)]) + "\n")
    assert (run.total, run.ended) == (3, "")
