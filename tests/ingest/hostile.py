"""A writer that does to its log, step by step and without waiting, what happens to logs."""

from __future__ import annotations

import os
import random
import time
from io import FileIO
from pathlib import Path

from miles_tui.core.model.chunks import Cut, Data
from miles_tui.ingest.follow.tailer import SHRINK_SECONDS, Tailer


class Writer:
    """Writes numbered lines to `folder/train.log`, a link to the real file, with accidents between them.

    Every write gets a time of its own: on a disk, writes a millisecond apart can share one.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.log = folder / "train.log"
        self.turn = 0
        self.clock = int(time.time())
        self.sent: list[int] = []
        self.real = folder / "attempt-0.log"
        self.log.symlink_to(self.real.name)
        self.out = self.create()

    def create(self) -> FileIO:
        out = self.real.open("ab", buffering=0)
        self.stamp(out.fileno())
        return out

    def stamp(self, file: int | Path) -> None:
        self.clock += 1
        os.utime(file, (self.clock, self.clock))

    def meanwhile(self) -> None:
        """In the middle of an accident somebody may look; a test puts its reader here."""

    def write(self) -> None:
        self.line(self.out)

    def line(self, out: FileIO) -> None:
        number = len(self.sent)
        self.sent.append(number)
        noise = b"noise, always the same\n" * self.rng.choice((0, 0, 1, 30))
        out.write(noise + b"record %d %s\n" % (number, b"%d," % number * self.rng.choice((0, 5, 300))))
        self.stamp(out.fileno())

    def rotate(self) -> None:
        self.turn += 1
        old = self.out
        self.meanwhile()
        self.real.rename(f"{self.real}.{self.turn}")
        self.meanwhile()
        if self.rng.random() < 0.5:
            self.line(old)
        old.close()
        self.meanwhile()
        self.out = self.create()
        self.meanwhile()
        self.write()

    def copy_and_truncate(self) -> None:
        self.turn += 1
        self.truncate_with_copy(Path(f"{self.real}.copy{self.turn}"))

    def copy_over_and_truncate(self) -> None:
        """As above, the copy always under the same name, and made in place of the last one."""
        self.truncate_with_copy(Path(f"{self.real}.copy"))

    def truncate_with_copy(self, copy: Path) -> None:
        text = self.real.read_bytes()
        with copy.open("wb", buffering=0) as out:
            for piece in (text[: len(text) // 2], text[len(text) // 2 :]):
                self.stamp(copy)
                self.meanwhile()
                out.write(piece)
        self.stamp(copy)
        self.meanwhile()
        os.truncate(self.real, 0)
        self.stamp(self.real)
        self.meanwhile()
        for _ in range(self.rng.choice((0, 1, 9))):
            self.write()

    def recreate(self) -> None:
        self.out.close()
        self.real.unlink()
        self.meanwhile()
        self.out = self.create()
        for _ in range(self.rng.choice((0, 1, 9))):
            self.write()

    def swap_link(self) -> None:
        self.turn += 1
        self.out.close()
        self.real = self.folder / f"attempt-{self.turn}.log"
        self.out = self.create()
        link = self.folder / "new-link"
        link.symlink_to(self.real.name)
        link.replace(self.log)
        self.write()

    def close(self) -> None:
        self.out.close()


def numbers(text: bytes) -> list[int]:
    """The records in a text, in its order."""
    return [int(line.split()[1]) for line in text.split(b"\n") if line.startswith(b"record ")]


class Reader:
    """Reads a tail as a program would: text is joined over pieces, and torn at a cut."""

    def __init__(self, path: Path) -> None:
        self.now = 0.0
        self.tail = Tailer(str(path), clock=lambda: self.now)
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


class Watched(Writer):
    """A writer whose reader looks in the middle of accidents, now and then: as often as one of `LOOKS` says."""

    LOOKS: tuple[float, ...] = (0.0, 0.1, 0.9)

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        self.reader = Reader(self.log)
        self.looks = self.rng.choice(self.LOOKS)

    def meanwhile(self) -> None:
        if self.rng.random() < self.looks:
            self.look()

    def look(self) -> None:
        self.reader.look(self.rng.choice((1 << 20, 100)))
