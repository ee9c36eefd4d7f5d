"""`miles-tui status`: one line for a status bar, from the end of a log."""

from __future__ import annotations

import time
from collections.abc import Sequence

from miles_tui.commands.arguments import add_profile, given_name, own_runs, parser
from miles_tui.files import is_dir
from miles_tui.stdio import not_all, one_line, say


def run(argv: Sequence[str]) -> int:
    """Print it; exit status 2 where a part of the log can't be read, 3 where it has no Miles metric."""
    from miles_tui.ingest.history.start_position import NEWEST, NEWEST_MB, NEWEST_ROLLOUTS, is_seekable, without_past

    p = parser("status", "One line about a run, for tmux's status-right or a prompt, from the end of the log.\n\n"
               f"It judges the newest {NEWEST_ROLLOUTS} rollouts by themselves, and fewer where these fill more than\n"
               f"{NEWEST_MB} MB: what began before them it can't see. report and check judge the whole log.\n"
               "The settings (profile, switched_off) count, as on the screen.")  # fmt: skip
    p.add_argument("log", type=given_name, metavar="LOG")
    add_profile(p)
    a = p.parse_args(argv)
    from miles_tui.ingest.discovery import find_logs
    from miles_tui.present.status_line import status_line
    from miles_tui.runs.read_run import read_as_of

    log = find_logs([a.log])[0]
    if is_seekable(log.path):
        log = without_past(log, NEWEST)
    run = read_as_of(own_runs(a, keep_metrics=False)(), log, time.time())
    say(status_line(run) + (f" · {one_line(log.path.name)}" if is_dir(a.log) else ""))
    return max(not_all(run.cut_short), 0 if run.records else 3)
