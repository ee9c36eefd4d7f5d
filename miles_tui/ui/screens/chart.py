"""A signal or metric as a chart: rollouts, mean, range, alerts, others beside it, a cursor that reads values."""

from __future__ import annotations

import math
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from miles_tui.core.model.series import DEAD
from miles_tui.core.model.signals import SIGNALS
from miles_tui.core.run.change import Change
from miles_tui.present.chart_data import MOST_CURVES, chart_title, curves_of, marks_of, partners, values_of
from miles_tui.present.plot.chart import Chart, draw_chart
from miles_tui.present.plot.sparkline import ASCII_GLYPHS, GLYPHS
from miles_tui.present.styled_text import Part, Spans
from miles_tui.runs.selection import row_names
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.widgets.canvas import Canvas

LEAST_SPAN = 8  # rollouts: closer is no picture
ZOOM, WHEEL = 1.25, 0.125  # a step of the wheel: this much closer, or the part moves by this part of its length


class ChartScreen(SubScreen):
    """A signal or metric over the rollouts, beside marked ones. A new rollout sends the cells that it changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "read(-1)", "Read", id="chart.left", tooltip="The cursor to the rollout before"),
        Binding("right", "read(1)", "Read", id="chart.right", show=False, tooltip="The cursor to the next rollout"),
        Binding("shift+left", "read(-10)", "Read", id="chart.far-left", show=False, tooltip="Ten rollouts back"),
        Binding("shift+right", "read(10)", "Read", id="chart.far-right", show=False, tooltip="Ten rollouts on"),
        Binding("plus,equals_sign", "zoom(2)", "Zoom", id="chart.in", key_display="+", tooltip="Zoom in"),
        Binding("minus", "zoom(0.5)", "Zoom out", id="chart.out", show=False, key_display="-", tooltip="Zoom out"),
        Binding("left_curly_bracket", "pan(-1)", "Pan", id="chart.before", show=False, key_display="{",
                tooltip="Earlier rollouts: the zoomed part moves by a half; the mouse drags it"),
        Binding("right_curly_bracket", "pan(1)", "Pan", id="chart.after", show=False, key_display="}",
                tooltip="Later rollouts; the wheel zooms, Shift and the wheel move"),
        Binding("0", "whole", "Whole", id="chart.whole", show=False, tooltip="The whole run, no cursor"),
        Binding("s", "scale", "Log scale", id="chart.scale", tooltip="Logarithmic scale, or linear again"),
        Binding("l", "lines", "Log lines", id="chart.lines", show=False,
                tooltip="The lines of the log around the cursor's rollout, or the newest alert's"),
        Binding("v", "mark", "Keep", id="chart.mark", tooltip="Mark this one: it stays on the chart beside others"),
        Binding("V", "unmark", "Alone", id="chart.unmark", show=False, tooltip="No marks: one signal alone"),
        Binding("c", "pair", "Pair", id="chart.pair",
                tooltip="With the signal that a condition reads together with it, as reward with answer length"),
        Binding("left_square_bracket", "app.run(-1)", "Run before", id="chart.run-before", show=False, key_display="[",
                tooltip="The same signal of the run before, where several logs were given"),
        Binding("right_square_bracket", "app.run(1)", "Next run", id="chart.run-next", show=False, key_display="]",
                tooltip="The same signal of the next run, where several logs were given"),
        Binding("up,k", "signal(-1)", "Signal", id="chart.up", show=False, tooltip="The signal above"),
        Binding("down,j", "signal(1)", "Signal", id="chart.down", show=False, tooltip="The signal below"),
    ]  # fmt: skip
    FOOTER = (("Esc", "back", 0), ("←→", "read", 1), ("↑↓", "signal", 3), ("+ -", "zoom", 2), ("s", "log scale", 7),
              ("c", "pair", 4), ("v", "keep", 5), ("{ }", "pan", 6), ("0", "whole run", 8))  # fmt: skip
    DEFAULT_CSS = """
    ChartScreen #title { margin-bottom: 0; }
    """

    def __init__(self, host: Host, session: Session, name: str) -> None:
        super().__init__(host, session, name)
        self.signal = name
        self.cursor: int | None = None
        self.logarithmic = False
        self.span: tuple[int, int] | None = None
        self._glyphs = GLYPHS[host.glyphs]
        self._rest = 0.0  # of a rollout, that the part is still to be moved by
        self._chart: Chart | None = None
        self._drawn: object = None
        self._idle: set[str] = set()

    def body(self) -> Widget:
        return Canvas(id="body")

    @property
    def subjects(self) -> list[str]:
        """What is drawn: the signal or metric, then the marked ones."""
        marked = self.session.chosen.marked
        return [self.signal, *(name for name in marked if name != self.signal)][:MOST_CURVES]

    def turn_to(self, session: Session) -> None:
        """The same signal of another run, whole: its rollouts are others."""
        super().turn_to(session)
        self.span = self.cursor = self._drawn = None
        if self.signal not in session.curves.signals and self.signal not in session.curves.metrics:
            self.signal = SIGNALS[0].name
        self.fill()

    def grew(self, change: Change) -> None:
        signals = change.signals.intersection(self.subjects)
        metrics = change.metrics and any(name not in self.session.curves.signals for name in self.subjects)
        if signals or metrics or change.alerts:
            self.fill()
        self._frame()

    def fill(self) -> None:
        body, subjects = self.query_one("#body", Canvas), self.subjects
        run, values = self.session.snapshot, self.session.curves
        every = [values.of(name) for name in subjects]
        marks = marks_of(run, self.signal)
        # Behind three and more lines they would only hide them.
        references = self.host.references.runs if len(subjects) < 3 else []
        signal = run.signals.get(self.signal)
        known = (signal.range, signal.learning) if signal is not None else None
        drawn = (subjects, [(id(s), len(s), s.last) for s in every], marks, known, len(references), self.span,
                 self.cursor, self.logarithmic, body.size)  # fmt: skip
        if drawn == self._drawn:
            return  # most of a rollout's lines say nothing of this signal, and drawing takes 6 ms and more
        self._drawn = drawn
        curves = curves_of(run, values, subjects)
        first = curves[0]
        behind = [reference for r in references if (reference := r.means(self.signal, values.window))]
        self._chart = draw_chart(
            body.size.width, body.size.height, first.points, first.means,
            band=first.band, marks=marks, log=self.logarithmic, span=self.span, cursor=self.cursor,
            references=behind, others=[curve.other() for curve in curves[1:]], tag=first.tag, glyphs=self._glyphs,
        )  # fmt: skip
        body.show(self._chart.lines)
        self._idle = self._idle_now(known=bool(first.points))
        note = (self._chart.note or "log scale") if self.logarithmic else ""
        title = chart_title(curves, self.cursor, run.window, note)
        names = [r.name for r in references if r.means(self.signal, values.window)]
        if names:
            long: Spans = [("chart.reference", f"behind: {', '.join(names)}")]
            title.append(Part(6, long, [("chart.reference", f"{len(names)} behind")]))
        if len(subjects) == 1:
            title.append(Part(9, [("dim", self._legend(first.band is not None))], []))
        self.retitle(title)

    def idle_keys(self) -> set[str]:
        return self._idle

    def _idle_now(self, *, known: bool) -> set[str]:
        first, last = self._extent()
        works = {
            "←→": known, "s": known, "+ -": self.span is not None or last - first > LEAST_SPAN,
            "{ }": self.span is not None, "0": self.span is not None or self.cursor is not None,
            "c": bool(partners(self.session.snapshot, self.signal)),
        }  # fmt: skip
        return {key for key, does in works.items() if not does}

    def _legend(self, ranged: bool) -> str:
        """What the signs are, where there is room."""
        line, edge = ("*", "-") if self._glyphs is ASCII_GLYPHS else ("─", "╌")
        return f"· rollout  {line} mean of {self.session.curves.window}" + (f"  {edge} range" if ranged else "")

    def on_canvas_picked(self, event: Canvas.Picked) -> None:
        """A click reads the rollout under it."""
        at = self._chart.rollout_at(event.x) if self._chart is not None else None
        if at is not None:
            self._read(at)

    def on_canvas_dragged(self, event: Canvas.Dragged) -> None:
        """What was under the mouse stays under it."""
        self._move(-event.columns * self._per_column)

    def on_canvas_turned(self, event: Canvas.Turned) -> None:
        """The wheel zooms around the rollout under the mouse, or moves the part."""
        if event.aside:
            self._move(event.by * WHEEL * self._length)
        elif self._chart is not None:
            self._zoom(ZOOM**event.by, self._chart.rollout_at(event.x))

    def action_read(self, by: int) -> None:
        """Move the cursor; the first press puts it on the newest rollout in sight."""
        first, last = self._extent()
        self._read(last if self.cursor is None else max(first, min(self.cursor + by, last)))

    def _read(self, rollout: int) -> None:
        self.cursor = rollout
        if self.span is not None and not self.span[0] <= rollout <= self.span[1]:
            half = (self.span[1] - self.span[0]) // 2
            self._show(rollout - half, 2 * half)
        self.fill()

    def action_zoom(self, times: float) -> None:
        """Show a part: around the cursor, else the newest."""
        self._zoom(times, self.cursor)

    def _zoom(self, times: float, around: int | None) -> None:
        """Show a part `times` shorter in which `around` keeps its place; without it the newest end, or the middle."""
        first, last = self._extent()
        length = max(LEAST_SPAN, math.ceil(self._length / times))  # so that in and out again is the whole run
        if length >= last - first:
            self.span = None
        else:
            before, after = self._chart.span if self._chart is not None else (first, last)
            if around is None or not before <= around <= after:
                around = after if after >= last else (before + after) // 2
            self._show(around - round((around - before) * length / max(1, after - before)), length)
        self.fill()

    def action_pan(self, by: int) -> None:
        """Move the part by a half of it."""
        if self.span is None:
            self.say("the whole run is in sight: + zooms in")
        self._move(by * self._length / 2)

    def _move(self, rollouts: float) -> None:
        """Move the part; what is less than a rollout is kept for the next time."""
        if self.span is None:
            return
        self._rest += rollouts
        whole = int(self._rest)
        self._rest -= whole
        self._show(self.span[0] + whole, self._length)
        self.fill()

    @property
    def _length(self) -> int:
        """Rollouts from one end of what is shown to the other."""
        first, last = self.span or self._extent()
        return last - first

    @property
    def _per_column(self) -> float:
        """Rollouts a column."""
        chart = self._chart
        return (chart.span[1] - chart.span[0]) / chart.columns if chart is not None and chart.columns else 0.0

    def action_whole(self) -> None:
        self.span = self.cursor = None
        self.fill()

    def action_lines(self) -> None:
        """The log around the cursor, else around the newest alert, else around the newest rollout."""
        self.host.navigation.open_place(*self._place())

    def _place(self) -> tuple[int, float | None]:
        if self.cursor is not None:
            return self.cursor, None
        raised = [a for a in self.session.snapshot.alerts if self.signal in a.signals and a.raised_step is not None]
        if raised:
            return raised[-1].raised_step or 0, raised[-1].raised_time
        return self._extent()[1], None

    def action_scale(self) -> None:
        self.logarithmic = not self.logarithmic
        self.fill()

    def action_signal(self, by: int) -> None:
        """The next row, with the same part and cursor: rollouts stay in line."""
        session = self.session
        names = row_names(session.curves.metrics, session.chosen, self.host.setup)
        if self.signal not in names:
            names.append(self.signal)
        self.signal = names[(names.index(self.signal) + by) % len(names)]
        self.fill()

    def action_mark(self) -> None:
        """Keep this one on the chart while others are looked at, or let it go."""
        marked = self.session.chosen.toggle_mark(self.signal)
        self.say(f"{self.signal} stays: choose another with ↑ ↓" if marked else f"{self.signal} goes when you move on")
        self.fill()

    def action_unmark(self) -> None:
        """One signal alone again."""
        self.session.chosen.marked.clear()
        self.say("one alone")
        self.fill()

    def action_pair(self) -> None:
        """With what a condition reads together with it: the next such one, then none."""
        others = partners(self.session.snapshot, self.signal)
        if not others:
            self.say(f"no condition reads {self.signal} together with another")
            return
        marked = self.session.chosen.marked
        now = [name for name in others if name in marked]
        at = others.index(now[0]) + 1 if now else 0
        marked[:] = others[at : at + 1]
        self.say(f"{self.signal} with {others[at]}" if at < len(others) else f"{self.signal} alone")
        self.fill()

    def _extent(self) -> tuple[int, int]:
        points = [p.rollout for p in values_of(self.session.curves, self.signal)[0] if not p.flags & DEAD]
        return (min(points), max(points)) if points else (0, 1)

    def _show(self, start: int, length: int) -> None:
        """The part of that length, inside the run."""
        first, last = self._extent()
        start = max(first, min(start, last - length))
        self.span = start, start + length
