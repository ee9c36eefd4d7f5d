"""Well-formed records that mean harm: the whole way from bytes to alerts stays linear, bounded, and raises nothing."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator

import pytest
from costs import grows_less
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import healthy

from miles_tui.core.alerting.engine import KEPT_ALERTS, Judge
from miles_tui.core.model.records import Event, EventKind, Item, Record, Source
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.rollout_assembler import MOST_OPEN
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.core.run.update_means import MOST_MEANS
from miles_tui.present.alerts.evidence_words import evidence_words
from miles_tui.present.status_line import paste, status_line

CHUNK = 1 << 16
PAUSE = re.compile(rb"paused")
BAD = ("NaN", "Infinity", "-Infinity", "1e308", "-1e308", "5e-324", "9" * 400)


def line(kind: str, number: int, metrics: dict[str, object], pid: int = 7, second: int | None = None) -> str:
    stamp = "" if second is None else f" [2026-10-15 {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}]"
    said = ", ".join(f"'{name}': {value}" for name, value in metrics.items())
    return f"(MegatronTrainRayActor pid={pid}){stamp} model.py:1 - {kind} {number}: {{{said}}}"


def many(value: object, start: int = 0, count: int = 20) -> dict[str, object]:
    return {f"train/x{i}": value for i in range(start, start + count)}


def opened() -> Iterator[str]:
    yield line("perf", 0, {"rollout/response_len/mean": 600.0, "perf/rollout_time": 50.0})
    yield line("rollout", 0, {"rollout/raw_reward": 0.5})


def wide_rollout(n: int) -> Iterator[str]:
    yield from opened()
    for i in range(n):
        yield line("step", i, many(i / 7, 20 * i))


def wide_update(n: int) -> Iterator[str]:
    yield from opened()
    yield line("step", 0, many(0.5))
    for i in range(n):
        yield line("step", 1, many(i / 7, 20 * i))


def many_updates(n: int) -> Iterator[str]:
    yield from opened()
    for i in range(n):
        yield line("step", i, many(i / 7))


def updates_again(n: int) -> Iterator[str]:
    yield from opened()
    for i in range(n):
        yield line("step", i // 2, many(BAD[i % 4] if i % 2 else i / 7, count=5 + i % 3))


def new_names(n: int) -> Iterator[str]:
    for i in range(n):
        yield line("perf", i, many(i / 7, 20 * i))


def restarts(n: int) -> Iterator[str]:
    yield from opened()
    for i in range(n):
        yield line("rollout", 5 + i % 3, {"rollout/raw_reward": 0.5, **many(0.1, count=5)}, i)
        yield line("rollout", 9, {"rollout/raw_reward": 0.5}, i)


def restarts_of_many_series(n: int) -> Iterator[str]:
    yield line("perf", 0, many(0.5, count=800))
    yield from restarts(n)


def restarts_that_reach_further_back(n: int) -> Iterator[str]:
    for i in range(n):
        yield line("rollout", 3 * (n - i), {"rollout/raw_reward": 0.5}, i)
        yield line("rollout", 3 * (n - i) + 2, {"rollout/raw_reward": 0.5}, i)


def falling(n: int) -> Iterator[str]:
    for i in range(n, 0, -1):
        yield line("rollout", i, {"rollout/raw_reward": 0.5, **many(i / 7, count=5)})


def guesses(n: int) -> Iterator[str]:
    for i in range(n):
        yield line("step", i + 1000, many(i / 7, count=8))
        yield line("perf", i % 7, {"perf/train_time": 5.0})


def anywhere(n: int) -> Iterator[str]:
    rng = random.Random(n)
    for _ in range(n):
        kind = rng.choice(("step", "rollout", "perf", "eval", "critic-step", "multi_turn"))
        yield line(kind, rng.choice((rng.randrange(50), 10 ** rng.randrange(14))), many(rng.random(), count=9))


def nothing_finite(n: int) -> Iterator[str]:
    for i in range(n):
        names = ("train/grad_norm", "train/loss", f"m{i % 999}/train/grad_norm", f"m{i}/train/loss")
        yield line("step", i, {name: BAD[(i + j) % len(BAD)] for j, name in enumerate(names)})


def launches(n: int) -> Iterator[str]:
    yield from opened()
    for i in range(n):
        yield f"Job 'raysubmit_{i}' submitted successfully"
        yield f"export HF_TOKEN=hf_{'abcdefghij' * 3}{i:08}"
        yield f"W&B offline mode enabled {i}"
        yield line("rollout", i % 50, {"rollout/raw_reward": 0.5}, i)


def crashes(n: int) -> Iterator[str]:
    for i in range(n):
        yield line("rollout", i, {"rollout/raw_reward": 0.5}, second=100 * i)
        yield f"Traceback (most recent call last):\n  File 'x.py', line 1\nRuntimeError: {i}\nJob 'r{i}' failed"


def pauses(n: int) -> Iterator[str]:
    yield line("perf", 0, many(0.5, count=300))
    for i in range(n):
        yield "paused"
        yield line("rollout", i, {"rollout/raw_reward": 0.5}, second=100 * i)


def read(data: bytes) -> RunState:
    reader, run = Reader(pause=PAUSE), RunState(Judge())
    for at in range(0, len(data), CHUNK):
        run.feed(reader.feed(data[at : at + CHUNK]))
    run.feed(reader.finish())
    run.finish()
    return run


def is_bounded(run: RunState) -> bool:
    return (
        len(run.metrics) <= run.most_metrics
        and len(run.alerts) <= KEPT_ALERTS
        and len(run._merger._open) <= MOST_OPEN
        and all(len(entry.rollout.metrics) <= MOST_MEANS for entry in run._merger._open.values())
        and all(len(evidence_words(alert)) < 4000 for alert in run.alerts)
    )


KINDS = [
    (wide_rollout, 600), (wide_update, 600), (many_updates, 1200), (updates_again, 1200), (new_names, 600),
    (restarts, 600), (restarts_of_many_series, 300), (restarts_that_reach_further_back, 600), (falling, 1200),
    (guesses, 600), (anywhere, 1000), (nothing_finite, 1000), (launches, 300), (crashes, 400), (pauses, 600),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "size"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_work_grows_with_the_log_and_what_is_kept_does_not(kind: Callable[[int], Iterator[str]], size: int) -> None:
    texts = {n: "\n".join(kind(n)).encode() + b"\n" for n in (size // 3, size // 3 * 4)}
    runs: dict[int, RunState] = {}
    assert grows_less(lambda n: runs.update({n: read(texts[n])}), size // 3)
    for n, run in runs.items():
        assert run.records > n / 2
        assert is_bounded(run)


NAMES = ("rollout/raw_reward", "rollout/response_lengths", "rollout/truncated", "perf/rollout_time", "perf/train_time",
         "train/train_rollout_logprob_abs_diff", "train/grad_norm", "train/pg_clipfrac", "train/ppo_kl", "train/loss",
         "b/train/grad_norm", "b/perf/train_time", "train/critic-loss", "x", "eval/gsm8k")  # fmt: skip
VALUES = st.sampled_from([0.0, -0.0, 0.5, 0.6, -3.0, 600.0, 1e-9, 5e-324, 1e100, -1e200, 1.7e308, 10**400, -(10**400),
                          7, math.nan, math.inf, -math.inf])  # fmt: skip
NUMBERS = st.one_of(st.integers(0, 12), st.sampled_from([10**6, 10**11, 10**12, 10**15 - 1]))
TIMES = st.one_of(st.none(), st.integers(0, 10**5), st.sampled_from([-1e9, 0.0, 1e12]))
SOURCES = st.builds(Source, st.sampled_from(["", "A", "B"]), st.sampled_from(["", "1", "2", "3"]))
RECORDS = st.builds(
    Record,
    st.sampled_from(["perf", "rollout", "step", "step", "eval", "critic-step", "passrate"]),
    NUMBERS,
    st.dictionaries(st.sampled_from(NAMES), VALUES, min_size=1),
    TIMES,
    SOURCES,
)
COUNTS = ("num_rollout", "rollout_batch_size", "n_samples_per_prompt", "global_batch_size", "num_steps_per_rollout")
PRINTED = st.dictionaries(
    st.sampled_from(COUNTS), st.sampled_from(["1", "0", "8", "x", "²", "٣", "9" * 200]), min_size=1
)
FACTS = st.one_of(
    st.builds(Event, st.just(EventKind.ARGS), st.just(""), TIMES, PRINTED),
    st.builds(Event, st.just(EventKind.PROGRESS), st.just(""), TIMES, st.just({"done": "3", "total": "8"})),
    st.builds(
        Event,
        st.sampled_from([kind for kind in EventKind if kind not in (EventKind.ARGS, EventKind.PROGRESS)]),
        st.sampled_from(["", "train", "RuntimeError: x", "a key ***"]),
        TIMES,
        st.sampled_from([{}, {"driver": "1"}, {"id": "wandb-group"}]),
        SOURCES,
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 14), st.lists(st.one_of(RECORDS, RECORDS, FACTS), max_size=60), st.booleans())
def test_no_record_and_no_order_of_them_raises_anything(before: int, items: list[Item], live: bool) -> None:
    run = RunState(Judge())
    run.feed(healthy(before), 0.0)
    for i, item in enumerate(items):
        run.feed([item], float(i) if live else None)
    run.tick(len(items) + 5.0)
    run.tick(1e9)
    run.finish()
    assert is_bounded(run)
    snapshot = snapshot_of(run)
    assert status_line(snapshot)
    assert paste(snapshot, "a.log")
    for series in run.signals.values():
        assert series.extent.count >= 0
        assert all(first <= last for _, first, last in series.spans())
        assert len(series.means(5)) <= len(series)
