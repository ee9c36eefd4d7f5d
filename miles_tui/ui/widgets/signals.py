"""The table of signals: one line each, a selected one, titles above."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from miles_tui.present.layout import Columns, Plan
from miles_tui.present.signal_rows import common_owner, signal_row, title_row
from miles_tui.present.styled_text import Spans, pointed
from miles_tui.present.view_models import RowView
from miles_tui.ui.widgets.lines import Lines


class SignalTable(Lines, can_focus=True):
    """Rows of signals. Posts `Selected` when another row is chosen and `Opened` when one is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="row.up", show=False, tooltip="Select the signal above"),
        Binding("down,j", "move(1)", "Down", id="row.down", show=False, tooltip="Select the signal below"),
        Binding("home,g", "first", "First", id="row.first", show=False, tooltip="Select the first signal"),
        Binding("end,G", "final", "Last", id="row.last", show=False, tooltip="Select the last signal"),
        Binding("enter", "open", "Chart", id="row.open", tooltip="Open the selected signal as a chart"),
    ]

    class Selected(Message):
        """Another signal was selected."""

    class Opened(Message):
        """A signal was asked for as a chart."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, spark: Callable[[RowView, int], Spans], *, window: int = 5, id: str | None = None) -> None:
        super().__init__(id=id)
        self._spark = spark
        self._window = window
        self._views: list[RowView] = []
        self._plan: Plan | None = None
        self._scale = ""
        self._marked: frozenset[str] = frozenset()
        self._drawn: dict[str, tuple[RowView, tuple[Columns, str, bool, bool, bool], Spans]] = {}
        self.at = 0
        self._top = 0  # the first row in sight

    @property
    def selected(self) -> RowView | None:
        """The row under the cursor."""
        return self._views[self.at] if self.at < len(self._views) else None

    @property
    def below(self) -> int:
        """How many rows follow below those in sight."""
        return max(0, len(self._views) - self._top - self._plan.rows) if self._plan else 0

    def put(self, views: list[RowView], plan: Plan, scale: str = "", marked: frozenset[str] = frozenset()) -> None:
        """Show these rows in this layout, those around the selected one where not all fit; `scale` as a title."""
        self._views, self._plan, self._scale, self._marked = views, plan, scale, marked
        self.at = min(self.at, max(0, len(views) - 1))
        owner = common_owner(views)
        lines = [title_row(plan.columns, owner, self._window, scale)] if plan.titles else []
        before = self._top
        self._top = max(0, min(max(self._top, self.at - plan.rows + 1), self.at, len(views) - plan.rows))
        shown = range(self._top, min(len(views), self._top + plan.rows))
        lines += [self._row(i, views[i], plan, owner) for i in shown]
        self.show(lines)
        if before != self._top:
            self.refresh()  # the chosen row's ground stays where it is while the rows move

    def _row(self, at: int, view: RowView, plan: Plan, owner: str) -> Spans:
        """A row; one whose view is the very same object is not drawn again (a sparkline takes 0.3 ms)."""
        marked = view.name in self._marked
        drawn = (plan.columns, owner, at == self.at, self.flat, marked)
        known = self._drawn.get(view.name)
        if known is not None and known[0] is view and known[1] == drawn:
            return known[2]
        spans = signal_row(view, plan.columns, self._spark, owner=owner, selected=at == self.at, marked=marked)
        if at == self.at and self.flat:
            spans = pointed(spans)
        self._drawn[view.name] = (view, drawn, spans)
        return spans

    def ground_of(self, y: int) -> str:
        titles = self._plan.titles if self._plan else 0
        return "chosen" if y - titles + self._top == self.at else "ground"

    def choose(self, at: int) -> None:
        """Select a row."""
        at = max(0, min(at, len(self._views) - 1))
        if at != self.at and self._plan is not None:
            self.at = at
            self.put(self._views, self._plan, self._scale, self._marked)
            self.post_message(self.Selected())

    def choose_named(self, name: str) -> None:
        """Select the row of that name, if there is one."""
        at = next((i for i, view in enumerate(self._views) if view.name == name), self.at)
        self.choose(at)

    def action_move(self, by: int) -> None:
        self.choose(self.at + by)

    def action_first(self) -> None:
        self.choose(0)

    def action_final(self) -> None:
        self.choose(len(self._views) - 1)

    def action_open(self) -> None:
        if self.selected is not None:
            self.post_message(self.Opened(self.selected.name))

    def on_click(self, event: events.Click) -> None:
        """A click selects a row, a second one opens it."""
        at = event.y - (self._plan.titles if self._plan else 0) + self._top
        if self._top <= at < len(self._views):
            again = at == self.at and event.chain > 1
            self.choose(at)
            if again:
                self.action_open()
