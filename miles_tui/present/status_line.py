"""The state of a run in a few words: one line for a status bar, and a report to paste into a chat."""

from __future__ import annotations

from itertools import islice

from miles_tui.core.alerting.alert import AlertSnapshot, AlertState
from miles_tui.core.alerting.conditions.base import Severity
from miles_tui.core.model.signals import SIGNALS
from miles_tui.core.run.snapshot import RunSnapshot, Values
from miles_tui.core.text.cells import clock, duration, number
from miles_tui.present.alerts.evidence_words import evidence_of
from miles_tui.present.state_words import VERDICT_SIGNS, how_far, since_words

MOST_ALERTS = 6  # in a report: more is no longer read in a chat
MOST_SCORES = 4  # of evaluations
REPORTED_ARGUMENTS = (
    "hf_checkpoint", "rollout_batch_size", "n_samples_per_prompt", "global_batch_size", "rollout_max_response_len",
    "lr", "eps_clip", "advantage_estimator",
)  # fmt: skip


def status_line(run: RunSnapshot) -> str:
    """One line: sign and verdict, or the worst condition of those that fire, and how far. `▲2 gap-jump · 31/48`."""
    firing = run.firing
    words = {alert.condition for alert in firing}
    over = "crashed" if "crashed" in words else "stalled" if "stalled" in words else ""
    if over or not firing:
        word = over or run.verdict
        return f"{VERDICT_SIGNS[word]} {word} · {how_far(run.rollout, run.planned)}"
    sign = VERDICT_SIGNS["alert" if firing[0].severity is Severity.CRITICAL else "warned"]
    return f"{sign}{len(firing)} {firing[0].condition} · {how_far(run.rollout, run.planned)}"


def paste(run: RunSnapshot, name: str, today: float | None = None) -> str:
    """The run as Markdown that also reads well as plain text: verdict, eight signals, alerts, arguments.

    `today`: a time of the day that needs no date, in seconds of the log's own clock (see `core.text.clock`).
    """
    lines = [f"**{name}**: {run.verdict}, rollout {how_far(run.rollout, run.planned)}{_pace(run, today)}", "", "```"]
    lines.append(f"{'signal':23}{'last':>10}{f'mean {run.window}':>10}{'min':>10}{'max':>10}")
    lines += [_row(signal.label, run.signals[signal.name].values) for signal in SIGNALS]
    lines += [_row(name, values) for name, values in islice(run.scores.items(), MOST_SCORES)]
    lines.append("```")
    shown = sorted(run.alerts, key=_report_order)[:MOST_ALERTS]
    lines += [line for alert in shown for line in _alert(alert, evidence_of(run, alert))] or ["No alert."]
    if len(run.alerts) > len(shown):
        lines.append(f"... and {len(run.alerts) - len(shown)} more.")
    known = [f"{key}={run.arguments[key]}" for key in REPORTED_ARGUMENTS if run.arguments.get(key, "None") != "None"]
    return "\n".join([*lines, *(["", "Arguments: " + ", ".join(known)] if known else [])])


def _pace(run: RunSnapshot, today: float | None) -> str:
    parts = [f", attempt {run.attempt}"] if run.attempt > 1 else []
    if run.last is not None:
        parts.append(f", last line {clock(run.last, today=today)}")
    if run.usual is not None:
        parts.append(f", a rollout every {duration(run.usual)}")
    return "".join(parts)


def _row(name: str, values: Values) -> str:
    known = (values.last, values.mean, values.low, values.high)
    return f"{name[:26]:23}" + "".join(f"{'–' if value is None else number(value):>10}" for value in known)


def _report_order(alert: AlertSnapshot) -> tuple[bool, bool, int]:
    """Where an alert stands in a report: open before resolved, the worst first, and notices behind all others."""
    return alert.severity is Severity.NOTICE, not alert.open, -alert.severity.rank


def _alert(alert: AlertSnapshot, evidence: str) -> list[str]:
    since = since_words(alert.raised_step)
    if not alert.open:
        return [f"- {alert.condition} ({since}, resolved at {alert.resolved_step}): {evidence}"]
    recovering = ", recovering" if alert.state is AlertState.RECOVERING else ""
    return [
        f"- **{alert.condition}** ({alert.severity}{recovering}, {since}): {evidence}",
        f"  Likely cause: {alert.likely_cause} First check: {alert.first_check}",
    ]
