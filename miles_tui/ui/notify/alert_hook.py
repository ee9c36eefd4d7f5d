"""The person's command for alerts: one at a time, in a thread, each with a time limit. It can't touch the screen."""

from __future__ import annotations

import math
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from miles_tui.core.text.sanitize import harmless

MOST_WAITING = 16  # alerts that wait while one is told; more are left out, and that is said
MOST_SAID = 4096  # bytes of a failing command's complaint that are looked at
PIPE_ROOM = 4096  # bytes that a new pipe takes though nobody reads it yet: a page, where the user has many pipes
GRACE_SECONDS = 1.0  # between asking a command to end and ending it
# Arguments: the process, seconds. It looks once a second whether the process is there, so that the number of one
# that ended is not taken for another's; the pipe of its complaints stays open, else they would end it.
WATCH = """
exec 3<&0
cat <&3 >/dev/null & reader=$!
left=$2
while [ "$left" -gt 0 ] && kill -0 "$1" 2>/dev/null; do sleep 1; left=$((left - 1)); done
if [ "$left" -eq 0 ] && kill -0 "$1" 2>/dev/null; then
  kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"
fi
kill "$reader"
"""


class Command:
    """Runs `command` in a shell, the text given to `put` on its standard input.

    `failed` is called from the thread, with a line for the screen. The command has no terminal: its own
    session, its output thrown away. What still runs when the program ends (`leave`) is told to the end: it has the
    rest of its time limit, which a shell of its own watches; alerts that wait for it by then are left out.
    """

    def __init__(self, command: str, seconds: float, failed: Callable[[str], None]) -> None:
        self._command = command
        self._seconds = seconds
        self._failed = failed
        self._queue: queue.Queue[tuple[str, Mapping[str, str]]] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # for the three below
        self._running: subprocess.Popen[bytes] | None = None
        self._until = 0.0  # by the monotonic clock, in seconds
        self._left = False

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

    def leave(self) -> None:
        """Start no more; what runs keeps its time limit, and a reader of its complaints, when we are gone."""
        with self._lock:
            process, left, self._left = self._running, self._left, True
        if left or process is None or process.poll() is not None:
            return
        seconds = max(1, math.ceil(self._until - time.monotonic()))
        with suppress(OSError):
            subprocess.Popen(
                ["/bin/sh", "-c", WATCH, "miles-tui", str(process.pid), str(seconds)],
                stdin=process.stderr,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

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
        with self._lock:
            if self._left:
                return ""
            process = self._running = subprocess.Popen(
                self._command,
                shell=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env={**os.environ, **environment},
            )
            self._until = time.monotonic() + self._seconds
            data = text.encode()
            if len(data) <= PIPE_ROOM:  # then it has all of it, also where the program ends at this very moment
                _give(process, data)
            else:
                threading.Thread(target=_give, args=(process, data), daemon=True).start()
        tail = bytearray()
        reader = threading.Thread(target=_keep_end, args=(process, tail), daemon=True)
        reader.start()
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
        return how + (f": {harmless(lines[-1])}" if lines else "")


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
