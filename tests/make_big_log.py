"""Write a big log like a long run's.

    python tests/make_big_log.py FILE [MEGABYTES] [--values random] [--hostile KIND]

The plain log has a rollout every thousand lines: 0.5 % metric lines, the rest engine noise,
progress bars that end with CR, timers, and a benign traceback now and then. Its metrics are those of a healthy
run: the manual's levels, with noise; the reward rises, the answers get shorter. `--values random` prints numbers
between 0 and 1 instead: no run does, and every rule has something to say. The hostile kinds are texts
made to be slow for a reader that hops from brace to brace, or that looks closer at some lines than at others.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterator, Mapping
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


def named(space: str, names: str) -> list[str]:
    return [f"{space}/{name}" for name in names.split()]


ROLLOUT_SIDE = [
    *named("rollout", "response_len/mean response_len/max zero_std/count_0 truncated_ratio repetition_frac"),
    *named("perf", "rollout_time tokens_per_gpu_per_sec longest_sample_tokens_per_sec"),
]
SAMPLES = named("rollout", "response_lengths rewards truncated raw_reward total_lengths log_probs advantages returns")
UPDATE = named(
    "train",
    "loss pg_loss entropy_loss pg_clipfrac ppo_kl ess_ratio train_rollout_logprob_abs_diff train_rollout_kl "
    "grad_norm lr-pg_0 lr-pg_1",
)
TRAIN_SIDE = named("perf", "update_weights_time train_wait_time log_probs_time actor_train_time train_time step_time")
LIMIT = 1024  # tokens of an answer
SLOW = 1500  # rollouts in which a run learns the most part of what it learns


class Healthy:
    """The metrics of a healthy run, rollout by rollout: the levels of the manual's setup, noise, rare spikes."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._pace = 0.0  # what makes a rollout slow or fast lasts for some rollouts

    def of(self, number: int) -> dict[str, float]:
        rng = self._rng
        noise, learned = rng.gauss, 1 - math.exp(-number / SLOW)
        length = 690 - 220 * learned + noise(0, 20)
        reward = min(0.57 + 0.24 * learned + noise(0, 0.035), 1.0)
        cut = 1 / (1 + math.exp((760 - length) / 70))
        self._pace = 0.75 * self._pace + noise(0, 0.01)
        seconds = (8 + 0.076 * length) * (1 + self._pace)
        gap = 0.015 + noise(0, 0.0004)
        log_probs, train = 23.4 + noise(0, 0.15), 0.1 * length + noise(0, 0.5)
        wait = seconds + 4.6 + noise(0, 0.05)
        norm = 0.6 * math.exp(noise(0, 0.3)) * (rng.uniform(3, 5) if rng.random() < 0.02 else 1.0)
        tiny = {name: noise(0, 2e-8) for name in (
            "rollout/rewards", "rollout/advantages", "rollout/returns", "train/loss", "train/pg_loss"
        )}  # fmt: skip
        return tiny | {
            "rollout/response_len/mean": length,
            "rollout/response_len/max": LIMIT,
            "rollout/zero_std/count_0": rng.randrange(4),
            "rollout/truncated_ratio": cut,
            "rollout/repetition_frac": 0.0,
            "perf/rollout_time": seconds,
            "perf/tokens_per_gpu_per_sec": 256 * length / seconds,
            "perf/longest_sample_tokens_per_sec": LIMIT / seconds,
            "rollout/response_lengths": length,
            "rollout/truncated": cut,
            "rollout/raw_reward": reward,
            "rollout/total_lengths": length + 95.3,
            "rollout/log_probs": -0.295 + noise(0, 0.004),
            "train/entropy_loss": 0.0,
            "train/pg_clipfrac": 0.0,
            "train/ppo_kl": 0.0,
            "train/ess_ratio": 0.999 + noise(0, 0.0001),
            "train/train_rollout_logprob_abs_diff": gap,
            "train/train_rollout_kl": 0.00069 + noise(0, 0.00002),
            "train/grad_norm": norm,
            "train/lr-pg_0": 1e-06,
            "train/lr-pg_1": 1e-06,
            "perf/update_weights_time": 0.64 + noise(0, 0.004),
            "perf/train_wait_time": wait,
            "perf/log_probs_time": log_probs,
            "perf/actor_train_time": train,
            "perf/train_time": log_probs + train + 6.6,
            "perf/step_time": wait + log_probs + train + 6.6,
        }


