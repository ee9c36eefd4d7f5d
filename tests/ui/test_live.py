"""The dashboard in a real pseudo-terminal, on a log that grows, and how it leaves the terminal."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from growing import rollouts
from terminal import Terminal, between_looks

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.signals import SIGNALS
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.run_state import RunState
from miles_tui.core.text.numbers import number

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_logs" / "gap-jump.log"
PROGRAM = [sys.executable, "-m", "miles_tui"]
SIZES = ((120, 36), (80, 24), (60, 15))


def last_values(text: bytes) -> dict[str, str]:
    """The last value of each signal as it must stand on the screen."""
    run, reader = RunState(Judge()), Reader()
    run.feed(reader.feed(text))
    values: dict[str, str] = {}
    for s in SIGNALS:
        last = run.signals[s.name].last
        assert last is not None
        values[s.name] = number(last.value, s.digits)
    return values


def shows(values: dict[str, str]) -> Callable[[str], bool]:
    """Whether each signal's row has its value."""

    def check(text: str) -> bool:
        return all(
            re.search(rf"^[ ▸>]*\S?[ ▸>]+{re.escape(name)}(, \w+)? +{re.escape(value)} ", text, re.MULTILINE)
            for name, value in values.items()
        )

    return check


@pytest.mark.parametrize(("columns", "lines"), SIZES)
def test_a_growing_log_is_on_the_screen_rollout_by_rollout(tmp_path: Path, columns: int, lines: int) -> None:
    log = tmp_path / "train.log"
    blocks = rollouts(SAMPLE.read_bytes())
    assert len(blocks) >= 48
    log.write_bytes(blocks[0])
    alerted_at = None
    with Terminal([*PROGRAM, str(log)], columns, lines) as terminal:
        terminal.wait(lambda text: "rollout time" in text)
        for i, block in enumerate(blocks[1:30], 1):
            with log.open("ab") as f:
                f.write(block)
            terminal.wait(shows(last_values(b"".join(blocks[: i + 1]))))
            if alerted_at is None and "▲ gap-jump" in terminal.text:
                alerted_at = i
        terminal.wait(lambda text: "▲ 1 alert" in text)
        terminal.wait(lambda text: "rollout 29" in text)
        terminal.send("q")
        assert terminal.wait_end() == 0
    assert alerted_at is not None
    assert 21 <= alerted_at <= 23, "the fault begins at rollout 21"


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    with Terminal([*PROGRAM, str(log)], 80, 24) as terminal:
        terminal.wait(lambda text: "waiting for train.log to appear" in text)
        log.write_bytes(rollouts(SAMPLE.read_bytes())[0])
        terminal.wait(lambda text: "rollout 0 of 48" in text)
        assert "to appear" not in terminal.text


def test_a_log_through_a_pipe_leaves_the_keys_to_the_terminal() -> None:
    command = f"cat {SAMPLE} | {sys.executable} -m miles_tui -"
    with Terminal(["sh", "-c", command], 80, 24) as terminal:
        terminal.wait(lambda text: "input ended" in text and "rollout 47 of 48" in text)
        terminal.send("q")
        assert terminal.wait_end() == 0


def test_a_resized_pane_is_laid_out_anew() -> None:
    with Terminal([*PROGRAM, str(SAMPLE)], 120, 36) as terminal:
        terminal.wait(lambda text: "range (first 10)" in text)
        for columns, rows in ((80, 24), (60, 15), (40, 10), (30, 6), (120, 36)):
            terminal.resize(columns, rows)
            if columns < 38:
                terminal.wait(lambda text: "38x10" in text and "▲" in text)
            else:
                terminal.wait(shows(last_values(SAMPLE.read_bytes())))
        terminal.wait(lambda text: "range (first 10)" in text)


def quits_by_key(keys: str) -> Callable[[Terminal], None]:
    return lambda terminal: terminal.send(keys)


def quits_by(number: signal.Signals) -> Callable[[Terminal], None]:
    def send(terminal: Terminal) -> None:
        """To the program below this terminal's shell, and to no other test's."""
        (program,) = psutil.Process(terminal.process.pid).children()
        program.send_signal(number)

    return send


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (quits_by_key("q"), 0),
        (quits_by_key("\x03"), 0),
        (quits_by(signal.SIGTERM), 143),
        (quits_by(signal.SIGINT), 130),
    ],
    ids=["q", "ctrl+c", "SIGTERM", "SIGINT"],
)
def test_the_terminal_is_left_as_it_was_found(end: Callable[[Terminal], None], status: int) -> None:
    program = " ".join([*PROGRAM, str(SAMPLE)])
    with Terminal(["sh", "-c", f"stty -g; {program}; echo status $?; stty -g"], 120, 36) as terminal:
        terminal.wait(lambda text: "quit" in text)
        end(terminal)
        terminal.wait_end()
        text, raw = terminal.text, terminal.raw.decode()
    assert f"status {status}" in text
    settings = re.findall(r"^[0-9a-f]+(?::[0-9a-f]+)+", raw, re.MULTILINE)
    assert len(settings) == 2
    assert settings[0] == settings[1]
    for on, off in (("\x1b[?1049h", "\x1b[?1049l"), ("\x1b[?25l", "\x1b[?25h"), ("\x1b[?1000h", "\x1b[?1000l"),
                    ("\x1b[?2004h", "\x1b[?2004l"), ("\x1b[?7l", "\x1b[?7h")):  # fmt: skip
        assert raw.rfind(off) > raw.rfind(on) >= 0, f"{on!r} was not undone"


