"""What the alert pane says when nothing fires: which rules still learn, or why there is no metric yet. Pure."""

from __future__ import annotations

from miles_tui.core.alerting.conditions.base import State
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.core.text.cells import clock, wrap
from miles_tui.present.styled_text import Spans


def calm_lines(run: RunSnapshot, width: int, today: float | None = None, why: str | None = None) -> list[Spans]:
    """A calm line where nothing fires, and what is to be known of the rules and the profile; `today` as in `clock`.

    `why`: why there is no metric, "" where nothing is to be said of it, None where it is not known.
    """
    if not run.records:
        return [[("dim", line)] for line in wrap(_starting(run, today) if why is None else why, max(width, 20))]
    said = run.conditions.values()
    learning = (
        [f"{c.id} {c.count} of {c.of}" if c.of else c.id for c in said if c.state is State.LEARNING]
        if not run.ended
        else []
    )
    pending = [f"{c.id} {c.count} of {c.of}" for c in said if c.state is State.PENDING]
    lines: list[Spans] = [] if any(alert.open for alert in run.alerts) else [[("dim", "no alert")]]
    for label, names in (
        ("pending: ", pending),
        ("still learning: ", learning),
        ("switched off: ", sorted(run.off)),
        ("profile of another setup: ", run.misfit),
        ("", [run.profile_warning] if run.profile_warning else []),
    ):
        if names:
            lines += [[("dim", line)] for line in wrap(label + ", ".join(names), max(width, 20))]
    return lines


def _starting(run: RunSnapshot, today: float | None) -> str:
    sign = f", last sign of life {clock(run.clock, today=today)}" if run.clock is not None else ""
    return f"starting{sign}: no metric so far"
