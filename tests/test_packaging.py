"""The wheel holds what the program needs at run time, and works without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    # The build backend comes with the [dev] extra: no download, no isolated environment.
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(out),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_themes_the_demo_and_profiles(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    themes = {f"miles_tui/_themes/{p.name}" for p in (ROOT / "themes").glob("*.toml")}
    assert len(themes) >= 4
    assert themes <= names
    assert {"miles_tui/_sample_logs/gap-jump.log", "miles_tui/_profiles/manual.toml"} <= names
    assert not [n for n in names if n.startswith(("tests/", "themes/")) or "__pycache__" in n]


def test_the_installed_wheel_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    code = (
        "import miles_tui, sys\n"
        "from miles_tui.ui.theming.theme import load_themes\n"
        "from miles_tui.cli.main import main\n"
        "print(miles_tui.__file__)\n"
        "from miles_tui.config.paths import bundled_themes\n"
        "found = load_themes([bundled_themes()])\n"
        "print(len(found.themes), len(found.failed))\n"
        "sys.exit(main(['demo']))\n"  # standard output is no terminal: the text of `check`
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith(str(tmp_path)), done.stderr
    loaded, failed = map(int, lines[1].split())
    assert loaded >= 4
    assert failed == 0
    assert done.returncode == 1, done.stderr  # the demo's run ends with its gap-jump firing
    assert "gap-jump" in done.stdout


def test_sample_logs_are_in_the_sdist_and_not_ignored() -> None:
    logs = sorted(p.name for p in (ROOT / "sample_logs").glob("*.log"))
    assert len(logs) >= 10
    tracked = subprocess.run(["git", "ls-files", "sample_logs"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode == 0 and tracked.stdout:
        assert {f"sample_logs/{name}" for name in logs} <= set(tracked.stdout.split())
