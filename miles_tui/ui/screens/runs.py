"""The list of runs: which is alive, which is healthy, which wants to be looked at. Enter opens one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from miles_tui.core.run.change import Change
from miles_tui.present.footer import footer_line
from miles_tui.present.header import too_small
from miles_tui.present.layout import margin_of
from miles_tui.present.metric_tree import Lazily
from miles_tui.present.run_table import RunRow, run_columns, run_line, severity_of, table_titles
from miles_tui.present.styled_text import Part, Spans, packed
from miles_tui.ui.host import Host
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.widgets.lines import Lines

if TYPE_CHECKING:
    from miles_tui.runs.sources import Feed

NEW_LOGS_SECONDS = 60.0  # between two looks for new logs, while the list is on the screen


class RunsScreen(SubScreen, inherit_bindings=False):
    """A line a run, the one that was written to last first; the worst alert is a column.

    The order changes when the list is seen again and while its logs are first read, until a key moved the cursor:
    no line jumps under a hand.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,right", "open", "Open", id="runs.open", tooltip="Open this run; Esc leads back here"),
    ]
    FOOTER = (("?", "help", 0), ("Enter", "open", 1), ("↑↓", "select", 3), ("L", "log", 4), ("t", "theme", 5),
              ("q", "quit", 2))  # fmt: skip
    DEFAULT_CSS = """
    RunsScreen #title { margin-bottom: 0; }
    """

    def __init__(self, host: Host) -> None:
        super().__init__(host, host.runs.session, "runs")
        self._runs, self._navigation = host.runs, host.navigation
        self._order: list[Feed] = []
        self._chosen: Feed | None = None  # of the run under the cursor
        self._settled = False  # every log was read once, or the cursor was moved
        self._away = False  # a run was opened: on return the cursor is at the one that was shown last

    @property
    def chosen(self) -> int:
        """The number of the run under the cursor, as the app counts them."""
        return self._runs.number_of(self._order[min(self.listing.at, len(self._order) - 1)])

    def on_mount(self) -> None:
        self.sort()
        if self._runs.more is not None:
            self.set_interval(NEW_LOGS_SECONDS, self._look)

    def on_screen_resume(self) -> None:
        if self._away:
            self._chosen, self._away = self._runs.feeds[self._runs.shown], False
        self.sort()
        super().on_screen_resume()

    def sort(self) -> None:
        """Newest first, the cursor at the run where it was."""
        self._order = self._navigation.newest_first()
        self.listing.at = next((i for i, feed in enumerate(self._order) if feed is self._chosen), 0)

    async def _look(self) -> None:
        if self.app.screen is self:
            await self._runs.look_for_more()

    def grew(self, change: Change) -> None:
        """Some run changed."""
        del change
        if not self._settled:
            self._chosen = None
            self.sort()
            self._settled = self._navigation.all_read
        self.fill()

    def fill(self) -> None:
        if not self._order:
            return
        rows = self._navigation.run_rows()
        today = self._navigation.today_of(self.session)
        columns = run_columns(self.size.width, rows, today)
        self._look_at()
        by_feed = {id(feed): row for feed, row in zip(self._runs.all_feeds, rows, strict=True)}
        ordered = [by_feed[id(feed)] for feed in self._order]
        self.listing.put(Lazily(len(ordered), lambda at: run_line(ordered[at], columns, today)))
        self.query_one("#title", Lines).show([table_titles(columns)])
        self._frame(rows)  # it says how many follow below

    def _frame(self, rows: Sequence[RunRow] | None = None) -> None:
        summary = self._summary(self._navigation.run_rows() if rows is None else rows)
        width = self.size.width
        if self.too_small:
            need = too_small(width, self.size.height - 1)
            worst_first = [Part(i, part.long) for i, part in enumerate(summary[1:] or summary)]
            self.query_one("#head", Lines).show([packed(worst_first, width, gap="  "), *need])
            return
        margin = margin_of(width)
        edge: Spans = [("text", " " * margin)]
        self.query_one("#head", Lines).show([edge + packed(summary, width - 2 * margin)])
        below = self.listing.below
        more: Spans = [("dim", f"↓ {below} more")] if below else []
        line = footer_line(self.footer(), width - 2 * margin, self._said, more)
        self.query_one("#keys", Lines).show([edge + line])

    def idle_keys(self) -> set[str]:
        idle = set() if self._order and self._runs.session_of(self.chosen) is not None else {"L"}
        return idle | (set() if len(self._order) > 1 else {"↑↓"})

    def _summary(self, rows: Sequence[RunRow]) -> list[Part]:
        """How many runs there are and how many want to be looked at: the worst by shape, word and colour."""
        parts = [Part(1, [("bright", f"{len(rows)} runs")])]
        for style, shape, word in (("critical", "▲", "critical"), ("warning", "△", "with a warning")):
            count = sum(severity_of(row) == style for row in rows)
            if count:
                parts.append(Part(0, [(style, f"{shape} {count} {word}")]))
        calm = sum(row.style == "ok" for row in rows)
        if calm:
            parts.append(Part(2, [("ok", f"● {calm} healthy or finished")], [("ok", f"● {calm} healthy")]))
        long, _, short = self.host.settings.words
        return [*parts, *([Part(1, [("watch", long)], [("watch", short)])] if long else [])]

    def on_listing_moved(self) -> None:
        self._settled = True
        self._look_at()
        self._frame()

    def _look_at(self) -> None:
        self._chosen = self._runs.all_feeds[self.chosen]
        self.session = self._runs.session_of(self.chosen) or self.session

    def on_listing_picked(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        self._away = self._settled = True
        self._navigation.open_run(self.chosen)
