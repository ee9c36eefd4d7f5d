"""The README's two lines stay true."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from pathlib import Path

import pytest
from alert_figures import FIGURES, into_readme
from terminal import Terminal

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def command(mark: str) -> str:
    """The one line in the code block after a mark."""
    found = re.search(rf"<!-- {mark} -->\s*```[a-z]*\n(.+)\n```", README)
    assert found, f"the README has no block marked {mark!r}"
    return found.group(1)


def test_the_first_line_installs_and_opens_the_demo() -> None:
    parts = [part.strip() for part in command("the main job").split("&&")]
    assert parts[0].startswith("python3.11 -m venv ")
    assert parts[1].split()[1:2] == ["install"]
    assert shlex.split(parts[-1])[1:] == ["demo"]


def test_its_program_part_shows_an_alert_within_fifteen_seconds() -> None:
    program = shlex.split(command("the main job").split("&&")[-1])[1:]
    with Terminal([sys.executable, "-m", "miles_tui", *program], 120, 36) as terminal:
        begin = time.monotonic()
        terminal.wait(lambda text: "gap-jump" in text and "weight" in text, 15)
        assert time.monotonic() - begin < 15
        terminal.send("q")
        assert terminal.wait_end() == 0


def test_the_second_line_runs_all_tests() -> None:
    line = command("the test command")
    assert line.rstrip().endswith("pytest")
    assert "'.[dev]'" in line


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"])
def test_what_the_readme_links_to_exists(name: str) -> None:
    assert f"({name})" in README
    assert (ROOT / name).exists()


def test_the_table_of_alerts_holds_the_figures_that_explain_quotes() -> None:
    figures = json.loads(FIGURES.read_text())
    assert into_readme(README, figures) == README
    assert f"alert_bench.py {' '.join(figures['command'].split()[1:3])}" in README
