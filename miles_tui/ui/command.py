"""The person's command for alerts: one at a time, in a thread, each with a time limit. It can't touch the screen."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from miles_tui.core.plain import mask, plain

MOST_WAITING = 16  # alerts that wait while one is told; more are left out, and that is said
MOST_SAID = 4096  # bytes of a failing command's complaint that are looked at
GRACE_SECONDS = 1.0  # between asking a command to end and ending it


class Command:
    """Runs `command` in a shell, the text given to `put` on its standard input.

    `failed` is called from the thread, with a line for the screen. The command has no terminal: its own
    session, its output thrown away. What still runs when the program ends, runs on.
    """

    def __init__(self, command: str, seconds: float, failed: Callable[[str], None]) -> None:
        self._command = command
        self._seconds = seconds
        self._failed = failed
        self._queue: queue.Queue[tuple[str, Mapping[str, str]]] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None

    def put(self, text: str, environment: Mapping[str, str]) -> None:
        """Run it with this on its standard input, after those before; `environment` is added to our own."""
        try:
            self._queue.put_nowait((text, environment))
        except queue.Full:
            self._failed(f"on-alert: more than {MOST_WAITING} alerts wait for it: one is left out")
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="on-alert", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Until all that was put is done; for tests."""
        self._queue.join()

    def _work(self) -> None:
        while True:
            text, environment = self._queue.get()
            try:
                said = self._once(text, environment)
            except (OSError, ValueError) as error:
                said = str(error)
            if said:
                self._failed(f"on-alert: {said}")
            self._queue.task_done()

    def _once(self, text: str, environment: Mapping[str, str]) -> str:
        """Run it once; what went wrong, "" where nothing did."""
        process = subprocess.Popen(
            self._command,
            shell=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        tail = bytearray()
        reader = threading.Thread(target=_keep_end, args=(process, tail), daemon=True)
        writer = threading.Thread(target=_give, args=(process, text.encode()), daemon=True)
        reader.start()
        writer.start()
        try:
            status = process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"ended after {self._seconds:g} s"
        reader.join(0.2)  # a child that it left behind can hold the pipe open for ever
        if status == 0:
            return ""
        lines = bytes(tail).decode(errors="replace").strip().splitlines()
        how = f"status {status}" if status > 0 else f"signal {-status}"
        return how + (f": {mask(plain(lines[-1]))}" if lines else "")


def _give(process: subprocess.Popen[bytes], data: bytes) -> None:
    """A command that reads nothing is no failure."""
    if process.stdin is not None:
        with suppress(OSError), process.stdin as pipe:
            pipe.write(data)


def _keep_end(process: subprocess.Popen[bytes], tail: bytearray) -> None:
    """Read a pipe to its end; only the last of it is kept."""
    if process.stderr is None:
        return
    with process.stderr as pipe:
        while chunk := os.read(pipe.fileno(), 65536):
            tail += chunk
            del tail[:-MOST_SAID]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all its children: it has a process group of its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):  # the second for children that the first did not end
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
