"""Errors that a person reads: one plain line that names the file or key and says what to do."""

from __future__ import annotations

from collections.abc import Iterable


class MilesTuiError(Exception):
    """A failure with a message for the person. `exit_status` is what the process ends with."""

    exit_status = 2


class UsageError(MilesTuiError):
    """The command line asks for something that can't be done."""


class UnreadableLog(MilesTuiError):
    """The log can't be read: missing, a folder without a log, binary, or forbidden."""


class BadSetting(MilesTuiError):
    """A profile, theme or config file is wrong; the message names the file and the key."""


class NoMetric(MilesTuiError):
    """A log without a single Miles metric; the message names the usual cause it looks like."""

    exit_status = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """How a message about a misspelt name goes on: with the name that was meant, or with those that there are."""
    from difflib import get_close_matches  # 2 ms, and only for an error

    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f'; did you mean "{near[0]}"?' if near else f"; there are {', '.join(names)}"
