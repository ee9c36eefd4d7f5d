"""Log text made harmless: nothing acts on a terminal, no key is shown, and what is no key stays."""

from __future__ import annotations

import unicodedata

import pytest
from costs import grows_less
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from miles_tui.core.text.cells import cells
from miles_tui.core.text.sanitize import harmless, mask, plain

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
        ("\N{THUMBS UP SIGN}\U0001f3fd", "\N{THUMBS UP SIGN}"),
        ("\U0001f1e9\U0001f1ea", "DE"),
        ("\N{WARNING SIGN}\ufe0f 1\ufe0f\u20e3", "\N{WARNING SIGN} 1\u20e3"),
        ("so\u00adft \u0600 \u034f\u115f\u1160\u180b\u3164\uffa0\U0001d173 end", "soft   end"),
        ("\u1112\u1161\u11ab \u1161", "\ud55c ?"),  # a syllable in parts; a vowel alone
        ("\u0378 \u4dc0", "? ?"),  # given to nobody; a hexagram
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
        f"['--wandb-key', '{WANDB}', '--lr']",
        f'["--wandb-key","{WANDB}"]',
        f"'--wandb-key' '{WANDB}'",
        f'{{\\"WANDB_API_KEY\\": \\"{WANDB}\\"}}',
        f"wandb login {WANDB}",
        f"wandb login --relogin {WANDB}",
        f"['wandb', 'login', '{WANDB}']",
        f"os.environ['WANDB_API_KEY'] = '{WANDB}'",
        f"('WANDB_API_KEY', '{WANDB}')",
        f"| wandb_key | {WANDB} |",
        f"WANDB_API_KEY {WANDB}",
        f"WANDB_API_KEY => {WANDB}",
        f"AWS_SECRET_ACCESS_KEY=/{WANDB[:39]}",
        f"TOKEN={WANDB}",
        f"SECRET={WANDB}",
        f"NGC_TOKEN: {WANDB}",
        f"MASTER_KEY={WANDB}",
        f"password api_key={WANDB}",
        f"x{HUB}",
        f"password: 1a\\\\2b\\3c{WANDB}",
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
        "sk-learn-estimators-of-the-model",
        "hf_checkpoint=/models/x1234567890",
        "max_tokens=8192 max_tokens=81921234",
        "#token: 12345678, token usage: 0.42, token 2026-10-15T16:02",
        "{'key': None, 'cache_key': 'rollout_0123456789abcdef01'}",
        "eos_token_id=151643, eos_token=151643, 'pad_token': '<|endoftext|>'",
        "monkey=0123456789abcdef01",
        "AWS_SECRET_ACCESS_KEY=/run/secrets/aws-2026/key",
        "tokens/s highs_and_lows_of_the_whole_day_in_one_line",
        "wandb login --host=https://wandb.example.org",
    ],
)
def test_what_is_no_key_is_left_alone(text: str) -> None:
    assert mask(text) == text


LETTERS = "sk" + "-" + "ABCDEFGHIJKLMNOPQRSTuvwx"


@pytest.mark.parametrize("between", ["\x1b[0m", "\u200b", "\u00ad", "\U000e0041", "", " "])
@pytest.mark.parametrize("secret", [HUB, CLOUD, LETTERS, "gh" + "p_" + "a1B2c3D4e5F6" * 3])
def test_a_token_is_told_without_a_boundary(between: str, secret: str) -> None:
    before = "of " if secret is LETTERS else "of"  # "task-..." is an ordinary word
    assert harmless(before + between + secret).endswith("***")


def test_all_of_unicode_has_the_width_that_the_screen_gives_it() -> None:
    disputed = []
    nobodys = range(0x40000, 0xE0000, 251)  # no character is there, and none is planned: a sample of them
    alike = (*range(0x20000, 0x40000, 16), *range(0xE1000, 0x110000, 64))  # ideographs and private use: samples, too
    for code in (*range(0x20, 0x20000), *alike, *nobodys, *range(0xE0000, 0xE1000)):
        shown = plain(chr(code))
        if (width := cells(shown)) != cell_len(shown) or width > 2:
            disputed.append(hex(code))
    assert not disputed


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
@example("api_key ")
@example("token='")
@example("secret | ")
@example("wandb login ")
@example("key\\\\\\")
@example("api_key 1=")
@example("ghp_")
@example("password=")
@example("://:@")
@example("://a:b@")
@example("db_pass ")
@example("authorization: ")
@example("login -p ")
@example("-----BEGIN PRIVATE KEY-----")
@example("key is ")
@example("SG.aaaaaa.")
@example("pwd:[b'")
@example("key=7")
@example("secret%3A")
@example("x&key==~")
@example("api_key=1&key=7a")
@example("&api_key=7bcdefgh")
def test_masking_costs_in_proportion_to_the_text(seed: str) -> None:
    assert grows_less(lambda size: mask(plain(seed * (size // len(seed)))), 6000)


@pytest.mark.parametrize("before", ["x" * 300 + "_", "A_" * 300, "--very-long-" * 20])
def test_a_long_name_hides_its_key_too(before: str) -> None:
    assert mask(f"{before}api_key={WANDB}") == f"{before}api_key=***"
