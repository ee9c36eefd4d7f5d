"""Errors that a person reads: one plain line that names the file or key and says what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class MilesTuiError(Exception):
    """A failure with a message for the person. `exit_status` is what the process ends with."""

    exit_status = 2


class UsageError(MilesTuiError):
    """The command line asks for something that can't be done."""


class UnreadableLog(MilesTuiError):
    """The log can't be read: missing, a folder without a log, binary, or forbidden.

    `away`: the file system gave no answer, and may give one later.
    """

    away = False


class BadSetting(MilesTuiError):
    """A profile, theme or config file is wrong; the message names the file and the key."""


class NoMetric(MilesTuiError):
    """A log without a single Miles metric; the message names the usual cause it looks like."""

    exit_status = 3


def meant(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known name that a misspelt one is most like, "" where none is; `cutoff` as in difflib (0 any, 1 the same)."""
    from difflib import get_close_matches  # 2 ms, and only for an error

    return next(iter(get_close_matches(name, list(known), 1, cutoff)), "")


def nearest(name: str, known: Iterable[str]) -> str:
    """How a message about a misspelt name goes on: with the name that was meant, or with those that there are."""
    names = list(known)
    near = meant(name, names)
    return f'; did you mean "{near}"?' if near else f"; there are {', '.join(names)}"


# What pydantic calls a wrong value (its error's `type`) -> what is right; `{x}` is of the error's context.
_RIGHT = {
    "greater_than_equal": "{ge:g} or more",
    "greater_than": "above {gt:g}",
    "less_than_equal": "{le:g} or less",
    "less_than": "below {lt:g}",
    "literal_error": "{expected}",
    "finite_number": "a finite number",
    "missing": "this key is missing",
}
_VALUE_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "string": "a text in quotes",
          "list": "a list", "dict": "a table", "model": "a table"}  # fmt: skip


def right_value(kind: str, context: Mapping[str, object], message: str) -> str:
    """What a wrong value in a person's file should be, in our words; `message` where pydantic's are a validator's own.

    >>> right_value("greater_than_equal", {"ge": 5}, "Input should be ...")
    '5 or more'
    """
    if kind in _RIGHT:
        return _RIGHT[kind].format_map(context)
    return _VALUE_KINDS.get(kind.partition("_")[0]) or message.removeprefix("Value error, ")
