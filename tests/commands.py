"""The command line as a process: its output and its exit status."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


LOGS = ROOT / "sample_logs"

# What the interpreter reads as it starts; a fork can't.
AT_START = ("LANG", "LC_", "PYTHON")
LIMIT = 60  # seconds


def run(
    *argv: str, cwd: Path | None = None, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    whole = {**os.environ, **(env or {})}
    server = Server.started()
    if server.takes(whole):
        done = server.run(list(argv), cwd or Path.cwd(), stdin, whole)
    else:
        program = [sys.executable, "-m", "miles_tui", *argv]
        done = subprocess.run(program, capture_output=True, cwd=cwd, input=stdin, env=whole, check=False, timeout=LIMIT)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


class Server:
    """`fork_server`, started by the first test of this process that needs it."""

    _one: Server | None = None

    def __init__(self) -> None:
        self._asks, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._at_start = at_start(os.environ)
        argv = [sys.executable, str(ROOT / "tests" / "fork_server.py"), str(theirs.fileno())]
        pipe = subprocess.PIPE  # its streams must be of the kind that a run gets: Python asks them once
        self._process = subprocess.Popen(argv, pass_fds=[theirs.fileno()], stdin=pipe, stdout=pipe, stderr=pipe)
        theirs.close()
        atexit.register(self._end)

    @classmethod
    def started(cls) -> Server:
        cls._one = cls._one or cls()
        return cls._one

    def takes(self, env: Mapping[str, str]) -> bool:
        """Whether an interpreter would start there as this one did."""
        return at_start(env) == self._at_start

    def run(self, argv: list[str], cwd: Path, stdin: bytes, env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
        """As `subprocess.run` with its output captured."""
        pipes = [os.pipe() for _ in range(3)]
        (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = pipes
        message = json.dumps({"argv": argv, "cwd": str(cwd), "env": env}).encode()
        socket.send_fds(self._asks, [message], [theirs_in, theirs_out, theirs_err])
        for descriptor in (theirs_in, theirs_out, theirs_err):
            os.close(descriptor)
        child = int(self._asks.recv(64))
        late = threading.Timer(LIMIT, os.kill, (child, signal.SIGKILL))
        late.start()
        said: dict[int, bytes] = {}
        threads = [threading.Thread(target=read, args=(d, said)) for d in (ours_out, ours_err)]
        threads.append(threading.Thread(target=write, args=(ours_in, stdin)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = int(self._asks.recv(64))
        late.cancel()
        return subprocess.CompletedProcess(argv, status, said[ours_out], said[ours_err])

    def _end(self) -> None:
        self._asks.close()
        self._process.communicate()


def at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


def read(descriptor: int, into: dict[int, bytes]) -> None:
    with open(descriptor, "rb") as file:
        into[descriptor] = file.read()


def write(descriptor: int, data: bytes) -> None:
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
    except BrokenPipeError:  # it ended before it had read all
        pass


def one_clear_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("miles-tui: ")
    return lines[0]