def test_a_hang_up_ends_it() -> None:
    with Terminal([*PROGRAM, str(SAMPLE)], 120, 36) as terminal:
        terminal.wait(lambda text: "quit" in text)
        os.kill(terminal.process.pid, signal.SIGHUP)
        assert terminal.wait_end() == 129


def test_a_closed_terminal_leaves_no_process_behind() -> None:
    terminal = Terminal([*PROGRAM, str(SAMPLE)], 120, 36)
    terminal.wait(lambda text: "quit" in text)
    pid = terminal.process.pid
    terminal.process.fileobj.close()
    deadline = time.monotonic() + 10
    while (done := os.waitpid(pid, os.WNOHANG))[0] == 0:
        assert time.monotonic() < deadline, "still running without a terminal"
        between_looks()
    assert done[0] == pid
    terminal.process.closed, terminal.process.fd = True, -1


TOKEN = "hf_" + "a1B2c3D4e5F6g7H8" * 2


def test_a_crash_of_ours_is_a_traceback_on_the_restored_screen() -> None:
    code = (
        "import sys\nfrom miles_tui.runs import session\nfrom miles_tui.cli.main import main\n"
        "def take(self, batch, now): hidden_local = 'not for the eyes'; raise RuntimeError('boom \\x1b]0;gone\\x07"
        + TOKEN
        + "')\n"
        "session.Session.take = take\n"
        f"sys.exit(main([{str(SAMPLE)!r}]))"
    )
    with Terminal([sys.executable, "-c", code], 120, 36) as terminal:
        assert terminal.wait_end() == 1
        after = terminal.raw.decode().rpartition("\x1b[?1049l")[2]
    assert "RuntimeError: boom hf_***" in after
    assert "gone" not in after
    assert "Traceback" in after
    assert "not for the eyes" not in after


def test_suspended_and_resumed_it_draws_everything_again() -> None:
    with Terminal([*PROGRAM, str(SAMPLE)], 120, 36) as terminal:
        terminal.wait(lambda text: "quit" in text)
        terminal.send("\x1a")
        stat = Path(f"/proc/{terminal.process.pid}/stat")
        if not stat.exists():
            pytest.skip("no /proc here")
        deadline = time.monotonic() + 10
        while stat.read_text().split()[2] != "T":
            assert time.monotonic() < deadline, "not stopped"
            terminal.drain(0.05, 0.05)
        terminal.screen.reset()
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.wait(lambda text: "quit" in text and "reward" in text and "gap-jump" in text)
        terminal.send("q")
        assert terminal.wait_end() == 0


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_in_tmux_it_is_the_same(tmp_path: Path) -> None:
    socket = ["tmux", "-S", str(tmp_path / "socket"), "-f", os.devnull]
    log = tmp_path / "train.log"
    blocks = rollouts(SAMPLE.read_bytes())
    log.write_bytes(b"".join(blocks[:20]))
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}

    def tmux(*words: str) -> str:
        return subprocess.run([*socket, *words], capture_output=True, text=True, check=True, env=env).stdout

    def wait(until: Callable[[str], bool]) -> None:
        deadline = time.monotonic() + 20
        while not until(text := tmux("capture-pane", "-p")):
            assert time.monotonic() < deadline, text
            between_looks()

    tmux("-u", "new-session", "-d", "-x", "120", "-y", "36", " ".join([*PROGRAM, str(log)]))
    try:
        wait(shows(last_values(b"".join(blocks[:20]))))
        with log.open("ab") as f:
            f.write(b"".join(blocks[20:26]))
        wait(lambda text: "gap-jump" in text and "▲ 1 alert" in text)
        wait(shows(last_values(b"".join(blocks[:26]))))
        tmux("resize-window", "-x", "40", "-y", "10")
        wait(shows(last_values(b"".join(blocks[:26]))))
        tmux("resize-window", "-x", "80", "-y", "24")
        wait(lambda text: "likely cause" in text)
        assert tmux("capture-pane", "-p").count("\N{REPLACEMENT CHARACTER}") == 0
        tmux("send-keys", "Enter")
        wait(lambda text: "┬" in text and "Esc back" in text)
        tmux("send-keys", "Escape")
        wait(lambda text: "likely cause" in text)
    finally:
        subprocess.run([*socket, "kill-server"], capture_output=True, check=False)


@pytest.mark.parametrize(
    ("environment", "colours", "ascii_only"),
    [
        ({"TERM": "dumb", "COLORTERM": ""}, False, True),
        ({"TERM": "linux", "COLORTERM": ""}, True, True),
        ({"TERM": "xterm", "COLORTERM": ""}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"LC_ALL": "C"}, True, True),
    ],
    ids=["dumb", "linux", "16 colours", "NO_COLOR", "no UTF-8"],
)
def test_poor_terminals_can_read_it(environment: dict[str, str], colours: bool, ascii_only: bool) -> None:
    with Terminal([*PROGRAM, str(SAMPLE)], 80, 24, env=environment) as terminal:
        terminal.wait(shows(last_values(SAMPLE.read_bytes())))
        terminal.wait(lambda text: "likely cause" in text)
        cells = [cell for row in terminal.screen.buffer.values() for cell in row.values()]
        assert ({cell.fg for cell in cells} != {"default"}) == colours
        assert terminal.text.isascii() == ascii_only
        assert ("A gap-jump" if ascii_only else "▲ gap-jump") in terminal.text
        if "TERM" in environment:
            assert not re.search(rb"\x1b\[[\d;]*[34]8;", terminal.raw), "more than 16 colours"
