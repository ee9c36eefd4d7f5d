"""Every metric of the log: found by typing, with its values, a sparkline and its meaning; pinned, marked, opened."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from miles_tui.core.model.glossary import meaning_of
from miles_tui.core.run.change import Change
from miles_tui.core.text.cells import cells, cut
from miles_tui.present.footer import Keys
from miles_tui.present.metric_tree import Lazily, MetricEntry, Widths, entries, group_line, metric_line, widths
from miles_tui.present.name_filter import NameTest, matcher
from miles_tui.present.signal_rows import detail_row
from miles_tui.present.sparkline_frames import Sparks
from miles_tui.present.styled_text import Spans, between, fitted, width_of
from miles_tui.present.view_models import row_view, spans_of
from miles_tui.runs.selection import Chosen, subject_of
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.messages import Grew
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.typed import CURSOR, edited
from miles_tui.ui.widgets.lines import Lines

UNIT = cells(", tokens")  # the room that names leave for units; longer ones are where there is more
FILTER_KEYS = (("Enter", "keep", 0), ("Esc", "clear", 1), ("↑↓", "select", 2))
UNNAMED = " · not one of Miles's own metrics that are known here"


class MetricsScreen(SubScreen):
    """The browser. Only the lines in sight are made, and a line again only when its metric has a new value."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # At once, before the next key is sent anywhere: what follows it in one burst is text.
        Binding("slash", "filter", "Filter", id="metrics.filter", key_display="/", priority=True,
                tooltip="Type a filter: part of a name, a glob like *kl, or /regex/; Enter keeps it, Esc clears it"),
        Binding("enter", "open", "Open", id="metrics.open", tooltip="The metric's chart; a group: open or close it"),
        Binding("p", "pin", "Pin", id="metrics.pin", tooltip="Make the metric a row of the main screen, for this run"),
        Binding("v", "mark", "Mark", id="metrics.mark", tooltip="Mark the metric: marked ones share a chart"),
        Binding("escape,q", "leave", "Back", id="metrics.leave", tooltip="Clear the filter; without one, back"),
    ]  # fmt: skip
    FOOTER = (("Esc", "back", 0), ("/", "filter", 1), ("Enter", "chart", 2), ("p", "pin", 3), ("v", "mark", 4),
              ("↑↓", "select", 5))  # fmt: skip
    AUTO_FOCUS = "#body"
    DEFAULT_CSS = """
    MetricsScreen #title { display: none; }
    """

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session, "metrics")
        self._sparks = Sparks(host.glyphs, session.curves.window)
        self._entries: list[MetricEntry] = []
        self._widths = Widths(0, 0, 0, 0)
        self._listed: object = None  # what the entries were made of: twins may part at any rollout
        self._fits: NameTest = matcher("")
        self._wrong = ""
        self._typing = False  # into the filter
        self._drawn: dict[str, tuple[object, Spans]] = {}

    @property
    def chosen(self) -> Chosen:
        return self.session.chosen

    @property
    def current(self) -> MetricEntry | None:
        """The line under the cursor."""
        at = self.listing.at
        return self._entries[at] if at < len(self._entries) else None

    # -- what is shown -------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        head, title, body, keys = super().compose()
        yield from (head, title, Lines(id="field"), body, Lines(id="words"), keys)

    def on_mount(self) -> None:
        self._refit()

    def grew(self, change: Change) -> None:
        if change.header or change.alerts:
            self._frame()
        if change.metrics:
            self.fill()

    def fill(self) -> None:
        if not self.size.width:
            return
        self.query_one("#field").styles.margin = (0, 0, 1 if self.size.height >= 20 else 0, 0)
        self._list_anew()
        self.listing.put(Lazily(len(self._entries), self._line))
        self._show_field()
        self._show_words()
        self._frame()

    def _list_anew(self) -> None:
        """Make the list again where it differs; the cursor stays on its metric."""
        metrics = self.session.curves.metrics
        made_of = (id(metrics), len(metrics), self._fits, frozenset(self.chosen.folded), self.session.snapshot.rollout)
        if made_of != self._listed:
            self._listed = made_of
            self._entries = entries(metrics, self._fits, self.chosen.folded)
            at = self.chosen.at
            found = (i for i, e in enumerate(self._entries) if (at in e.names and not e.is_group) or e.group == at)
            first = next((i for i, e in enumerate(self._entries) if not e.is_group), 0)
            self.listing.at = next(found, first)
        longest = max((cells(e.label) for e in self._entries if not e.is_group), default=0)
        self._widths = widths(self.size.width, longest + UNIT)

    def _line(self, at: int) -> Spans:
        entry = self._entries[at]
        if entry.is_group:
            return group_line(entry, self._widths)
        run, values, name = self.session.snapshot, self.session.curves, entry.name
        subject = subject_of(run, name)
        series = values.of(subject)
        marked, pinned = subject in self.chosen.marked, name in self.chosen.pins
        axis = self._sparks.axis(spans_of(values, [subject]), self._widths.spark)
        made_of = (series, len(series), series.attempt, series.last, self._widths, entry, marked, pinned, axis)
        known = self._drawn.get(name)
        if known is not None and known[0] == made_of:
            return known[1]
        view = row_view(run, values, subject, axis)
        spans = metric_line(entry, view, self._widths, self._sparks.draw, marked=marked, pinned=pinned)
        self._drawn[name] = (made_of, spans)
        return spans

    def _show_field(self) -> None:
        text, width = self.chosen.filter, self.size.width
        shown = len({name for e in self._entries for name in e.names})
        count, missing = len(self.session.curves.metrics), self.session.snapshot.metrics_left_out
        said = f"{shown} of {count}" if text else f"{count} metrics"
        left_out = f", {missing} values of more left out" if missing else ""
        edge = " " * self._widths.margin
        line: Spans = [("text", edge), ("bright", "metrics"), ("dim", "  / " if self._typing or text else "")]
        room = max(4, width - width_of(line) - 2)
        line += [("bright", cut(text[::-1], room)[::-1])]  # the end is being typed
        line += [("accent", CURSOR)] if self._typing else []
        aside: Spans = [("watch", self._wrong + edge)] if self._wrong else [("dim", said + left_out + edge)]
        self.query_one("#field", Lines).show([fitted(between(line, aside, width), width)])

    def footer(self) -> Keys:
        """On a group, Enter opens it; a signal has its row without a pin."""
        if self._typing:
            return FILTER_KEYS
        keys, entry = super().footer(), self.current
        if entry is None or not entry.is_group:
            return keys
        return tuple((key, "open or close" if key == "Enter" else word, rank) for key, word, rank in keys)

    def idle_keys(self) -> set[str]:
        entry = self.current
        if entry is None:
            return {"Enter", "p", "v", "↑↓"}
        if entry.is_group:
            return {"p", "v"}
        return {"p"} if subject_of(self.session.snapshot, entry.name) != entry.name else set()

    def _show_words(self) -> None:
        entry, width, margin = self.current, self.size.width, self._widths.margin
        if entry is None:
            line: Spans = [("dim", " " * margin + ("no metric fits" if self.chosen.filter else "no metric so far"))]
        elif entry.is_group:
            line = [("text", " " * margin), ("dim", f"{len(entry.names)} metrics; Enter opens or closes the group")]
        else:
            run, values = self.session.snapshot, self.session.curves
            view, meaning = row_view(run, values, subject_of(run, entry.name)), meaning_of(entry.name)
            line = detail_row(view, meaning, width, margin)
            if meaning is None and width_of(line) + cells(UNNAMED) <= width:
                line = [*line, ("dim", UNNAMED)]
        self.query_one("#words", Lines).show([line])

    # -- what keys do --------------------------------------------------------------------------

    def on_listing_moved(self) -> None:
        entry = self.current
        if entry is not None:
            self.chosen.at = entry.name or entry.group
        self._show_words()
        self._frame()

    def on_listing_picked(self) -> None:
        self.action_open()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While one types, `/` is a character as others are and waits for its turn among them."""
        del parameters
        return action != "filter" or not self._typing

    def action_filter(self) -> None:
        """Type into the filter, or no more."""
        self._type(True)

    def on_click(self, event: events.Click) -> None:
        self._type(event.widget is self.query_one("#field"))

    def _type(self, typing: bool) -> None:
        self._typing = typing
        self._show_field()
        self._frame()

    def on_key(self, event: events.Key | events.Paste) -> None:
        """While one types, keys write; Enter, Esc and the arrows leave."""
        key = event.key if isinstance(event, events.Key) else ""
        text = edited(self.chosen.filter, event) if key != "escape" else ""
        leaves = key in ("enter", "escape", "down", "up", "tab")
        if not self._typing or (text is None and not leaves):
            return
        event.stop()
        event.prevent_default()
        if text is not None and text != self.chosen.filter:
            self._filter(text)
        if key in ("up", "down"):
            self.listing.action_move(-1 if key == "up" else 1)
        self._type(not leaves)

    on_paste = on_key

    def _filter(self, text: str) -> None:
        self.chosen.filter = text
        self._refit()
        self.fill()

    def _refit(self) -> None:
        """What is typed decides; a regex that is not finished leaves the list as it is."""
        try:
            self._fits, self._wrong = matcher(self.chosen.filter), ""
        except ValueError as error:
            self._wrong = str(error)

    def action_open(self) -> None:
        entry = self.current
        if entry is None:
            return
        if not entry.is_group:
            self.host.navigation.open_chart(subject_of(self.session.snapshot, entry.name))
            return
        self.chosen.folded ^= {entry.group}
        self.chosen.at = entry.group
        self.fill()

    def action_pin(self) -> None:
        entry = self.current
        if entry is None or entry.is_group:
            return
        subject = subject_of(self.session.snapshot, entry.name)
        if subject != entry.name:
            self.say(f"{subject} has its row")
            return
        pinned = self.chosen.toggle_pin(entry.name)
        self.say(f"{entry.label} {'pinned: a row of the main screen' if pinned else 'unpinned: no row any more'}")
        self.session.touch()
        self.app.post_message(Grew())
        self.fill()

    def action_mark(self) -> None:
        entry = self.current
        if entry is None or entry.is_group:
            return
        marked = self.chosen.toggle_mark(subject_of(self.session.snapshot, entry.name))
        names = len(self.chosen.marked)
        self.say(f"{entry.label} {'marked' if marked else 'not marked any more'}; {names} marked share a chart")
        self.fill()

    def action_leave(self) -> None:
        """Without a filter, back."""
        if self.chosen.filter:
            self._filter("")
        else:
            self.app.pop_screen()
