"""The fences: style, types and floors are tests like any other, so that one command runs them all."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "miles_tui"
# Beside the Python that runs the tests, whether or not its environment is activated.
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports"],
        ["vulture"],
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
    assert all(map(importlib.util.find_spec, HEAVY)), "they are where they are looked for"
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
    modules = PACKAGE.rglob("*.py")
    assert [p.name for p in modules if imports.search(p.read_text())] == ["chart.py"]


def test_a_command_is_a_module() -> None:
    from miles_tui.cli import main, screens

    assert all(callable(getattr(screens, name)) for name in main.SCREENS)
    modules = {path.stem for path in (PACKAGE / "commands").glob("*.py")} - {"__init__", "arguments"}
    assert modules == set(main.HEADLESS)
    assert {line.split()[1] for line in main.SUMMARY.splitlines() if line.startswith("miles-tui ")} >= modules


MOST_LINES = {"module": 400, "class": 250, "function": 40}
# What is longer, and why it stays whole.
LONGER = {
    "core.alerting.engine.Judge": "every way to the state of the rules and alerts",
    "core.parsing.reader.Reader": "one buffer from bytes to records",
    "core.run.run_state.RunState": "the single writer",
    "core.run.snapshot_builder.snapshot_of": "a line for each field of the contract",
    "core.stats.duration_model._improve": "one step of one fit: its terms share all sums",
    "ingest.follow.follower.follow_blocking": "one loop, read in its order",
    "ingest.follow.rotation_tracker.RotationTracker": "which file comes next: a state machine",
    "ingest.follow.rotation_tracker.truncated_away": "the cases of one question, read in their order",
    "ingest.follow.tailer.Tailer": "one position in one log",
    "present.plot.chart.draw_chart": "one picture from its back to its front",
    "ui.screens.chart.ChartScreen": "an action for each of its keys",
    "ui.screens.main_view.MainView": "what Textual calls by name on the screen",
    "ui.widgets.alerts._arrange": "one layout from top to bottom",
}  # fmt: skip
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parsed_modules() -> Iterator[tuple[str, str, ast.Module]]:
    """Each module of the package: its name in it, its text, and that parsed."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), text, ast.parse(text)


def test_no_module_class_or_function_is_too_long() -> None:
    longer = set()
    for module, text, tree in parsed_modules():
        if len(text.splitlines()) > MOST_LINES["module"]:
            longer.add(module)
        for node in ast.walk(tree):
            if not isinstance(node, Definition):
                continue
            most = MOST_LINES["class" if isinstance(node, ast.ClassDef) else "function"]
            if (node.end_lineno or node.lineno) - node.lineno + 1 > most:
                longer.add(f"{module}.{node.name}")
    assert longer - LONGER.keys() == set(), "too long: divide it, or say in LONGER why not"
    assert LONGER.keys() - longer == set(), "no longer too long: take it off LONGER"


# Names that each module of a kind has.
BY_CONVENTION = {"CONDITION", "__all__"}


def test_one_name_is_one_thing() -> None:
    where: dict[str, set[str]] = defaultdict(set)
    public: set[str] = set()
    for module, _, tree in parsed_modules():
        for node in tree.body:
            if isinstance(node, Definition):
                where[node.name].add(module)
                public |= set() if node.name.startswith("_") else {node.name}
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
                    where[name].add(module)
    several = {name: found for name, found in where.items() if len(found) > 1 and name not in BY_CONVENTION}
    assert len(several.keys() & public) <= 6, several
    assert len(several) <= 25, several


def test_what_names_a_module_names_one_that_is_there() -> None:
    """In tests, settings of the tools and the manuals: a fence around a module that has moved holds nothing."""
    texts = [*(ROOT / "tests").rglob("*.py"), ROOT / "pyproject.toml"]
    text = "\n".join(path.read_text("utf-8") for path in texts)
    modules = set(re.findall(r"\bmiles_tui(?:\.[a-z_]+)+", text))
    modules |= {".".join(pair) for pair in re.findall(r"\bfrom (miles_tui[.a-z_]*) import ([a-z]\w*)", text)}
    assert {name for name in modules if not is_there(name)} == set()
    manuals = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
    floors = "|".join(path.name for path in PACKAGE.iterdir() if path.is_dir())
    path_in = re.compile(rf"(?<![\w/])(?:miles_tui/)?((?:{floors})/[\w/]*(?:\.py\b|/(?=`)))")
    files = {name for manual in manuals for name in path_in.findall(manual.read_text("utf-8"))}
    assert {name for name in files if not (PACKAGE / name).exists()} == set()


def is_there(name: str) -> bool:
    """Whether it is a module, or something in one."""
    try:
        if importlib.util.find_spec(name) is not None:
            return True
    except ModuleNotFoundError:
        pass
    owner, _, attribute = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(owner), attribute)
    except ModuleNotFoundError:
        return False
