"""The main screen: header, the eight signals, alerts, keys. It shows views; what changed decides what is taken anew."""

from __future__ import annotations

import time

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.widget import Widget

from miles_tui.core.model.glossary import meaning_of
from miles_tui.core.run.change import Change
from miles_tui.core.text.cells import clock
from miles_tui.present.alerts.alert_detail import numbers_of
from miles_tui.present.empty_state import calm_lines
from miles_tui.present.footer import footer_line
from miles_tui.present.header import Surroundings, heading, sentence
from miles_tui.present.layout import LEAST_ALERTS, WIDE_CELLS, Plan, filled, glance_lines, plan
from miles_tui.present.plot.sparkline_axis import Axis, Span
from miles_tui.present.signal_rows import detail_row, label_cells
from miles_tui.present.sparkline_frames import Sparks, scale_words
from miles_tui.present.styled_text import Spans
from miles_tui.present.view_models import (
    AlertView,
    RowView,
    alert_views,
    row_view,
    row_views,
    spans_of,
    unit_of,
)
from miles_tui.runs.selection import row_names
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.keys import FOOTER, alert_footer
from miles_tui.ui.screens.base import OurScreen
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.glance import Glance
from miles_tui.ui.widgets.lines import Lines
from miles_tui.ui.widgets.signals import SignalTable

QUESTION = "e again: what comes now is the new normal; open alerts end"
SHORT_QUESTION = "e again: new baseline, open alerts end"  # 38 cells
BEHIND_SECONDS = 5.0  # between two looks at the rows while a long log is read


