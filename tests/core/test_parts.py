"""Lines that a container runtime split: those that can hold no metrics are left out, and that changes nothing."""

from __future__ import annotations

import json
import random

import pytest

from miles_tui.core.model.records import Item, Record
from miles_tui.core.parsing import reader as reading
from miles_tui.core.parsing.reader import Reader

METRICS = "[2026-10-15 16:02:38.214 a] model.py:1 - step {n}: {{'train/x': 1.5, 'train/y': {n}}}"
STRAY = (
    "plain line", "x stdout F y", "z stderr P u", '{"log":"', METRICS.format(n=7), '\\n","stream":"stdout"', "5: {"
)  # fmt: skip


def in_form(form: str, text: str, part: bool, stream: str) -> str:
    if form == "cri":
        return f"2026-10-15T16:02:38.123456789Z {stream} {'P' if part else 'F'} {text}"
    row = {"log": text + ("" if part else "\n"), "stream": stream, "time": "2026-10-15T16:02:38.1Z"}
    return json.dumps(row, separators=(",", ":"))


def some_log(form: str, seed: int) -> bytes:
    """Parts and whole lines of one or two streams (or a third), a metric line in pieces now and then, other lines."""
    rng = random.Random(seed)
    parts, errors, metrics = rng.choice((0.02, 0.5, 0.98, 1)), rng.choice((0, 0, 0.05, 0.5)), rng.choice((0, 0.01, 0.1))
    lines: list[str] = []
    for n in range(rng.choice((100, 1500))):
        stream = "stderr" if rng.random() < errors else "stdout" if rng.random() < 0.999 else "other"
        pieces = [("ab" * rng.randint(0, 6), rng.random() < parts)]
        if rng.random() < metrics:
            text = METRICS.format(n=n)
            at, to = sorted(rng.randint(0, len(text)) for _ in range(2))
            pieces = [(text[:at], True), (text[at:to], True), (text[to:], rng.random() < 0.2)]
        for piece, part in pieces:
            if rng.random() < 0.01:
                lines.append(rng.choice(STRAY))
            lines.append(in_form(form, piece, part, stream))
    return rng.choice(("\n", "\n", "\r\n", "\n\n")).join(lines).encode() + b"\n"


def items(data: bytes, most: int, rng: random.Random) -> list[Item]:
    reader, found, at = Reader(), list[Item](), 0
    while at < len(data):
        size = rng.randint(1, most)
        found += reader.feed(data[at : at + size])
        at += size
    return found + reader.finish()


@pytest.mark.parametrize("form", ["cri", "docker"])
@pytest.mark.parametrize("seed", range(25))
def test_what_is_left_out_changes_nothing(form: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data, rng = some_log(form, seed), random.Random(seed)
    found = [items(data, most, rng) for most in (len(data), 3000)]
    monkeypatch.setattr(reading, "whole_again", lambda form, data, at, end: (at, at))
    assert found == [items(data, len(data), rng)] * 2


@pytest.mark.parametrize("form", ["cri", "docker"])
def test_parts_without_an_end_are_lost_where_they_would_be(form: str) -> None:
    """512 lines are waited for; a metric line that ends right behind them is whole only if it began later."""
    for parts in (510, 511, 512, 513, 514, 1024, 1025, 1026):
        text = METRICS.format(n=1)
        lines = [in_form(form, text[:60], True, "stdout"), *[in_form(form, "", True, "stdout")] * parts]
        lines += [in_form(form, text[60:], False, "stdout"), in_form(form, METRICS.format(n=2), False, "stdout")]
        data = "\n".join(lines).encode() + b"\n"
        numbers = [item.number for item in Reader().feed(data) if isinstance(item, Record)]
        assert numbers == ([1, 2] if parts < 512 else [2]), parts
