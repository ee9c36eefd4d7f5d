"""Run the alert bench and put its figures where they are shown: `python tests/alert_figures.py [--runs 20]`.

The bench lies beside the project (`../shared/bench/alert_bench.py`). Its totals go to
`miles_tui/_bench/alerts.json`, which `miles-tui explain` quotes, and into the README's table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "miles_tui" / "_bench" / "alerts.json"
README = ROOT / "README.md"
MARKS = ("<!-- alert figures -->", "<!-- end of alert figures -->")


def totals(bench: Path, runs: int, *, calibrated: bool) -> dict[str, object]:
    """What the bench prints in its last line."""
    command = [sys.executable, str(bench), "--runs", str(runs), *(["--calibrated"] if calibrated else [])]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # the bench calls miles-tui by its name
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PATH": path})
    print(done.stdout)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(figures: dict[str, object]) -> str:
    """The README's table of these figures."""
    own, calibrated = figures["own"], figures["calibrated"]
    assert isinstance(own, dict)
    assert isinstance(calibrated, dict)
    rows = ["| | a run's own first rollouts | ranges from three healthy runs |", "|---|---|---|"]
    for label, key in (("false alarms per 1,000 rollouts", "false_alarms_per_1000_steps"),):
        rows.append(f"| {label} | {own[key]} | {calibrated[key]} |")
    rows.append(
        f"| missed | {own['missed']} of {own['expected']} | {calibrated['missed']} of {calibrated['expected']} |"
    )
    for label, key in (
        ("not resolved within 8 rollouts of the repair", "not_resolved_in_8_steps"),
        ("resolved although the fault goes on", "resolved_too_soon"),
    ):
        rows.append(f"| {label} | {own[key]} | {calibrated[key]} |")
    for condition in own["median_delay_over_limit"]:
        cells = [
            f"{f['median_delay_over_limit'][condition]} (worst {f['worst_delay_over_limit'][condition]})"
            for f in (own, calibrated)
        ]
        rows.append(f"| delay over the limit, `{condition}` | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def into_readme(text: str, figures: dict[str, object]) -> str:
    """The README with this table between its marks."""
    begin, end = MARKS
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{table(figures)}\n{end}", text, flags=re.DOTALL)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench" / "alert_bench.py")
    a = p.parse_args()
    figures: dict[str, object] = {
        "command": f"alert_bench.py --runs {a.runs} [--calibrated]",
        "own": totals(a.bench, a.runs, calibrated=False),
        "calibrated": totals(a.bench, a.runs, calibrated=True),
    }
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
    README.write_text(into_readme(README.read_text(), figures))


if __name__ == "__main__":
    main()
