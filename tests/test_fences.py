"""The fences: style, types and floors are tests like any other, so that one command runs them all."""

from __future__ import annotations

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
        "import sys\nfrom miles_tui.cli import main\n"
        f"main({list(argv)!r})\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("command", ["check", "export"])
def test_headless_commands_import_no_screen(command: str) -> None:
    modules = headless_modules(command, str(ROOT / "sample_logs" / "gap-jump.log"))
    assert "miles_tui.core.reader" in modules
    assert not {m.split(".")[0] for m in modules} & {"textual", "plotext", "rich"}
    if command == "export":
        assert "pydantic" not in modules, "export needs no model: pydantic costs 40 ms at start"


def test_one_module_knows_plotext() -> None:
    imports = re.compile(r"""^\s*(?:import|from) plotext\b|import_module\(["']plotext""", re.MULTILINE)
    modules = (ROOT / "miles_tui").rglob("*.py")
    assert [p.name for p in modules if imports.search(p.read_text())] == ["chart.py"]
