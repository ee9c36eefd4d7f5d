"""`crashed`: a traceback or a failed job ended the run. When it is raised is `RunState`'s to say."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import Condition, Severity

CONDITION = Condition(
    id="crashed",
    severity=Severity.CRITICAL,
    title="The run has crashed",
    signals=(),
    likely_cause="The exception that is quoted; what several workers print later is mostly its echo.",
    first_check="Read the first traceback of the rollout that was under way; for out of memory, the longest samples "
    "and the memory lines before it.",
    rule="A traceback or a fatal error after which no metric line came, or the submitter's own word that the job "
    "failed. Text that only contains an error and is followed by the next metrics is none. However often one crash "
    "is printed, it is one alert.",
)
