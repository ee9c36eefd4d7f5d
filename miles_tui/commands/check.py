"""`miles-tui check`: one log read to its end, judged as the dashboard would have, as JSON or text.

Plain dataclasses, for nothing is checked here: pydantic would be 75 of the 180 ms that `check` takes for a small log.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from miles_tui.commands.arguments import add_profile, add_source, given_name, load_profile, parser, pauses_of, wanted
from miles_tui.commands.export import plain_number
from miles_tui.core.alerting.alert import AlertState
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.snapshot import RunSnapshot, SignalSnapshot
from miles_tui.core.text.cells import number
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.errors import MilesTuiError
from miles_tui.ingest.discovery import Log, age_seconds, find_logs, here, newest_log
from miles_tui.present.alerts.alert_report import AlertReport, alert_report
from miles_tui.present.alerts.evidence_words import evidence_of
from miles_tui.present.state_words import since_words
from miles_tui.runs.read_run import read_to_end
from miles_tui.stdio import complain, hand_over, not_all, say

if TYPE_CHECKING:
    from miles_tui.core.alerting.profile import Profile
    from miles_tui.core.run.fate import Pauses

# A file that was written to less than this long ago, or than three usual rollouts, is a live log.
LIVE_SECONDS = 120.0

Number = float | int | str | None  # NaN and infinities are the strings "nan", "inf", "-inf"
RunWord = Literal["running", "finished", "stalled", "crashed", "unknown"]
# for the text, the exit status and standard error
ASIDE = ("records", "why_empty", "planned", "warnings", "cut_short", "held", "by_design", "told")


def run(argv: Sequence[str]) -> int:
    """Print the verdict on each log; the exit status is the highest of them."""
    p = parser("check", "The verdict on a log, without a screen.\n\n"
               "Exit status: 0 nothing above a notice fires at the end, 1 something does, 2 wrong usage or a log\n"
               "that can't be read, 3 a log without a Miles metric; of several logs the highest.\n\n"
               "The settings' file is not read, so that a script says the same everywhere.")  # fmt: skip
    p.add_argument("logs", nargs="*", type=given_name, metavar="LOG")
    p.add_argument("--format", choices=("text", "json"), default="text")
    add_profile(p)
    add_source(p)
    a = p.parse_intermixed_args(argv)  # LOG --format json LOG

    profile = load_profile(a.profile)
    first, pauses = True, pauses_of(a.pauses)
    good, status = _readable(a.logs or [newest_log(here())])
    for found in find_logs(good, rotations=a.rotated):
        try:
            (log,) = wanted([found], a)
            report = judge_log(log, profile, pauses)
        except MilesTuiError as e:
            complain(str(e))
            status = max(status, e.exit_status)
            continue
        if a.format == "json":
            hand_over(report.to_json() + "\n")
        else:
            say(("" if first else "\n") + report.to_text())
        first = False
        if not report.records:
            complain(f"{log}: {report.why_empty}")
        for warning in report.warnings:
            complain(f"{log}: {warning}")
        status = max(status, report.exit_status, not_all(report.cut_short))
    return status


def _readable(names: Sequence[str | Path]) -> tuple[list[str | Path], int]:
    """Those that can be read, and the exit status that the others ask for: one that can't be hides none that can."""
    good, status = list[str | Path](), 0
    for name in names:
        try:
            find_logs([name])
            good.append(name)
        except MilesTuiError as e:
            complain(str(e))
            status = max(status, e.exit_status)
    return good, status


@dataclass(slots=True)
class SignalReport:
    """One signal at the end of the log."""

    log_name: str  # the name in the log that it came from
    last: Number  # its value in the newest rollout
    mean5: Number  # the mean of the newest five rollouts (or the window that was asked for)
    min: Number
    max: Number
    swing: Number  # the largest change from one rollout to the next
    count: int  # rollouts with a value
    state: str  # learning, ok, pending, firing, recovering, held back, missing , not measured or not judged


