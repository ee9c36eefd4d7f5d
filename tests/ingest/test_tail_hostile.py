"""Any order of accidents, with and without a look between them: every line once, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from ingest.hostile import Writer, numbers

from miles_tui.ingest.pieces import Cut, Data
from miles_tui.ingest.tail import SHRINK_SECONDS, Tail


class Reader:
    """Reads a tail as a program would: text is joined over pieces, and torn at a cut."""

    def __init__(self, path: Path) -> None:
        self.now = 0.0
        self.tail = Tail(str(path), clock=lambda: self.now)
        self.text = b""

    def look(self, budget: int = 1 << 20) -> None:
        while True:
            for piece in self.tail.read(budget):
                if isinstance(piece, Data):
                    self.text += piece.data
                elif isinstance(piece, Cut):
                    self.text += b"\n"
            if self.tail.caught_up and self.tail.retry_in is None:
                return
            self.now += SHRINK_SECONDS


@pytest.mark.parametrize("seed", range(60))
def test_every_line_once_in_order(tmp_path: Path, seed: int) -> None:
    writer = Writer(tmp_path, seed)
    reader = Reader(writer.log)
    rng = writer.rng
    reader.look()
    for _ in range(60):
        act = rng.choices(
            (writer.write, writer.rotate, writer.copy_and_truncate, writer.recreate, writer.swap_link),
            (8, 3, 2, 1, 1),
        )[0]
        # What is deleted, or left by a link, before anybody saw it is lost: no reader can find it.
        if act in (writer.recreate, writer.swap_link):
            reader.look()
        act()
        if act == writer.swap_link or rng.random() < 0.3:
            reader.look(rng.choice((1 << 20, 100)))
    writer.write()
    reader.look()
    assert numbers(reader.text) == writer.sent
    reader.tail.close()
    writer.close()
