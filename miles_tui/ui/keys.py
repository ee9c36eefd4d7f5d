"""The keys of the app and of the main screen, as data: each with an id, a word and a sentence."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from miles_tui.present.footer import Keys

APP_KEYS: list[BindingType] = [
    Binding("q", "quit", "Quit", id="app.quit", tooltip="Quit at once; the training does not notice"),
    Binding(
        "ctrl+c",
        "quit",
        "Quit",
        id="app.interrupt",
        show=False,
        priority=True,
        tooltip="Quit at once; the training does not notice",
    ),
    Binding("question_mark", "help", "Help", id="app.help", key_display="?", tooltip="The keys that work here"),
    Binding("t", "next_theme", "Theme", id="app.theme", tooltip="The next theme"),
    Binding("T", "themes", "Themes", id="app.themes", show=False, tooltip="Choose a theme from the list"),
    Binding("M", "mouse", "Mouse", id="app.mouse", show=False,
            tooltip="Leave the mouse to the terminal, to select text, or take it again"),
    Binding("L", "log", "Log", id="app.log", show=False, tooltip="The log itself: its newest lines, noise folded away"),
    Binding("ctrl+p", "command_palette", "Palette", id="app.palette", show=False, priority=True,
            tooltip="Every action by its name"),
    Binding("ctrl+l", "redraw", "Redraw", id="app.redraw", show=False, tooltip="Draw the whole screen again"),
    Binding(
        "ctrl+z", "suspend_process", "Suspend", id="app.suspend", show=False, tooltip="Back to the shell; fg returns"
    ),
]  # fmt: skip

MAIN_KEYS: list[BindingType] = [
    Binding("a", "acknowledge", "Seen", id="alert.seen", tooltip="Acknowledge the alert: shown dim until it changes"),
    Binding("z", "snooze", "Snooze", id="alert.snooze", tooltip="Keep the alert quiet for ten rollouts, or wake it"),
    Binding("y", "copy", "Copy", id="alert.copy", show=False, tooltip="Copy the alert as text (OSC 52)"),
    Binding("Y", "copy_report", "Copy report", id="run.copy", show=False,
            tooltip="Copy the state of the run as text for a chat (OSC 52)"),
    Binding("e", "rebase", "Expected", id="judge.rebase", show=False,
            tooltip="What comes now is expected: learn anew from here; asks first"),
    Binding("u", "undo_rebase", "Undo", id="judge.undo", show=False,
            tooltip="Take the new baseline back, until the next rollout"),
    Binding("x", "conditions", "Conditions", id="judge.conditions", show=False,
            tooltip="The conditions and their state; switch one off or on"),
    Binding("m", "metrics", "Metrics", id="view.metrics", show=False,
            tooltip="Every metric of the log: find one, open its chart, pin it as a row"),
    Binding("w", "time", "Time", id="view.time", show=False,
            tooltip="Where a step's time goes: waiting, scoring, training and the rest"),
    Binding("v", "mark", "Mark", id="row.mark", show=False,
            tooltip="Mark the selected row: the marked ones share a chart"),
    Binding("V", "unmark", "No marks", id="row.unmark", show=False, tooltip="Forget all marks: Enter draws one alone"),
    Binding("p", "unpin", "Unpin", id="row.unpin", show=False, tooltip="Take the selected pinned row away again"),
    Binding("space", "pause", "Pause", id="view.pause",
            tooltip="Freeze the view; a log is read on, a replay stands still"),
    Binding("l", "lines", "Log lines", id="alert.lines", show=False,
            tooltip="The lines of the log around the rollout at which the alert was raised"),
    Binding("escape", "app.runs", "Runs", id="run.list", show=False, tooltip="Back to the list of runs"),
    Binding("tab,shift+tab", "app.focus_next", "Alerts", id="view.next", show=False,
            tooltip="From the signals to the alerts"),
    Binding("left_square_bracket", "app.run(-1)", "Run before", id="run.before", show=False, key_display="[",
            tooltip="The run before, where several logs were given"),
    Binding("right_square_bracket", "app.run(1)", "Next run", id="run.next", show=False, key_display="]",
            tooltip="The next run, where several logs were given"),
]  # fmt: skip

# What the footer shows, in the order of use.
FOOTER: Keys = (
    ("?", "help", 0), ("↑↓", "select", 3), ("Enter", "chart", 2), ("a", "seen", 4), ("z", "snooze", 6),
    ("u", "undo baseline", 4), ("x", "conditions", 7), ("m", "metrics", 5), ("w", "time", 10), ("L", "log", 6),
    ("space", "pause", 9), ("t", "theme", 8), ("q", "quit", 1),
)  # fmt: skip


def alert_footer(enter: str) -> Keys:
    """The same while the alerts have the keys; `enter` is what Enter does."""
    keys = (("Enter", enter, 2), ("c", "chart", 3), ("Tab", "signals", 6))
    return tuple(key for entry in FOOTER for key in (keys if entry[0] == "Enter" else (entry,)))
