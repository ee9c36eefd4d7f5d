"""What a person chose for one run: pinned rows, signals marked for one chart, how the browser stood. Plain data."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from miles_tui.core.model.signals import scores_of
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.runs.run_options import Setup


@dataclass(slots=True)
class Chosen:
    """Names are a signal's, or a log name."""

    pins: list[str] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    filter: str = ""
    folded: set[str] = field(default_factory=set)  # groups of the browser that are closed
    at: str = ""  # the metric under the browser's cursor

    def toggle_pin(self, name: str) -> bool:
        """Pin or unpin; whether it is pinned now."""
        return _toggle(self.pins, name)

    def toggle_mark(self, name: str) -> bool:
        """Mark or unmark; whether it is marked now."""
        return _toggle(self.marked, name)


def extra_rows(logged: Collection[str], chosen: Chosen, always: Iterable[str]) -> list[str]:
    """Log names of the rows below the signals: evaluation scores, then `always` (of the settings), then pinned ones.

    A metric of the settings has its row when the log has it: `logged` are the metrics that it has.
    """
    pinned = [name for name in (*always, *chosen.pins) if name in logged]
    return list(dict.fromkeys([*scores_of(logged), *pinned]))


def row_names(logged: Collection[str], chosen: Chosen, setup: Setup) -> list[str]:
    """The rows of the main screen: the signals as the settings have them, then scores and pinned metrics."""
    return [*setup.signals, *extra_rows(logged, chosen, setup.metrics)]


def subject_of(run: RunSnapshot, log_name: str) -> str:
    """The signal that is read from this log name, else the log name itself."""
    return next((s.name for s in run.signals.values() if s.log_name == log_name and s.values.count), log_name)


def _toggle(names: list[str], name: str) -> bool:
    if name in names:
        names.remove(name)
        return False
    names.append(name)
    return True
