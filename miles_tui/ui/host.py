"""What screens and widgets may ask of the program that they run in. `ui.app` is it; no screen imports that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miles_tui.present.run_table import RunRow
    from miles_tui.runs.reference_runs import References
    from miles_tui.runs.run_options import Setup
    from miles_tui.runs.run_set import RunSet
    from miles_tui.runs.session import Session
    from miles_tui.runs.sources import Feed
    from miles_tui.ui.settings_watch import SettingsWatch
    from miles_tui.ui.theming.theme import Theme
    from miles_tui.ui.theming.theme_store import Looks


class Navigator(Protocol):
    """The runs as they are listed and turned over, and the screens that open from others."""

    @property
    def listed(self) -> bool:
        """Whether there is a list of runs to go back to."""
        ...

    @property
    def place(self) -> str:
        """Which of all runs is on the screen: ` (2 of 12)`; nothing where it is alone."""
        ...

    @property
    def all_read(self) -> bool:
        """Whether every run was read as far as there is something of it."""
        ...

    def elsewhere(self) -> Sequence[str]:
        """What the runs that are not on the screen want to be known: `other.log: 1 alert`."""
        ...

    def run_rows(self) -> Sequence[RunRow]:
        """The rows of all runs, in the order of `RunSet.all_feeds`."""
        ...

    def newest_first(self) -> list[Feed]:
        """All runs, the one that was written to last first: from now on their order everywhere."""
        ...

    def today_of(self, session: Session) -> float | None:
        """A time of today in the clock of a run's log; of a replay its newest record's."""
        ...

    def open_run(self, number: int) -> None:
        """Put a run on the screen, by its place in `RunSet.all_feeds`."""
        ...

    def open_chart(self, name: str) -> None:
        """Open a signal or metric as a chart."""
        ...

    def open_conditions(self, condition: str | None) -> None:
        """Open the list of conditions, at one of them."""
        ...

    def open_log(self) -> None:
        """Open the newest lines of the log."""
        ...

    def open_place(self, rollout: int, time: float | None = None) -> None:
        """Open the lines of the log around a rollout's record; `time` is the log's clock."""
        ...


class Host(Protocol):
    """The program around a screen."""

    @property
    def glyphs(self) -> str:
        """Which signs the terminal can show."""
        ...

    @property
    def setup(self) -> Setup: ...

    @property
    def settings(self) -> SettingsWatch:
        """What is wrong with the person's settings."""
        ...

    @property
    def runs(self) -> RunSet: ...

    @property
    def references(self) -> References: ...

    @property
    def navigation(self) -> Navigator: ...

    @property
    def looks(self) -> Looks:
        """The themes that there are."""
        ...

    @property
    def look(self) -> Theme:
        """The theme in use."""
        ...

    def use_look(self, look: Theme) -> None:
        """Change the colours of everything."""
        ...

    def copy(self, text: str, said: str, aside: str = "") -> None:
        """Copy for the person, and say what was done: `said`, and where nothing stands between, `aside` behind it."""
        ...
