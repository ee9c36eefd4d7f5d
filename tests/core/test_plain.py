from __future__ import annotations

import unicodedata

import pytest
from costs import growth
from hypothesis import example, given, settings
from hypothesis import strategies as st

from miles_tui.core.plain import mask, plain

# Written in pieces, so that no scanner takes them for real ones.
HUB = "hf_" + "a1B2c3D4e5F6g7H8" * 2
OPEN = "sk" + "-proj-" + "abc123DEF456ghi789JKL"
CLOUD = "AK" + "IA" + "ABCDEFGH12345678"
WANDB = "0123456789abcdef" * 2 + "01234567"


@given(st.text())
def test_nothing_left_acts_on_a_terminal(text: str) -> None:
    shown = plain(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in "\u202e\u2066\u200f" for c in shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1bPq...\x1b\\x", "x"),
        ("a\tb\r\nc", "a b c"),
        ("\u202eabc\u2069", "abc"),
        ("a\x9b31mb\x08", "ab"),
        ("ordinary [text] stays", "ordinary [text] stays"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        f"token {HUB} here",
        f"--hf-token={HUB}",
        f"OPENAI_API_KEY={OPEN}",
        f"using {OPEN}",
        f"aws {CLOUD}",
        f"WANDB_API_KEY={WANDB}",
        f"+ python3 train.py --wandb-key {WANDB} --lr 1",
        f"  wandb_key ....................................... {WANDB}",
        f'{{"WANDB_API_KEY": "{WANDB}"}}',
        f"Authorization: Bearer {'abc123' * 5}",
        f"aws_secret_access_key = {'abcd1234' * 5}",
        "https://user:pa55word@host/x",
    ],
)
def test_keys_are_masked(text: str) -> None:
    hidden = mask(text)
    assert "***" in hidden
    assert not any(secret in hidden for secret in (HUB, OPEN, CLOUD, WANDB, "abc123abc123", "abcd1234", "pa55word"))
    assert mask(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "  hf_checkpoint ................................... /models/Qwen3-4B-2507",
        "--hf-checkpoint /models/Qwen3-4B-2507-long-name-0123456789",
        "--tokenizer-model /models/tok123456789",
        "  max_tokens_per_gpu .............................. 9216",
        "#new-token: 12345678, #cached-token: 12345678",
        "router_api_key=None, api_key='EMPTY'",
        "WANDB_API_KEY=$WANDB_API_KEY",
        "the api key 123456789 of the table",
        "http://127.0.0.1:8265/path@x",
        "task-1234567890abcdefghijkl",
    ],
)
def test_what_is_no_key_is_left_alone(text: str) -> None:
    assert mask(text) == text


SEEDS = st.text(st.sampled_from("hf_sk-eyJapi_key=:.'\" 1A[\x1b]^é/@BearertokenN"), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
@example("hf_")
@example("api_key=")
@example("sk-é")
@example("aGk-b_")
@example("eyJ.")
@example("\x1b]")
@example("://a:")
@example("password ")
def test_masking_costs_in_proportion_to_the_text(seed: str) -> None:
    def work(times: int) -> None:
        mask(plain(seed * times))

    assert growth(work, 6000) < 3.2


@pytest.mark.parametrize("before", ["x" * 300 + "_", "A_" * 300, "--very-long-" * 20])
def test_a_long_name_hides_its_key_too(before: str) -> None:
    assert mask(f"{before}api_key={WANDB}") == f"{before}api_key=***"
