"""Reference runs: other logs that are read once, after the first paint, and drawn behind in charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from miles_tui.core.run.monitor import Curves, Monitor
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.errors import MilesTuiError
from miles_tui.runs.aside import aside

if TYPE_CHECKING:
    from miles_tui.ingest.files.log_file import Log


@dataclass(slots=True)
class Reference:
    """Another run, read to its end."""

    name: str
    curves: Curves
    _means: dict[tuple[str, int], list[tuple[int, float]]] = field(default_factory=dict)

    def means(self, subject: str, window: int) -> list[tuple[int, float]]:
        """(rollout, mean of `window` values) of a signal or metric; empty where that run has none."""
        key = (subject, window)
        if key not in self._means:
            self._means[key] = self.curves.of(subject).means(window)
        return self._means[key]


@dataclass(slots=True)
class References:
    """The reference runs that were read so far, in the order given, and those that can't be read."""

    runs: list[Reference] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def take_failed(self) -> list[str]:
        """What could not be read since this was asked last."""
        failed, self.failed = self.failed, []
        return failed

    async def read(self, logs: Sequence[Log], told: Callable[[], None]) -> None:
        """Read them one after another in a thread; `told` is called after each."""
        for log in logs:
            try:
                monitor = await aside(_read_reference, log)
            except MilesTuiError as error:
                self.failed.append(str(error))
            else:
                if monitor.records:
                    self.runs.append(Reference(harmless_name(Path(log).stem), monitor.curves))
                else:
                    self.failed.append(f"{log}: no metric to compare with")
            told()


def _read_reference(log: Log) -> Monitor:
    from miles_tui.runs.read_run import read_into

    return read_into(Monitor(), log)
