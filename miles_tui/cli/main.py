"""The command line: arguments in, exit status out. It imports the screen only to open it.

argparse, because it is there: it imports in 8 ms where click takes 30 and typer 150, and `check`
promises to take under half a second.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miles_tui import __version__
from miles_tui.cli.arguments import (
    add_past,
    add_profile,
    add_screen,
    add_source,
    add_watch,
    given_name,
    given_path,
    load_profile,
    logs_or_commands,
    only,
    own_runs,
    parser,
    passed_on,
    pauses_of,
    piped_in,
    positive,
    setup_of,
    wanted,
)
from miles_tui.cli.stdio import complain, ended, hand_over, not_all, one_line, prepare, say
from miles_tui.errors import MilesTuiError, UnreadableLog
from miles_tui.files import is_dir

if TYPE_CHECKING:
    from miles_tui.commands.export import Exporter
    from miles_tui.ingest.files.log_file import Log

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


def dashboard(argv: Sequence[str]) -> int:
    p = parser("", SUMMARY, usage="miles-tui [options] [LOG...]  |  miles-tui COMMAND ...")
    p.add_argument("logs", nargs="*", type=given_name, metavar="LOG", help="a file, a folder, - or FILE.gz")
    add_profile(p)
    add_source(p)
    add_screen(p)
    add_watch(p)
    p.add_argument("--version", action="version", version=f"miles-tui {__version__}")
    a = logs_or_commands(p, argv, COMMANDS)
    piped_in(a.logs)
    if not sys.stdout.isatty():
        return check([*a.logs, *passed_on(a)])
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
        return check([str(log)])
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
        return check([a.log, *(["--profile", a.profile] if a.profile else [])])
    from miles_tui.ingest.discovery import find_logs

    log = only(find_logs([a.log]), a.log)
    setup = setup_of(a)
    from miles_tui.ui.app import run_replay

    return run_replay(log.path, a.speed, setup)


def check(argv: Sequence[str]) -> int:
    p = parser("check", "The verdict on a log, without a screen.\n\n"
               "Exit status: 0 nothing above a notice fires at the end, 1 something does, 2 wrong usage or a log\n"
               "that can't be read, 3 a log without a Miles metric; of several logs the highest.\n\n"
               "The settings' file is not read, so that a script says the same everywhere.")  # fmt: skip
    p.add_argument("logs", nargs="*", type=given_name, metavar="LOG")
    p.add_argument("--format", choices=("text", "json"), default="text")
    add_profile(p)
    add_source(p)
    a = p.parse_intermixed_args(argv)  # LOG --format json LOG
    from miles_tui.commands.check import judge_log
    from miles_tui.ingest.discovery import find_logs, here, newest_log

    profile = load_profile(a.profile)
    status, first = 0, True
    pauses = pauses_of(a.pauses)
    good: list[str | Path] = []
    for name in a.logs or [newest_log(here())]:
        try:
            find_logs([name])
            good.append(name)
        except MilesTuiError as e:  # one log that can't be read hides none that can
            complain(str(e))
            status = max(status, e.exit_status)
    for found in find_logs(good, rotations=a.rotated):
        try:
            (log,) = wanted([found], a)
            report = judge_log(log, profile, pauses)
        except MilesTuiError as e:
            complain(str(e))
            status = max(status, e.exit_status)
            continue
        if a.format == "json":
            hand_over(report.to_json() + "\n")
        else:
            say(("" if first else "\n") + report.to_text())
        first = False
        if not report.records:
            complain(f"{log}: {report.why_empty}")
        for warning in report.warnings:
            complain(f"{log}: {warning}")
        status = max(status, report.exit_status, not_all(report.cut_short))
    return status


def export(argv: Sequence[str]) -> int:
    p = parser("export", "The records of a log, one a metric line, in its order.")
    p.add_argument("log", type=given_name, metavar="LOG")
    p.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")
    p.add_argument("--follow", action="store_true", help="go on as the log grows, until interrupted")
    add_past(p)
    p.add_argument("--rotated", action="store_true", help="read the rotations beside it first (train.log.1, ...)")
    a = p.parse_args(argv)
    from miles_tui.commands.export import Exporter
    from miles_tui.ingest.discovery import find_logs

    exporter = Exporter(sys.stdout.write, a.format)
    if a.follow:
        log = only(find_logs([a.log], must_exist=False, rotations=a.rotated), a.log)
        return export_follow(wanted([log], a)[0], exporter)
    from miles_tui.ingest.history.log_items import read_items

    for log in wanted(find_logs([a.log], rotations=a.rotated), a):
        for items in read_items(log):  # not ahead: a record is written in less time than it crosses in
            exporter.take(items)
    sys.stdout.flush()
    whole = not_all(exporter.cut_short)
    if not exporter.records:
        complain(f"{a.log}: {exporter.why_empty}")
        return 3
    return whole


def export_follow(log: Log, exporter: Exporter) -> int:
    """Write records as the log grows, each batch flushed at once, until SIGINT or SIGTERM."""
    from miles_tui.core.parsing.reader import Reader
    from miles_tui.ingest.follow.chunks import Cut, Data, Ended, Missing
    from miles_tui.ingest.follow.follower import follow_blocking
    from miles_tui.ingest.follow.watcher import Stop

    gc.enable()  # this one goes on for days
    stop, reader, status = Stop(), Reader(), 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    for batch in follow_blocking(log, stop=stop, before=log.before, start=log.start):
        for piece in batch.pieces:
            match piece:
                case Data(data):
                    exporter.take(reader.feed(data))
                case Cut():
                    exporter.take(reader.cut())
                case Missing(why):
                    complain(f"{log}: {why}")
                case Ended(wrong):
                    exporter.take(reader.finish())
                    status = not_all([f"{log}: {wrong}"] if wrong else [])
        sys.stdout.flush()
    exporter.take(reader.cut())  # a last line that has its whole dict, and not yet its line end
    sys.stdout.flush()
    return status


def calibrate(argv: Sequence[str]) -> int:
    from shlex import quote

    p = parser("calibrate", "Learn the ranges of your setup from two or three of your own healthy runs.")
    p.add_argument("logs", nargs="+", type=given_name, metavar="LOG")
    p.add_argument("--pause", metavar="REGEX", help="log lines that tell of a pause; kept in the profile")
    where = p.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", type=given_path, metavar="FILE", help="write the profile there")
    where.add_argument(
        "--name", type=given_name, metavar="NAME", help="keep it under this name: --profile NAME finds it"
    )
    a = p.parse_intermixed_args(argv)
    from miles_tui.commands.calibrate import learn_from
    from miles_tui.config.profile_store import place, replaced, save
    from miles_tui.ingest.discovery import find_logs

    file = place(a.name) if a.name is not None else a.output
    old = None if file is None else replaced(file)
    called = a.name or (a.output.stem if a.output else "own")
    profile, text, warnings = learn_from(find_logs(a.logs), called, a.pause)
    for warning in warnings:
        complain(f"warning: {warning}")
    if file is None:
        say(text, end="")
        return 0
    save(profile, file)
    if old is not None:
        complain(f"{file}: replaces the {old.origin}")
    say(f"{one_line(file)}: {profile.origin}\nuse it with --profile {quote(one_line(a.name or file))}")
    return 0


def profiles(argv: Sequence[str]) -> int:
    parser("profiles", "The ranges that are known here: your own, and the bundled ones.").parse_args(argv)
    from miles_tui.config.profile_store import known_profiles

    closed: list[str] = []
    for found in known_profiles(closed):
        where, name = "bundled" if found.bundled else one_line(found.path), one_line(found.name)
        if found.profile is None:
            say(f"{name:16} can't be used: {one_line(found.error)}")
            continue
        say(f"{name:16} {found.profile.rollouts} rollouts, {len(found.profile.signals)} signals ({where})")
        for line in (found.profile.about, found.profile.warning):
            if line:
                say(f"{'':16} {line}")
    for said in closed:
        complain(said)
    return 2 if closed else 0


def status(argv: Sequence[str]) -> int:
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


def report(argv: Sequence[str]) -> int:
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


def config(argv: Sequence[str]) -> int:
    parser("config", "The settings in force, each with its meaning, who reads it and where its value came from.\n\n"
           "Exit status: 2 where a setting is wrong.").parse_args(argv)  # fmt: skip
    from miles_tui.config.settings import config_file, effective, in_force

    path = config_file()
    settings, wrong = in_force(path)
    for key, said in wrong.items():
        complain(f"{path}: {key}: {said}")
    say(effective(settings, path, wrong), end="")
    return 2 if wrong else 0


def explain(argv: Sequence[str]) -> int:
    p = parser("explain", "A condition or a metric in plain words; without a name, the list of all.")
    help = "gap-jump, train/pg_loss, gap; or a part of the list: train, 'perf/*'"
    p.add_argument("names", nargs="*", metavar="CONDITION|METRIC", help=help)
    a = p.parse_args(argv)
    from miles_tui.commands.explain import explained, overview

    say(explained(a.names) if a.names else overview())
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "calibrate": calibrate,
    "check": check,
    "config": config,
    "demo": demo,
    "explain": explain,
    "export": export,
    "profiles": profiles,
    "replay": replay,
    "report": report,
    "status": status,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Errors are one line, never a traceback."""
    prepare()
    return ended(lambda: run_command(list(sys.argv[1:] if argv is None else argv)))


def run_command(args: list[str]) -> int:
    """The command's exit status, whichever way it ends."""
    command = COMMANDS.get(args[0]) if args else None
    try:
        return command(args[1:]) if command else dashboard(args)
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
