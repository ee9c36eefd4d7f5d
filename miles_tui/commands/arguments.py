"""What the commands' arguments have in common: the parser, options that several of them take, and their meaning."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from miles_tui.config.paths import config_dir
from miles_tui.config.toml_file import parsed, read_toml_text
from miles_tui.errors import BadSetting, UsageError, meant
from miles_tui.stdio import complain

if TYPE_CHECKING:
    from miles_tui.core.alerting.profile import Profile
    from miles_tui.core.run.monitor import Monitor
    from miles_tui.ingest.files.log_file import Log
    from miles_tui.ingest.history.pause_log import PauseLog
    from miles_tui.runs.run_options import Setup

# Settings that only a screen asks for.
OF_SCREENS = {"theme", "signals", "metrics", "history", "mouse", "remember", "notify"}


class Parser(argparse.ArgumentParser):
    """argparse with one line for an error, and the nearest name for a misspelt option."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if message.startswith("unrecognized arguments") and unknown and not unknown[0].startswith("-"):
            message = f"{unknown[0]} is one argument too many: {self.prog} --help tells what it takes"
        elif message.startswith("unrecognized arguments") and unknown:
            known = [option for action in self._actions for option in action.option_strings]
            near = meant(unknown[0].split("=")[0], known)
            hint = f"did you mean {near}?" if near else f"{self.prog} --help lists what there is"
            message = f"unknown option {unknown[0]}: {hint}"
        raise UsageError(message)

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter  # as wide as the terminal
        return super().format_help()


def parser(name: str, text: str, usage: str | None = None) -> Parser:
    """A parser for one command; only the one that is asked for is built."""
    prog = f"miles-tui {name}".strip()
    return Parser(
        prog=prog,
        usage=usage,
        description=text,
        # Each `add_argument` makes one to try it; to ask for the terminal's width is to import shutil, 2 ms.
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80),
        allow_abbrev=False,
    )


def given_name(text: str) -> str:
    """An argument that names something: `""` is an unset variable, not the folder that one is in."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def given_path(text: str) -> Path:
    return Path(given_name(text))


def only(logs: Sequence[Log], given: str) -> Log:
    """The one run that is meant. Raises UsageError where a folder holds more."""
    if len(logs) > 1:
        raise UsageError(f"{given} holds {len(logs)} runs: give one of them, the newest is {logs[0]}")
    return logs[0]


def add_profile(p: Parser) -> None:
    p.add_argument(
        "--profile", type=given_name, metavar="NAME|FILE", help="ranges to judge by (miles-tui profiles lists them)"
    )


def add_past(p: Parser) -> None:
    past = p.add_mutually_exclusive_group()
    past.add_argument("--tail", type=rollout_count, metavar="N", help="begin with the newest N rollouts")
    past.add_argument("--since", metavar="TIME|STEP", help="begin at a rollout, at HH:MM, or at a date and time")


def rollout_count(text: str) -> int:
    with suppress(ValueError):
        if (value := int(text)) >= 1:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no number of rollouts: 1 or more")


def add_source(p: Parser) -> None:
    add_past(p)
    p.add_argument("--rotated", action="store_true", help="read the rotations beside a log too (train.log.1, ...)")
    p.add_argument(
        "--pauses",
        type=given_name,
        metavar="FILE",
        help="a log of pauses: rollouts in which a line of it falls are not judged",
    )


def wanted(logs: list[Log], a: argparse.Namespace) -> list[Log]:
    """The logs, without the past that nobody wants."""
    if a.tail is None and a.since is None:
        return logs
    from miles_tui.ingest.history.start_position import Past, parse_since, without_past

    past = Past(rollouts=a.tail) if a.tail is not None else parse_since(a.since)
    return [without_past(log, past) for log in logs]


def pauses_of(name: str | None) -> PauseLog | None:
    if name is None:
        return None
    from miles_tui.ingest.history.pause_log import PauseLog

    log = PauseLog(Path(name))
    if log.unstamped:
        complain(f"{name}: no line has a time stamp: it tells of no pause")
    return log


def load_profile(name: str | None) -> Profile | None:
    if name is None:
        return None
    from miles_tui.config.profile_store import load

    return load(name)


def own_runs(a: argparse.Namespace, *, keep_metrics: bool = True) -> Callable[[], Monitor]:
    """What makes a run that nothing was fed to yet, judged and counted by options and settings as the dashboard's.

    Options win. What is wrong in the settings is a line to standard error each, and counts as not written, as on the
    screen. Where they say nothing of this they are not read: pydantic costs 75 ms, the screen's setup 5. Raises
    BadSetting for an option that is wrong.
    """
    from miles_tui.core.run.monitor import Monitor

    profile = load_profile(a.profile)
    if not _say_how_to_judge(config_dir() / "config.toml"):
        return partial(Monitor, profile, keep_metrics=keep_metrics)
    from miles_tui.runs.run_options import Setup

    setup = from_settings(Setup())
    for said in setup.wrong.values():
        complain(said)
    setup = setup if profile is None else replace(setup, profile=profile)
    return partial(setup.monitor, keep_metrics=keep_metrics)


def _say_how_to_judge(settings: Path) -> bool:
    """Whether the settings have more than what only a screen asks for; what is wrong there is found by reading all."""
    try:
        text = read_toml_text(settings)
        return bool(text.strip()) and not parsed(text, "").keys() <= OF_SCREENS
    except FileNotFoundError:
        return False
    except BadSetting:
        return True  # whoever reads them will say what is wrong


def from_settings(setup: Setup) -> Setup:
    """The settings' file over the defaults."""
    from miles_tui.config.settings import in_force
    from miles_tui.config.view_state import recalled
    from miles_tui.runs.run_options import Notices

    path = config_dir() / "config.toml"
    try:
        s, wrong = in_force(path)
    except BadSetting as error:
        return replace(setup, wrong={"config.toml": str(error)})
    profile = None if "profile" in wrong else load_profile(s.profile or None)
    n, view = s.notify, recalled() if s.remember else {}
    return replace(
        setup,
        profile=profile,
        theme=view.get("theme") or s.theme or None,
        signal=view.get("signal", ""),
        signals=tuple(s.signals),
        metrics=tuple(s.metrics),
        switched_off=tuple(s.switched_off),
        window=s.window,
        history=s.history,
        mouse=s.mouse,
        remember=s.remember,
        notices=Notices(n.bell, n.title, n.desktop, n.command, n.command_seconds),
        wrong={key: f"{path}: {key}: {said}" for key, said in wrong.items()},
    )
