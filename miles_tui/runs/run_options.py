"""What a person asked of the screen, by options and settings together. Plain data: reading it imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miles_tui.core.model.signals import SIGNALS
from miles_tui.core.run.monitor import Monitor

if TYPE_CHECKING:
    from miles_tui.core.alerting.profile import Profile
    from miles_tui.core.run.fate import Pauses
    from miles_tui.ingest.files.log_file import Log


class Notices(NamedTuple):
    """How an alert is noticed when nobody looks; the words are those of `miles_tui.config.settings.Notify`."""

    bell: str = "critical"  # the least severity that rings: critical, warning, never
    title: bool = True
    desktop: str = "off"  # off, osc9, osc777
    command: str = ""
    seconds: float = 10.0  # the command's time limit


@dataclass(slots=True, frozen=True)
class Setup:
    """`theme` None and `glyphs` "" mean: as the terminal is. `polling` None: where events can't be had.

    `signal` is the one selected at first. `wrong`: setting -> a line on what is wrong with it.
    """

    profile: Profile | None = None
    theme: str | None = None
    glyphs: str = ""
    mouse: bool = True
    polling: bool | None = None
    pauses: Pauses | None = None
    signals: tuple[str, ...] = tuple(s.name for s in SIGNALS)
    metrics: tuple[str, ...] = ()
    switched_off: tuple[str, ...] = ()
    window: int = 5
    history: int = 4096
    signal: str = ""
    remember: bool = False
    notices: Notices = field(default_factory=Notices)
    wrong: Mapping[str, str] = field(default_factory=dict)
    compare: tuple[Log, ...] = ()  # reference runs, drawn behind in charts

    def monitor(self, *, keep_metrics: bool = True, history: int | None = None) -> Monitor:
        """A run that nothing was fed to yet; `history`: values of a signal that it keeps, where not those asked for."""
        return Monitor(
            self.profile,
            off=self.switched_off,
            window=self.window,
            history=history or self.history,
            pauses=self.pauses,
            keep_metrics=keep_metrics,
        )
