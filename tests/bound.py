"""Every key of the dashboard: how its place is reached, and what is seen when it was pressed.

`CASES` has an entry for the id of every binding; `test_bindings` derives the ids from the code and presses every key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ways import TALKS, WAYS, Way

from miles_tui.present.log_rows import LogBook
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.listing import Listing
from miles_tui.ui.widgets.logview import LogView
from miles_tui.ui.widgets.signals import SignalTable

LOG = "talks-longer.log"
TROUBLED = Way(LOG, TALKS)
RUNS = WAYS["runs"]
SEVERAL = Way(LOG, TALKS, (), RUNS.others[:1] * 2)


@dataclass(frozen=True)
class Seen:
    """The screen before a key and after it."""

    before: str
    after: str
    app: Any

    @property
    def screen(self) -> str:
        return type(self.app.screen).__name__

    def one(self, widget: type[Any]) -> Any:
        return self.app.screen.query_one(widget)


Effect = Callable[[Seen], bool]


@dataclass(frozen=True)
class Case:
    """Keys that lead there, and what is true behind the key; in a run with two alerts, or in another one."""

    there: str
    effect: Effect
    way: Way = TROUBLED
    size: tuple[int, int] = (120, 36)


def says(words: str) -> Effect:
    return lambda s: words in s.after and words not in s.before


def opens(screen: str) -> Effect:
    return lambda s: s.screen == screen


def row(name: str) -> Effect:
    return lambda s: s.one(SignalTable).selected.name == name


def line(at: int) -> Effect:
    return lambda s: s.one(Listing).at == at


def reads(rollout: int) -> Effect:
    return lambda s: s.app.screen.cursor == rollout and f"rollout {rollout} " in s.after.splitlines()[1]


def draws(signal: str) -> Effect:
    return lambda s: s.app.screen.signal == signal and s.after.splitlines()[1].strip().startswith(signal)


def charts(run: int) -> Effect:
    """The chart is of that run."""
    return lambda s: s.app.runs.shown == run and s.screen == "ChartScreen" and s.app.screen.session is s.app.session


def log_at(at: int, following: bool = False) -> Effect:
    """The line under the cursor of the log; negative ones from its end."""

    def effect(s: Seen) -> bool:
        book: LogBook = s.one(LogView).book
        return book.follow == following and book.at == at % len(book.items)

    return effect


def alert(condition: str) -> Effect:
    return lambda s: s.one(AlertPane).current.condition == condition and f"▸ △ {condition}" in s.after


def copied(words: str) -> Effect:
    return lambda s: words in s.app.clipboard and "copied" in s.after


def differs(s: Seen) -> bool:
    return s.after != s.before


def ended(s: Seen) -> bool:
    return bool(s.app._exit and s.app.return_code == 0)


def marks(*names: str) -> Effect:
    return lambda s: s.app.session.chosen.marked == list(names) and differs(s)


APP = {
    "app.quit": Case("", ended),
    "app.interrupt": Case("x", ended),
    "app.help": Case("", opens("HelpScreen")),
    "app.theme": Case("", lambda s: s.app.look.name == "light" and "theme light, 2 of" in s.after),
    "app.themes": Case("", opens("ThemeScreen")),
    "app.mouse": Case("", says("the mouse is left to the terminal")),
    "app.log": Case("", opens("LogScreen")),
    "app.palette": Case("", opens("Palette")),
    "app.redraw": Case("", lambda s: s.app._paper._rows == []),
    "app.suspend": Case("", lambda s: s.app.suspended),
}
MAIN = {
    "alert.seen": Case("", says(", seen")),
    "alert.snooze": Case("", says("cut-share-high quiet for 10 rollouts")),
    "alert.copy": Case("", copied("cut-share-high (warning, since rollout 31")),
    "run.copy": Case("", copied("**")),
    "judge.rebase": Case("", says("e again: what comes now is the new normal")),
    "judge.undo": Case("e e", says("the new baseline is taken back")),
    "judge.conditions": Case("", opens("ConditionsScreen")),
    "view.metrics": Case("", opens("MetricsScreen")),
    "view.time": Case("", opens("StepTimeScreen")),
    "row.mark": Case("", says("reward marked")),
    "row.unmark": Case(
        "v", lambda s: s.app.session.chosen.marked == [] and "reward ◆" in s.before and "◆" not in s.after
    ),
    "row.unpin": Case("m down p escape G", says("is no row any more")),
    "view.pause": Case("", says("view paused")),
    "alert.lines": Case("", opens("PlaceScreen")),
    "run.list": Case("enter", opens("RunsScreen"), RUNS),
    "view.next": Case("", lambda s: s.one(AlertPane).has_focus and "▸ △ " in s.after),
    "run.before": Case("right_square_bracket", says("(1 of 3)"), SEVERAL),
    "run.next": Case("", says("(2 of 3)"), SEVERAL),
    "row.up": Case("G", row("clip fraction")),
    "row.down": Case("", row("answer length")),
    "row.first": Case("G", row("reward")),
    "row.last": Case("", row("rollout time")),
    "row.open": Case("", opens("ChartScreen")),
    "alert.up": Case("tab down", alert("cut-share-high")),
    "alert.down": Case("tab", alert("reward-down-length-up")),
    "alert.unfold": Case("tab", says("raised at rollout 31, ")),
    "alert.fold": Case(
        "tab enter", lambda s: "raised at rollout 31, " in s.before and "raised at rollout 31, " not in s.after
    ),
    "alert.end": Case("tab", lambda s: s.one(AlertPane)._top > 0 and differs(s), size=(60, 15)),
    "alert.open": Case("tab", opens("ChartScreen")),
    "alert.page-up": Case("tab pagedown", lambda s: s.one(AlertPane)._top == 0 and differs(s), size=(60, 15)),
    "alert.page-down": Case("tab", lambda s: s.one(AlertPane)._top > 0 and differs(s), size=(60, 15)),
}
CHART = {
    "chart.left": Case("enter left", reads(46)),
    "chart.right": Case("enter left left left", reads(46)),
    "chart.far-left": Case("enter left", reads(37)),
    "chart.far-right": Case("enter left shift+left shift+left", reads(37)),
    "chart.in": Case("enter", lambda s: s.app.screen.span is not None and differs(s)),
    "chart.out": Case("enter plus", lambda s: s.app.screen.span is None and differs(s)),
    "chart.before": Case("enter plus", lambda s: s.app.screen.span == (11, 35) and differs(s)),
    "chart.after": Case("enter plus left_curly_bracket", lambda s: s.app.screen.span == (23, 47) and differs(s)),
    "chart.whole": Case("enter left plus", lambda s: s.app.screen.span is s.app.screen.cursor is None and differs(s)),
    "chart.scale": Case("enter", lambda s: s.app.screen.logarithmic and "log scale" in s.after.splitlines()[1]),
    "chart.lines": Case("enter", opens("PlaceScreen")),
    "chart.mark": Case("enter", says("reward stays: choose another")),
    "chart.unmark": Case("v down enter", marks()),
    "chart.pair": Case("enter", marks("answer length")),
    "chart.run-before": Case("enter right_square_bracket", charts(0), SEVERAL),
    "chart.run-next": Case("enter", charts(1), SEVERAL),
    "chart.up": Case("down enter", draws("reward")),
    "chart.down": Case("enter", draws("answer length")),
}
OTHERS = {
    "screen.back": Case("question_mark", opens("MainScreen")),
    "condition.switch": Case("x x", says("cut-share-high is off")),
    "list.up": Case("T down down", line(1)),
    "list.down": Case("T", line(1)),
    "list.page-up": Case("T G", line(0)),
    "list.page-down": Case("T", lambda s: s.one(Listing).at > 1),
    "list.first": Case("T G", line(0)),
    "list.last": Case("T", lambda s: s.one(Listing).at == len(s.app.looks.all()) - 1),
    "metrics.filter": Case("m", says("metrics  / ▏")),
    "metrics.open": Case("m", opens("ChartScreen")),
    "metrics.pin": Case("m", says("pinned: a row of the main screen")),
    "metrics.mark": Case("m", says("1 marked share a chart")),
    "metrics.leave": Case(
        "m slash k l enter", lambda s: s.app.session.chosen.filter == "" and "2 of" in s.before and differs(s)
    ),
    "log.search": Case("L", says("/▏")),
    "log.next": Case("L g slash s t e p enter", says("/step 2 of")),
    "log.before": Case("L g slash s t e p enter n", says("/step 1 of")),
    "log.follow": Case("L", lambda s: not s.one(LogView).book.follow and "following" not in s.after),
    "log.level": Case("L", says("only warnings")),
    "log.role": Case("L", says("only ")),
    "log.noise": Case("L", says("noise shown")),
    "log.whole": Case("L k", lambda s: s.app.screen.query_one("#words").display and differs(s)),
    "log.back": Case("L", opens("MainScreen")),
    "log.up": Case("L", log_at(-2)),
    "log.down": Case("L g", log_at(1)),
    "log.page-up": Case("L G", lambda s: log_at(-s.one(LogView).size.height)(s)),
    "log.page-down": Case("L g", lambda s: log_at(s.one(LogView).size.height - 1)(s)),
    "log.first": Case("L", log_at(0)),
    "log.last": Case("L g", log_at(-1, following=True)),
    "runs.open": Case("", opens("MainScreen"), RUNS),
    "time.open": Case("w", opens("ChartScreen")),
    "theme.keep": Case("T down", lambda s: s.screen == "MainScreen" and s.app.look.name == "light"),
    "theme.leave": Case("T down", lambda s: s.screen == "MainScreen" and s.app.look.name == "dark"),
}
CASES = {**APP, **MAIN, **CHART, **OTHERS}
