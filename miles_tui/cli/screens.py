"""The commands that open a screen: the dashboard, `demo`, `replay`. Without a terminal to draw on they check."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from miles_tui import __version__
from miles_tui.commands.arguments import (
    Parser,
    add_profile,
    add_source,
    from_settings,
    given_name,
    load_profile,
    only,
    parser,
    pauses_of,
    wanted,
)
from miles_tui.config.paths import config_dir
from miles_tui.errors import UsageError, meant
from miles_tui.files import is_dir, is_missing

if TYPE_CHECKING:
    from miles_tui.ingest.files.log_file import Log
    from miles_tui.runs.run_options import Setup

NEAR_COMMAND = 0.7  # how like a command a name must be: "train" or "run" may be a log's


def dashboard(argv: Sequence[str], summary: str, commands: Collection[str]) -> int:
    """The runs that are given, alive; `summary` is the text of `--help`, `commands` the names that are no logs."""
    p = parser("", summary, usage="miles-tui [options] [LOG...]  |  miles-tui COMMAND ...")
    p.add_argument("logs", nargs="*", type=given_name, metavar="LOG", help="a file, a folder, - or FILE.gz")
    add_profile(p)
    add_source(p)
    add_screen(p)
    add_watch(p)
    p.add_argument("--version", action="version", version=f"miles-tui {__version__}")
    a = logs_or_commands(p, argv, commands)
    piped_in(a.logs)
    if not sys.stdout.isatty():
        return _checked([*a.logs, *passed_on(a)])
    from miles_tui.ingest.discovery import Told, find_logs, here, newest_log

    given = a.logs or [newest_log(here())]
    logs = wanted(find_logs(given, must_exist=False, rotations=a.rotated), a)
    setup = setup_of(a)
    from miles_tui.ui.app import run_dashboard

    folders = any(map(is_dir, given))  # new runs appear in a folder
    told: Told = {}
    again = partial(find_logs, given, must_exist=False, rotations=a.rotated, patient=True, told=told)
    more = again if folders else None
    return run_dashboard(logs, setup, more)


def demo(argv: Sequence[str]) -> int:
    p = parser("demo", "The dashboard on a bundled run, played at speed, with one fault in it. No file is needed.")
    p.add_argument("--speed", type=positive, default=4.0, metavar="N", help="rollouts a second (default: 4)")
    add_screen(p)
    a = p.parse_args(argv)
    from miles_tui.config.paths import sample_log

    log = sample_log("gap-jump.log")
    if not sys.stdout.isatty():
        return _checked([str(log)])
    from miles_tui.ui.app import run_replay

    return run_replay(log, a.speed, setup_of(a), title="demo")


def replay(argv: Sequence[str]) -> int:
    p = parser("replay", "The dashboard on a finished log, played at a chosen speed.")
    p.add_argument("log", type=given_name, metavar="LOG")
    p.add_argument("--speed", type=positive, default=2.0, metavar="N", help="rollouts a second (default: 2)")
    add_profile(p)
    add_screen(p)
    a = p.parse_args(argv)
    piped_in([a.log])
    if not sys.stdout.isatty():
        return _checked([a.log, *(["--profile", a.profile] if a.profile else [])])
    from miles_tui.ingest.discovery import find_logs

    log = only(find_logs([a.log]), a.log)
    setup = setup_of(a)
    from miles_tui.ui.app import run_replay

    return run_replay(log.path, a.speed, setup)


def _checked(argv: Sequence[str]) -> int:
    from miles_tui.commands.check import run

    return run(argv)


def logs_or_commands(p: Parser, argv: Sequence[str], commands: Collection[str]) -> argparse.Namespace:
    """The dashboard's arguments, `logs` among them.

    Raises UsageError where a log that isn't there is called like a command, which so came too late, or nearly like
    one, which so was misspelt: the dashboard would wait for a file of that name.
    """
    a, unknown = p.parse_known_intermixed_args(argv)
    lost = [name for name in a.logs if not os.path.lexists(name)]
    late = next((name for name in lost if name in commands), None)
    if late is not None:
        rest = list(argv)
        rest.remove(late)
        import shlex  # 1 ms, and only for an error

        raise UsageError(f"commands come first: miles-tui {shlex.join([late, *rest])}")
    if lost and lost[0] == a.logs[0] and not set("./-") & set(lost[0]):
        near = meant(lost[0], [*commands, "--help", "--version"], NEAR_COMMAND)
        if near:
            raise UsageError(f"no file {lost[0]}: did you mean miles-tui {near}? (a log that is to come: ./{lost[0]})")
    if unknown:
        p.error(f"unrecognized arguments: {' '.join(unknown)}")
    return a


def passed_on(a: argparse.Namespace) -> list[str]:
    """The dashboard's options that `check` knows too, for an output that is no terminal."""
    given = {"--profile": a.profile, "--tail": a.tail, "--since": a.since, "--pauses": a.pauses}
    options = [text for name, value in given.items() if value is not None for text in (name, str(value))]
    return [*options, *(["--rotated"] if a.rotated else [])]


def piped_in(logs: Iterable[str]) -> None:
    """Raises UsageError where `-` is the terminal, from which a screen takes its keys."""
    if "-" in logs and os.isatty(0):
        raise UsageError("nothing is piped in: ray job logs -f ID | miles-tui -")


def add_screen(p: Parser) -> None:
    p.add_argument("--theme", metavar="NAME", help="colours (t in the dashboard lists them)")
    p.add_argument("--glyphs", choices=("braille", "blocks", "ascii"), help="how sparklines are drawn")
    p.add_argument("--compare", type=given_name, metavar="LOG", action="append", default=[],
                   help="draw this run's means behind in charts (may be given again)")  # fmt: skip
    p.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal (M in the dashboard)")


def add_watch(p: Parser) -> None:
    """What makes sense where the run is alive."""
    p.add_argument("--on-alert", metavar="COMMAND", help="run it when an alert fires, and when it is resolved, with "
                   "the alert as JSON on its standard input (not for notices)")  # fmt: skip
    p.add_argument("--polling", action="store_true", help="look for changes by time: file events don't come here")


def positive(text: str) -> float:
    with suppress(ValueError):
        if 0 < (value := float(text)) <= 10_000:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no number above 0 and at most 10000")


def setup_of(a: argparse.Namespace) -> Setup:
    """What the options and the settings ask of the screen together; options win.

    What is wrong in the settings is told on the screen, and counts as not written. Raises BadSetting for an option
    that is wrong. The settings are read only where there is a file: pydantic costs 75 ms at start.
    """
    from miles_tui.runs.run_options import Setup

    given = vars(a)
    setup = from_settings(Setup()) if not is_missing(config_dir() / "config.toml") else Setup()
    profile = setup.profile if given.get("profile") is None else load_profile(a.profile)
    notices = setup.notices._replace(command=given["on_alert"]) if given.get("on_alert") else setup.notices
    return replace(
        setup,
        profile=profile,
        theme=a.theme or setup.theme,
        glyphs=a.glyphs or "",
        mouse=setup.mouse and not a.no_mouse,
        polling=True if given.get("polling") else None,
        pauses=pauses_of(given.get("pauses")),
        notices=notices,
        compare=tuple(compared(given.get("compare") or [])),
    )


def compared(names: list[str]) -> list[Log]:
    """The logs of reference runs. Raises UsageError or UnreadableLog for one that isn't there."""
    if not names:
        return []
    if "-" in names:
        raise UsageError("--compare -: give a file, standard input is read once")
    from miles_tui.ingest.discovery import find_logs

    return find_logs(names)
