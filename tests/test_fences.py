"""The fences: style, types and floors are tests like any other, so that one command runs them all."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Beside the Python that runs the tests, whether or not its environment is activated.
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports"],
    ],
    ids=" ".join,
)
def test_fence(command: list[str]) -> None:
    tool = shutil.which(command[0], path=str(BIN)) or shutil.which(command[0])
    assert tool, f"{command[0]} is missing: install the project with its [dev] extra"
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def headless_modules(*argv: str) -> set[str]:
    """The modules that a command leaves imported."""
    code = (
        "import sys\nfrom miles_tui.cli.main import main\n"
        f"main({list(argv)!r})\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


# What a quick command does without, and what it costs to import: models 75 ms, the schema types of their core 16, a
# screen 140, the others 1 to 5 each.
HEAVY = {
    "pydantic", "textual", "rich", "plotext", "asyncio", "watchfiles", "importlib.metadata", "statistics", "difflib",
    "shutil", "tomllib", "subprocess", "logging", "pydantic_core.core_schema",
}  # fmt: skip


@pytest.mark.parametrize("command", ["check", "check --format json", "export", "status", "report"])
def test_quick_commands_import_nothing_heavy(command: str) -> None:
    modules = headless_modules(*command.split(), str(ROOT / "sample_logs" / "gap-jump.log"))
    assert "miles_tui.core.parsing.reader" in modules
    assert not modules & HEAVY


def test_the_first_paint_waits_for_nothing_that_only_reads() -> None:
    code = (
        "import sys\nfrom miles_tui.ui.app import MilesApp\nfrom miles_tui.runs.sources import LiveFeed\n"
        "from miles_tui.runs.run_options import Setup\n"
        "MilesApp(LiveFeed('train.log', 'train.log'), setup=Setup(theme='light'))\nprint('\\n'.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "miles_tui.ui.screens.main" in modules
    later = {"core.parsing.reader", "core.parsing.metric_line", "core.parsing.tail_buffer", "ingest.follow.follower",
             "ingest.follow.tailer", "commands.check", "config.settings", "ui.theming.theme_file"}  # fmt: skip
    screens = {f"ui.screens.{name}" for name in ("chart", "help", "log", "metrics", "steptime", "themes")}
    named = {f"miles_tui.{name}" for name in later | screens}
    assert all(map(importlib.util.find_spec, named)), "they are where they are looked for"
    assert not modules & named
    assert not modules & {"pydantic", "pydantic_core", "plotext", "watchfiles", "statistics"}


def test_one_module_knows_plotext() -> None:
    imports = re.compile(r"""^\s*(?:import|from) plotext\b|import_module\(["']plotext""", re.MULTILINE)
    modules = (ROOT / "miles_tui").rglob("*.py")
    assert [p.name for p in modules if imports.search(p.read_text())] == ["chart.py"]
