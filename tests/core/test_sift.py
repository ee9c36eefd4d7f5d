"""The ring of a log's end: what is noise, what is kept, what it costs in memory."""

from __future__ import annotations

import pytest

from miles_tui.core.parsing import tail_buffer as sift
from miles_tui.core.parsing.tail_buffer import Break, Fold, LogLine, Ring, entries_of, is_noise

ENGINE = b"\x1b[36m(SGLangEngine pid=43)\x1b[0m "
DECODE = ENGINE + b"[2026-10-15 16:00:09] Decode batch. #running-req: 54, #token: 18609, token usage: 0.36"
ACCESS = ENGINE + b'[2026-10-15 16:00:09] INFO:     127.0.0.1:40000 - "POST /generate HTTP/1.1" 200 OK'
BAR = b"Rollout generation:  25%|##5       | 1/4 [00:00<00:00, 98.85it/s]"
TIMER = b"(RolloutManager pid=1) [2026-10-15 16:00:10.000 rollout_manager] timer.py:31 - Timer rollout start"
RECORD = b"step 3: {'train/loss': 0.1, 'train/grad_norm': 0.5}"


@pytest.mark.parametrize(
    "line",
    [
        DECODE,
        DECODE.replace(b"Decode batch.", b"Prefill batch,"),
        ACCESS,
        ACCESS.replace(b"200 OK", b"304 Not Modified"),
        BAR,
        b"Rollout generation:   0%|          | 0/4 [00:00<?, ?it/s]",
        b"Update weights: 12 files [00:01,  9.8it/s]",
        b"\x1b[36m(RolloutManager pid=15522)\x1b[0m ",
        b"   ",
    ],
)
def test_noise(line: bytes) -> None:
    assert is_noise(line)


@pytest.mark.parametrize(
    "line",
    [
        TIMER,
        RECORD,
        BAR + b" " + RECORD,
        BAR + b" RuntimeError: CUDA error",
        ACCESS.replace(b"200 OK", b"500 Internal Server Error"),
        ACCESS.replace(b"200 OK", b"404 Not Found"),
        b"prompt: " + b"x" * 2000 + b" Decode batch",
        b"100% of the prompts were used",
        b'  File "train.py", line 162, in <module>',
        b"}",
    ],
)
def test_no_noise(line: bytes) -> None:
    assert not is_noise(line)


def texts(ring: Ring) -> list[object]:
    """Lines as bytes, folds as counts, breaks as words."""
    ring.settle()
    return [e.raw if isinstance(e, LogLine) else e.count if isinstance(e, Fold) else e.why for e in ring.entries]


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_the_pieces_bounds_change_nothing(size: int) -> None:
    text = b"\n".join([TIMER, DECODE, ACCESS, BAR + b"\r" + BAR, RECORD, DECODE, TIMER]) + b"\n"
    ring = Ring(raw=50)
    for at in range(0, len(text), size):
        ring.add(text[at : at + size])
    assert texts(ring) == [TIMER, 4, RECORD, 1, TIMER]
    assert ring.added == len(text)


def test_a_fold_grows_and_keeps_its_newest_lines() -> None:
    ring = Ring()
    for i in range(500):
        ring.add(DECODE + b" %d\n" % i)
        if i % 100 == 0:
            ring.settle()
    assert texts(ring) == [500]
    (fold,) = ring.entries
    assert isinstance(fold, Fold)
    assert len(fold.lines) == sift.SAMPLES
    assert fold.lines[-1].endswith(b" 499")


def test_an_unfinished_line_waits() -> None:
    ring = Ring()
    ring.add(TIMER[:20])
    assert texts(ring) == []
    ring.add(TIMER[20:] + b"\nhalf")
    assert texts(ring) == [TIMER]
    ring.cut("rotated")
    assert texts(ring) == [TIMER, b"half", "rotated"]
    assert isinstance(ring.entries[-1], Break)


def test_memory_is_bounded_whatever_comes() -> None:
    ring = Ring(raw=10_000, past=20_000, kept=30_000, most=50)
    for i in range(2000):
        ring.add(TIMER + b" %d\n" % i)
    ring.add(b"x" * 1_000_000)
    shown = texts(ring)
    assert len(shown) <= 50
    assert shown[-1] == TIMER + b" 1999"
    assert sum(len(e.raw) for e in ring.entries if isinstance(e, LogLine)) <= 30_000
    assert sum(map(len, ring._raw)) <= sift.LINE
    numbers = [e.number for e in ring.entries]
    assert numbers == sorted(set(numbers))


def test_of_a_long_past_only_the_end_is_kept_and_no_half_line() -> None:
    ring = Ring(past=5000)
    chunk = b"".join(TIMER + b" %04d\n" % i for i in range(100))
    for i in range(50):
        ring.add(chunk[i:] if not i else chunk, live=False)
        assert sum(map(len, ring._raw)) <= 5000 + len(chunk)
    shown = texts(ring)
    assert 50 <= len(shown) <= 100
    assert all(isinstance(line, bytes) and line.startswith(TIMER) for line in shown)
    assert shown[-1] == TIMER + b" 0099"


def test_a_piece_is_given_whole() -> None:
    text = b"".join(b"line %d\n" % i + DECODE + b"\n" for i in range(10_000))
    entries = list(entries_of(text))
    assert len(entries) == 20_000
    assert isinstance(entries[0], LogLine)
