"""A private key's lines are hidden in the log's rows, though none of them says what it is."""

from __future__ import annotations

from miles_tui.core.parsing.tail_buffer import LogLine, entries_of
from miles_tui.present.log_view import line_row

BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
LOG = f"""\
(Foo pid=3) -----BEGIN PRIVATE {"KEY"}-----
(Foo pid=3) {BODY}
\x1b[36m(Bar pid=4)\x1b[0m worker started
\x1b[36m(Foo pid=3)\x1b[0m {BODY}
(Foo pid=3) abcD==
(Foo pid=3) -----END PRIVATE {"KEY"}-----
word
"""


def test_a_private_key_is_hidden_over_its_lines() -> None:
    shown = [line_row(entry.number, entry.raw).text for entry in entries_of(LOG.encode()) if isinstance(entry, LogLine)]
    assert shown == [
        "-----BEGIN PRIVATE KEY-----", "***", "worker started", "***", "***", "-----END PRIVATE KEY-----", "word",
    ]  # fmt: skip
