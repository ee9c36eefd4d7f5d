"""The list of themes; each is tried on as the cursor moves."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from miles_tui.core.text.cells import fit_text, pad
from miles_tui.present.styled_text import Spans
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.screens.sub import SubScreen


class ThemeScreen(SubScreen):
    """Moving shows a theme, Enter keeps it, Esc brings the one before back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "keep", "Keep", id="theme.keep", tooltip="Keep this theme"),
        Binding("escape,q", "leave", "Back", id="theme.leave", tooltip="Back, with the theme from before"),
    ]
    FOOTER = (("Enter", "keep", 1), ("Esc", "as before", 0), ("↑↓", "try on", 2))

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session, "themes")
        self._before = host.look
        self._looks = list(host.looks.all().values())

    def on_mount(self) -> None:
        names = [look.name for look in self._looks]
        self.listing.at = names.index(self._before.name) if self._before.name in names else 0

    def fill(self) -> None:
        widest = max((len(look.name) for look in self._looks), default=0)
        room = self.size.width - widest - 4
        lines: list[Spans] = [
            [("text", f"  {pad(look.name, widest)}  "), ("dim", fit_text(look.title, room))] for look in self._looks
        ]
        self.listing.put(lines)

    def on_listing_moved(self) -> None:
        self._wear(self.listing.at)

    def on_listing_picked(self) -> None:
        self.leave()

    def action_keep(self) -> None:
        self.leave()

    def action_leave(self) -> None:
        self.host.use_look(self._before)
        self.leave()

    def _wear(self, at: int) -> None:
        self.host.use_look(self._looks[at])
