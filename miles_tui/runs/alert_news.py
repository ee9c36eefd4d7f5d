"""Which alerts are news when nobody looks. Pure.

    Watcher.look(run, ...) -> the news since the last look

Only what happens from now on is news: what stands in a log at its first catch-up never rings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from miles_tui.core.alerting.alert import AlertSnapshot, AlertState
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.core.text.sanitize import harmless
from miles_tui.present.alerts.alert_report import AlertReport, told_report

RINGS_AGAIN_SECONDS = 300.0  # an alert that goes and comes back rings again no sooner
ALERTS_LOOKED_AT = 64  # newest alerts: what is older and still open has been told


class News(NamedTuple):
    """An alert that fires (`begins`) or was resolved, in the log called `log`.

    `report` is the alert as it was then. `rings`: it is for the person's ears; `runs`: it is for the command.
    """

    log: str
    alert: AlertSnapshot
    begins: bool
    report: AlertReport
    rings: bool = True
    runs: bool = True

    @property
    def text(self) -> str:
        """One line; log text in it can't act on a terminal."""
        step = self.report.raised_step if self.begins else self.report.resolved_step
        at = "" if step is None else f" at rollout {step}"
        if not self.begins:
            return f"{self.log}: {self.alert.condition} resolved{at}"
        return harmless(f"{self.log}: {self.alert.condition}{at}: {self.report.evidence}")


def as_json(report: AlertReport) -> str:
    """One line: what `check` prints of it, with what became of it since it was raised."""
    return json.dumps(asdict(report)) + "\n"


@dataclass(slots=True)
class _Known:
    """What was told of an alert."""

    told: bool = False  # it rang that it fires, and not that this is over
    rank: int = -1  # how bad it was then
    rang: float = float("-inf")  # when
    open: bool = False  # the command was told that it fires, and not that this is over
    turned: int = 0  # its onsets and ends that were looked at

    def catch_up(self, alert: AlertSnapshot, told: bool, rank: int) -> None:
        """What became of it so far is no news."""
        self.told = self.open = told
        self.rank, self.turned = rank, alert.turned


# What an alert is known by in every reading of its log: condition, attempt, rollout.
AlertKey = tuple[str, int, int | None]


def key_of(alert: AlertSnapshot) -> AlertKey:
    """The same for the same onset, whoever read the log."""
    return alert.condition, alert.attempt, alert.raised_step


@dataclass(slots=True, frozen=True)
class Known:
    """What was told of a run's alerts when it was read the last time, for one that reads it anew.

    `open`: those that were not over, and how bad they were; `marked`: what the person had marked, with `count`, whether
    seen, until when snoozed. All else that is open and was raised from rollout `reached` on, or by a line that is later
    than `clock` (the log's), is news. `grew`: the log was written to since we watch. `off`: conditions switched off.
    """

    open: Mapping[AlertKey, int] = field(default_factory=dict)
    marked: Mapping[AlertKey, tuple[int, bool, int | None]] = field(default_factory=dict)
    reached: int | None = None
    clock: float | None = None
    grew: bool = False
    off: frozenset[str] | None = None

    @classmethod
    def of(cls, run: RunSnapshot, *, grew: bool, before: Known | None = None) -> Known:
        """What is known of `run`; the person's marks of `before` stay, where it was read from elsewhere on."""
        alerts = run.alerts[-ALERTS_LOOKED_AT:]
        marked = dict(before.marked) if before is not None else {}
        marked |= {key_of(a): (a.count, a.seen, a.snoozed_until) for a in alerts if a.seen or a.snoozed_until}
        told = {key_of(a): a.severity.rank for a in run.alerts if a.open}
        marked = dict(list(marked.items())[-ALERTS_LOOKED_AT:])
        return cls(told, marked, run.rollout, run.clock, grew, run.off)

    def among(self, alerts: Sequence[AlertSnapshot]) -> list[AlertSnapshot]:
        """Those of a run's open `alerts` that are no news.

        A reading that begins elsewhere in the log may raise the same onset at another rollout, in another attempt:
        what was open then and is unknown to it is known by its condition.
        """
        strayed = {condition for condition, *_ in self.open.keys() - set(map(key_of, alerts))}
        return [
            a for a in alerts if a.open and (key_of(a) in self.open or a.condition in strayed or self._is_before(a))
        ]

    def mark(self, run: Monitor) -> None:
        """Give its alerts the marks that the person gave them, unless they came back since."""
        for alert in run.snapshot().alerts:
            count, seen, snoozed_until = self.marked.get(key_of(alert), (-1, False, None))
            if alert.count == count:
                run.restore(alert.serial, seen=seen, snoozed_until=snoozed_until)

    def _is_before(self, alert: AlertSnapshot) -> bool:
        if alert.raised_time is not None and self.clock is not None and alert.raised_time > self.clock:
            return False
        return self.reached is not None and (alert.raised_step is None or alert.raised_step < self.reached)


