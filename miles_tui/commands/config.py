"""`miles-tui config`: the settings in force."""

from __future__ import annotations

from collections.abc import Sequence

from miles_tui.commands.arguments import parser
from miles_tui.stdio import complain, say


def run(argv: Sequence[str]) -> int:
    """Print them; exit status 2 where one is wrong."""
    parser("config", "The settings in force, each with its meaning, who reads it and where its value came from.\n\n"
           "Exit status: 2 where a setting is wrong.").parse_args(argv)  # fmt: skip
    from miles_tui.config.settings import config_file, effective, in_force

    path = config_file()
    settings, wrong = in_force(path)
    for key, said in wrong.items():
        complain(f"{path}: {key}: {said}")
    say(effective(settings, path, wrong), end="")
    return 2 if wrong else 0
