"""Steps of the tests of a tail: a clock of their own, a look at all there is, lines that can be told apart."""

from __future__ import annotations

from pathlib import Path

from miles_tui.core.model.chunks import Data, Piece
from miles_tui.ingest.follow.tailer import Tailer


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def merged(pieces: list[Piece]) -> list[Piece | bytes]:
    """The pieces, neighbouring data joined."""
    out: list[Piece | bytes] = []
    for piece in pieces:
        if isinstance(piece, Data):
            if out and isinstance(out[-1], bytes):
                out[-1] += piece.data
            else:
                out.append(piece.data)
        else:
            out.append(piece)
    return out


def look(tail: Tailer) -> list[Piece | bytes]:
    """Everything there is now, the time that the tail asks for included."""
    out = tail.read()
    clock = tail._clock
    assert isinstance(clock, Clock)
    while not tail.caught_up or tail.retry_in is not None:
        clock.now += tail.retry_in or 0
        out += tail.read()
    return merged(out)


def look_now(tail: Tailer) -> list[Piece | bytes]:
    out = tail.read()
    while not tail.caught_up:
        out += tail.read()
    return merged(out)


def append(path: Path, text: bytes) -> None:
    with path.open("ab") as file:
        file.write(text)


def lines(begin: int, end: int) -> bytes:
    return b"".join(b"line %d of a log that is longer than a fingerprint\n" % n for n in range(begin, end))
