"""The command line: arguments in, exit status out. It imports the screen only to open it.

argparse, because it is there: it imports in 8 ms where click takes 30 and typer 150, and `check`
promises to take under half a second.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from miles_tui.errors import MilesTuiError
from miles_tui.stdio import complain, ended, prepare

SUMMARY = """\
miles-tui LOG...               the dashboard; LOG is a file, a folder (its runs), - or FILE.gz
miles-tui demo                 the dashboard on a bundled run, played at speed: no file needed
miles-tui check LOG...         the verdict, without a screen
miles-tui export LOG           the records, without a screen
miles-tui calibrate LOG LOG... ranges from your own healthy runs
miles-tui replay LOG           the dashboard on a finished log, played at a chosen speed
miles-tui explain [NAME]       a condition or a metric in plain words
miles-tui profiles             the ranges that are known here
miles-tui status LOG           one line for a status bar
miles-tui report LOG           the state of a run, to paste
miles-tui config               the settings in force

miles-tui alone opens the newest Miles log in this folder.
miles-tui COMMAND --help tells the options. A file that is named like a command is given as ./check.
"""

# A module of `miles_tui.commands` each, and those of `miles_tui.cli.screens`.
HEADLESS = ("calibrate", "check", "config", "explain", "export", "profiles", "report", "status")
SCREENS = ("demo", "replay")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Errors are one line, never a traceback."""
    prepare()
    return ended(lambda: run_command(list(sys.argv[1:] if argv is None else argv)))


def run_command(args: list[str]) -> int:
    """The command's exit status, whichever way it ends."""
    name = args[0] if args else ""
    try:
        status: int
        if name in HEADLESS:
            status = import_module(f"miles_tui.commands.{name}").run(args[1:])
            return status
        from miles_tui.cli import screens

        if name == "demo":
            return screens.demo(args[1:])
        if name == "replay":
            return screens.replay(args[1:])
        return screens.dashboard(args, SUMMARY, (*HEADLESS, *SCREENS))
    except MilesTuiError as e:
        complain(str(e))
        return e.exit_status
    except SystemExit as e:  # argparse's end of --help and --version
        return e.code if isinstance(e.code, int) else 0


def program() -> int:
    """`main` as a process of its own, without the garbage collector where it finds nothing: 13 ms a start and end.

    Modules that load are no garbage, and reading makes no cycles (`check` of 1 GB: 35 MiB with it and without). What
    goes on for long turns it on again. Frozen, what is left at the end is not searched for cycles.
    """
    gc.disable()
    status = main()
    if "miles_tui.ingest.follow.follower" in sys.modules:
        from miles_tui.ingest.follow.hung import end_if_hanging

        end_if_hanging(status)
    gc.freeze()
    return status
