"""The main path in tmux, as it is used: a server of its own, keys typed, the pane read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from growing import rollouts
from terminal import between_looks, has

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_logs" / "gap-jump.log"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """One session of a server of its own; every wait has a deadline."""

    def __init__(self, folder: Path, columns: int = 120, rows: int = 36) -> None:
        self.socket = folder / "tmux"
        self.folder = folder
        self.columns, self.rows = columns, rows

    def __call__(self, *argv: str) -> str:
        kept = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE", "NO_COLOR")}
        env = {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/sh"}
        env |= {"XDG_CONFIG_HOME": str(self.folder / "config"), "XDG_STATE_HOME": str(self.folder / "state")}
        command = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *argv]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=20)
        return done.stdout

    def open(self, command: str) -> None:
        """Run a command, and then `cat -v`, which shows what is left in the input."""
        self("new-session", "-d", "-s", "main", "-x", str(self.columns), "-y", str(self.rows),
             f"{command}; echo status $?; cat -v")  # fmt: skip

    @property
    def text(self) -> str:
        return self("capture-pane", "-p", "-t", "main")

    def state(self, name: str) -> str:
        return self("display-message", "-p", "-t", "main", f"#{{{name}}}").strip()

    def send(self, *keys: str) -> None:
        self("send-keys", "-t", "main", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self("resize-window", "-t", "main", "-x", str(columns), "-y", str(rows))

    def wait(self, until: Callable[[str], bool], seconds: float = 20) -> str:
        deadline = time.monotonic() + seconds
        while not until(text := self.text):
            assert time.monotonic() < deadline, f"not within {seconds} s:\n{text}"
            between_looks()
        return text

    def wait_state(self, name: str, until: Callable[[str], bool], seconds: float = 20) -> str:
        deadline = time.monotonic() + seconds
        while not until(value := self.state(name)):
            assert time.monotonic() < deadline, f"{name} is {value!r} after {seconds} s"
            between_looks()
        return value


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    subprocess.run(["tmux", "-S", str(server.socket), "kill-server"], capture_output=True, check=False)


def test_the_main_path_from_start_to_quit(tmux: Tmux, tmp_path: Path) -> None:
    blocks, log, told = rollouts(SAMPLE.read_bytes()), tmp_path / "train.log", tmp_path / "told"
    log.write_bytes(b"".join(blocks[:18]))
    tmux.open(f"{sys.executable} -m miles_tui {log} --on-alert 'cat >> {told}'")
    tmux.wait(lambda text: "● healthy" in text and "rollout 17 of 48" in text)
    before = tmux.wait_state("pane_title", lambda title: title == "● healthy · 17/48")

    for number, block in enumerate(blocks[18:26], 18):
        with log.open("ab") as file:
            file.write(block)
        tmux.wait(has(f"rollout {number} of 48"))
    tmux.wait(lambda text: "▲ 1 alert" in text and "▲ gap-jump" in text)
    assert tmux.wait_state("pane_title", lambda title: title != before) == "▲1 gap-jump · 25/48"
    told_by = time.monotonic() + 10
    while not told.exists() or not told.read_text().endswith("\n"):
        assert time.monotonic() < told_by
        between_looks()
    assert told.read_text().count('"condition": "gap-jump"') == 1

    tmux.send("a")
    tmux.wait(lambda text: "seen" in text.partition("gap-jump")[2].splitlines()[0])
    tmux.send("Down", "Down", "Down", "Enter")
    chart = tmux.wait(lambda text: "log scale" in text and re.search(r"^ *gap\b", text, re.MULTILINE) is not None)
    tmux.send("+")
    tmux.wait(lambda text: text != chart)
    tmux.send("Escape")
    tmux.wait(lambda text: "alerts: 1 firing" in text)
    browse(tmux)
    tmux.send("t")
    tmux.wait(lambda text: re.search(r"theme \S+, \d+ of \d+", text) is not None)

    for columns, rows in ((80, 24), (60, 15), (40, 10), (24, 5), (40, 10), (120, 36)):
        tmux.resize(columns, rows)
        text = tmux.wait(has("too small" if columns < 38 else "rollout time", "▲ 1 alert"))
        assert all(len(line) <= columns for line in text.splitlines())
    tmux.wait(lambda text: "range (first 10)" in text)

    tmux.send("q")
    text = tmux.wait(lambda text: "status 0" in text)
    assert text.split() == ["status", "0"], "something is left on the screen, or in the input"
    assert (tmux.state("alternate_on"), tmux.state("mouse_any_flag"), tmux.state("cursor_flag")) == ("0", "0", "1")
    assert "gap-jump" not in tmux.state("pane_title")
    assert not (tmp_path / "state").exists(), "nothing is written unasked"


def browse(tmux: Tmux) -> None:
    """To the metrics, a filter, the detail of one, in a pane that is made small and large again, and back."""
    tmux.send("m")
    tmux.wait(lambda text: re.search(r"^ *metrics .* \d+ metrics$", text, re.MULTILINE) is not None)
    tmux.send("/")
    tmux.wait(lambda text: "Enter keep  Esc clear" in text)
    tmux.send("k", "l")
    tmux.wait(lambda text: "metrics  / kl▏" in text and "2 of " in text)
    tmux.send("Enter")
    tmux.wait(lambda text: "/ filter" in text)
    tmux.send("Down", "Enter")
    tmux.wait(lambda text: re.search(r"^ *KL to the engine .*last", text, re.MULTILINE) is not None)
    tmux.resize(40, 10)
    small = tmux.wait(lambda text: "KL to the engine" in text and "Esc back" in text and "v keep" not in text)
    assert all(len(line) <= 40 for line in small.splitlines())
    tmux.resize(120, 36)
    tmux.wait(lambda text: "KL to the engine" in text and "v keep" in text)
    tmux.send("Escape")
    tmux.wait(lambda text: "metrics  / kl" in text)
    tmux.send("Escape")
    tmux.wait(lambda text: "metrics  /" not in text)
    tmux.send("Escape")
    tmux.wait(lambda text: "alerts: 1 firing" in text)


@pytest.mark.parametrize(
    ("environment", "glyph", "plain"),
    [
        ("TERM=dumb", "* healthy", True),
        ("TERM=linux", "* healthy", True),
        ("LC_ALL=C", "* healthy", True),
        ("NO_COLOR=1", "● healthy", False),
        ("TERM=xterm COLORTERM=", "● healthy", False),
    ],
)
def test_poor_terminals_are_readable_and_left_clean(
    tmux: Tmux, tmp_path: Path, environment: str, glyph: str, plain: bool
) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"".join(rollouts(SAMPLE.read_bytes())[:18]))
    tmux.open(f"env {environment} {sys.executable} -m miles_tui {log}")
    text = tmux.wait(lambda text: glyph in text and "rollout time" in text)
    assert text.isascii() == plain
    assert "\ufffd" not in text
    if environment == "NO_COLOR=1":
        assert not re.search(r"\x1b\[[\d;]*(3[0-7]|38|48|9\d)\b", tmux("capture-pane", "-p", "-e", "-t", "main"))
    tmux.send("?")
    tmux.wait(lambda text: "Quit at once" in text)
    tmux.send("Escape")
    tmux.wait(lambda text: "rollout time" in text)
    tmux.send("q")
    assert tmux.wait(lambda text: "status 0" in text).split() == ["status", "0"]


def test_without_the_mouse_it_is_left_to_tmux_and_a_key_takes_it(tmux: Tmux, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"".join(rollouts(SAMPLE.read_bytes())[:3]))
    tmux.open(f"{sys.executable} -m miles_tui --no-mouse {log}")
    tmux.wait(lambda text: "rollout time" in text)
    assert tmux.state("mouse_any_flag") == "0"
    tmux.send("M")
    tmux.wait_state("mouse_any_flag", lambda flag: flag == "1")
    tmux.send("M")
    tmux.wait_state("mouse_any_flag", lambda flag: flag == "0")
    tmux.send("q")
    tmux.wait(lambda text: "status 0" in text)


def test_settings_are_read_and_the_view_is_remembered_where_asked(tmux: Tmux, tmp_path: Path) -> None:
    log, config = tmp_path / "train.log", tmp_path / "config" / "miles-tui" / "config.toml"
    log.write_bytes(b"".join(rollouts(SAMPLE.read_bytes())[:3]))
    config.parent.mkdir(parents=True)
    config.write_text("remember = true\nmouse = false\n[notify]\ntitle = false\n")
    tmux.open(f"{sys.executable} -m miles_tui {log}; {sys.executable} -m miles_tui {log}")
    tmux.wait(lambda text: "rollout time" in text)
    tmux.send("Down")
    tmux.wait(lambda text: "answer length ·" in text)
    assert tmux.state("mouse_any_flag") == "0"
    assert "learning" not in tmux.state("pane_title")
    tmux.send("q")
    view = tmp_path / "state" / "miles-tui" / "view.json"
    deadline = time.monotonic() + 20
    while not view.exists():
        assert time.monotonic() < deadline
        between_looks()
    tmux.wait(lambda text: "answer length ·" in text)
    tmux.send("q")
    tmux.wait(lambda text: "status 0" in text)


def test_copied_text_is_in_tmuxs_buffer_and_the_message_says_how_to_paste(tmux: Tmux) -> None:
    tmux.open(f"{sys.executable} -m miles_tui {SAMPLE}")
    tmux.wait(lambda text: "▲ gap-jump" in text)
    tmux.send("y")
    tmux.wait(lambda text: "gap-jump copied; tmux: prefix ] pastes" in text)
    assert "Likely cause: " in tmux("show-buffer")
    tmux.resize(40, 10)
    tmux.send("Y")
    tmux.wait(lambda text: "report copied; tmux: prefix ] pastes" in text)
    assert tmux("show-buffer").startswith("**gap-jump.log**")
    assert len(tmux("list-buffers").splitlines()) == 2, "one a copy"
    tmux.send("q")
    tmux.wait(lambda text: "status 0" in text)


def test_ctrl_z_gives_the_title_back_and_fg_takes_it_again(tmux: Tmux) -> None:
    tmux("new-session", "-d", "-s", "main", "-x", "100", "-y", "24", "env PS1='$ ' sh -i")
    tmux("select-pane", "-t", "main", "-T", "before")
    tmux.wait(lambda text: "$" in text)
    tmux.send(f"{sys.executable} -m miles_tui {SAMPLE}", "Enter")
    tmux.wait_state("pane_title", lambda title: title == "▲1 gap-jump · 47/48")
    tmux.send("C-z")
    tmux.wait(lambda text: "Stopped" in text)
    tmux.wait_state("pane_title", lambda title: title == "before")
    tmux.send("fg", "Enter")
    tmux.wait_state("pane_title", lambda title: title == "▲1 gap-jump · 47/48")
    tmux.wait(lambda text: "rollout 47 of 48" in text)
    tmux.send("q")
    tmux.wait_state("pane_title", lambda title: title == "before")


def test_a_command_that_runs_at_quit_is_ended_by_its_time_limit(tmux: Tmux, tmp_path: Path) -> None:
    blocks, log, pid = rollouts(SAMPLE.read_bytes()), tmp_path / "train.log", tmp_path / "pid"
    config = tmp_path / "config" / "miles-tui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[notify]\ncommand_seconds = 4\ncommand = 'echo $$ > {pid}; exec sleep 601'\n")
    log.write_bytes(b"".join(blocks[:18]))
    tmux.open(f"{sys.executable} -m miles_tui {log}")
    tmux.wait(lambda text: "rollout 17 of 48" in text)
    with log.open("ab") as file:
        file.write(b"".join(blocks[18:26]))
    deadline = time.monotonic() + 20
    while not pid.exists() or not pid.read_text().endswith("\n"):
        assert time.monotonic() < deadline
        between_looks()
    tmux.send("q")
    tmux.wait(lambda text: "status 0" in text)
    deadline = time.monotonic() + 20
    while psutil.pid_exists(int(pid.read_text())):
        assert time.monotonic() < deadline, "it outlives its time limit"
        between_looks()


def test_a_box_is_closed_by_esc_before_anything_else_and_by_a_screen_that_it_would_cover(
    tmux: Tmux, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "miles-tui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('theme = "nope"\n')
    tmux.open(f"{sys.executable} -m miles_tui {SAMPLE}")
    tmux.wait(lambda text: "no theme nope" in text)
    tmux.send("Enter")
    tmux.wait(lambda text: "no theme nope" in text and "Esc back" in text)
    tmux.send("Escape")
    tmux.wait(lambda text: "no theme nope" not in text and "Esc back" in text)
    tmux.send("Escape")
    tmux.wait(lambda text: "space pause" in text)
    tmux.send("q")
    tmux.wait(lambda text: "status 0" in text)
    tmux("respawn-window", "-k", "-t", "main", f"{sys.executable} -m miles_tui {SAMPLE}")
    tmux.wait(lambda text: "no theme nope" in text)
    tmux.resize(40, 10)
    tmux.wait(lambda text: "rollout time" in text and "theme" not in text)
