"""Where a step's time goes: the mean of the last steps as one bar, each phase with its past and usual value."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from miles_tui.core.model.glossary import meaning_of
from miles_tui.core.run.change import Change
from miles_tui.core.run.step_time import Spent, Split, split
from miles_tui.core.text.cells import fit_text
from miles_tui.present.layout import margin_of
from miles_tui.present.sparkline_frames import Sparks
from miles_tui.present.step_time_bar import bar, phase_line, step_time_title, step_time_titles
from miles_tui.present.styled_text import Spans
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.widgets.lines import Lines

NO_TIMES = "no step's times so far: the trainer logs them as perf/step_time and the like"
WITHIN = "; timed inside the waiting"


class StepTimeScreen(SubScreen):
    """The bar, and a line a phase. It is taken anew when a step's times came, once a rollout."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Chart", id="time.open", tooltip="The phase's time as a chart"),
    ]
    FOOTER = (("Esc", "back", 0), ("Enter", "chart", 1), ("↑↓", "select", 2))
    AUTO_FOCUS = "#body"
    DEFAULT_CSS = """
    StepTimeScreen #bar { height: 3; }
    StepTimeScreen #titles { height: 1; }
    """

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session, "where the time goes")
        self._plain = host.glyphs == "ascii"
        self._sparks = Sparks(host.glyphs)
        self._split: Split | None = None
        self._taken: object = None

    def compose(self) -> ComposeResult:
        head, title, body, keys = super().compose()
        yield from (head, title, Lines(id="bar"), Lines(id="titles"), body, Lines(id="words"), keys)

    @property
    def lines(self) -> list[Spent]:
        """What the lines stand for: phases, the rest, the whole."""
        found = self._split
        return [s for s in (*found.phases, found.rest, found.whole) if s is not None] if found else []

    def grew(self, change: Change) -> None:
        if change.metrics:
            self.fill()
        self._frame()

    def fill(self) -> None:
        width, height = self.size
        if not width:
            return
        self._take()
        self.query_one("#bar").styles.height = 3 if height >= 20 else 2 if height >= 13 else 1
        self.query_one("#titles").display = height >= 13
        margin, found = margin_of(width), self._split
        if found is None:
            self.query_one("#bar", Lines).show([[("dim", " " * margin + fit_text(NO_TIMES, width - 2 * margin))]])
            return
        self.retitle(step_time_title(found))
        edge: Spans = [("text", " " * margin)]
        lines = [[*edge, *line] for line in bar(found, width - 2 * margin, plain=self._plain)]
        self.query_one("#bar", Lines).show(lines if height >= 13 else lines[1:])
        name = 19 if width >= 50 else min(19, width - 18)
        self.query_one("#titles", Lines).show([step_time_titles(width, margin, name, found.steps)])
        rows = [phase_line(s, found, width, margin, name, self._sparks.draw, self._plain) for s in self.lines]
        self.listing.put(rows)
        self._show_words()
        self._frame()

    def idle_keys(self) -> set[str]:
        spent = self._current()
        return set() if spent and spent.part.metrics else {"Enter"} if spent else {"Enter", "↑↓"}

    def _take(self) -> None:
        metrics = self.session.curves.metrics
        perf = {name: series for name, series in metrics.items() if name.startswith("perf/")}
        state = [(len(series), series.last) for series in perf.values()]
        if state != self._taken:
            self._taken, self._split = state, split(perf, self.session.curves.window)

    def _show_words(self) -> None:
        spent, margin = self._current(), margin_of(self.size.width)
        said = "what a step takes beside these phases"
        if spent is not None and spent.part.metrics:
            known = [m.line() for name in spent.part.metrics if (m := meaning_of(name)) is not None]
            said = f"{spent.part.metrics[0]}: {known[0] if known else ''}{WITHIN if spent.part.inside else ''}"
        text = fit_text(said, max(0, self.size.width - 2 * margin))
        self.query_one("#words", Lines).show([[("dim", " " * margin + text)]])

    def _current(self) -> Spent | None:
        at, lines = self.listing.at, self.lines
        return lines[at] if at < len(lines) else None

    def on_listing_moved(self) -> None:
        self._show_words()
        self._frame()

    def on_listing_picked(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        spent = self._current()
        if spent is None or not spent.part.metrics:
            self.say("no metric has this time alone")
            return
        self.host.navigation.open_chart(spent.part.metrics[0])
