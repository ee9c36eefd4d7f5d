"""What the commands' arguments have in common: the parser, options that several of them take, and their meaning."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from miles_tui.errors import UsageError

if TYPE_CHECKING:
    from miles_tui.core.profile import Profile
    from miles_tui.ingest.pauses import PauseLog
    from miles_tui.ingest.read import Log


class Parser(argparse.ArgumentParser):
    """argparse with one line for an error, and the nearest name for a misspelt option."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if message.startswith("unrecognized arguments") and unknown:
            known = [option for action in self._actions for option in action.option_strings]
            near = difflib.get_close_matches(unknown[0].split("=")[0], known, 1)
            hint = f"did you mean {near[0]}?" if near else f"{self.prog} --help lists what there is"
            message = f"unknown option {unknown[0]}: {hint}"
        raise UsageError(message)


def parser(name: str, text: str, usage: str | None = None) -> Parser:
    """A parser for one command; only the one that is asked for is built."""
    prog = f"miles-tui {name}".strip()
    return Parser(
        prog=prog,
        usage=usage,
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_profile(p: Parser) -> None:
    p.add_argument("--profile", metavar="NAME|FILE", help="ranges to judge by (miles-tui profiles lists them)")


def add_past(p: Parser) -> None:
    past = p.add_mutually_exclusive_group()
    past.add_argument("--tail", type=count, metavar="N", help="begin with the newest N rollouts")
    past.add_argument("--since", metavar="TIME|STEP", help="begin at a rollout, at HH:MM, or at a date and time")


def count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("a number of rollouts, 1 or more")
    return value


def add_source(p: Parser) -> None:
    add_past(p)
    p.add_argument("--rotated", action="store_true", help="read the rotations beside a log too (train.log.1, ...)")
    p.add_argument(
        "--pauses", metavar="FILE", help="a log of pauses: rollouts in which a line of it falls are not judged"
    )


def add_screen(p: Parser) -> None:
    p.add_argument("--theme", metavar="NAME", help="colours (t in the dashboard lists them)")
    p.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value <= 10_000:
        raise argparse.ArgumentTypeError("a number above 0 and at most 10000")
    return value


def wanted(logs: list[Log], a: argparse.Namespace) -> list[Log]:
    """The logs, without the past that nobody wants."""
    if a.tail is None and a.since is None:
        return logs
    from miles_tui.ingest.past import Past, parse_since, without_past

    past = Past(rollouts=a.tail) if a.tail is not None else parse_since(a.since)
    return [without_past(log, past) for log in logs]


def pauses_of(name: str | None) -> PauseLog | None:
    if name is None:
        return None
    from miles_tui.ingest.pauses import PauseLog

    return PauseLog(Path(name))


def load_profile(name: str | None) -> Profile | None:
    if name is None:
        return None
    from miles_tui.profiles import load

    return load(name)


def complain(message: str) -> None:
    """One line to standard error."""
    print("miles-tui: " + " ".join(message.split()), file=sys.stderr)
