"""Rotations and copies that are packed, heads that are cut off, in any order: every line once, in order."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import pytest
from ingest.hostile import Watched, numbers

from miles_tui.ingest.files.open_file import MARK


class PackingWriter(Watched):
    """A writer whose files are packed, at once and later, by its rotation and by people, and cut from their head."""

    LOOKS = (0.0, 0.1, 0.5)

    def pack(self, path: Path, to: Path | None = None) -> None:
        """As gzip does it: the packed file has the time of the plain one, and both are there for a while."""
        to = to or Path(f"{path}.gz")
        data = gzip.compress(path.read_bytes())
        with to.open("wb", buffering=0) as out:
            out.write(data[: len(data) // 2])
            self.meanwhile()
            out.write(data[len(data) // 2 :])
        shutil.copystat(path, to)

    def replace_by_packed(self, path: Path) -> None:
        self.pack(path)
        self.meanwhile()
        path.unlink()
        self.meanwhile()

    def rotate_and_pack(self) -> None:
        """The writer goes on in the old file while it is packed, and finds the new one later."""
        self.look()  # what is deleted before anybody saw it: no reader can find it
        self.turn += 1
        old = self.out
        rotated = self.real.rename(f"{self.real}.{self.turn}")
        self.meanwhile()
        if self.rng.random() < 0.5:
            self.create().close()
        self.replace_by_packed(rotated)
        for _ in range(self.rng.choice((0, 1, 3))):
            self.line(old)
            self.meanwhile()
        self.look()
        old.close()
        self.out = self.create()
        self.write()

    def copy_pack_and_truncate(self) -> None:
        self.turn += 1
        copy = Path(f"{self.real}.{self.turn}")
        shutil.copy2(self.real, copy)
        self.meanwhile()
        os.truncate(self.real, 0)
        self.stamp(self.real)
        for _ in range(self.rng.choice((0, 1, 9))):
            self.write()
            self.meanwhile()
        self.replace_by_packed(copy)

    def keep_a_copy(self) -> None:
        """A person packs, or copies, the log as it is."""
        self.turn += 1
        copy = Path(f"{self.real}.keep{self.turn}")
        self.pack(self.real, Path(f"{copy}.gz")) if self.rng.random() < 0.5 else shutil.copy2(self.real, copy)

    def cut_the_head(self) -> None:
        self.look()  # the copy is made of what was seen
        part = self.folder / "part"
        kept = b"".join(self.real.read_bytes().splitlines(keepends=True)[-self.rng.choice((20, 200)) :])
        if len(kept) < 2 * MARK:
            return  # too short to tell it from another log's beginning
        part.write_bytes(kept)
        if self.rng.random() < 0.5:
            self.real.write_bytes(part.read_bytes())
        else:
            self.out.close()
            part.replace(self.real)
            self.out = self.real.open("ab", buffering=0)
        self.stamp(self.real)
        self.meanwhile()
        self.write()
        self.look()  # what is packed and gone before anybody saw it, has a beginning that nobody knows

    def live(self, steps: int) -> None:
        acts = {
            self.write: 8,
            self.rotate: 2,
            self.rotate_and_pack: 2,
            self.copy_pack_and_truncate: 2,
            self.copy_and_truncate: 1,
            self.keep_a_copy: 2,
            self.cut_the_head: 1,
        }
        self.reader.look()
        for _ in range(steps):
            (act,) = self.rng.choices(list(acts), list(acts.values()))
            act()
            if self.rng.random() < 0.3:
                self.look()
        self.write()
        self.look()


@pytest.mark.parametrize("seed", range(60))
def test_every_line_once_in_order(tmp_path: Path, seed: int) -> None:
    writer = PackingWriter(tmp_path, seed)
    try:
        writer.live(60)
        assert numbers(writer.reader.text) == writer.sent
    finally:
        writer.reader.tail.close()
        writer.close()
