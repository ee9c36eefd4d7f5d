"""`secret-in-log`: a key was printed."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import Condition, Severity

CONDITION = Condition(
    id="secret-in-log",
    severity=Severity.WARNING,
    title="A key was printed to the log",
    signals=(),
    likely_cause="A key stood on the command line or in an argument, and the launcher prints the full command.",
    first_check="Revoke the key. Then give the new one in a file that only you can read, such as an --env-file.",
    rule="A line anywhere in the log has a real key in it: a known prefix and as many characters as such keys have, a "
    "value behind NAME_KEY=, password: and names like these, a password in a URL, or a private key. Keys of rarer "
    "services, and names in small letters other than a password's and an API key's, are looked for only before the "
    "first rollout, where programs print their arguments. One alert for each kind of key; it is shown masked.",
)
