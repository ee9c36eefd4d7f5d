"""Any order of accidents, with and without a look between and in them: every line once, in order."""

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


class WatchedWriter(Writer):
    """A writer whose reader looks in the middle of accidents, now and then."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        self.reader = Reader(self.log)
        self.looks = self.rng.choice((0.0, 0.1, 0.9))

    def meanwhile(self) -> None:
        if self.rng.random() < self.looks:
            self.look()

    def look(self) -> None:
        self.reader.look(self.rng.choice((1 << 20, 100)))

    def live(self, steps: int) -> None:
        acts = {
            self.write: 8,
            self.rotate: 3,
            self.copy_and_truncate: 2,
            self.copy_over_and_truncate: 2,
            self.recreate: 1,
            self.swap_link: 1,
        }
        self.reader.look()
        for _ in range(steps):
            (act,) = self.rng.choices(list(acts), list(acts.values()))
            # What is deleted, overwritten or left by a link before anybody saw it: no reader can find it.
            if act in (self.recreate, self.copy_over_and_truncate, self.swap_link):
                self.look()
            act()
            if act == self.swap_link or self.rng.random() < 0.3:
                self.look()
        self.write()
        self.look()


@pytest.mark.parametrize("seed", range(80))
def test_every_line_once_in_order(tmp_path: Path, seed: int) -> None:
    writer = WatchedWriter(tmp_path, seed)
    writer.live(60)
    assert numbers(writer.reader.text) == writer.sent
    writer.reader.tail.close()
    writer.close()
