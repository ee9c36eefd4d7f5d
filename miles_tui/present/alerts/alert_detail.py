"""An alert in the numbers of its run: each of its signals before, when it was raised, and now. Pure."""

from __future__ import annotations

import math

from miles_tui.core.model.series import DEAD, SeriesTail
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.run.monitor import Curves
from miles_tui.core.text.cells import clock
from miles_tui.core.text.numbers import number
from miles_tui.present.view_models import AlertView, unit_of

APART = 5  # rollouts between the level before and the alert: a rule takes some to be sure

LabelledLine = tuple[str, str]  # a label, and what follows it


def numbers_of(alert: AlertView, values: Curves, today: float | None = None) -> list[LabelledLine]:
    """A line for each signal, then one with its times, in the log's clock; `today` as in `clock`.

    Read from the series as they stand, so that the newest value is of now and not of the moment it was raised.
    """
    lines = [line for name in alert.signals if (line := _signal_line(name, alert, values))]
    return [*lines, ("times: ", _times(alert, today))]


def _signal_line(name: str, alert: AlertView, values: Curves) -> LabelledLine | None:
    series = values.of(name)
    tail, digits, window = series.tail(len(series)), BY_NAME[name].digits, values.window
    live = [i for i, flag in enumerate(tail.flags) if not flag & DEAD]
    if not live:
        return None

    def said(value: float) -> str:
        return number(value, digits)

    words = []
    at = _index(tail, live, alert.raised_step, alert.attempt)
    if at is not None:
        earlier = [i for i in live[: live.index(at)] if math.isfinite(tail.y[i])]
        before = earlier[:-APART][-window:] or earlier[:window]
        if before:
            mean, first, last = sum(tail.y[i] for i in before) / len(before), tail.x[before[0]], tail.x[before[-1]]
            where = f"rollouts {first} to {last}" if last > first else f"rollout {first}"
            words.append(f"before {said(mean)} ({where})")
        words.append(f"raised at {said(tail.y[at])} (rollout {tail.x[at]})")
    over = _index(tail, live, alert.resolved_step, tail.attempts[live[-1]])
    if over is not None and over != at:
        words.append(f"resolved at {said(tail.y[over])} (rollout {tail.x[over]})")
    words.append(f"now {said(tail.y[live[-1]])} (rollout {tail.x[live[-1]]})")
    if (newest := series.mean(window)) is not None:
        words.append(f"{said(newest)} as the mean of {window}")
    unit = f", {unit_of(name)}" if unit_of(name) else ""
    return f"{name}{unit}: ", ", ".join(words)


def _index(tail: SeriesTail, live: list[int], rollout: int | None, attempt: int) -> int | None:
    """The place of a rollout of an attempt or of an earlier one, if it is kept and no dead branch."""
    if rollout is None:
        return None
    return next((i for i in reversed(live) if tail.x[i] == rollout and tail.attempts[i] <= attempt), None)


def _times(alert: AlertView, today: float | None) -> str:
    """`raised at rollout 23, 17:02:11; still firing`."""

    def moment(step: int | None, time: float | None) -> str:
        at = "before the first rollout" if step is None else f"at rollout {step}"
        return at + ("" if time is None else f", {clock(time, exact=True, today=today)}")

    raised = f"raised {moment(alert.raised_step, alert.raised_time)}"
    if not alert.over:
        return f"{raised}; still {alert.state}"
    if alert.accepted:
        return f"{raised}; accepted as expected {moment(alert.resolved_step, alert.resolved_time)}"
    return f"{raised}; {alert.state} {moment(alert.resolved_step, alert.resolved_time)}"
