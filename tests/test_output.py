"""Every byte or an error: short writes, descriptors that do not block, readers that leave, interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from commands import LOGS, run
from terminal import Terminal

GAP_JUMP = str(LOGS / "gap-jump.log")
MILES = [sys.executable, "-m", "miles_tui"]
BUFFERS = pytest.mark.parametrize("environment", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
Environment = dict[str, str]


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One whose records are many times what a pipe holds."""
    path = tmp_path_factory.mktemp("long") / "train.log"
    path.write_bytes((LOGS / "gap-jump.log").read_bytes() * 4)
    return str(path)


@BUFFERS
def test_a_pipe_that_does_not_block_gets_every_byte(long_log: str, environment: Environment) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    with subprocess.Popen([*MILES, "export", long_log], stdout=write, stderr=subprocess.PIPE,
                          env={**os.environ, **environment}) as process:  # fmt: skip
        os.close(write)
        with os.fdopen(read, "rb") as reader:
            out = reader.read()
        assert process.stderr is not None
        assert (process.wait(60), process.stderr.read()) == (0, b"")
    assert len(out) > 1 << 18
    assert out.decode() == run("export", long_log).stdout


@BUFFERS
@pytest.mark.parametrize("command", ["export", "check --format json", "report", "status", "explain", "config"])
def test_a_disk_that_fills_is_an_error(command: str, long_log: str, environment: Environment, tmp_path: Path) -> None:
    log = "" if command in ("explain", "config") else long_log
    room = 64 if command == "export" else 0  # KiB: the last write is a short one
    shell = f"ulimit -f {room}; trap '' XFSZ; exec {sys.executable} -m miles_tui {command} {log} > {tmp_path}/out"
    environment = {**os.environ, **environment, "XDG_CONFIG_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["bash", "-c", shell], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == "miles-tui: standard output: File too large\n"
    assert done.returncode == 2


@BUFFERS
@pytest.mark.parametrize(
    ("command", "status"),
    [(f"check {GAP_JUMP}", 1), (f"check --format json {GAP_JUMP}", 1), (f"check {LOGS / 'plain-seed1.log'}", 0),
     (f"check {LOGS / 'plain-seed1.log'} {GAP_JUMP}", 1), (f"check {GAP_JUMP} nowhere.log", 2),
     (f"export {GAP_JUMP}", 0), ("report nowhere.log", 2), (f"status {GAP_JUMP}", 0)],
)  # fmt: skip
def test_a_reader_that_left_changes_no_verdict(command: str, status: int, environment: Environment) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*MILES, *command.split()], stdout=write, stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **environment})  # fmt: skip
    os.close(write)
    assert done.returncode == status
    assert done.stderr == ("miles-tui: nowhere.log does not exist\n" if status == 2 else "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
@pytest.mark.parametrize(("command", "status"), [("check nowhere.log", 2), ("--bogus", 2), (f"check {GAP_JUMP} x", 2)])
def test_a_full_standard_error_changes_no_status(command: str, status: int) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MILES, *command.split()], stdout=subprocess.DEVNULL, stderr=full, check=False)
    assert done.returncode == status


def test_standard_input_that_does_not_block_is_waited_for() -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    with subprocess.Popen([*MILES, "check", "-"], stdin=read, stdout=subprocess.PIPE) as process:
        os.close(read)
        text = (LOGS / "gap-jump.log").read_bytes()

        def feed() -> None:
            with os.fdopen(write, "wb") as writer:
                writer.write(text)

        feeder = threading.Thread(target=feed)
        feeder.start()
        assert process.stdout is not None
        assert b"gap-jump" in process.stdout.read()
        feeder.join()
        assert process.wait(60) == 1


