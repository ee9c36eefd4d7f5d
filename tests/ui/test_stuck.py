"""A terminal that takes nothing, is closed, or was never there: the dashboard ends when it is told to."""

from __future__ import annotations

import contextlib
import itertools
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ptyprocess import PtyProcess
from terminal import Terminal, between_looks

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_logs" / "gap-jump.log"
PROGRAM = [sys.executable, "-m", "miles_tui"]
pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc here")

KEYS = ("m", "\x1b[6~", "\x1b[5~", "\x1b", "t", "t")  # each paints much


def stick(terminal: Terminal) -> None:
    """Press keys and read nothing, until the terminal is full, and then 60 keys more."""
    master = terminal.process.fd
    os.set_blocking(master, False)
    screen = os.open(f"/proc/{terminal.process.pid}/fd/2", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    deadline, full = time.monotonic() + 30, 0
    for key in itertools.cycle(KEYS):
        assert time.monotonic() < deadline, "the terminal is never full"
        with contextlib.suppress(BlockingIOError):
            os.write(master, key.encode())
        taken = select.select([], [screen], [], 0.05)[1]  # waits only where it is full
        full = 0 if taken else full + 1
        if full == 60:
            break
        if taken:
            select.select([], [], [], 0.03)  # a paint a key
    os.close(screen)
    os.set_blocking(master, True)


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[Terminal]:
    log = tmp_path / "train.log"
    log.write_bytes(SAMPLE.read_bytes())
    terminal = Terminal([*PROGRAM, str(log)], 120, 36)
    terminal.wait(lambda text: "quit" in text)
    stick(terminal)
    yield terminal
    if terminal.process.isalive():
        terminal.process.kill(signal.SIGKILL)
    terminal.process.close(force=True)


def end_of(process: PtyProcess, seconds: float = 8) -> int:
    """Its exit status; nothing is read from it."""
    deadline = time.monotonic() + seconds
    while process.isalive():
        assert time.monotonic() < deadline, f"still alive after {seconds} s"
        between_looks()
    return int(process.exitstatus if process.exitstatus is not None else -process.signalstatus)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_end_it_while_the_terminal_takes_nothing(stuck: Terminal, number: signal.Signals) -> None:
    os.kill(stuck.process.pid, number)
    assert end_of(stuck.process) == 128 + number
    local = termios.tcgetattr(stuck.process.fd)[3]
    assert local & termios.ECHO, "the terminal's settings are not given back"
    assert local & termios.ICANON


def test_the_log_is_read_on_and_painted_once_the_terminal_takes_it(stuck: Terminal) -> None:
    log = Path(stuck.process.argv[-1])
    lines = SAMPLE.read_bytes().splitlines(keepends=True)
    newest = [line.replace(b" 47: {", b" 48: {") for line in lines if b" 47: {" in line]
    assert len(newest) >= 3
    noise = b"(SGLangEngine pid=3) Decode batch. #running-req: 31\n" * 400_000  # more than is read ahead
    before = read_by(stuck)
    with log.open("ab") as file:
        file.write(noise + b"".join(newest))
    deadline = time.monotonic() + 20
    while read_by(stuck) < before + len(noise):  # while nobody reads the terminal
        assert time.monotonic() < deadline, "the log is not read"
        between_looks()
    stuck.send("\x1b")
    stuck.wait(lambda text: "rollout 48" in text and "quit" in text)
    stuck.send("q")
    assert stuck.wait_end() == 0


def read_by(terminal: Terminal) -> int:
    """Bytes that the process has read so far."""
    found = re.search(r"rchar: (\d+)", Path(f"/proc/{terminal.process.pid}/io").read_text())
    assert found
    return int(found[1])


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-", "2>/dev/null </dev/null"])
def test_it_finds_its_terminal_where_descriptors_are_closed(closed: str) -> None:
    with Terminal(["sh", "-c", f"exec {' '.join([*PROGRAM, str(SAMPLE)])} {closed}"], 100, 30) as terminal:
        terminal.wait(lambda text: "rollout 47 of 48" in text and "quit" in text)
        terminal.send("q")
        assert terminal.wait_end() == 0


def test_a_dash_at_a_terminal_leaves_the_keys_alone() -> None:
    with Terminal([*PROGRAM, "-"], 100, 10) as terminal:
        assert terminal.wait_end() == 2
        assert terminal.text.split("\n")[0].rstrip() == (
            "miles-tui: nothing is piped in: ray job logs -f ID | miles-tui -"
        )


def test_a_terminal_that_is_closed_without_a_signal_ends_it(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (30, 100))
    log = tmp_path / "train.log"
    log.write_bytes(SAMPLE.read_bytes())
    env = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(
        [*PROGRAM, str(log)], stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=env
    ) as process:
        os.close(slave)
        seen, deadline = b"", time.monotonic() + 20
        while b"quit" not in seen:
            assert time.monotonic() < deadline
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 1 << 16)
        os.close(master)
        try:
            assert process.wait(25) == 129
        finally:
            process.kill()
