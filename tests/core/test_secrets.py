"""Keys, tokens and passwords are hidden where they are shown; what only looks like one stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keys import ANYWHERE, HEX, INNOCENT, LEAKING

from miles_tui.core.text.sanitize import harmless, mask

LINES = [*LEAKING, *((line, key) for _, line, key in ANYWHERE)]


@pytest.mark.parametrize(("line", "key"), LINES)
def test_a_key_is_hidden(line: str, key: str) -> None:
    shown = harmless(f"before it {line}")
    assert key not in shown
    assert shown.startswith("before it ")
    assert mask(shown) == shown


@pytest.mark.parametrize("line", INNOCENT)
def test_what_is_no_key_stays(line: str) -> None:
    assert mask(line) == line


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("redis://:hunter@host:6379/0 is up", "redis://:***@host:6379/0 is up"),
        ("https://bob:pw@example.org/x?a=b@c", "https://bob:***@example.org/x?a=b@c"),
        ("host=db password=hunter dbname=y", "host=db password=*** dbname=y"),
        ('{"password": "a,b", "lr": 1e-06}', '{"password": "***", "lr": 1e-06}'),
        (f"?token={HEX}&step=3", "?token=***&step=3"),
        (f"Config(api_key=SecretStr('{HEX}'), lr=1)", "Config(api_key=SecretStr('***'), lr=1)"),
        (f"curl -H 'Authorization: Bearer {HEX}' http://h/x", "curl -H 'Authorization: Bearer ***' http://h/x"),
    ],
)
def test_the_rest_of_the_line_stays(line: str, shown: str) -> None:
    assert mask(line) == shown


def test_the_kind_of_a_key_is_told() -> None:
    kinds: list[str] = []
    mask(f"--wandb-key {HEX} DB_PASS=hunter redis://:pw@h", kinds.append)
    assert sorted(kinds) == ["DB_PASS", "WANDB_KEY", "in a URL"]


# Detectors of detect-secrets whose forms are of no service that a run's log has, or match ordinary words there: any
# address, an account's number, twelve letters behind "AP", a word before "-us1"; or that need code around them.
NOT_ASKED = {"ArtifactoryDetector", "CloudantDetector", "IPPublicDetector", "IbmCloudIamDetector", "IbmCosHmacDetector",
             "SoftlayerDetector", "MailchimpDetector", "BasicAuthDetector", "AzureStorageKeyDetector",
             "TwilioKeyDetector"}  # fmt: skip
# Their patterns say too little for a form: any letters, no length. What was made with them must look like a real one.
LOOKS_REAL = re.compile(r"(?=[A-Za-z]{0,15}\d)(?=\d{0,15}[A-Za-z])[A-Za-z0-9]{20}")


def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    detect_secrets = pytest.importorskip("detect_secrets.core.plugins.util", reason="pip install detect-secrets")
    plugins = detect_secrets.get_mapping_from_secret_type_to_class().values()
    return [
        (plugin.__name__, pattern)
        for plugin in plugins
        if plugin.__name__ not in NOT_ASKED
        for pattern in getattr(plugin, "denylist", ())
        if not any(word in pattern.pattern for word in ("BEGIN", "PuTTY", "aws."))  # no token by its own form
    ]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_detect_secrets_knows_by_its_form_is_hidden(data: st.DataObject) -> None:
    """An oracle of other people: its patterns, turned round, make the tokens."""
    name, pattern = data.draw(st.sampled_from(_patterns()))
    flags = re.ASCII | (pattern.flags & ~re.UNICODE & ~re.IGNORECASE)
    token = data.draw(st.from_regex(re.compile(pattern.pattern, flags), fullmatch=True))
    plain = token.isascii() and token.isprintable() and not set(" \\") & set(token)
    short = name == "JwtTokenDetector" and re.search(r"eyJ[\w-]{8,}\.[\w-]{8,}", token) is None
    if plain and not short and LOOKS_REAL.search(token):
        assert "***" in mask(f"using {token} here"), name
