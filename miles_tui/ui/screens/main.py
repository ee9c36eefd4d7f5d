"""What the keys of the main screen do; what it shows is in `screens.main_view`."""

from __future__ import annotations

import time
from typing import ClassVar

from textual.binding import BindingType

from miles_tui.present.alerts.alert_list import as_text
from miles_tui.present.view_models import AlertView
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.keys import MAIN_KEYS
from miles_tui.ui.screens.main_view import QUESTION, SHORT_QUESTION, MainView
from miles_tui.ui.widgets.signals import SignalTable

SNOOZE = 10  # rollouts
ASKED_SECONDS = 10.0  # how long a question waits for its key


def over_word(alert: AlertView) -> str:
    """How an alert that is over is called in a sentence."""
    return "over" if alert.state == "resolved" else alert.state


class MainScreen(MainView):
    """The main screen of a run: its view, and the actions of its keys."""

    BINDINGS: ClassVar[list[BindingType]] = MAIN_KEYS

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session)
        self._asked: float | None = None  # when a new baseline was asked for, with the key before this one
        self._question: float | None = None  # the same, for the next key

    def key_pressed(self) -> None:
        """A key, before its action: a question is answered by the very next key or forgotten."""
        self._asked, self._question = self._question, None
        if self._asked is not None and self.asking:
            self._unsay(self._said)

    def on_signal_table_opened(self, event: SignalTable.Opened) -> None:
        self.host.navigation.open_chart(event.name)

    def on_alert_pane_unfolded(self) -> None:
        self.fill()
        self.pane.show_current()

    def on_alert_pane_moved(self) -> None:
        self.fill()

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
