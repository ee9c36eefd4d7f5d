"""The evidence of an alert in words: a sentence a condition, made from its numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from miles_tui.core.alerting.alert import Alert, AlertSnapshot
from miles_tui.core.alerting.conditions import OF_LINES
from miles_tui.core.alerting.evidence import NO_EVIDENCE, Evidence
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.core.text.numbers import number
from miles_tui.core.text.words import listed, percent

MOST_NOW = 2  # signals of an alert whose newest values are told
COUNTED = ("none", "one", "two", "three", "four", "five")
NOT_FINITE = {"nan": "NaN", "inf": "inf", "-inf": "-inf"}
WITHOUT_NAME = ("cut-share-high",)  # its sentence does not begin with the name of its signal


def evidence_words(alert: AlertSnapshot | Alert) -> str:
    """Why the alert was raised, and how many more lines said it."""
    said = evidence_sentence(alert.condition, alert.evidence)
    more = alert.count - 1 if alert.condition in OF_LINES else 0
    return f"{said} (and {more} more line{'s' if more > 1 else ''})" if more else said


def told_words(alert: AlertSnapshot | Alert) -> str:
    """The evidence, and behind it what became of the alert since."""
    said, later = evidence_words(alert), alert.later
    if later is None:
        return said
    return f"{said}; {later.what} at rollout {later.rollout}: {evidence_sentence(alert.condition, later.evidence)}"


def evidence_of(run: RunSnapshot, alert: AlertSnapshot) -> str:
    """The evidence of an alert, and what is newer: when it came back or became worse; while it is open, the newest
    values where they are others: `...; now 19.5`."""
    told = told_words(alert)
    names = [name for name in alert.about if name in BY_NAME]
    if not alert.open or not 0 < len(names) <= MOST_NOW:
        return told
    known = set(_told_values(alert))
    now = {}
    for name in names:
        values = run.signals[name].values
        if values.last is None or (alert.raised_step is not None and (values.rollout or 0) <= alert.raised_step):
            continue
        value = _as_written(name, values.last)
        if (name, value) not in known:
            now[name] = value + (" s" if BY_NAME[name].unit == "s" else "")
    if not now:
        return told
    first = next((m.name for m in alert.evidence.measured), "")
    alone = names == [first] and alert.condition not in WITHOUT_NAME
    return f"{told}; now " + ", ".join(value if alone else f"{name} {value}" for name, value in now.items())


def evidence_sentence(condition: str, evidence: Evidence) -> str:
    """An evidence of a condition in words. What the log itself says stands for itself."""
    words = SENTENCES.get(condition)
    if words is None or evidence == NO_EVIDENCE or (evidence.text and condition != "crashed"):
        said = evidence.text
    else:
        said = words(evidence)
    if evidence.held_until is None:
        return said
    return f"{said}, at rollout {dict(evidence.facts)['rollout']}; held back until now"


def _told_values(alert: AlertSnapshot) -> Iterator[tuple[str, str]]:
    """The names, and the values as they are written, that the alert's words have already. NaN equals nothing."""
    for evidence in (alert.evidence, alert.later.evidence if alert.later else NO_EVIDENCE):
        for m in evidence.measured:
            for value in (m.last, m.mean, m.level, m.scale, m.low, m.high):
                if value is not None and not math.isnan(value):
                    yield m.name, _as_written(m.name, value)


def _as_written(name: str, value: float) -> str:
    return percent(value) if name == "cut share" and math.isfinite(value) else number(value)


def _words(value: float | None) -> str:
    return "–" if value is None else number(value)


