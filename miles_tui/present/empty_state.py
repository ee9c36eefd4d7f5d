"""What the alert pane says when nothing fires: which rules still learn, or why there is no metric yet. Pure."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import State
from miles_tui.core.run.run_state import RunState
from miles_tui.core.text.cells import clock, wrap
from miles_tui.present.styled_text import Spans


def calm_lines(run: RunState, width: int, today: float | None = None, why: str | None = None) -> list[Spans]:
    """A calm line where nothing fires, and what is to be known of the rules and the profile; `today` as in `clock`.

    `why`: why there is no metric, "" where nothing is to be said of it, None where it is not known.
    """
    if not run.records:
        return [[("dim", line)] for line in wrap(_starting(run, today) if why is None else why, max(width, 20))]
    states = run.judge.states
    learning = (
        [f"{name} {r.count} of {r.of}" if r.of else name for name, r in states.items() if r.state is State.LEARNING]
        if not run.ended
        else []
    )
    pending = [f"{name} {r.count} of {r.of}" for name, r in states.items() if r.state is State.PENDING]
    off = sorted(run.judge.off)
    profile = run.judge.profile
    differences = profile.differences(run.args) if profile is not None else []
    warning = [profile.warning] if profile is not None and profile.warning else []
    lines: list[Spans] = [] if any(alert.open for alert in run.alerts) else [[("dim", "no alert")]]
    for label, names in (
        ("pending: ", pending),
        ("still learning: ", learning),
        ("switched off: ", off),
        ("profile of another setup: ", differences),
        ("", warning),
    ):
        if names:
            lines += [[("dim", line)] for line in wrap(label + ", ".join(names), max(width, 20))]
    return lines


def _starting(run: RunState, today: float | None) -> str:
    sign = f", last sign of life {clock(run.pace.clock, today=today)}" if run.pace.clock is not None else ""
    return f"starting{sign}: no metric so far"
