"""What the engine keeps of each rule: its word and its alert; what is put aside for a condition switched on again,
and for a new baseline taken back."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace

from miles_tui.core.alerting.alert import Alert
from miles_tui.core.alerting.conditions.base import HOLDS, LEARNING, OFF, OK, Evaluation, Rule, State
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.alerting.ranges import OwnRanges
from miles_tui.core.model.rollout import Rollout, Stage

IDLE = Evaluation(State.OFF, idle=True)
# Rules that are not even shown a silenced rollout: after NaN the gap is 0 (nan_to_num), which would mislead them.
NOT_SHOWN = ("gap-jump", "grad-norm-growth")
NO_GRACE = frozenset({"not-finite", "clipped-on-policy", "off-policy-at-start", "no-signal", "signal-lost"})


@dataclass(slots=True)
class RuleSlot:
    """A rule and the alert that it holds."""

    rule: Rule
    reading: Evaluation
    name: str  # of the condition
    graced: bool  # left out in the first rollouts of a new attempt
    shown: bool  # asked even while silenced
    judge: Callable[[Rollout, Stage], Evaluation]  # the rule's: looked up once
    alone: bool = True  # no other seat has the same condition
    silencers: list[RuleSlot] = field(default_factory=list)  # an alert of one of these silences it
    alert: Alert | None = None
    held: Evidence | None = None  # of what was silenced; its `rollout` is that in which it began to hold
    resolved_at: int = -(10**9)  # turn in which the alert was resolved
    since: int = 0  # turn in which its word changed last
    idle: bool = False  # it learns, but nothing came to learn from for `PATIENCE` rollouts
    off: bool = False  # its condition is switched off: it goes on judging, and nobody is told

    @property
    def word(self) -> Evaluation:
        """What it says of its condition, to a person."""
        return OFF if self.off else IDLE if self.idle else self.reading

    def hold(self, evidence: Evidence, rollout: int) -> None:
        """It begins to hold at this rollout, silenced."""
        self.held = replace(evidence, facts=(*evidence.facts, ("rollout", rollout)))

    def released(self, rollout: int) -> Evidence | None:
        """The evidence of what was silenced up to this rollout."""
        return self.held and replace(self.held, held_until=rollout)

    def silenced(self) -> bool:
        """Whether it would only say what follows from an alert that is open."""
        for seat in self.silencers:  # noqa: SIM110  (a generator costs half a microsecond)
            if seat.alert is not None and seat.off <= self.off:  # what nobody is told of silences nothing that is told
                return True
        return False


@dataclass(slots=True)
class Silent:
    """What a condition that is switched off goes on with: its alerts, and those of them that a person still sees."""

    alerts: list[Alert]
    seen: list[tuple[Alert, Alert]]  # (as it was when it was switched off, as it went on)


@dataclass(slots=True)
class RebaseUndo:
    """What a new baseline changes, as it was."""

    seats: list[RuleSlot]
    alerts: list[tuple[Alert, Alert]]  # open ones, each with how it was
    own: OwnRanges
    rebased_at: int | None

    @classmethod
    def of(cls, seats: list[RuleSlot], own: OwnRanges, rebased_at: int | None) -> RebaseUndo:
        """What there is now. Words stay the same objects: they are known by identity."""
        shared: dict[int, object] = {id(word): word for word in (OK, LEARNING, OFF, HOLDS)}
        shared |= {id(seat.rule.condition): seat.rule.condition for seat in seats}
        rules, own = deepcopy(([seat.rule for seat in seats], own), shared)
        kept = [replace(seat, rule=rule) for seat, rule in zip(seats, rules, strict=True)]
        return cls(kept, [(s.alert, s.alert.twin()) for s in seats if s.alert is not None], own, rebased_at)


def seat_of(rule: Rule) -> RuleSlot:
    name = rule.condition.id
    return RuleSlot(rule, LEARNING, name, name not in NO_GRACE, name not in NOT_SHOWN, rule.judge)
