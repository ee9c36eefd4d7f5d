"""The conditions over a run: which rules are asked when, what silences what, and what becomes an alert."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count
from typing import TYPE_CHECKING

from miles_tui.core.alerting.alert import Alert, AlertState
from miles_tui.core.alerting.conditions import CONDITIONS, INHIBITED_BY, OF_LINES
from miles_tui.core.alerting.conditions.base import LEARNING, OFF, OK, Evaluation, Severity, State
from miles_tui.core.alerting.conditions.known_message import MESSAGES
from miles_tui.core.alerting.evidence import NO_EVIDENCE, Evidence
from miles_tui.core.alerting.ranges import OwnRanges
from miles_tui.core.alerting.registry import rules_of
from miles_tui.core.alerting.rule_slot import RebaseUndo, RuleSlot, Silent, seat_of
from miles_tui.core.model.rollout import Rollout, Stage

if TYPE_CHECKING:  # pydantic costs 40 ms at start, and most runs have no profile
    from miles_tui.core.alerting.profile import Profile

KEPT_ALERTS = 512  # alerts: a run that raises more is read for its open and its newest
MOST_SIGNALS = 64  # that one alert names: each of a run's names can be one, and new ones come with every line
REOPENS = 6  # rollouts: an alert that comes back this soon is the same one
GRACE = 3  # rollouts of a new attempt that the statistical rules leave out
PATIENCE = 5  # rollouts without anything to learn from after which a rule is said to judge nothing
STATE_ORDER = {State.FIRING: 5, State.RECOVERING: 4, State.PENDING: 3, State.LEARNING: 2, State.OK: 1, State.OFF: 0}


def _least(alerts: list[Alert]) -> int:
    """Where the alert is that is missed least: a resolved one before an open one, then the milder, then the older."""
    for open_ in (False, True):
        for severity in Severity:
            for i, alert in enumerate(alerts):
                if alert.severity is severity and alert.open is open_:
                    return i
    return 0


class Judge:
    """Asks every rule once a rollout and stage, and keeps the alerts.

    `sampled` and `trained` are called once a rollout each, in this order and in the order of the run; a missing
    value is absent from `rollout.values`. Nothing here looks ahead: a log cut after an alert gives the same alert.
    `off` are the ids of conditions that the person switched off: these judge on silently, so that one that is switched
    on again says what it would have said all along. About 40 µs a rollout, whatever the run's length.
    """

    def __init__(self, profile: Profile | None = None, off: Iterable[str] = ()) -> None:
        self.profile = profile
        self.off = set(off) | set(profile.switched_off if profile else ())
        self._silent = {name: Silent([], []) for name in self.off}
        self._before_rebase: RebaseUndo | None = None
        self._serials = count(1)  # of the alerts
        self.by_design: frozenset[str] = frozenset()  # conditions that can't apply to this run
        self.alerts: list[Alert] = []  # in the order raised, the newest `KEPT`
        self._own = OwnRanges(profile.ranges() if profile else {})
        self.ranges = self._own.known  # signal -> Range | Learning
        self._told: dict[str, dict[str, Alert]] = {}  # open alerts of `raise_`: condition -> message -> alert
        self.states: dict[str, Evaluation] = {}
        self.at: int | None = None  # the newest rollout's number
        self.rebased_at: int | None = None  # since when the person's new baseline counts
        self._time: float | None = None
        self._turn = 0  # rollouts judged, over all attempts
        self._attempt = 1
        self._grace = 0
        self._seats = [seat_of(rule) for rule in rules_of(profile)]
        self._of: dict[str, list[RuleSlot]] = {}
        for seat in self._seats:
            seat.off = seat.name in self.off
            self._of.setdefault(seat.name, []).append(seat)
            self.states[seat.name] = seat.word
        for seat in self._seats:
            seat.silencers = [s for name in INHIBITED_BY.get(seat.name, ()) for s in self._of[name]]
            seat.alone = len(self._of[seat.name]) == 1
        self._sampling: list[RuleSlot] = []  # those that are asked at each stage
        self._training: list[RuleSlot] = []
        self._seat_all()

    # -- rollouts ------------------------------------------------------------------------------

    def sampled(self, rollout: Rollout) -> None:
        """The answers of a rollout are known."""
        self._begin(rollout)
        self._ask(self._sampling, rollout, Stage.SAMPLED)
        self._own.widen(rollout, updates=False)

    def trained(self, rollout: Rollout) -> None:
        """The updates of a rollout are done too, or it is over without them."""
        self.at, self._time = rollout.number, rollout.time
        self._ask(self._training, rollout, Stage.TRAINED)
        self._own.widen(rollout, updates=True)
        self._note_idle()
        if self._grace and rollout.rank >= GRACE - 1:
            self._grace = 0
            self.clear("restarted", rollout.number, rollout.time)

    def _begin(self, rollout: Rollout) -> None:
        self._before_rebase = None
        self.at, self._time, self._turn = rollout.number, rollout.time, self._turn + 1
        if self._grace:
            self._grace = max(GRACE - rollout.rank, 0)

    def _seat_all(self) -> None:
        """Note who is asked at each stage: all but what can't apply."""
        on = [seat for seat in self._seats if seat.name not in self.by_design]
        self._sampling = [seat for seat in on if Stage.SAMPLED in seat.rule.stages]
        self._training = [seat for seat in on if Stage.TRAINED in seat.rule.stages]

    def _ask(self, seats: list[RuleSlot], rollout: Rollout, stage: Stage) -> None:
        """A dozen seats a rollout, most of them fine as before: that path is a few comparisons a seat."""
        grace, firing = self._grace, State.FIRING
        for seat in seats:
            if grace and seat.graced:
                continue
            silenced = seat.silenced() if seat.silencers else False
            if silenced and not seat.shown:
                continue
            reading = seat.judge(rollout, stage)
            if reading is not seat.reading:
                self._take_word(seat, reading)
            if seat.alert is not None or (reading is not OK and reading.state is firing):
                self._follow(seat, rollout, silenced)

    def _take_word(self, seat: RuleSlot, reading: Evaluation) -> None:
        before, seat.reading = seat.reading, reading
        if reading.state is not before.state or reading.count != before.count:
            seat.since, seat.idle = self._turn, False
        self._tell(seat.name)

    def _note_idle(self) -> None:
        """Rules that have long had nothing to learn from: of another setup, before the actor trains, for ever."""
        for seat in self._seats:
            if seat.reading.state is State.LEARNING and not seat.idle and self._turn - seat.since >= PATIENCE:
                seat.idle = True
                self._tell(seat.name)

    def _follow(self, seat: RuleSlot, rollout: Rollout, silenced: bool) -> None:
        """Turn a reading into the life of the seat's alert."""
        reading, alert = seat.reading, seat.alert
        if reading.state is State.FIRING:
            if alert is not None:
                alert.state = AlertState.FIRING
                self._worsen(alert, reading, rollout)
            elif not silenced:
                seat.alert = self._raise(seat, reading, rollout)
            elif reading.evidence:  # said once, when it begins to hold
                seat.hold(reading.evidence, rollout.number)
        elif alert is not None:
            if reading.state is State.RECOVERING:
                alert.state = AlertState.RECOVERING
            elif reading.state is not State.LEARNING:
                alert.resolve(rollout.number, rollout.time)
                seat.alert, seat.resolved_at = None, self._turn

    def _raise(self, seat: RuleSlot, reading: Evaluation, rollout: Rollout) -> Alert:
        words, evidence = seat.rule.condition, reading.evidence or seat.released(rollout.number)
        if self._turn - seat.resolved_at <= REOPENS:
            last = next(
                (
                    a
                    for a in reversed(self._alerts_of(seat.name))
                    if a.words is words and (words.signals or a.signals == reading.signals)
                ),
                None,
            )
            if last is not None:
                last.reopen(rollout.number, evidence)
                self._worsen(last, reading, rollout)
                return last
        alert = Alert(
            words, reading.severity or words.severity, reading.signals or words.signals, evidence or NO_EVIDENCE,
            rollout.number, rollout.time, rollout.attempt, serial=next(self._serials),
        )  # fmt: skip
        self._keep(alert)
        return alert

    @staticmethod
    def _worsen(alert: Alert, reading: Evaluation, rollout: Rollout) -> None:
        """Escalate the same alert where the reading is worse, or names more signals."""
        severity = reading.severity or alert.words.severity
        more = tuple(s for s in reading.signals or () if s not in alert.signals)[: MOST_SIGNALS - len(alert.signals)]
        if severity.rank > alert.severity.rank or more:
            alert.severity = max(severity, alert.severity, key=lambda one: one.rank)
            alert.signals += more
            alert.note("worse", rollout.number, reading.evidence)

    def _keep(self, alert: Alert) -> None:
        alerts = self._alerts_of(alert.condition)
        alerts.append(alert)
        if len(alerts) > KEPT_ALERTS:
            del alerts[_least(alerts)]

    def _alerts_of(self, condition: str) -> list[Alert]:
        """Where the alerts of a condition are kept, among those of others or not."""
        silent = self._silent.get(condition)
        return self.alerts if silent is None else silent.alerts

    def _tell(self, condition: str) -> None:
        """The condition's word is that of its most serious seat, or of what raised it without one."""
        seats = self._of.get(condition, ())
        if not seats:
            if condition in self.states:
                told = next(reversed(self._told.get(condition, {}).values()), None)
                said = OK if told is None else Evaluation(State.FIRING, told.evidence)
                self.states[condition] = OFF if condition in self.off else said
        elif len(seats) == 1:
            self.states[condition] = seats[0].word
        else:
            self.states[condition] = max((s.word for s in seats), key=lambda r: STATE_ORDER[r.state])

    # -- what comes from facts and clocks --------------------------------------------------------

    def raise_(
        self,
        condition: str,
        step: int | None,
        time: float | None,
        evidence: Evidence,
        severity: Severity | None = None,
        message: str = "",
    ) -> None:
        """Raise a condition that no rollout decides. One that is open is not raised again: further lines are counted.

        `message` is the id of a known message; each is raised for itself.
        """
        told = self._told.setdefault(condition, {})
        if message in told:
            if condition in OF_LINES:
                told[message].say_again()
            return
        words = CONDITIONS[condition]
        alert = Alert(
            words, severity or words.severity, words.signals, evidence, step, time, self._attempt,
            explained=MESSAGES.get(message), serial=next(self._serials),
        )  # fmt: skip
        told[message] = alert
        self._keep(alert)
        self.states[condition] = OFF if condition in self.off else Evaluation(State.FIRING, evidence)

    def clear(self, condition: str, step: int | None, time: float | None) -> None:
        """What `raise_` raised is over."""
        for alert in self._told.pop(condition, {}).values():
            alert.resolve(step, time)
            self.states[condition] = OFF if condition in self.off else OK

    def restarted(self, at: int, time: float | None, evidence: Evidence) -> None:
        """A new attempt goes on from rollout `at`: baselines stand, its first `GRACE` rollouts are not judged."""
        self._attempt += 1
        self._grace = GRACE
        self.clear("restarted", at, time)
        for seat in self._seats:
            seat.rule.restarted()
        self.raise_("restarted", at, time, evidence)

    # -- what the person says ----------------------------------------------------------------------

    def switch(self, condition: str, on: bool) -> None:
        """Switch a condition off or on. What is open of one that is off goes on unseen until it is on again."""
        if on is (condition not in self.off):
            return
        self._before_rebase = None
        if on:
            self.off.discard(condition)
            silent = self._silent.pop(condition)
            for seen, twin in silent.seen:
                seen.become(twin)
            self._swap(condition, [(twin, seen) for seen, twin in silent.seen])
            back = {seen.serial: seen for seen, _ in silent.seen}
            others = [alert for alert in self.alerts if alert.serial not in back]
            restored = (back.get(alert.serial, alert) for alert in silent.alerts)
            self.alerts[:] = sorted([*others, *restored], key=lambda alert: alert.serial)
            while len(self.alerts) > KEPT_ALERTS:
                del self.alerts[_least(self.alerts)]
        else:
            self.off.add(condition)
            pairs = [(alert, alert.twin()) for alert in self.alerts if alert.condition == condition]
            self._silent[condition] = Silent([twin for _, twin in pairs], pairs)
            self._swap(condition, pairs)
            for alert, _ in pairs:
                if alert.open:
                    alert.switch_off(self.at, self._time)
        for seat in self._of.get(condition, ()):
            seat.off = not on
        self._tell(condition)

    def _swap(self, condition: str, pairs: list[tuple[Alert, Alert]]) -> None:
        """Go on with the second of each pair where the first was held."""
        instead = {id(alert): other for alert, other in pairs}
        for seat in self._of.get(condition, ()):
            if seat.alert is not None:
                seat.alert = instead.get(id(seat.alert), seat.alert)
        told = self._told.get(condition, {})
        told.update({message: instead.get(id(alert), alert) for message, alert in told.items()})

    def apply(self, by_design: frozenset[str]) -> None:
        """The run's arguments say which conditions can't apply; what is open of these is over."""
        changed = by_design ^ self.by_design
        if changed:
            self.by_design = by_design
            self._seat_all()
            self._begin_anew(changed)

    def _begin_anew(self, conditions: Collection[str]) -> None:
        for seat in self._seats:
            if seat.name in conditions:
                seat.rule.rebase()
                self._drop(seat)
                self._tell(seat.name)

    def rebase(self) -> None:
        """The person said: what comes now is the new normal. Every rule learns anew, alerts of the old one are over.

        Until the next rollout `undo_rebase` takes it back.
        """
        before = RebaseUndo.of(self._seats, self._own, self.rebased_at)
        self.rebased_at = self.at
        self._begin_anew(self._of)
        self._own.forget()
        self._before_rebase = before

    @property
    def can_undo_rebase(self) -> bool:
        """Whether the new baseline can still be taken back."""
        return self._before_rebase is not None

    def undo_rebase(self) -> bool:
        """Take the new baseline back; whether that was still possible: no rollout came since."""
        before, self._before_rebase = self._before_rebase, None
        if before is None:
            return False
        for seat, kept in zip(self._seats, before.seats, strict=True):
            seat.rule, seat.judge = kept.rule, kept.rule.judge
            seat.reading, seat.since, seat.idle = kept.reading, kept.since, kept.idle
            seat.alert, seat.resolved_at, seat.held = kept.alert, kept.resolved_at, kept.held
        for alert, twin in before.alerts:
            alert.become(twin)
        self._own, self.ranges, self.rebased_at = before.own, before.own.known, before.rebased_at
        self._seat_all()
        for name in self._of:
            self._tell(name)
        return True

    def _drop(self, seat: RuleSlot) -> None:
        if seat.alert is not None:
            seat.alert.resolve(self.at, self._time)
            seat.alert = None
        seat.reading, seat.since, seat.idle = self._off_or(seat), self._turn, False
        seat.resolved_at, seat.held = -(10**9), None

    def _off_or(self, seat: RuleSlot) -> Evaluation:
        return OFF if seat.name in self.by_design else LEARNING

    # -- ranges --------------------------------------------------------------------------------------

    @property
    def grace(self) -> int:
        """How many more rollouts of a new attempt are not judged."""
        return self._grace

    def readings_of(self, signal: str) -> list[Evaluation]:
        """What each condition that is about this signal says of it now."""
        found = []
        for seat in self._seats:
            signals = seat.reading.signals or seat.rule.condition.about
            if signal in signals:
                found.append(seat.word)
        return found

    def judges(self, signals: Iterable[str]) -> bool:
        """Whether a condition that is about one of these signals has found something or nothing."""
        return any(r.state not in (State.LEARNING, State.OFF) for name in signals for r in self.readings_of(name))

    @property
    def held(self) -> dict[str, str]:
        """The conditions that hold but raise no alert, each with the one whose open alert says it already."""
        mute = (s for s in self._seats if s.alert is None and s.silencers and s.word.state is State.FIRING)
        return {s.name: by.name for s in mute for by in s.silencers if by.alert is not None and not by.off}
