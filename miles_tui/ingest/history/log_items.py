"""What a finished log says, from its beginning to its end: the way of the data without a screen, up to its items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from miles_tui.core.model.records import Event, EventKind, Item, Record
from miles_tui.core.parsing.reader import Reader
from miles_tui.errors import UnreadableLog
from miles_tui.files import is_file
from miles_tui.ingest.discovery import SAMPLE, binary, why_empty
from miles_tui.ingest.files.log_file import STDIN, Log, read_all
from miles_tui.ingest.history.subprocess_reader import can_read_ahead, read_ahead

ENOUGH = 4096  # bytes of a pipe that tell whether it is a text
LONG = 64 << 20  # bytes: of a shorter log the reading takes less than to begin a second process


def read_items(
    log: Log, *, pause: re.Pattern[bytes] | None = None, ahead: bool = False, keys: bool = True
) -> Iterator[list[Item]]:
    """The items of a log in its order, in batches. Raises UnreadableLog; a `CUT_SHORT` fact tells what is missing,
    a `NO_METRIC` fact why there is no record.

    With `ahead` a long log is read by a second process where there is a core for it (see `subprocess_reader`).
    `keys` as in `Reader`.
    """
    batches = partial(_item_batches, log, pause, keys)
    return read_ahead(batches) if ahead and _is_long(log) and can_read_ahead() else batches()


def _item_batches(log: Log, pause: re.Pattern[bytes] | None, keys: bool) -> Iterator[list[Item]]:
    reader, told = Reader(pause=pause, keys=keys), list[str]()
    sample = bytearray()  # of a log without a record so far: a pipe can't be looked at again
    empty = True
    yield list(log.launch)
    for chunk in read_all(log, told=told):
        items = reader.feed(chunk)
        if empty and (empty := not any(isinstance(item, Record) for item in items)) and len(sample) < SAMPLE:
            sample += chunk[: SAMPLE - len(sample)]
            _refuse_binary(log, sample, ENOUGH)
        yield items
    items = reader.finish()
    yield items
    yield [Event(EventKind.CUT_SHORT, said) for said in told]
    if empty and not any(isinstance(item, Record) for item in items):
        _refuse_binary(log, sample)
        yield [Event(EventKind.NO_METRIC, why_empty(log, bytes(sample)))]


def _refuse_binary(log: Log, sample: bytes | bytearray, least: int = 0) -> None:
    """Raises UnreadableLog where that is no text; for a file that is known before it is read."""
    if len(sample) >= least and (what := binary(bytes(sample))):
        raise UnreadableLog(f"{'standard input' if str(log) == STDIN else log} is no text, it is {what}")


def _is_long(log: Log) -> bool:
    """Whether the files hold enough to be worth it; a stream can be read only once, and never is."""
    try:
        return all(map(is_file, log.parts)) and sum(p.stat().st_size for p in log.parts) - log.start > LONG
    except OSError:
        return False
