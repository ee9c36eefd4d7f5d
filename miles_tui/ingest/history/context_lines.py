"""Where in a log a rollout's record stands, and the lines around it: read from the file, from its end backwards.

The reader gives no offsets (it would cost every line to keep them), so the place is searched for when
somebody asks: 0.3 s for a gigabyte, in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from miles_tui.core.model.records import Record
from miles_tui.core.parsing.metric_line import records_in
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.files.gzip_file import GZIP_MAGIC
from miles_tui.ingest.files.reverse_reader import blocks_backwards

CONTEXT_BLOCK = 1 << 20
AROUND = 96 * 1024  # bytes before the record and behind it: a dozen rollouts of lines without noise
TIME_SLACK = 2.0  # seconds: the record that an alert was raised with has the alert's own time
_KINDS = ("rollout", "perf")


class ContextLines(NamedTuple):
    """The lines around a record: complete ones, `text[at:]` begins with the record's own."""

    path: Path
    text: bytes
    at: int


def find_place(parts: Sequence[Path], rollout: int, time: float | None = None) -> ContextLines | None:
    """The newest record of `rollout`, or the one nearest to `time` (seconds of the log's clock); None if none is left.

    `parts` are the log's files, oldest first. A restarted run has several records of one number: the time tells
    which is meant. Raises UnreadableLog; a packed file is no place.
    """
    best: tuple[float, ContextLines] | None = None
    for path in reversed(parts):
        try:
            with path.open("rb") as file:
                if file.read(2) == GZIP_MAGIC:
                    continue
                for offset, length, record in _records_backwards(file, rollout):
                    off = 0.0 if time is None or record.time is None else abs(record.time - time)
                    if best is None or off < best[0]:
                        best = off, _around(path, file, offset, length)
                    if off <= TIME_SLACK:
                        return best[1]
        except OSError as error:
            raise UnreadableLog(f"{path} can't be read: {error.strerror or error}") from None
    return best[1] if best is not None else None


def _around(path: Path, file: BinaryIO, offset: int, length: int) -> ContextLines:
    start = max(0, offset - AROUND)
    file.seek(start)
    before, line, after = file.read(offset - start), file.read(length), file.read(AROUND)
    if start:
        before = before[before.find(b"\n") + 1 :]
    return ContextLines(path, before + line + after[: after.rfind(b"\n") + 1], len(before))


def _records_backwards(file: BinaryIO, rollout: int) -> Iterator[tuple[int, int, Record]]:
    """(offset, length, record) of the lines with a record of that rollout, the last one first."""
    # Digits first: a literal is what a search can begin with quickly.
    colour = rb"(?:\x1b\[[0-9;]*m)?"
    number = re.compile(b"%d%s:%s ?%s\\{" % (rollout, colour, colour, colour))
    for start, block in blocks_backwards(file.fileno(), CONTEXT_BLOCK):
        for found in reversed(list(number.finditer(block))):
            begin = block.rfind(b"\n", 0, found.start()) + 1
            end = block.find(b"\n", found.end())
            line = block[begin : end if end >= 0 else len(block)]
            for record in records_in(line).records:
                if record.number == rollout and record.kind in _KINDS:
                    yield start + begin, len(line) + 1, record
                    break
