"""`secret-in-log`: a key was printed."""

from __future__ import annotations

from miles_tui.core.conditions.base import Condition, Severity

CONDITION = Condition(
    id="secret-in-log",
    severity=Severity.WARNING,
    title="A key was printed to the log",
    signals=(),
    likely_cause="A key stood on the command line or in an argument, and the launcher prints the full command.",
    first_check="Revoke the key. Then give the new one in a file that only you can read, such as an --env-file.",
    rule="A line has the form of a real key: a known prefix and as many characters as such keys have. It is shown "
    "masked.",
)
