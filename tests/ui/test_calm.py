from __future__ import annotations

from pathlib import Path

from miles_tui.core.judge import Judge
from miles_tui.ingest.logs import find_logs
from miles_tui.reading import read_log
from miles_tui.ui.calm import calm_lines
from miles_tui.ui.session import Session

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"


def test_a_rule_that_learns_on_with_all_the_rollouts_it_needs_gives_no_count() -> None:
    run = read_log(find_logs([LOGS / "resume.log"])[0], Judge())
    said = " ".join(text for line in calm_lines(Session("resume.log", run), 120) for _, text in line)
    assert "still learning: rollout-slowdown" in said
    assert "13 of 13" not in said
