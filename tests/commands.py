"""The command line as a process: its output and its exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


LOGS = ROOT / "sample_logs"


def run(
    *argv: str, cwd: Path | None = None, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "miles_tui", *argv],
        capture_output=True, cwd=cwd, input=stdin, env={**os.environ, **(env or {})}, check=False, timeout=60,
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def one_clear_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("miles-tui: ")
    return lines[0]