def _percent(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _source(evidence: Evidence) -> str:
    return "this run so far" if evidence.source == "run" else evidence.source


def in_one_unit(seconds: float) -> str:
    """A duration in one unit: `48 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# -- the conditions ------------------------------------------------------------------------------------------


def _gap_jump(evidence: Evidence) -> str:
    (gap,), facts = evidence.measured, dict(evidence.facts)
    since = "the first rollout" if facts.get("from start") else f"rollout {evidence.since}"
    return (
        f"gap {_words(gap.last)}, mean of the last {COUNTED[gap.over]} {_words(gap.mean)}, high since {since}; "
        f"level {_words(gap.level)} ± {_words(gap.scale)} ({_source(evidence)})"
    )


def _grad_norm_growth(evidence: Evidence) -> str:
    (norm,) = evidence.measured
    return (
        f"gradient norm {_words(norm.last)}, mean of the last {COUNTED[norm.over]} {_words(norm.mean)}, rising since "
        f"rollout {evidence.since}; usual {_words(norm.level)} "
        f"({_words(norm.low)} to {_words(norm.high)}, {_source(evidence)})"
    )


def _reward_down_length_up(evidence: Evidence) -> str:
    reward, length = evidence.measured
    return (
        f"since rollout {evidence.since}: reward {_words(reward.mean)} (mean of {COUNTED[reward.over]}), "
        f"{_words(reward.level)} before; answer length {_words(length.mean)}, {_words(length.level)} before"
    )


def _clipped_on_policy(evidence: Evidence) -> str:
    (clipped,) = evidence.measured
    return f"clip fraction {_words(clipped.last)} with one update per rollout; {_words(clipped.level)} is usual there"


def _rollout_slowdown(evidence: Evidence) -> str:
    (time, length), facts = evidence.measured, dict(evidence.facts)
    return (
        f"rollout time {_words(time.last)} s for {_words(length.last)} tokens, where {_words(time.level)} s are "
        f"usual ({_source(evidence)}); {percent(float(facts['slower']))} slower in the mean of the last five, "
        f"growing since rollout {evidence.since}"
    )


def _not_finite(evidence: Evidence) -> str:
    facts = dict(evidence.facts)
    found = {word: int(facts[key]) for key, word in NOT_FINITE.items() if key in facts}
    named, count = [m.name for m in evidence.measured], sum(found.values())
    if count > len(named):
        named.append(f"{count - len(named)} more")
    verb = "is" if count == 1 else "are"
    return f"{listed(named)} {verb} {listed(sorted(found))} in rollout {facts['rollout']}"


def _stalled(evidence: Evidence) -> str:
    (silence,), facts = evidence.measured, dict(evidence.facts)
    usual = f" (a rollout usually takes {in_one_unit(silence.level)})" if silence.level else ""
    parts = [f"no metric line for {in_one_unit(silence.last or 0.0)}{usual}"]
    parts += [f"{label}: {facts[key]}" for key, label in (("last", "last"), ("phase", "open phase")) if key in facts]
    return "; ".join([*parts, *(["the file still grows"] if facts.get("grows") else [])])


def _crashed(evidence: Evidence) -> str:
    facts = dict(evidence.facts)
    return (f"after {facts['last']}: " if "last" in facts else "") + (evidence.text or "the job failed")


def _signal_lost(evidence: Evidence) -> str:
    last = "; ".join(f"{m.name}: last logged in rollout {m.rollout}" for m in evidence.measured)
    names, facts = [m.name for m in evidence.measured], dict(evidence.facts)
    return f"{listed(names)} missing in {facts['rollouts']} rollouts in a row ({last})"


def _off_policy_at_start(evidence: Evidence) -> str:
    said = [f"{m.name} {number(m.last)}" for m in evidence.measured if m.last is not None]
    return f"{' and '.join(said)} in the first update of a rollout; 0 is usual there"


def _reward_collapse(evidence: Evidence) -> str:
    (reward,), facts = evidence.measured, dict(evidence.facts)
    return (
        f"reward {_words(reward.last)} in the {facts['rollouts']}nd rollout in a row; median of the rollouts before "
        f"{_words(reward.level)}"
    )


def _cut_share_high(evidence: Evidence) -> str:
    (share,) = evidence.measured
    mean = f"in the mean of {COUNTED[share.over]}"
    if share.level is None:
        return f"{_percent(share.last)} of the answers are cut, {_percent(share.mean)} {mean}"
    return (
        f"{_percent(share.mean)} of the answers are cut {mean}, {_percent(share.level)} were "
        f"{dict(evidence.facts)['rollouts']} rollouts ago, and the reward has not risen"
    )


def _no_signal(evidence: Evidence) -> str:
    *norm, reward = evidence.measured
    what = f"gradient norm exactly {_words(norm[0].last)}" if norm else "one reward in every group"
    return f"{what}, reward {_words(reward.last)}, {dict(evidence.facts)['rollouts']} rollouts in a row"


def _out_of_range(evidence: Evidence) -> str:
    (signal,) = evidence.measured
    return (
        f"{signal.name} {_words(signal.mean)} in the mean of {COUNTED[signal.over]}; {_words(signal.low)} to "
        f"{_words(signal.high)} in {evidence.source}"
    )


def _restarted(evidence: Evidence) -> str:
    facts = dict(evidence.facts)
    reached = f"; the one before had reached {facts['reached']}" if "reached" in facts else ""
    return f"attempt {facts['attempt']} begins at rollout {evidence.since}{reached}"


SENTENCES: dict[str, Callable[[Evidence], str]] = {
    "gap-jump": _gap_jump,
    "grad-norm-growth": _grad_norm_growth,
    "reward-down-length-up": _reward_down_length_up,
    "clipped-on-policy": _clipped_on_policy,
    "rollout-slowdown": _rollout_slowdown,
    "not-finite": _not_finite,
    "stalled": _stalled,
    "crashed": _crashed,
    "signal-lost": _signal_lost,
    "off-policy-at-start": _off_policy_at_start,
    "reward-collapse": _reward_collapse,
    "cut-share-high": _cut_share_high,
    "no-signal": _no_signal,
    "out-of-range": _out_of_range,
    "restarted": _restarted,
}  # those of the lines that the log says have none: these lines are the evidence
