"""The alert pane: what fires first, each alert with evidence, likely cause and first check."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from miles_tui.core.text.ascii import spelled
from miles_tui.present.alerts.alert_list import notes, tally, unfinished
from miles_tui.present.styled_text import Spans, between, width_of
from miles_tui.present.view_models import AlertView
from miles_tui.ui.widgets.lines import Lines
from miles_tui.ui.widgets.signals import SignalTable


class AlertPane(Lines, can_focus=True):
    """Alerts as wrapped text. One of them is the current one: keys such as `a` and `z` act on it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="alert.up", show=False, tooltip="Scroll up, then the alert above"),
        Binding("down,j", "move(1)", "Down", id="alert.down", show=False, tooltip="Scroll down, then the alert below"),
        Binding("enter", "unfold", "Numbers", id="alert.unfold", show=False,
                tooltip="The alert's numbers: before, when it was raised, now; Enter again folds them"),
        Binding("escape", "fold", "Fold", id="alert.fold", show=False, tooltip="Fold the alert's numbers again"),
        Binding("end", "final", "End", id="alert.end", show=False, tooltip="The end of the last alert"),
        Binding("c", "open", "Chart", id="alert.open", show=False, tooltip="Open the alert's signal as a chart"),
        Binding("pageup", "scroll_by(-1)", "Page up", id="alert.page-up", show=False, tooltip="Scroll the alerts up"),
        Binding("pagedown", "scroll_by(1)", "Page down", id="alert.page-down", show=False, tooltip="Scroll them down"),
    ]  # fmt: skip

    class Unfolded(Message):
        """Another alert is to show its numbers, or none."""

    class Moved(Message):
        """Another alert is the current one."""

    def __init__(self, *, plain: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._plain = plain  # is the terminal's text ASCII?
        self._alerts: list[AlertView] = []
        self._calm: list[Spans] = []
        self._today: float | None = None
        self._margin = 1
        self._title = False
        self._top = 0
        self._at = 0
        self._hidden = (0, 0)  # lines of the current alert above and below those in sight
        self.unfolded: int | None = None  # the serial of the alert that shows its numbers, too
        self._numbers: Sequence[tuple[str, str]] = ()

    @property
    def current(self) -> AlertView | None:
        """The alert that keys act on: the most serious one until another is chosen."""
        return self._alerts[self._at] if self._at < len(self._alerts) else None

    def put(
        self,
        alerts: Sequence[AlertView],
        calm: list[Spans],
        today: float | None,
        margin: int,
        numbers: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show these alerts, and `calm` behind them where there is room; `numbers` are those of `unfolded`."""
        self._numbers = numbers
        if self._plain:
            alerts = [replace(alert, evidence=spelled(alert.evidence)) for alert in alerts]
        before = self.current.serial if self.current is not None and self._at else None
        self._alerts, self._calm, self._today, self._margin = list(alerts), calm, today, margin
        # Who had moved to an alert stays on it; who had not, sees what is most serious now.
        self._at = next((i for i, a in enumerate(alerts) if a.serial == before), 0)
        self._arrange(follow=False)

    def forget(self) -> None:
        """Another run's alerts come next."""
        self._at, self.unfolded = 0, None

    @property
    def reads(self) -> bool:
        """Whether keys go here, and the current alert shows its numbers."""
        return self.has_focus and self.current is not None and self.unfolded == self.current.serial

    @property
    def moves(self) -> bool:
        """Whether there is another alert, or more of this one than is in sight."""
        return len(self._alerts) > 1 or any(self._hidden)

    def action_move(self, by: int) -> None:
        """The next lines of an alert that is longer than the pane, then the next alert."""
        if self._hidden[by > 0]:
            self._top += by
            self._arrange(follow=False)
            return
        at = max(0, min(self._at + by, len(self._alerts) - 1))
        if at != self._at:
            self._at = at
            self._arrange(follow=True)
            self.post_message(self.Moved())

    def action_final(self) -> None:
        self._top = sys.maxsize
        self._arrange(follow=False)

    def action_fold(self) -> None:
        self.unfolded = None
        self.post_message(self.Unfolded())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Esc is another's key unless there is something to fold."""
        return self.reads if action == "fold" else super().check_action(action, parameters)

    def show_current(self) -> None:
        """Scroll so that the current alert is in sight."""
        self._arrange(follow=True)

    def action_unfold(self) -> None:
        """The current alert's numbers, or no alert's."""
        current = self.current
        if current is not None:
            self.unfolded = None if self.unfolded == current.serial else current.serial
            self.post_message(self.Unfolded())

    def action_open(self) -> None:
        if self.current is not None and self.current.signals:
            self.post_message(SignalTable.Opened(self.current.signals[0]))

    def action_scroll_by(self, pages: int) -> None:
        self._top += pages * max(1, self.size.height - 2)
        self._arrange(follow=False)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(2)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-2)

    def _scroll(self, lines: int) -> None:
        self.focus()  # from now on the current alert is shown whole
        self._top += lines
        self._arrange(follow=False)

    def on_resize(self) -> None:
        self._arrange(follow=self.has_focus)

    def watch_has_focus(self, _: bool) -> None:
        """The pointer shows only while keys go here; who leaves finds the alert from its title on."""
        super().watch_has_focus(_)
        self._arrange(follow=not self.has_focus)

    def _arrange(self, *, follow: bool) -> None:
        """Lay the entries out, scrolled so that the current one is seen when `follow`."""
        width, height = self.size
        if not height:
            return
        title = 1 if height >= 8 else 0
        room = height - title
        edge: Spans = [("text", " " * self._margin)] if self._margin else []
        inner = width - 2 * self._margin
        lines: list[Spans] = []
        begin = end = 0
        inside: set[int] = set()  # lines behind which their alert goes on
        others = len(self._alerts) - 1
        more: Spans = []
        if room == 1 and self._alerts:  # such a screen has no footer to say which key shows the rest
            more = [("dim", "  Enter" if self.has_focus else "  Tab")]
        if room == 1 and others > 0 and not self._alerts[1].over:
            more = [("dim", f"  +{others}"), *more]
        wide = inner - 2 - width_of(more)
        unfolded = (self.unfolded, self._numbers) if self.unfolded is not None else None
        entries = notes(self._alerts, self._at, wide, room, self._today, whole=self.has_focus, unfolded=unfolded)
        for n, entry in enumerate(entries):
            if n and room >= 12:
                lines.append([])
            inside |= set(range(len(lines) + 1, len(lines) + len(entry.lines) - 1))
            chosen = self.has_focus and entry.at == self._at
            if entry.at == self._at:
                begin, end = len(lines), len(lines) + len(entry.lines)
            for i, line in enumerate(entry.lines):
                pointer = "▸ " if chosen and i == 0 else "  "
                lines.append([*edge, ("accent", pointer), *line])
        calm = [[*edge, ("text", "  " if title else ""), *line] for line in self._calm]
        if not self._alerts or len(lines) + 1 + len(calm) <= room:
            lines = [*lines, *([[]] if lines else []), *calm]
            inside |= set(range(len(lines) - len(calm), len(lines) - 1))
        if follow:
            self._top = min(max(self._top, end - room), begin)
        self._top = max(0, min(self._top, len(lines) - room))
        self._hidden = max(0, self._top - begin), max(0, end - self._top - room)
        shown = lines[self._top : self._top + room]
        if not title and self._top + len(shown) - 1 in inside:
            shown[-1] = unfinished(shown[-1], inner + self._margin)
        if more:
            shown = [[*edge, *between(shown[0][len(edge) :], more, inner, gap=0)]]
        below = len(lines) - self._top - len(shown)
        self.show([*([self._heading(edge, inner, below)] if title else []), *shown])

    def _heading(self, edge: Spans, width: int, below: int) -> Spans:
        more: Spans = [("dim", f"↓ {below} more line{'s' if below > 1 else ''}")] if below else []
        return [*edge, *between([("dim", f"alerts: {tally(self._alerts)}")], more, width)]
