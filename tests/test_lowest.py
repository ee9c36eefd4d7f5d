"""The least versions that `pyproject.toml` asks for do: in an environment of their own, each is used once."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from commands import LOGS, ROOT
from terminal import Terminal

# What pip says where it reaches no index. A version that no index has is another thing: it lists those that there are.
UNREACHABLE = re.compile(r"from versions: none|connection|timed out|name resolution|network", re.IGNORECASE)


def least() -> list[str]:
    """The dependencies at their least versions: `textual>=8.2.5,<9` -> `textual==8.2.5`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [re.sub(r">=([\d.]+).*", r"==\1", dependency) for dependency in project["dependencies"]]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter that has them, and nothing newer; skips where they can't be fetched."""
    place = tmp_path_factory.mktemp("least")
    python = str(place / "bin" / "python")
    ours = importlib.util.find_spec("pip") is not None  # a pip of its own takes as long as all that it installs
    subprocess.run([sys.executable, "-m", "venv", *(["--without-pip"] if ours else []), str(place)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", python] if ours else [python, "-m", "pip"]
    pip += ["install", "--quiet", "--no-compile", "--no-input"]
    done = subprocess.run(
        [*pip, "--retries", "1", "--timeout", "20", *least()], capture_output=True, text=True, check=False
    )
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip("no package index is within reach")
    assert done.returncode == 0, done.stderr
    return python


def test_each_has_a_least_version() -> None:
    assert len(least()) == 4
    assert all("==" in dependency for dependency in least())


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    settings = tmp_path / "config" / "miles-tui" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('profile = "manual"\nwindow = 6\n')  # pydantic reads both
    return {"PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_the_headless_commands(python: str, environment: dict[str, str]) -> None:
    log = str(LOGS / "gap-jump.log")
    for argv, status in ((["check", "--profile", "manual", log], 1), (["config"], 0), (["report", log], 0)):
        done = subprocess.run(
            [python, "-m", "miles_tui", *argv], env={**os.environ, **environment}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        assert "Warning" not in done.stderr


def test_the_dashboard_follows_a_log_and_draws_a_chart(
    python: str, environment: dict[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    text = (LOGS / "plain-seed1.log").read_bytes()
    half = text.index(b"perf 24: ")
    log.write_bytes(text[:half])
    with Terminal([python, "-m", "miles_tui", str(log)], env=environment) as terminal:
        terminal.wait(lambda shown: "of 48" in shown and "profile manual" in shown)
        with log.open("ab") as file:
            file.write(text[half:])
        terminal.wait(lambda shown: "rollout 47 of 48" in shown)  # a file event, by watchfiles
        terminal.send("\r")
        terminal.wait(lambda shown: "zoom" in shown and "⠤" in shown)  # by plotext
        terminal.send("qT")
        terminal.wait(lambda shown: "high-contrast-dark" in shown)  # files of themes, by pydantic
        terminal.send("q")
        terminal.wait(lambda shown: "high-contrast-dark" not in shown)
        terminal.send("q")
        assert terminal.wait_end() == 0
        assert b"Traceback" not in terminal.raw


def test_the_demo(python: str, environment: dict[str, str]) -> None:
    with Terminal([python, "-m", "miles_tui", "demo", "--speed", "50"], env=environment) as terminal:
        terminal.wait(lambda shown: "gap-jump" in shown and "rollout 47 of 48" in shown)
        terminal.send("q")
        assert terminal.wait_end() == 0