@dataclass(slots=True)
class Report:
    """What `check --format json` prints of one log: these fields in this order, without the `ASIDE` ones."""

    log: str
    rollouts: int
    last_rollout: int | None
    updates_per_rollout: int | None
    attempts: int
    state: RunWord
    verdict: str
    profile: str | None
    signals: dict[str, SignalReport]
    alerts: list[AlertReport]
    records: int
    why_empty: str = ""
    planned: int | None = None
    warnings: list[str] = field(default_factory=list)
    cut_short: list[str] = field(default_factory=list)  # what of the log could not be read, a line each
    held: dict[str, str] = field(default_factory=dict)  # signal -> the condition that holds another back
    by_design: dict[str, str] = field(default_factory=dict)  # signal -> the setting by which it is not measured
    told: list[str] = field(default_factory=list)  # the alerts' evidence with the newest values, in their order

    @property
    def exit_status(self) -> int:
        """0 nothing above a notice fires at the end, 1 something does, 3 no Miles metric."""
        if not self.records:
            return 3
        return int(any(a.state != "resolved" and a.severity != "notice" for a in self.alerts))

    def to_json(self) -> str:
        """One line."""
        row = {key: value for key, value in asdict(self).items() if key not in ASIDE}
        return json.dumps(row, allow_nan=False, separators=(",", ":")).replace("\x7f", "\\u007f")  # JSON leaves it

    def to_text(self) -> str:
        """For a person: the verdict, the eight signals, what fires and what fired."""
        of = f" of {self.planned}" if self.planned else ""
        at = "no rollout yet" if self.last_rollout is None else f"rollout {self.last_rollout}{of}"
        attempt = f", attempt {self.attempts}" if self.attempts > 1 else ""
        if not self.records:
            return f"{harmless_name(self.log)}: no Miles metric"
        ended = f", {self.state}" if self.state not in (self.verdict, "unknown") else ""
        lines = [f"{harmless_name(self.log)}: {self.verdict} ({at}{attempt}{ended})"]
        lines += ["", f"  {'':23}{'last':>9}{'mean of 5':>11}{'min':>9}{'max':>9}  state"]
        for name, s in self.signals.items():
            cells = (
                f"{_report_cell(s.last):>9}{_report_cell(s.mean5):>11}{_report_cell(s.min):>9}{_report_cell(s.max):>9}"
            )
            why = f" by {self.held[name]}" if name in self.held else ""
            if name in self.by_design:
                why = f" ({self.by_design[name]})"
            lines.append(f"  {BY_NAME[name].label:23}{cells}  {s.state}{why}")
        order = ("critical", "warning", "notice")
        told = zip(self.alerts, self.told, strict=True)
        for alert, evidence in sorted(told, key=lambda a: (a[0].state == "resolved", order.index(a[0].severity))):
            lines += ["", *_alert_lines(alert, evidence)]
        return "\n".join(lines)


def judge_log(log: Log, profile: Profile | None = None, pauses: Pauses | None = None) -> Report:
    """Read a log to its end and judge it. Raises UnreadableLog."""
    run = read_to_end(Monitor(profile, pauses=pauses, keep_metrics=False), log, ahead=True)
    age = age_seconds(log, time.time())
    live = age is not None and age < max(LIVE_SECONDS, 3 * (run.usual or 0.0))
    return report_of(run, str(log), live=live)


def warnings_of(run: RunSnapshot) -> list[str]:
    """What a person must know who uses this profile for this run, a sentence each."""
    unfit = [f"profile {run.profile} is of another setup ({'; '.join(run.misfit)})"] if run.misfit else []
    return ([run.profile_warning] if run.profile_warning else []) + unfit


def report_of(run: RunSnapshot, name: str, *, live: bool) -> Report:
    """A run as a report."""
    signals = run.signals.values()
    return Report(
        log=name.encode(errors="surrogateescape").decode(errors="replace"),  # a file's name may be no UTF-8
        rollouts=run.rollouts,
        last_rollout=run.rollout,
        updates_per_rollout=run.updates_per_rollout,
        attempts=run.attempt if run.records else 0,
        state=_state(run, live),
        verdict=run.verdict,
        profile=run.profile or None,
        signals={s.name: _signal_report(s) for s in signals},
        alerts=[alert_report(a) for a in run.alerts],
        records=run.records,
        why_empty=run.why_empty,
        planned=run.planned,
        warnings=warnings_of(run),
        cut_short=list(run.cut_short),
        held={s.name: s.held_by for s in signals if s.held_by},
        by_design={
            s.name: f"{s.meaning.why.partition(':')[0]}, {s.meaning.flag}"
            for s in signals
            if s.meaning is not None and not s.measured
        },
        told=[evidence_of(run, a) for a in run.alerts],
    )


def _state(run: RunSnapshot, live: bool) -> RunWord:
    if run.ended:
        return run.ended
    if any(a.condition == "stalled" and a.state is not AlertState.RESOLVED for a in run.alerts):
        return "stalled"
    return "running" if live else "unknown"


def _signal_report(signal: SignalSnapshot) -> SignalReport:
    values = signal.values
    return SignalReport(
        log_name=signal.log_name,
        last=_plain_or_none(values.last),
        mean5=_plain_or_none(values.mean),
        min=_plain_or_none(values.low),
        max=_plain_or_none(values.high),
        swing=_plain_or_none(values.swing),
        count=values.count,
        state=signal.state,
    )


def _plain_or_none(value: float | None) -> Number:
    return None if value is None else plain_number(value)


def _alert_lines(alert: AlertReport, evidence: str) -> list[str]:
    mark = "·" if alert.state == "resolved" else {"critical": "▲", "warning": "△", "notice": "i"}[alert.severity]
    since = since_words(alert.raised_step)
    if alert.state == "recovering":
        since = f"recovering, {since}"
    if alert.state == "resolved" and alert.resolved_step is not None:
        since = f"rollout {alert.raised_step} to {alert.resolved_step}, resolved"
    lines = [f"  {mark} {alert.condition} ({alert.severity}), {since}", f"      {evidence}"]
    if alert.state != "resolved":
        lines += [f"      likely cause: {alert.likely_cause}", f"      first check:  {alert.first_check}"]
    return lines


def _report_cell(value: Number) -> str:
    return "–" if value is None else (value if isinstance(value, str) else number(value))


__all__ = ["Report", "judge_log", "report_of"]
