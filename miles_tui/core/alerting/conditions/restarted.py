"""`restarted`: a new attempt goes on from an earlier rollout."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import Condition, Severity

CONDITION = Condition(
    id="restarted",
    severity=Severity.NOTICE,
    title="A new attempt",
    signals=(),
    likely_cause="The job was started again, from its last checkpoint or from the beginning.",
    first_check="See why the attempt before ended, and that this one loaded the checkpoint that you meant.",
    rule="The numbers of the metric lines go back and a new process has begun. The baselines of the earlier attempt "
    "stand; the first three rollouts of the new one are not judged.",
)