class Random:
    """Any number for any metric."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def of(self, number: int) -> dict[str, float]:
        return {name: self._rng.random() for name in (*ROLLOUT_SIDE, *SAMPLES, *UPDATE, *TRAIN_SIDE)}


def printed(values: Mapping[str, float], names: list[str]) -> str:
    return "{" + ", ".join(f"'{name}': {values[name]!r}" for name in names) + "}"


def stamp(second: int) -> str:
    return (
        f"2026-10-{15 + second // 86400 % 14:02d} {second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    )


def rollout(number: int, rng: random.Random, values: Mapping[str, float]) -> Iterator[str]:
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
    yield f"\r\n{ROLLOUT}{ray} metrics.py:89 - perf {number}: {printed(values, ROLLOUT_SIDE)}\n"
    yield f"{TRAINER}{now} log_utils.py:123 - rollout {number}: {printed(values, SAMPLES)}\n"
    yield f"{TRAINER}{now} timer.py:31 - Timer actor_train start\n"
    step = printed(values, UPDATE)
    yield f"{TRAINER}{now} log_utils.py:542 - step {number}: {step}\n"
    yield f"{TRAINER}{now} model.py:854 - step {number}: {step}\n"
    yield f"{TRAINER}{now} timer.py:42 - Timer actor_train end (elapsed: 31.5s)\n"
    yield f"{TRAINER}{now} train_metric_utils.py:56 - perf {number}: {printed(values, TRAIN_SIDE)}\n"


def plain_run(rng: random.Random, values: Healthy | Random | None = None) -> Iterator[str]:
    values = values or Healthy(rng)
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
        yield from rollout(number, rng, values.of(number))
        number += 1


def forever(make: Callable[[int], str]) -> Callable[[random.Random], Iterator[str]]:
    def lines(_rng: random.Random) -> Iterator[str]:
        i = 0
        while True:
            yield make(i)
            i += 1

    return lines


CRI = "2026-10-15T16:02:38.123456789Z std{stream} {tag} "


def docker(text: str, stream: str = "out") -> str:
    return f'{{"log":"{text}","stream":"std{stream}","time":"2026-10-15T16:02:38.1Z"}}\n'


HOSTILE: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "braces": forever(lambda i: "{" * 200 + "\n"),
    "dicts": forever(lambda i: "{'a': {'b': {'c': 1}}, 'd': {}}\n"),
    "json": forever(
        lambda i: f'{{"level":"info","ts":{i}.5,"data":{{"engine":{{"id":{i}}},"q":{{"n":3}}}},"msg":"ok"}}\n'
    ),
    "near": forever(lambda i: f"step {i}: {{nothing of the kind, {i}}}\n"),
    "near-quoted": forever(lambda i: f"engine {i}: {{'ports': oh, 'a b c d e f g h i j k l m n o p'}}\n"),
    "near-coloured": forever(lambda i: f"\x1b[36mstep {i}\x1b[0m: \x1b[1m{{'train/loss': oh, not at all}}\n"),
    "no-newline": forever(lambda i: "nothing but words and words, without an end "),
    "no-newline-braces": forever(lambda i: "step 5: {'train/"),
    "carriage": forever(lambda i: f"\rRollout generation:  10%|#         | {i}/256 [00:40<00:40,  2.74it/s]"),
    "digits": forever(lambda i: "1234567890: 1234567890: 1234567890 {\n"),
    "colons": forever(lambda i: "5:" * 50 + "\n"),
    "docker": forever(lambda i: docker(f"words of an engine, number {i}\\n")),
    "docker-parts": forever(lambda i: docker("ab")),
    "docker-mixed": forever(lambda i: docker("ab\\n" if i % 3 else "ab", "out" if i % 2 else "err")),
    "cri": forever(lambda i: CRI.format(stream="out", tag="F") + f"words of an engine, number {i}\n"),
    "cri-parts": forever(lambda i: CRI.format(stream="out", tag="P") + "ab\n"),
    "cri-mixed": forever(lambda i: CRI.format(stream="out" if i % 2 else "err", tag="F" if i % 3 else "P") + "ab\n"),
    "tables": forever(lambda i: f"{'-' * 24} arguments {'-' * 24}\n"),
    "table-rows": forever(lambda i: f"{'-' * 24} arguments {'-' * 24}\n  num_rollout {'.' * 37} {i}\n"),
    "launches": forever(lambda i: "Started a local Ray instance\n"),
    "tracebacks": forever(lambda i: f"{ROLLOUT}Traceback (most recent call last):\n"),
    "exceptions": forever(
        lambda i: f'Traceback (most recent call last):\n  File "x.py", line {i}, in f\n    raise\nValueError: {i}\n'
    ),
    "keys": forever(lambda i: f"export HF_TOKEN=hf_{i:030} WANDB_API_KEY=abcdef0123456789\n"),
}


def write(path: Path, megabytes: float, kind: str = "", seed: int = 1, values: str = "healthy") -> int:
    """Write about that many megabytes (10**6 bytes); the number of bytes written."""
    rng, left = random.Random(seed), int(megabytes * 1e6)
    written = 0
    with path.open("wb") as out:
        block: list[str] = []
        size = 0
        for text in HOSTILE[kind](rng) if kind else plain_run(rng, (Random if values == "random" else Healthy)(rng)):
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
    parser.add_argument("--values", choices=("healthy", "random"), default="healthy")
    parser.add_argument("--hostile", choices=sorted(HOSTILE), default="")
    args = parser.parse_args()
    print(f"{args.file}: {write(args.file, args.megabytes, args.hostile, values=args.values) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
