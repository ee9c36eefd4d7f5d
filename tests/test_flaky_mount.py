"""A network file system that fails for a moment, a real one where it may be mounted: the log is read on."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import flaky_mount
import pytest

DEADLINE = 20.0
LINE = "(MegatronTrainRayActor pid=42) [2026-10-15 16:02:38.214 actor_cell0_rank0] log_utils.py:542 - step {0}: {{'train/loss': 3.2e-08, 'train/grad_norm': {0}.5, 'train/step': {0}}}\n"  # noqa: E501


class Followed:
    """`export --follow` of a log behind a mount."""

    def __init__(self, folder: Path) -> None:
        self.log, self.written = folder / "train.log", 0
        self.write()
        argv = [sys.executable, flaky_mount.__file__, str(folder)]
        argv += [sys.executable, "-m", "miles_tui", "export", "--follow", "MOUNT/train.log"]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def write(self) -> None:
        with self.log.open("a") as file:
            file.writelines(LINE.format(number) for number in range(self.written, self.written + 3))
        self.written += 3

    def say(self, word: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def read(self) -> list[int]:
        """The numbers of the next three records."""
        assert self.process.stdout
        lines = [self.process.stdout.readline() for _ in range(3)]
        if not lines[0] and self.process.wait(DEADLINE) == flaky_mount.NOT_HERE:
            pytest.skip("nothing may be mounted here")
        return [json.loads(line)["step"] for line in lines]

    def expect(self) -> None:
        assert self.read() == list(range(self.written - 3, self.written))


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Followed]:
    followed = Followed(tmp_path)
    with followed.process:  # the end of its input stops it
        followed.expect()
        yield followed


def test_it_fails_for_a_moment_hangs_and_is_mounted_anew(followed: Followed) -> None:
    for word in (f"fail {errno.EIO}", f"fail {errno.ESTALE}", "hang", "anew"):
        followed.say(word)
        followed.write()
        if word == "anew":
            followed.log.rename(f"{followed.log}.1")
            followed.log.touch()
        else:
            followed.say("ok")
        followed.expect()
    followed.write()
    followed.expect()
    followed.say("stop")
    assert followed.process.wait(DEADLINE) == 0


def test_an_interrupt_ends_it_while_the_file_system_hangs(followed: Followed) -> None:
    followed.say("hang")
    followed.say("stop")
    begin = time.monotonic()
    assert followed.process.wait(DEADLINE) == 0
    assert time.monotonic() - begin < DEADLINE / 2
