"""What a finished log says, from its beginning to its end: the way of the data without a screen, up to its items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from miles_tui.core.reader import Reader
from miles_tui.core.records import Fact, FactKind, Item
from miles_tui.ingest.ahead import can_read_ahead, read_ahead
from miles_tui.ingest.read import Log, read_all

LONG = 64 << 20  # bytes: of a shorter log the reading takes less than to begin a second process


def read_items(log: Log, *, pause: re.Pattern[bytes] | None = None, ahead: bool = False) -> Iterator[list[Item]]:
    """The items of a log in its order, in batches. Raises UnreadableLog; a `CUT_SHORT` fact tells what is missing.

    With `ahead` a long log is read by a second process where there is a core for it (see `ingest.ahead`).
    """
    batches = partial(_batches, log, pause)
    return read_ahead(batches) if ahead and _is_long(log) and can_read_ahead() else batches()


def _batches(log: Log, pause: re.Pattern[bytes] | None) -> Iterator[list[Item]]:
    reader, told = Reader(pause=pause), list[str]()
    yield list(log.launch)
    for chunk in read_all(log, told=told):
        yield reader.feed(chunk)
    yield reader.finish()
    yield [Fact(FactKind.CUT_SHORT, said) for said in told]


def _is_long(log: Log) -> bool:
    """Whether the files hold enough to be worth it; a stream can be read only once, and never is."""
    try:
        return all(part.is_file() for part in log.parts) and sum(p.stat().st_size for p in log.parts) - log.start > LONG
    except OSError:
        return False
