"""Write a big log like a long run's: `python tests/make_big_log.py FILE [MEGABYTES] [--hostile KIND]`.

The plain log has a rollout every thousand lines: 0.5 % metric lines, the rest engine noise,
progress bars that end with CR, timers, and a benign traceback now and then. The hostile kinds are texts
made to be slow for a reader that hops from brace to brace.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from pathlib import Path

ENGINE = (
    "\x1b[36m(SGLangEngine pid={pid})\x1b[0m [{stamp}] Decode batch. #running-req: {n}, #token: {t}, "
    "token usage: 0.42, cuda graph: True, gen throughput (token/s): {g:.2f}, #queue-req: 0, \n"
)
ACCESS = (
    '\x1b[36m(SGLangEngine pid={pid})\x1b[0m [{stamp}] INFO:     127.0.0.1:{t} - "POST /generate HTTP/1.1" 200 OK\n'
)
BAR = "\rRollout generation:  {p:3d}%|{bar:<10}| {n}/256 [00:40<00:40,  2.74it/s]"
ROLLOUT = "\x1b[36m(RolloutManager pid=4301)\x1b[0m "
TRAINER = "\x1b[36m(MegatronTrainRayActor pid=6437)\x1b[0m "
TRACEBACK = (
    f'{ROLLOUT}Traceback (most recent call last):\n{ROLLOUT}  File "/root/miles/http_utils.py", line 226, in post\n'
    f"{ROLLOUT}    response.raise_for_status()\n{ROLLOUT}httpx.ReadTimeout: the tool did not answer, trying again\n"
)


def metrics(space: str, names: str, rng: random.Random) -> str:
    return "{" + ", ".join(f"'{space}/{name}': {rng.random()!r}" for name in names.split()) + "}"


def stamp(second: int) -> str:
    return (
        f"2026-10-{15 + second // 86400 % 14:02d} {second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    )


def rollout(number: int, rng: random.Random) -> Iterator[str]:
    """One turn of the loop: a thousand lines, five of them metrics."""
    start = number * 150
    for i in range(980):
        form = ENGINE if i % 3 else ACCESS
        yield form.format(
            pid=9000 + i % 8, stamp=stamp(start + i // 10), n=i % 64, t=17000 + i, g=4000 + 400 * rng.random()
        )
        if i % 98 == 0:
            yield BAR.format(p=i // 10, bar="█" * (i // 98), n=i * 256 // 980)
    if number % 50 == 7:
        yield TRACEBACK
    ray, now = f"[{stamp(start + 100)}.107 rollout_manager]", f"[{stamp(start + 140)}.107 actor_cell0_rank0]"
    yield (
        f"\r\n{ROLLOUT}{ray} metrics.py:89 - perf {number}: "
        + metrics(
            "rollout", "response_len/mean response_len/max zero_std/count_0 truncated_ratio repetition_frac", rng
        )[:-1]
        + ", "
        + metrics("perf", "rollout_time tokens_per_gpu_per_sec longest_sample_tokens_per_sec", rng)[1:]
        + "\n"
    )
    yield (
        f"{TRAINER}{now} log_utils.py:123 - rollout {number}: "
        + metrics(
            "rollout", "response_lengths rewards truncated raw_reward total_lengths log_probs advantages returns", rng
        )
        + "\n"
    )
    yield f"{TRAINER}{now} timer.py:31 - Timer actor_train start\n"
    step = metrics(
        "train",
        "loss pg_loss entropy_loss pg_clipfrac ppo_kl ess_ratio train_rollout_logprob_abs_diff train_rollout_kl "
        "grad_norm lr-pg_0 lr-pg_1",
        rng,
    )
    yield f"{TRAINER}{now} log_utils.py:542 - step {number}: {step}\n"
    yield f"{TRAINER}{now} model.py:854 - step {number}: {step}\n"
    yield f"{TRAINER}{now} timer.py:42 - Timer actor_train end (elapsed: 31.5s)\n"
    yield (
        f"{TRAINER}{now} train_metric_utils.py:56 - perf {number}: "
        + metrics(
            "perf", "update_weights_time train_wait_time log_probs_time actor_train_time train_time step_time", rng
        )
        + "\n"
    )


def plain_run(rng: random.Random) -> Iterator[str]:
    yield "------------------------ arguments ------------------------\n"
    for name, value in (
        ("num_rollout", 100_000),
        ("rollout_batch_size", 32),
        ("n_samples_per_prompt", 8),
        ("global_batch_size", 256),
    ):
        yield f"  {name} {'.' * (48 - len(name))} {value}\n"
    yield "-------------------- end of arguments ---------------------\n"
    number = 0
    while True:
        yield from rollout(number, rng)
        number += 1


def forever(make: Callable[[int], str]) -> Callable[[random.Random], Iterator[str]]:
    def lines(_rng: random.Random) -> Iterator[str]:
        i = 0
        while True:
            yield make(i)
            i += 1

    return lines


HOSTILE: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "braces": forever(lambda i: "{" * 200 + "\n"),
    "dicts": forever(lambda i: "{'a': {'b': {'c': 1}}, 'd': {}}\n"),
    "json": forever(
        lambda i: f'{{"level":"info","ts":{i}.5,"data":{{"engine":{{"id":{i}}},"q":{{"n":3}}}},"msg":"ok"}}\n'
    ),
    "near": forever(lambda i: f"step {i}: {{nothing of the kind, {i}}}\n"),
    "near-quoted": forever(lambda i: f"engine {i}: {{'ports': oh, 'a b c d e f g h i j k l m n o p'}}\n"),
    "no-newline": forever(lambda i: "nothing but words and words, without an end "),
    "no-newline-braces": forever(lambda i: "step 5: {'train/"),
    "carriage": forever(lambda i: f"\rRollout generation:  10%|#         | {i}/256 [00:40<00:40,  2.74it/s]"),
    "digits": forever(lambda i: "1234567890: 1234567890: 1234567890 {\n"),
}


def write(path: Path, megabytes: float, kind: str = "", seed: int = 1) -> int:
    """Write about that many megabytes (10**6 bytes); the number of bytes written."""
    rng, left = random.Random(seed), int(megabytes * 1e6)
    written = 0
    with path.open("wb") as out:
        block: list[str] = []
        size = 0
        for text in (HOSTILE[kind] if kind else plain_run)(rng):
            block.append(text)
            size += len(text)
            if size >= 1 << 16:
                written += out.write("".join(block).encode())
                block, size = [], 0
                if written >= left:
                    return written
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("megabytes", type=float, nargs="?", default=300.0)
    parser.add_argument("--hostile", choices=sorted(HOSTILE), default="")
    args = parser.parse_args()
    print(f"{args.file}: {write(args.file, args.megabytes, args.hostile) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
