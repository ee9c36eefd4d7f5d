"""Nothing that others wrote acts on the terminal: every command, with hostile names, profiles, settings and logs."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from pathlib import Path

import pytest
from commands import run
from terminal import Terminal

ACTS = "\x1b]0;owned\x07\x1b[2J\x9b31m\x85\x7f\r\x08\u202e\u2066\u200bX"
ESCAPED = json.dumps(ACTS)[1:-1].replace("\x7f", "\\u007f")  # for TOML
# Everything of Unicode's controls but the newline and the tab, and what turns the direction of text.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
NAME = r"a\x1b]0;t\x07\n\x7fb"
METRIC = "[2026-10-15 16:0{0}:38.107 x] metrics.py:89 - rollout {0}: {{'rollout/raw_reward': 0.5, '" + NAME + "': 1}}\n"
SECRET = "hf_" + "a1B2c3D4e5F6g7H8" * 2
PROFILE = f'name = "own{ESCAPED}"\nabout = "about{ESCAPED} {SECRET}"\nwarning = "warning{ESCAPED}"\nrollouts = 9\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with settings, profiles and logs, all of them hostile."""
    home = tmp_path / "miles-tui"
    (home / "profiles").mkdir(parents=True)
    (home / "themes").mkdir()
    (home / "profiles" / f"bad{ACTS}\n.toml").write_text(PROFILE)
    (home / "profiles" / "own.toml").write_text(PROFILE)
    (home / "profiles" / "wrong.toml").write_text(f'name = "x"\n"key{ESCAPED}" = 1\n')
    (home / "themes" / f"theme{ACTS}.toml").write_text(f'name = "x{ESCAPED}"\n')
    (home / "config.toml").write_text(
        f'theme = "th{ESCAPED}"\nprofile = "own"\nmetrics = ["m{ESCAPED}"]\n'
        f'[notify]\ncommand = "echo {SECRET}{ESCAPED}"\n'
    )
    log = "".join(METRIC.format(n) for n in range(5)) + f"ValueError: \x1b]0;owned\x07 {SECRET} \x9b\n"
    (tmp_path / f"log{ACTS}\n.log").write_text(log, encoding="utf-8")
    (tmp_path / "empty.log").write_text(f"nothing {ACTS}\n")
    return tmp_path


def is_harmless(text: str) -> None:
    assert not CONTROL.search(text), repr(CONTROL.search(text)) + repr(text)
    assert SECRET not in text


HOSTILE = f"no{ACTS}\nlog"
COMMANDS = [
    ["check", "LOG"],
    ["check", "LOG", "--profile", "own"],
    ["check", "LOG", "--format", "json", "--profile", "own"],
    ["check", "empty.log"],
    ["check", HOSTILE],
    ["check", "LOG", "--profile", HOSTILE],
    ["check", "LOG", "--profile", "wrong"],
    ["check", "LOG", "--pauses", HOSTILE],
    ["check", "LOG", "--since", HOSTILE],
    ["check", "LOG", f"--{HOSTILE}"],
    ["export", "LOG", "--format", "csv"],
    ["export", "LOG"],
    ["export", HOSTILE],
    ["calibrate", "LOG"],
    ["calibrate", "LOG", "-o", f"out{ACTS}.toml"],
    ["calibrate", "LOG", "--name", f"name{ACTS}"],
    ["calibrate", "LOG", "--pause", f"({ACTS}"],
    ["explain", HOSTILE],
    ["explain"],
    ["profiles"],
    ["status", "LOG"],
    ["status", "."],
    ["report", "LOG"],
    ["report", "LOG", "--profile", "own"],
    ["report", HOSTILE],
    ["config"],
    ["replay", HOSTILE],
    ["demo", HOSTILE],
    [HOSTILE],
    ["LOG", "--theme", HOSTILE],
    ["LOG", "--compare", HOSTILE],
]


@pytest.mark.parametrize("argv", COMMANDS, ids=lambda argv: ascii(" ".join(argv)).replace("\\", "")[:40])
def test_no_command_lets_a_control_through(place: Path, argv: list[str]) -> None:
    name = f"log{ACTS}\n.log"
    done = run(*[name if part == "LOG" else part for part in argv], cwd=place, env={"XDG_CONFIG_HOME": str(place)})
    assert "Traceback" not in done.stderr
    assert done.stdout + done.stderr
    is_harmless(done.stdout)
    is_harmless(done.stderr)


def test_the_settings_and_a_profile_are_toml_that_says_the_same(place: Path) -> None:
    import tomllib

    text = run("config", cwd=place, env={"XDG_CONFIG_HOME": str(place)}).stdout
    assert tomllib.loads(text)["metrics"] == [f"m{ACTS}"]


def test_an_exported_name_is_whole_in_json_and_harmless_in_csv(place: Path) -> None:
    name = f"log{ACTS}\n.log"
    lines = run("export", name, cwd=place).stdout.splitlines()
    assert [json.loads(line)["metrics"]["a\x1b]0;t\x07\n\x7fb"] for line in lines] == [1] * 5
    rows = list(csv.reader(run("export", name, "--format", "csv", cwd=place).stdout.splitlines()))
    assert [row[4] for row in rows if row[4].startswith("a")] == ["a b"] * 5


@pytest.mark.parametrize("argv", [["LOG"], ["LOG", "empty.log"], ["."]], ids=" ".join)
def test_the_dashboard_writes_no_control_of_others(place: Path, argv: list[str]) -> None:
    """Of all that it writes: what is left behind its own sequences has no control in it, and no title is owned."""
    name = f"log{ACTS}\n.log"
    given = [str(place / (name if part == "LOG" else part)) for part in argv]
    where = {"XDG_CONFIG_HOME": str(place), "XDG_STATE_HOME": os.devnull}
    terminal = Terminal([sys.executable, "-m", "miles_tui", *given], env=where)
    try:
        terminal.wait(lambda text: "reward" in text or "log" in text)
        terminal.drain()
        for keys in ("l", "\x1b", "m", "\x1b", "t", "?"):
            terminal.send(keys)
            terminal.drain()
    finally:
        terminal.send("q")
        terminal.process.terminate(force=True)
    written = terminal.raw.decode(errors="replace")
    assert "\x1b]0;" not in written
    own = re.compile(
        r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\]2;[^\x07\x1b]*(?:\x1b\\|\x07)|\x1b[ -/]*[0-~]|\x1b[P_X^][^\x1b]*\x1b\\"
    )
    is_harmless(own.sub("", written).replace("\r", "").replace("\x07", ""))