class Watcher:
    """The news of one run, by what was told of each alert before.

    `known`: what was told when the log was read before, where it was.
    """

    def __init__(self, log: str, known: Known | None = None) -> None:
        self.log = log
        self._before = known
        self._live = False
        self._known: dict[int, _Known] = {}  # by serial
        self._baseline: int | None = None

    def look(self, run: RunSnapshot, now: float, *, live: bool) -> list[News]:
        """What is news since the last look; nothing up to the first look at which the log was caught up (`live`).

        Of each alert that is each onset and each end, in their order. One that comes back within
        `RINGS_AGAIN_SECONDS` is told to the command alone.
        Neither what the person ended (a condition switched off, a new baseline) nor what is snoozed is news.
        `now` is a monotonic clock in seconds.
        """
        by_person, self._baseline = run.rebased_at != self._baseline, run.rebased_at
        past, first = by_person or not self._live, live and not self._live
        self._live |= live
        before = self._before if not by_person else None
        told, self._known = self._known, {}
        alerts = {alert.serial: alert for alert in run.alerts[-ALERTS_LOOKED_AT:]}
        alerts |= {a.serial: a for a in run.alerts if a.serial in told and told[a.serial].told}
        old = {alert.serial for alert in before.among(run.alerts)} if past and before is not None else None
        news: list[News] = []
        for key, alert in alerts.items():
            known = self._known[key] = told.get(key) or _Known()
            if past and (old is None or not alert.open or key in old):
                rank = before.open.get(key_of(alert)) if before is not None and first else None
                known.catch_up(alert, alert.open or rank is not None, alert.severity.rank if rank is None else rank)
                if rank is None:
                    continue
                known.turned -= not alert.open  # else it is news where it became worse, or is over
            elif not self._live:
                continue  # it will be news when the log is caught up with, unless it is over by then
            quiet = alert.snoozed(run.judged) or alert.condition in run.off
            found = [one for then in _since(known, alert) for one in self._turn(known, then, now, quiet=quiet)]
            news += [one for one in found if one.rings or one.runs]
        return news

    def _turn(self, known: _Known, alert: AlertSnapshot, now: float, *, quiet: bool) -> list[News]:
        """What is to be told of an alert as it is, or was at an onset or an end."""
        if alert.state is AlertState.RESOLVED:
            rings, runs, known.told, known.open = known.told, known.open, False, False
            return [] if quiet else [News(self.log, alert, False, told_report(alert), rings, runs)]
        if quiet:
            return []
        rank = alert.severity.rank
        worse = rank > known.rank
        rings, runs = worse or (not known.told and now - known.rang >= RINGS_AGAIN_SECONDS), worse or not known.open
        known.open = True
        if rings:
            known.told, known.rank, known.rang = True, rank, now
        return [News(self.log, alert, True, told_report(alert), rings, runs)]


def _since(known: _Known, alert: AlertSnapshot) -> list[AlertSnapshot]:
    """What an alert was at each onset and end since the last look; the newest as it is now, where it is open."""
    fresh = alert.turned - known.turned
    known.turned = alert.turned
    turns = list(alert.turns)[-fresh:] if fresh else []
    if alert.open:
        turns[-1:] = [alert]
    return turns
