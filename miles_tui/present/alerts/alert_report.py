"""An alert as programs are told of it: `check --format json`, `--on-alert`."""

from __future__ import annotations

from dataclasses import dataclass

from miles_tui.core.alerting.alert import AlertSnapshot
from miles_tui.present.alerts.evidence_words import evidence_words, told_words


@dataclass(slots=True)
class AlertReport:
    """An alert as `check` prints it and `--on-alert` hands it over: these fields in this order."""

    condition: str
    raised_step: int | None  # the rollout with whose data it was raised; None before the first
    resolved_step: int | None
    severity: str
    signals: list[str]
    state: str
    attempt: int
    evidence: str
    likely_cause: str
    first_check: str


def alert_report(alert: AlertSnapshot) -> AlertReport:
    """An alert as it is told to programs."""
    return _report(alert, evidence_words(alert))


def told_report(alert: AlertSnapshot) -> AlertReport:
    """The same, with what became of it since it was raised."""
    return _report(alert, told_words(alert))


def _report(alert: AlertSnapshot, evidence: str) -> AlertReport:
    return AlertReport(
        condition=alert.condition,
        raised_step=alert.raised_step,
        resolved_step=alert.resolved_step,
        severity=alert.severity,
        signals=list(alert.signals),
        state=alert.state,
        attempt=alert.attempt,
        evidence=evidence,
        likely_cause=alert.likely_cause,
        first_check=alert.first_check,
    )
