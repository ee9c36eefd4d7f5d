"""A record in pieces: halves between other lines, wrapped lines, the parts of a container runtime."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reads import HALF, LINE, NOISE, OTHER, RAY, D, numbers, read, records

# -- torn lines ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"{LINE[:HALF]}\n{NOISE}{RAY}{LINE[HALF:]}\n",
        f"2026-10-15T16:01:02.1Z stdout P {LINE[:HALF]}\n2026-10-15T16:01:02.1Z stderr F no\n"
        f"2026-10-15T16:01:02.1Z stdout F {LINE[HALF:]}\n",
        "".join(
            json.dumps({"log": t, "stream": "stderr"}, separators=(",", ":")) + "\n"
            for t in (LINE[:HALF], f"{LINE[HALF:]}\n")
        ),
        "".join(f"{LINE[9:-5][i : i + 120]}\n" for i in range(0, len(LINE) - 14, 120))[:-1] + LINE[-5:] + "\n",
    ],
    ids=["ray", "cri", "docker", "wrap"],
)
def test_halves_are_joined(text: str) -> None:
    for size in (1 << 18, 11):
        (record,) = records(read(text.encode(), size))
        assert record.metrics == {"train/loss": 0.5, "train/grad_norm": 12.75, "train/step": 3}


@pytest.mark.parametrize(
    "rest",
    [
        "",
        f"{OTHER}{LINE[HALF:]}\n",  # another process
        f"some text\n{LINE[HALF:]}\n",  # not at once, no prefix
        f"{RAY}[2026-10-15 16:01:03] a.py:1 - x\n{RAY}{LINE[HALF:]}\n",  # the same process went on to something else
        f"{LINE[HALF:]}{'x' * 300}\n",  # wider than the terminal that would have wrapped it
        f"{NOISE * 600}{RAY}{LINE[HALF:]}\n",  # too late
    ],
)
def test_what_does_not_belong_together_is_not_joined(rest: str) -> None:
    assert numbers(f"{LINE[:HALF]}\n{rest}step 4: {D}\n") == [("step", 4)]


@given(st.integers(1, len(LINE) - 1), st.integers(0, 3))
def test_a_cut_anywhere_invents_nothing(at: int, noise: int) -> None:
    text = f"{LINE[:at]}\n{NOISE * noise}{RAY}{LINE[at:]}\n"
    for record in records(read(text.encode())):
        for name, value in record.metrics.items():
            assert value == {"train/loss": 0.5, "train/grad_norm": 12.75, "train/step": 3}[name]


# -- parts of a line that a container runtime split ----------------------------------------------


def docker_parts(text: str, cuts: list[int], stream: str = "stderr") -> list[str]:
    bounds = [0, *sorted(cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    pieces[-1] += "\n"
    return [
        json.dumps({"log": p, "stream": stream, "time": "2026-10-15T16:01:02.5Z"}, separators=(",", ":")) + "\n"
        for p in pieces
    ]


def cri_parts(text: str, cuts: list[int], stream: str = "stderr") -> list[str]:
    bounds = [0, *sorted(cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    tags = ["P"] * (len(pieces) - 1) + ["F"]
    return [f"2026-10-15T16:01:02.123456789Z {stream} {t} {p}\n" for t, p in zip(tags, pieces, strict=True)]


@settings(deadline=None)
@given(st.lists(st.integers(1, len(LINE) - 1), max_size=3, unique=True), st.booleans(), st.integers(1, 400))
def test_a_line_split_anywhere_in_any_number_of_parts_is_whole(cuts: list[int], cri: bool, size: int) -> None:
    cut = cri_parts if cri else docker_parts
    other = cut("nothing of this kind", [], "stdout")[0]
    text = other + other.join(cut(LINE, cuts)) + cut(LINE.replace("step 3", "step 4"), [])[0]
    for width in (size, 1 << 18):
        found = records(read(text.encode(), width))
        assert [(r.kind, r.number, r.metrics) for r in found] == [
            ("step", n, {"train/loss": 0.5, "train/grad_norm": 12.75, "train/step": 3}) for n in (3, 4)
        ]


def test_a_whole_record_before_a_torn_one_counts_once() -> None:
    line = f"{LINE} {LINE.replace('step 3', 'step 4')}"
    text = "".join(docker_parts(line, [len(line) - 30]))
    assert [r.number for r in records(read(text.encode()))] == [3, 4]


def test_parts_that_never_end_are_given_up() -> None:
    part = docker_parts("x" * 100, [50])[0]
    text = part * 1200 + "".join(docker_parts(LINE, []))
    assert len(records(read(text.encode()))) <= 1
    assert [r.number for r in records(read((text + "".join(docker_parts(LINE, []))).encode()))][-1:] == [3]
