"""Any order of accidents, with and without a look between and in them: every line once, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from ingest.hostile import Watched, numbers


class WatchedWriter(Watched):
    """Any accident, watched."""

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
