"""A key is told wherever in the log it is printed: once for each kind, at its place, however the bytes were cut."""

from __future__ import annotations

import random

import pytest
from keys import ANYWHERE, HEX, INNOCENT, LEAKING, MIX

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.records import Event, EventKind, Item, Record
from miles_tui.core.parsing.leaks import LEAK_PIECE, MOST_KINDS, MOST_LINES
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.run_state import RunState
from miles_tui.present.alerts.evidence_words import evidence_words

ROLLOUT = "[2026-10-15 16:02:38.107 x] metrics.py:89 - rollout {}: {{'rollout/raw_reward': 0.5}}\n"
NOISE = "(SGLangEngine pid=9) Decode batch. #token: 17000, token usage: 0.42, gen throughput (token/s): 4000.00 █\n"


def items(text: str | bytes, sizes: list[int] | None = None) -> list[Item]:
    data = text.encode() if isinstance(text, str) else text
    reader, out, at = Reader(), [], 0
    for size in sizes or [len(data)]:
        out += reader.feed(data[at : at + size])
        at += size
    return out + reader.feed(data[at:]) + reader.finish()


def secrets(found: list[Item]) -> list[Event]:
    return [item for item in found if isinstance(item, Event) and item.kind is EventKind.SECRET]


@pytest.mark.parametrize(("line", "key"), LEAKING)
def test_before_the_first_record_every_form_is_told(line: str, key: str) -> None:
    found = secrets(items(f"{NOISE}before it {line}\n{ROLLOUT.format(0)}"))
    assert found
    assert all("before it" in fact.text and key not in fact.text for fact in found)


@pytest.mark.parametrize(("kind", "line", "key"), ANYWHERE)
def test_behind_a_thousand_rollouts_too(kind: str, line: str, key: str) -> None:
    records = "".join(NOISE + ROLLOUT.format(n) for n in range(1000))
    found = items(f"{records}{NOISE}it said {line}\n{NOISE}{ROLLOUT.format(1000)}")
    (secret,) = secrets(found)
    assert secret.data["id"] == kind
    assert "it said" in secret.text
    assert key not in secret.text
    assert [item.number for item in found[found.index(secret) - 1 :] if isinstance(item, Record)] == [999, 1000]


@pytest.mark.parametrize("line", INNOCENT)
def test_what_is_no_key_raises_nothing(line: str) -> None:
    assert not secrets(items(f"{line}\n{ROLLOUT.format(0)}{line}\n{ROLLOUT.format(1)}"))


def test_the_alerts_are_the_same_however_the_bytes_were_cut() -> None:
    rng = random.Random(1)
    parts = []
    for number in range(60):
        parts += [NOISE, rng.choice([line for _, line, _ in ANYWHERE] + INNOCENT) + "\n", ROLLOUT.format(number)]
    text = "".join(parts).encode()

    def alerts(sizes: list[int]) -> list[tuple[str, int | None, int]]:
        run = RunState(Judge())
        run.feed(items(text, sizes))
        return [(evidence_words(a), a.raised_step, a.count) for a in run.alerts if a.condition == "secret-in-log"]

    whole = alerts([len(text)])
    assert len(whole) > 3
    for _ in range(8):
        assert alerts([rng.choice((1, 7, 200, 5000)) for _ in range(len(text))]) == whole


def test_one_alert_for_each_kind() -> None:
    run = RunState(Judge())
    lines = f"WANDB_API_KEY={HEX}\n" * 3 + f"token hf_{MIX}{MIX}\n"
    run.feed(items(ROLLOUT.format(7) + lines))
    told = [(evidence_words(a), a.count, a.raised_step) for a in run.alerts]
    assert told == [("WANDB_API_KEY=*** (and 2 more lines)", 3, 7), ("token hf_***", 1, 7)]


def test_a_hostile_log_is_bounded() -> None:
    text = ROLLOUT.format(0) + "".join(f"A{n}_TOKEN=abc{n:09}\n" for n in range(2 * MOST_LINES))
    found = secrets(items(text))
    assert len(found) == MOST_LINES
    assert len({fact.data["id"] for fact in found}) == MOST_KINDS + 1


@pytest.mark.parametrize("before", [0, LEAK_PIECE - 700, LEAK_PIECE - 5, 3 * LEAK_PIECE])
def test_a_key_deep_in_a_long_line(before: int) -> None:
    (secret,) = secrets(items(f"{ROLLOUT.format(0)}{'x ' * (before // 2)}hf_{MIX}{MIX} end\n"))
    assert "hf_***" in secret.text
    assert len(secret.text) <= 400


def test_text_that_is_no_utf8() -> None:
    text = ROLLOUT.format(0).encode() + b"\xff\xfe caf\xe9\n" + f"hf_{MIX}{MIX}\n".encode()
    (secret,) = secrets(items(text))
    assert secret.text == "hf_***"


def test_a_reader_that_is_not_asked_for_keys_gives_the_same_records_and_no_word_of_one() -> None:
    text = b"HF_TOKEN=hf_" + b"aB3" * 12 + b"\nstep 1: {'train/grad_norm': 0.5}\nHF_TOKEN=hf_" + b"aB4" * 12 + b"\n"
    for keys in (True, False):
        reader = Reader(keys=keys)
        items = [*reader.feed(text), *reader.finish()]
        assert [item.number for item in items if isinstance(item, Record)] == [1]
        assert any(isinstance(item, Event) and item.kind is EventKind.SECRET for item in items) is keys
