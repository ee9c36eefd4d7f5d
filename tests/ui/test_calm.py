"""What the alert pane says when nothing fires."""

from __future__ import annotations

from pathlib import Path

import pytest

from miles_tui.core.alerting.conditions.base import LEARNING, Evaluation, State
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.ingest.discovery import find_logs
from miles_tui.present.empty_state import calm_lines
from miles_tui.runs.read_run import read_into

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"


def test_what_a_rule_still_needs_is_counted_until_it_can_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log ends with the 13th rollout that the rule reads: it needs no more."""
    run = read_into(Monitor(keep_metrics=False), find_logs([LOGS / "resume.log"])[0]).state
    said = " ".join(text for line in calm_lines(snapshot_of(run), 120) for _, text in line)
    assert said == "no alert"
    states = run.judge.states
    states["rollout-slowdown"] = Evaluation(State.LEARNING, count=12, of=13)
    monkeypatch.setattr(RunState, "ended", "")
    states["clipped-on-policy"] = LEARNING
    said = " ".join(text for line in calm_lines(snapshot_of(run), 120) for _, text in line)
    assert said == "no alert still learning: rollout-slowdown 12 of 13, clipped-on-policy"
