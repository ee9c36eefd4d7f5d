"""`miles-tui report`: the state of a run, to paste."""

from __future__ import annotations

import time
from collections.abc import Sequence

from miles_tui.commands.arguments import add_past, add_profile, given_name, own_runs, parser, wanted
from miles_tui.errors import UnreadableLog
from miles_tui.stdio import complain, not_all, one_line, say


def run(argv: Sequence[str]) -> int:
    """Print it for each run; exit status 2 where a log can't be read, 3 for one without a Miles metric."""
    p = parser("report", "The state of a run as Markdown, short enough for a chat.\n\n"
               "The settings (profile, switched_off, window) count, as on the screen.")  # fmt: skip
    p.add_argument("log", type=given_name, metavar="LOG")
    add_profile(p)
    add_past(p)
    a = p.parse_args(argv)
    from miles_tui.ingest.discovery import find_logs
    from miles_tui.present.status_line import paste
    from miles_tui.runs.read_run import read_as_of

    logs, new_run = find_logs([a.log]), own_runs(a)
    status, first, now = 0, True, time.time()
    for found in logs:  # a folder's runs one after another
        try:
            (log,) = wanted([found], a)
            run = read_as_of(new_run(), log, now)
        except UnreadableLog as e:
            complain(str(e))
            status = max(status, e.exit_status)
            continue
        status = max(status, not_all(run.cut_short), 0 if run.records else 3)
        if not run.records:
            complain(f"{log}: {run.why_empty}")
            continue
        text = paste(run, one_line(log.path.name), now + time.localtime(now).tm_gmtoff)
        say(("" if first else "\n") + text)
        first = False
    return status
