"""What a typed filter means: a part of a name, a glob, or `/regex/`. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

NameTest = Callable[[str], bool]

GLOB = frozenset("*?[")


def matcher(text: str) -> NameTest:
    """Whether a log name is meant, whatever its case. Raises ValueError with a reason for a regex that is none.

    Words apart must all be in the name; a glob fits the whole name or what comes behind its prefix (`kl*` as well as
    `train/*kl`); the closing slash of a regex may still be missing.
    """
    if text.startswith("/"):
        body = text[1:-1] if len(text) > 1 and text.endswith("/") else text[1:]
        return _name_regex(body)
    tests = [_glob(word) if GLOB & set(word) else _part(word) for word in text.split()]
    return lambda name: all(test(name) for test in tests)


def _part(word: str) -> NameTest:
    wanted = word.casefold()
    return lambda name: wanted in name.casefold()


def _glob(word: str) -> NameTest:
    fits = re.compile(translate(word), re.IGNORECASE).match
    return lambda name: bool(fits(name) or fits(name.partition("/")[2]))


def _name_regex(body: str) -> NameTest:
    try:
        found = re.compile(body, re.IGNORECASE).search
    except re.error as error:
        raise ValueError(f"no regex yet: {error.msg}") from None
    return lambda name: bool(found(name))
