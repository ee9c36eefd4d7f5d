"""What is steady from run to run: bytes to the terminal, growth of time and memory. Never milliseconds."""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from costs import grows_less
from runs import rollout
from terminal import Terminal, has

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.run.run_state import RunState

LOG = Path(__file__).resolve().parent.parent / "sample_logs" / "plain-seed1.log"
NOISE = (
    b"\x1b[36m(SGLangEngine pid=43)\x1b[0m [2026-10-15 18:02:09] Decode batch. #running-req: 54, #token: 18609, "
    b"token usage: 0.36, gen throughput (token/s): 4339.23, #queue-req: 0\n"
)
BAR = b"\x1b[36m(RolloutManager pid=41)\x1b[0m \rRollout generation:  25%|##        | 1/4 [00:00<00:00, 98.91it/s]\r\n"


def blocks() -> list[bytes]:
    """The log cut before each rollout's first record."""
    starts = [m.start() for m in re.finditer(rb"^[^\n]*metrics\.py:\d+ - perf \d+:", LOG.read_bytes(), re.MULTILINE)]
    data = LOG.read_bytes()
    return [data[: starts[0]], *(data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True))]


def dashboard(log: Path, columns: int, rows: int) -> Terminal:
    terminal = Terminal([sys.executable, "-m", "miles_tui", str(log)], columns, rows)
    terminal.wait(lambda text: "rollout time" in text and "rollout 3" in text)
    terminal.drain(0.5)
    return terminal


@pytest.mark.parametrize(("columns", "rows", "most"), [(120, 36, 4000), (120, 40, 4000), (80, 24, 2500)])
def test_a_rollout_costs_few_bytes_and_silence_none(tmp_path: Path, columns: int, rows: int, most: int) -> None:
    log, parts = tmp_path / "train.log", blocks()
    log.write_bytes(b"".join(parts[:36]))
    with dashboard(log, columns, rows) as terminal:
        assert terminal.drain(1.5, 1.5) == 0, "an idle dashboard writes nothing"
        before = terminal.bytes
        for part in parts[36:44]:
            with log.open("ab") as out:
                for line in part.splitlines(keepends=True):
                    out.write(line)
                    out.flush()
                    if b": {" in line:
                        terminal.drain(0.05, 0.05)
        terminal.wait(lambda text: "rollout 42" in text)
        terminal.drain(0.5)
        assert 0 < (terminal.bytes - before) / 8 < most
        before = terminal.bytes
        with log.open("ab") as out:
            for _ in range(20):
                out.write((NOISE * 40 + BAR) * 10)
                out.flush()
                terminal.drain(0.02, 0.02)
        terminal.drain(1.0)
        assert terminal.bytes == before, "engine noise writes nothing"
        terminal.send("q")
        assert terminal.wait_end() == 0


def test_time_grows_with_the_log_and_not_with_its_history() -> None:
    """Four times the rollouts take four times as long: twice that would be a cost that grows with the past."""
    items = [item for n in range(2400) for item in rollout(n)]

    def feed(history: int) -> None:
        run = RunState(Judge())
        end = len(items) * history // 2400
        for at in range(0, end, 50):
            run.feed(items[at : min(at + 50, end)])

    assert grows_less(feed, 600)


def long_log(rollouts: int) -> Iterator[bytes]:
    """A run's text, rollout by rollout, engine noise between."""
    rng = random.Random(1)
    for n in range(36, 36 + rollouts):
        yield NOISE * 200 + BAR * 5
        yield (
            f"[2026-10-15 18:00:00.000 rollout_manager] metrics.py:89 - perf {n}: {{'rollout/response_len/mean': "
            f"{600 + rng.random()}, 'rollout/truncated_ratio': 0.1, 'perf/rollout_time': {50 + rng.random()}}}\n"
            f"[2026-10-15 18:00:01.000 actor_cell0_rank0] log_utils.py:123 - rollout {n}: {{'rollout/raw_reward': "
            f"{rng.random()}, 'rollout/response_lengths': 600.0}}\n"
            f"[2026-10-15 18:00:02.000 actor_cell0_rank0] model.py:854 - step {n}: {{'train/grad_norm': "
            f"{1 + rng.random()}, 'train/pg_clipfrac': 0.0}}\n"
        ).encode()


@pytest.mark.soak
def test_memory_and_descriptors_stay_flat_over_a_long_run(tmp_path: Path) -> None:
    """Minutes: 100,000 rollouts with engine noise between them through an open dashboard, all of them read."""
    log = tmp_path / "train.log"
    log.write_bytes(b"".join(blocks()[:36]))
    with dashboard(log, 120, 36) as terminal:
        process = psutil.Process(terminal.process.pid)
        marks: list[int] = []
        descriptors = process.num_fds()
        for n, part in enumerate(long_log(100_000)):
            with log.open("ab") as out:
                out.write(part)
            if n % 2000 == 0:
                terminal.drain(0.02, 0.5)
            if n % 20_000 == 19_999:  # two parts a rollout
                terminal.wait(has(f"rollout {36 + n // 2} "), 120)
                os.truncate(log, 0)  # disk is bounded too
                terminal.drain(0.5, 20)
                marks.append(process.memory_info().rss >> 20)
        terminal.drain(1.0, 60)
        assert max(marks) - marks[1] <= 10, marks
        assert process.num_fds() <= descriptors + 2
        terminal.send("q")
        terminal.wait_end(30)