class MainView(OurScreen):
    """One run, as it is seen. `grew` is called with what changed; while the view is paused it only remembers that."""

    AUTO_FOCUS = "#signals"
    DEFAULT_CSS = """
    MainView { layout: vertical; overflow: hidden; background: $ground; color: $text-ink; }
    MainView Lines { background: $ground; }
    MainView #alerts { height: 1fr; }
    """

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session)
        self.paused = False
        self._alerts: list[AlertView] = []
        self._numbered: tuple[int, list[tuple[str, str]]] | None = None  # of an alert that is unfolded
        self._sparks = Sparks(host.glyphs, session.curves.window)
        self._spans: list[Span] = []  # of the run when its rows were taken
        self._axis: Axis | None = None  # of all sparklines, None where there are none
        self._plan = plan(80, 24)
        self._glance_lines = 0
        self._filled = False  # an alert is read on a small screen: the pane has the rows' lines, too
        self._moment = session.snapshot  # what the views were taken from
        self._rows: list[RowView] = []
        self._behind = False  # a long log is being read: the views are older than the run
        self._taken = 0.0
        self._held: Widget | None = None  # had the keys before the screen was too small for it

    # -- building ------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        yield Lines(id="gap-1")
        yield SignalTable(self._sparks.draw, window=self.session.curves.window, id="signals")
        yield Lines(id="detail")
        yield Lines(id="gap-2")
        yield AlertPane(plain=self.host.glyphs == "ascii", id="alerts")
        yield Glance(self._sparks.glyphs, self.session.curves.window, id="glance")
        yield Lines(id="keys")

    def on_mount(self) -> None:
        self.take_all()

    def on_screen_resume(self) -> None:
        """Seen again: while another screen was on top nothing was taken."""
        if self.is_mounted and not self.paused:
            self.take_all()
            self.fill()

    def on_resize(self, event: events.Resize) -> None:
        """A wider sparkline shows more rollouts, a higher screen more rows."""
        if self.paused:
            self._plan = self._planned(event.size)
            self._axis = self._axis_on(self._plan)
            self._rows = [row._replace(axis=self._axis) for row in self._rows]
            self._lay_out()
        else:
            self.take_all()
        self.fill()

    def _planned(self, size: Size) -> Plan:
        names = self._names()
        units = [unit_of(name) if size.width >= WIDE_CELLS else "" for name in names]
        longest = max(map(label_cells, names, units), default=0)
        return plan(size.width, size.height, len(names), longest)

    def _axis_on(self, p: Plan) -> Axis | None:
        """The axis of the sparklines in a layout."""
        return self._sparks.axis(self._spans, p.columns.spark) if p.columns.spark else None

    def _lay_out(self) -> None:
        """Give each part its lines; the layout changes here and nowhere else."""
        p = filled(self._plan) if self._filled else self._plan
        rows = min(p.rows, len(self._rows)) + p.titles
        heights = {"head": p.header, "gap-1": int(p.gaps > 0), "signals": rows, "detail": p.detail,
                   "gap-2": int(p.gaps > 1), "glance": self._glance_lines, "keys": p.footer}  # fmt: skip
        if p.too_small:
            heights = dict.fromkeys(heights, 0) | {"head": p.height}
            self._held = self.focused or self._held
        for name, height in heights.items():
            widget = self.query_one(f"#{name}")
            widget.styles.height = height
            widget.display = height > 0 or (name == "signals" and self._filled)  # Tab leads back to it
        self.pane.display = not p.too_small
        if self._held is not None and not p.too_small:
            self.set_focus(self._held)  # Textual takes the keys from what is hidden and gives them to nobody
            self._held = None

    def _names(self) -> list[str]:
        return row_names(self.session.curves.metrics, self.session.chosen, self.host.setup)

    @property
    def today(self) -> float | None:
        """A time of the day that needs no date."""
        return self.host.navigation.today_of(self.session)

    @property
    def pane(self) -> AlertPane:
        return self.query_one("#alerts", AlertPane)

    @property
    def asking(self) -> bool:
        """Whether the question of a new baseline is on the screen."""
        return self._said in (QUESTION, SHORT_QUESTION)

    @property
    def _table(self) -> SignalTable:
        return self.query_one("#signals", SignalTable)

    # -- data ----------------------------------------------------------------------------------

    def grew(self, change: Change) -> None:
        """The run changed: take and show what differs."""
        if self.paused:
            return
        if self.session.status.percent is not None and time.monotonic() - self._taken < BEHIND_SECONDS:
            self._behind = True
            self.fill()  # the percentage alone: painting what is of yesterday slows the reading down
            return
        if self._behind:
            self.take_all()
            self.fill()
            return
        run, values = self.session.snapshot, self.session.curves
        names = self._names() if change.metrics else [row.name for row in self._rows]
        if len(names) != len(self._rows):
            self.take_all()
            self.fill()
            return
        if change.alerts or change.signals:  # an alert's evidence ends with the newest values
            self._alerts = alert_views(run)
        if change.alerts:
            # An alert colours its signals, a rule that learned gives a range. Equal rows stay the same objects.
            changed = set(names)
        else:
            changed = change.signals | {name for name in names if change.metrics and name in values.metrics}
        self._spans, before = spans_of(values, names), self._axis
        self._axis = self._axis_on(self._plan)
        if self._axis != before:  # the run has outgrown its width: all rows go on in line
            changed = set(names)
        self._rows = [
            _same(row, row_view(run, values, row.name, self._axis)) if row.name in changed else row
            for row in self._rows
        ]
        self._moment = run
        self.fill()

    def turn_to(self, session: Session) -> None:
        """Show another run."""
        self.session, self.paused = session, False
        self._sparks.reset()
        self.pane.forget()
        self.take_all()
        self.fill()

    def take_all(self) -> None:
        """Take all views anew."""
        self._behind, self._taken = False, time.monotonic()
        run, values = self.session.snapshot, self.session.curves
        fresh = self._planned(self.size)
        names = self._names()
        self._spans = spans_of(values, names)
        self._axis = self._axis_on(fresh)
        rows = row_views(run, values, names, self._axis)
        moved, self._plan = fresh != self._plan or len(rows) != len(self._rows), fresh
        self._moment, self._rows, self._alerts = run, rows, alert_views(run)
        if moved:
            self._lay_out()

    def numbers(self) -> list[tuple[str, str]]:
        """Those of the alert that is unfolded; while the view is paused, of when it was paused or unfolded."""
        shown = next((view for view in self._alerts if view.serial == self.pane.unfolded), None)
        if shown is None:
            self._numbered = None
            return []
        if not self.paused or self._numbered is None or self._numbered[0] != shown.serial:
            self._numbered = shown.serial, numbers_of(shown, self.session.curves, self.today)
        return self._numbered[1]

    def fill(self) -> None:
        """Show the views; widgets paint what differs from before."""
        p = self._plan
        spare = glance_lines(p, sum(not view.over for view in self._alerts))
        fills = self.pane.reads and not p.too_small and p.alerts < LEAST_ALERTS
        if (spare, fills) != (self._glance_lines, self._filled):
            self._glance_lines, self._filled = spare, fills
            self._lay_out()
        head = self.query_one("#head", Lines)
        if p.too_small:
            head.show(self._sentence())
            return
        margin = p.columns.margin
        scale = scale_words(self._axis, p.columns.spark) if self._axis else ""
        self._table.put(self._rows, p, scale, frozenset(self.session.chosen.marked))
        lines = heading(self._moment, self._surroundings(), p.width, p.header, margin)
        if self.asking and not p.footer:
            lines[0] = [("accent", self._said)]  # a question that can't be read must not be answered
        head.show(lines)
        self._show_detail()
        self.pane.put(self._alerts, self._calm(), self.today, margin, self.numbers())
        if self._glance_lines:
            self.query_one(Glance).put(self._glanced, self._alerts, margin)
        self._show_keys()

    @property
    def _glanced(self) -> RowView | None:
        """What the small chart shows: the selected row, or while an alert has the keys its first signal."""
        current = self.pane.current if self.pane.has_focus else None
        first = current.signals[:1] if current is not None else ()
        return next((row for row in self._rows if row.name in first), self._table.selected)

    def _show_detail(self) -> None:
        selected = self._table.selected
        if selected is not None and self._plan.detail:
            signal = self.session.snapshot.signals.get(selected.name)
            log_name = signal.log_name if signal is not None and signal.values.count else selected.name
            line = detail_row(selected, meaning_of(log_name), self._plan.width, self._plan.columns.margin)
            self.query_one("#detail", Lines).show([line])

    def retake_alerts(self) -> None:
        """The person changed an alert's state."""
        self._moment = self.session.snapshot
        self._alerts = alert_views(self._moment)
        self.fill()

    def _frame(self) -> None:
        self.fill()

    def on_signal_table_selected(self) -> None:
        self.fill()  # the rows may have moved: how many are below is said elsewhere

    def on_descendant_focus(self) -> None:
        self.fill()  # the footer has the keys that work there

    def _show_keys(self) -> None:
        p = self._plan
        edge: Spans = [("text", " " * p.columns.margin)]
        keys = FOOTER
        if self.pane.has_focus:
            small = "whole" if p.alerts < LEAST_ALERTS else "numbers"
            keys = alert_footer("fold" if self.pane.reads else small)
        elif self._alerts and p.alerts < LEAST_ALERTS:
            keys = (FOOTER[0], ("Tab", "read the alert", 1), *FOOTER[1:])
        keys = (*keys, ("Esc", "runs", 2)) if self.host.navigation.listed else keys
        keys = tuple(entry for entry in keys if entry[0] not in self._idle_keys())
        more: Spans = [("text", self._more)] if self._more else []
        line = footer_line(keys, p.width - 2 * p.columns.margin, self._said, more)
        self.query_one("#keys", Lines).show([edge + line])

    def _idle_keys(self) -> set[str]:
        """Keys of the footer that would do nothing at this moment."""
        current = self.pane.current
        works = {
            "a": current is not None and not current.over and not current.seen,
            "z": current is not None and not current.over,
            "u": self.session.snapshot.can_undo_rebase,
            "c": current is not None and bool(current.signals),
            "Enter": current is not None or not self.pane.has_focus,
            "↑↓": not self.pane.has_focus or self.pane.moves,
        }
        return {key for key, does in works.items() if not does}

    @property
    def _more(self) -> str:
        """That the table goes on: `↓ 3 more rows`."""
        below = self._table.below if not self._filled else 0
        return f"↓ {below} more row{'s' if below > 1 else ''}" if below else ""

    def _surroundings(self) -> Surroundings:
        """Notes about the input and the view."""
        status, urgent, notes = self.session.status, [], []
        if status.trouble:
            urgent.append(self._trouble())
        if status.percent is not None:
            urgent.append(f"reading, {status.percent} %")
        if status.wrong:
            urgent.append(status.wrong)
        elif status.ended:
            notes.append("input ended" if self.session.live else "replay ended")
        elif status.how.startswith("every") and not status.unreadable:
            notes.append(f"polling {status.how}")
        if self._axis is not None and not self._plan.titles:
            notes.append(scale_words(self._axis, self._plan.width))
        unseen = len(set(self.session.chosen.marked).difference(row.name for row in self._rows))
        if unseen:
            notes.append(f"{unseen} marked among the metrics")
        grace = self.session.snapshot.grace
        if grace:
            notes.append(f"restarted: not judged for {grace} more rollouts")
        s, place, alone = self.session, self.host.navigation.place, not self._plan.footer
        return Surroundings(
            s.name + place, tuple(urgent), tuple(notes), s.age, s.zone.name, s.bar, self._more if alone else "",
            said=self._said if alone else "", frozen=self.paused, elsewhere=tuple(self.host.navigation.elsewhere()),
            run=s.name if place else "", today=self.today, settings=self.host.settings.words,
        )  # fmt: skip

    def _trouble(self) -> str:
        """Why nothing can be read; of a log that may be there, since when, on the clock that the log's times are of."""
        status, zone = self.session.status, self.session.zone.offset
        if not status.unreadable:
            return f"waiting for {self.session.name} to appear"
        if status.since is None:
            return status.trouble
        offset = time.localtime(status.since).tm_gmtoff if zone is None else zone
        why = status.trouble.partition(" (")
        return f"{why[0]} since {clock(status.since + offset, today=self.today)}{''.join(why[1:])}"

    def _calm(self) -> list[Spans]:
        width = self._plan.width - 2 * self._plan.columns.margin - 2
        return calm_lines(self.session.snapshot, width, self.today, self.session.why_empty())

    def _sentence(self) -> list[Spans]:
        return sentence(self._moment, self._plan.width, self._plan.height)


def _same(old: RowView, new: RowView) -> RowView:
    """The old one where it says the same: a row that is the same object is not drawn again."""
    return old if old == new else new
