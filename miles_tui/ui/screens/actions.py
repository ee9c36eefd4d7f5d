"""What the keys of the main screen do; what it shows is in `screens.main`."""

from __future__ import annotations

import time

from miles_tui.present.alert_detail import numbers_of
from miles_tui.present.alert_list import as_text
from miles_tui.present.view_models import AlertView
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.screens.base import OurScreen
from miles_tui.ui.widgets.alerts import AlertPane
from miles_tui.ui.widgets.signals import SignalTable

SNOOZE = 10  # rollouts
SAID_SECONDS = 6.0  # how long the footer shows what a key did
ASKED_SECONDS = 10.0  # how long a question waits for its key
QUESTION = "e again: what comes now is the new normal; open alerts end"
SHORT_QUESTION = "e again: new baseline, open alerts end"  # 38 cells


def over_word(alert: AlertView) -> str:
    """How an alert that is over is called in a sentence."""
    return "over" if alert.state == "resolved" else alert.state


class MainActions(OurScreen):
    """The actions of the main screen, on a run; the screen itself says how it is shown."""

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session)
        self.paused = False
        self._alerts: list[AlertView] = []
        self._numbered: tuple[int, list[tuple[str, str]]] | None = None  # of an alert that is unfolded
        self._said = ""
        self._asked: float | None = None  # when a new baseline was asked for, with the key before this one
        self._question: float | None = None  # the same, for the next key

    @property
    def today(self) -> float | None:
        """A time of the day that needs no date."""
        return self.host.navigation.today_of(self.session)

    @property
    def pane(self) -> AlertPane:
        return self.query_one("#alerts", AlertPane)

    def fill(self) -> None:
        """Show the views that were taken."""
        raise NotImplementedError

    def take_all(self) -> None:
        """Take all views of the run anew."""
        raise NotImplementedError

    def retake_alerts(self) -> None:
        """Take and show the alerts anew: the person changed the state of one."""
        raise NotImplementedError

    def say(self, text: str, seconds: float = SAID_SECONDS) -> None:
        """Show a short message in the footer for a moment."""
        self._said = text
        self.fill()
        self.set_timer(seconds, lambda: self._unsay(text))

    def key_pressed(self) -> None:
        """A key, before its action: a question is answered by the very next key or forgotten."""
        self._asked, self._question = self._question, None
        if self._asked is not None and self.asking:
            self._unsay(self._said)

    @property
    def asking(self) -> bool:
        """Whether the question of a new baseline is on the screen."""
        return self._said in (QUESTION, SHORT_QUESTION)

    def _unsay(self, text: str) -> None:
        if self._said == text:
            self._said = ""
            self.fill()

    def on_signal_table_opened(self, event: SignalTable.Opened) -> None:
        self.host.navigation.open_chart(event.name)

    def on_alert_pane_unfolded(self) -> None:
        self.fill()
        self.pane.show_current()

    def on_alert_pane_moved(self) -> None:
        self.fill()

    def on_descendant_focus(self) -> None:
        self.fill()  # the footer has the keys that work there

    def numbers(self) -> list[tuple[str, str]]:
        """Those of the alert that is unfolded; while the view is paused, of when it was paused or unfolded."""
        shown = next((view for view in self._alerts if view.serial == self.pane.unfolded), None)
        if shown is None:
            self._numbered = None
            return []
        if not self.paused or self._numbered is None or self._numbered[0] != shown.serial:
            self._numbered = shown.serial, numbers_of(shown, self.session.curves, self.today)
        return self._numbered[1]

    def action_pause(self) -> None:
        """Freeze or thaw what is shown; the log is read on, a replay stands still."""
        self.paused = not self.paused
        self.host.runs.hold(self.session, self.paused)
        if not self.paused:
            self.take_all()
        self.fill()

    def action_acknowledge(self) -> None:
        alert = self._current()
        if alert is not None:
            if alert.over:
                self.say(f"{alert.condition} is {over_word(alert)}: nothing to mark as seen")
                return
            if alert.seen:
                self.say(f"{alert.condition} is marked as seen already")
                return
            self.session.monitor.acknowledge(alert.serial)
            self.retake_alerts()

    def action_snooze(self) -> None:
        alert = self._current()
        if alert is not None and alert.over:
            self.say(f"{alert.condition} is {over_word(alert)}: nothing to keep quiet")
        elif alert is not None:
            self.session.monitor.silence(alert.serial, 0 if alert.snoozed else SNOOZE)
            self.retake_alerts()
            self.say(f"{alert.condition} {'awake' if alert.snoozed else f'quiet for {SNOOZE} rollouts'}")

    def action_copy_report(self) -> None:
        """The run's state as Markdown, to the clipboard of the terminal in front of the person."""
        from miles_tui.present.status_line import paste

        text = paste(self.session.snapshot, self.session.name, self.today)
        self.host.copy(text, "report copied", ": paste it into a chat")

    def action_copy(self) -> None:
        alert = self._current()
        if alert is not None:
            self.host.copy(as_text(alert, self.session.name, self.today), f"{alert.condition} copied")

    def action_rebase(self) -> None:
        """Ask, and do it when the same key comes next: it ends alerts, and can be taken back until the next rollout."""
        now, asked = time.monotonic(), self._asked
        self._asked = None
        if asked is None or now - asked > ASKED_SECONDS:
            self._question = now
            self.say(QUESTION if self.size.width >= len(QUESTION) + 2 else SHORT_QUESTION, ASKED_SECONDS)
            return
        self.session.monitor.rebase()
        self.take_all()
        at = self.session.snapshot.rollout
        since = "from here" if at is None else f"from rollout {at + 1} on"
        self.say(f"new baseline {since}; u takes it back until then" if at is not None else f"new baseline {since}")

    def action_undo_rebase(self) -> None:
        """Take the new baseline back, as long as no rollout came since."""
        if self.session.monitor.undo_rebase():
            self.take_all()
            self.say("the new baseline is taken back")
        else:
            self.say("no new baseline to take back: it can be done until the next rollout")

    def action_lines(self) -> None:
        """The log around the rollout at which the alert was raised; of a run without an alert, the newest lines."""
        alert = self.pane.current
        if alert is None or alert.raised_step is None:
            self.host.navigation.open_log()
        else:
            self.host.navigation.open_place(alert.raised_step, alert.raised_time)

    def action_conditions(self) -> None:
        current = self.pane.current
        self.host.navigation.open_conditions(current.condition if current else None)

    def action_metrics(self) -> None:
        from miles_tui.ui.screens.metrics import MetricsScreen

        self.app.push_screen(MetricsScreen(self.host, self.session))

    def action_time(self) -> None:
        from miles_tui.ui.screens.steptime import StepTimeScreen

        self.app.push_screen(StepTimeScreen(self.host, self.session))

    def action_mark(self) -> None:
        """Mark the selected row, for a chart of several."""
        row = self.query_one("#signals", SignalTable).selected
        if row is not None:
            marked, names = self.session.chosen.toggle_mark(row.name), self.session.chosen.marked
            said = f"{row.name} marked" if marked else f"{row.name} not marked any more"
            self.say(said + (f": Enter draws {len(names)} on one x-axis, V forgets" if len(names) > 1 else ""))

    def action_unmark(self) -> None:
        """Forget all marks: Enter opens one signal alone."""
        self.session.chosen.marked.clear()
        self.say("no row is marked")

    def action_unpin(self) -> None:
        """Take a pinned row away."""
        row, chosen = self.query_one("#signals", SignalTable).selected, self.session.chosen
        if row is None or row.name not in chosen.pins:
            self.say("this row was not pinned: m lists the metrics, p pins one there")
            return
        chosen.toggle_pin(row.name)
        self.take_all()
        self.say(f"{row.name} is no row any more")

    def _current(self) -> AlertView | None:
        alert = self.pane.current
        if alert is None:
            self.say("there is no alert")
        return alert
