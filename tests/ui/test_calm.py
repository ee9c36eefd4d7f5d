"""What the alert pane says when nothing fires."""

from __future__ import annotations

from pathlib import Path

from miles_tui.core.conditions.base import LEARNING, Reading, State
from miles_tui.core.judge import Judge
from miles_tui.ingest.logs import find_logs
from miles_tui.reading import read_log
from miles_tui.ui.calm import calm_lines
from miles_tui.ui.session import Session

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"


def test_what_a_rule_still_needs_is_counted_until_it_can_speak() -> None:
    """The log ends with the 13th rollout that the rule reads: it needs no more."""
    run = read_log(find_logs([LOGS / "resume.log"])[0], Judge())
    said = " ".join(text for line in calm_lines(Session("resume.log", run), 120) for _, text in line)
    assert said == "no alert"
    states = run.judge.states
    run.ended = ""
    states["rollout-slowdown"] = Reading(State.LEARNING, count=12, of=13)
    states["clipped-on-policy"] = LEARNING
    said = " ".join(text for line in calm_lines(Session("resume.log", run), 120) for _, text in line)
    assert said == "no alert still learning: rollout-slowdown 12 of 13, clipped-on-policy"