# -- what comes in is named ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xfd7zXZ\0\0\x04" + b"\x80\xff" * 40, "standard input is no text, it is packed with xz: unpack it first"),
        (b"\x28\xb5\x2f\xfd" + b"\x80\xff" * 4000, "standard input is no text, it is packed with zstd: unpack"),
        (bytes(range(128, 256)) * 100, "standard input is no text, it is a binary file"),
        (b"step:1 - actor/pg_loss:0.01 - critic/score/mean:0.5\n" * 50, "looks like a log of verl"),
        (b"", "empty so far"),
    ],
    ids=["xz", "zstd", "random", "verl", "empty"],
)  # fmt: skip
def test_what_a_pipe_brings_is_named_as_a_files_is(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(data)
    for command in ("check", "export", "report", "calibrate"):
        piped, read = run(command, "-", stdin=data), run(command, str(tmp_path / "a.log"))
        assert says in piped.stderr
        assert len(piped.stderr.splitlines()) == 1
        assert piped.returncode == read.returncode == (2 if "no text" in says else 3)
        assert says.removeprefix("standard input ") in read.stderr


def test_the_dashboard_names_it_too() -> None:
    with Terminal(["bash", "-c", f"printf '\\xfd7zXZ\\0\\0' | {' '.join(MILES)} -"]) as terminal:
        terminal.wait(lambda shown: "it is no text, it is packed with xz" in shown)
        terminal.send("q")


# -- one of many, said -----------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for number, name in enumerate(("gap-jump.log", "plain-seed1.log")):
        (tmp_path / name).write_bytes((LOGS / name).read_bytes())
        os.utime(tmp_path / name, (number, number))
    return tmp_path


def test_a_report_of_a_folder_has_all_its_runs(runs: Path) -> None:
    done = run("report", str(runs))
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if line.startswith("**")] == [
        run("report", str(runs / name)).stdout.splitlines()[0] for name in ("plain-seed1.log", "gap-jump.log")
    ]
    assert "\n\n**gap-jump.log**" in done.stdout


@pytest.mark.parametrize("command", ["export --follow", "replay"])
def test_a_command_for_one_run_takes_no_folder_of_several(runs: Path, command: str) -> None:
    with Terminal([*MILES, *command.split(), str(runs)], columns=400) as terminal:
        terminal.wait(lambda shown: "holds 2 runs: give one of them" in shown)
        assert terminal.wait_end() == 2


# -- the keys are the person's ---------------------------------------------------------------------


@pytest.mark.parametrize("argv", [["replay", "-"], ["-"], [GAP_JUMP, "--compare", "-"]])
def test_the_terminal_is_no_log(argv: list[str]) -> None:
    with Terminal([*MILES, *argv]) as terminal:
        terminal.wait(lambda shown: "nothing is piped in" in shown or "--compare -" in shown)
        assert terminal.wait_end() == 2


@pytest.mark.parametrize("pipe", [f"cat {GAP_JUMP}", f"head -c 60000 {GAP_JUMP}; read <&3"], ids=["whole", "waiting"])
def test_a_replayed_pipe_leaves_the_keys(pipe: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hold")
    shell = f"exec 3<>{tmp_path}/hold; {' '.join(MILES)} replay - --speed 100 < <({pipe}); echo status $?; echo >&3"
    with Terminal(["bash", "-c", shell]) as terminal:
        terminal.wait(lambda shown: "of 48" in shown and "standard input" in shown)
        terminal.send("q")
        terminal.wait(lambda shown: "status 0" in shown)


# -- interrupts ------------------------------------------------------------------------------------

INTERRUPTED = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
sys.argv = ["miles-tui", *{argv!r}]
from miles_tui.__main__ import program
sys.exit(program())
"""


@pytest.mark.parametrize(
    ("module", "argv"),
    [("miles_tui.cli.main", ["check", GAP_JUMP]), ("miles_tui.commands.check", ["check", GAP_JUMP]),
     ("miles_tui.commands.export", ["export", GAP_JUMP]), ("miles_tui.core.run.run_state", ["status", GAP_JUMP]),
     ("miles_tui.ingest.discovery", ["report", GAP_JUMP]), ("pydantic", ["config"]),
     ("miles_tui.config.profile_store", ["profiles"]), ("pydantic", ["calibrate", GAP_JUMP]),
     ("miles_tui.commands.explain", ["explain"]),
     ("miles_tui.ingest.follow.follower", ["export", "--follow", GAP_JUMP]), ("miles_tui.ingest.discovery", ["demo"])],
)  # fmt: skip
def test_an_interrupt_while_modules_load_is_no_traceback(module: str, argv: list[str]) -> None:
    code = INTERRUPTED.format(module=module, argv=argv)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_an_ignored_interrupt_stays_ignored() -> None:
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import miles_tui.__main__; "
    code += "assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_interrupt_while_a_pipe_is_waited_for() -> None:
    with subprocess.Popen([*MILES, "check", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write((LOGS / "gap-jump.log").read_bytes())  # more than a pipe holds: it reads by now
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
