"""A real pseudo-terminal with a screen behind it, for tests: run a program, wait for what it shows."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence

import pyte
from ptyprocess import PtyProcess


def has(*words: str) -> Callable[[str], bool]:
    """Whether a screen's text has all these words, for a wait in a loop."""
    return lambda text: all(part in text for part in words)


def between_looks() -> None:
    """For a loop that looks whether a program did something: without a pause it takes the program's processor."""
    select.select([], [], [], 0.02)


class Terminal:
    """A program in a pseudo-terminal of `columns` x `rows`; every wait has a deadline."""

    def __init__(
        self, argv: Sequence[str], columns: int = 120, rows: int = 36, env: Mapping[str, str] | None = None
    ) -> None:
        ours = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        self.process = PtyProcess.spawn(
            list(argv), dimensions=(rows, columns), env={**os.environ, **ours, **(env or {})}
        )
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.bytes = 0
        self.raw = b""

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def wait(self, until: Callable[[str], bool], seconds: float = 20) -> str:
        """Read until the screen's text fulfils `until`; fails with the screen when the deadline passes."""
        deadline = time.monotonic() + seconds
        while not until(self.text):
            left = deadline - time.monotonic()
            assert left > 0, f"not within {seconds} s:\n{self.text}"
            if not self._read(min(left, 0.2)) and not self.process.isalive():
                assert until(self.text), f"the program ended:\n{self.text}"
        return self.text

    def drain(self, quiet: float = 0.3, seconds: float = 10) -> int:
        """Read until nothing came for `quiet` seconds; how many bytes came."""
        before, deadline = self.bytes, time.monotonic() + seconds
        while time.monotonic() < deadline and self._read(quiet):
            pass
        return self.bytes - before

    def send(self, keys: str) -> None:
        self.process.write(keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def wait_end(self, seconds: float = 10) -> int:
        """Wait for the program's end; its exit status (negative: the signal)."""
        deadline = time.monotonic() + seconds
        while self.process.isalive():
            assert time.monotonic() < deadline, f"still running after {seconds} s:\n{self.text}"
            self._read(0.05)
        while self._read(0.05):
            pass
        status = self.process.exitstatus
        return int(status) if status is not None else -int(self.process.signalstatus or 0)

    def close(self) -> None:
        if self.process.isalive():
            self.process.kill(signal.SIGKILL)
        self.process.close(force=True)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.process.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.process.fd, 65536)
        except OSError:
            return False
        self.bytes += len(data)
        self.raw = (self.raw + data)[-200_000:]
        for query, answer in (
            (b"\x1b[6n", b"\x1b[1;1R"),
            (b"\x1b[c", b"\x1b[?62;c"),
            (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
        ):
            if query in data:
                self.process.write(answer)
        # A sequence that pyte does not know leaves the screen as it was.
        with contextlib.suppress(NotImplementedError, IndexError, TypeError, KeyError, ValueError):
            self._stream.feed(data)
        return bool(data)
