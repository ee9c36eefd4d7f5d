"""Measure what the program costs, and put the figures into the README: `python tests/cost_figures.py`.

    screen   ../shared/bench/screen_cost.py, both sizes, and the same script on lnav and btop where they are installed
    log      a big log (tests/make_big_log.py) through `grep -c`, `export` and `check`, whole processes, best of five

About twelve minutes; nothing else should run on the machine. `--only screen` or `--only log` takes one part. The
program measured is `miles-tui` of this Python's environment: install it without -e, so that it is what people run.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
OURS = Path(sys.executable).parent / "miles-tui"
METRIC_LINE = r"(step|rollout|perf|eval) [0-9]+: [{]"
ROWS = (
    ("idle, bytes a second to the terminal", "idle_bytes_per_s"),
    ("idle, % of a core", "idle_cpu_percent"),
    ("a rollout, bytes", "live_bytes_per_rollout"),
    ("a rollout, ms of CPU", "live_cpu_ms_per_rollout"),
    ("write to screen, median ms", "append_to_screen_p50_ms"),
    ("10,000 engine lines a second, bytes a second", "noise_bytes_per_s"),
    ("10,000 engine lines a second, % of a core", "noise_cpu_percent"),
    ("memory at the end, MiB", "rss_after_mib"),
)


def screen_cost(bench: Path, *options: str) -> dict[str, object]:
    """What the bench prints, as an object."""
    done = subprocess.run([sys.executable, str(bench), *options], capture_output=True, text=True, check=True)
    print(*options, done.stdout.strip(), flush=True)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def version_of(program: str) -> str:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"\d+\.\d+(\.\d+)?", said)
    return f"{program} {number[0]}" if number else program


def screen_table(bench: Path) -> str:
    """The README's table: this program at two sizes, the others at 120x36."""
    ours = ["--command", str(OURS)]
    columns = [("miles-tui", screen_cost(bench, *ours))]
    columns.append(("miles-tui 80x24", screen_cost(bench, *ours, "--columns", "80", "--rows", "24")))
    if shutil.which("lnav"):
        columns.append((version_of("lnav"), screen_cost(bench, "--command", "lnav")))
    if shutil.which("btop"):
        row = screen_cost(bench, "--command", "btop", "--no-log", "--text", "cpu")
        columns.append((version_of("btop"), {**row, "rss_after_mib": row["rss_mib"]}))
    head = "| | " + " | ".join(name for name, _ in columns) + " |"
    lines = [head, "|---" * (len(columns) + 1) + "|"]
    for label, key in ROWS:
        lines.append(f"| {label} | " + " | ".join(str(row.get(key, "")) for _, row in columns) + " |")
    return "\n".join(lines)


def best_of(command: list[str], times: int = 5) -> float:
    """Seconds of a whole process, the least of some."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.PIPE, check=False)  # grep stops at once where nobody reads
        found.append(time.perf_counter() - begin)
    return min(found)


def log_table(megabytes: int) -> str:
    """The README's table of catching up with a big log."""
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "train.log")
        subprocess.run([sys.executable, str(ROOT / "tests" / "make_big_log.py"), log, str(megabytes)], check=True)
        commands = {
            "LC_ALL=C grep -cE '(step\\|rollout\\|perf\\|eval) [0-9]+: [{]'": [
                "env",
                "LC_ALL=C",
                "grep",
                "-cE",
                METRIC_LINE,
                log,
            ],
            "miles-tui export": [str(OURS), "export", log],
            "miles-tui check": [str(OURS), "check", log],
        }
        lines = ["| a log of a gigabyte | seconds | times grep |", "|---|---|---|"]
        floor = 0.0
        for name, command in commands.items():
            took = best_of(command)
            floor = floor or took
            lines.append(f"| `{name}` | {took:.2f} | {took / floor:.1f} |")
            print(lines[-1], flush=True)
        return "\n".join(lines)


def into_readme(text: str, name: str, table: str) -> str:
    """The README with this table between the marks of that name."""
    begin, end = f"<!-- {name} figures -->", f"<!-- end of {name} figures -->"
    assert f"{begin}\n" in text, f"README.md has no {begin}"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{table}\n{end}", text, flags=re.DOTALL)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", choices=("screen", "log"))
    p.add_argument("--megabytes", type=int, default=1000)
    p.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench" / "screen_cost.py")
    a = p.parse_args()
    if a.only != "log":
        README.write_text(into_readme(README.read_text(), "cost", screen_table(a.bench)))
    if a.only != "screen":
        README.write_text(into_readme(README.read_text(), "log", log_table(a.megabytes)))


if __name__ == "__main__":
    main()
