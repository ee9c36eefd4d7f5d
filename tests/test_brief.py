"""The state of a run in a few words: the line for a status bar and the report to paste."""

from __future__ import annotations

import pytest
from runs import args, healthy, rollout, state

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import Evidence
from miles_tui.core.model.records import Event, EventKind, Item, Record
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.present.header import verdict
from miles_tui.present.status_line import paste, status_line
from miles_tui.present.styled_text import plain_text

DONE = Event(EventKind.JOB_DONE, "Job 'raysubmit_1' succeeded", 99_000.0)
FAILED = Event(EventKind.JOB_FAILED, "Job 'raysubmit_1' failed", 99_000.0)
SILENCE = Event(EventKind.CLOCK, time=99_000.0)


@pytest.mark.parametrize(
    ("end", "line"),
    [
        ([DONE], "✓ finished · 29"),
        ([FAILED], "✖ crashed · 29"),
        ([SILENCE], "■ stalled · 29"),
        ([], "● healthy · 29"),
        ([item for n in (30, 31, 32) for item in rollout(n, gap=0.05)], "▲1 gap-jump · 32"),
    ],
    ids=["finished", "crashed", "stalled", "healthy", "alert"],
)
def test_a_sign_means_the_same_as_on_the_screen(end: list[Item], line: str) -> None:
    run = state([*healthy(30), *end])
    assert status_line(snapshot_of(run)) == line
    assert plain_text(verdict(snapshot_of(run)))[0] == line[0]


def test_a_warning_is_told_from_a_critical_alert() -> None:
    run = state([*healthy(30), *rollout(30, clip=0.001)])
    assert status_line(snapshot_of(run)) == "△1 clipped-on-policy · 30"
    assert plain_text(verdict(snapshot_of(run)))[0] == "△"


def test_an_alert_before_the_first_rollout_is_said() -> None:
    run = RunState(Judge())
    run.feed([FAILED])
    assert status_line(snapshot_of(run)) == "✖ crashed · –"


def test_the_worst_of_many_alerts_is_first_in_the_report() -> None:
    run = state([*healthy(12), *rollout(12, grad=float("nan")), *healthy(6, 13)])
    for name in ("wandb-offline", "wandb-group", "tensorboard", "a", "b", "c", "d"):
        run.judge.raise_("known-message", 18, None, Evidence(text=name), message=name)
    run.judge.raise_("secret-in-log", 18, None, Evidence(text="a key"))
    run.judge.raise_("crashed", 18, None, Evidence(text="the end"))
    told = [
        line.split()[1].strip("*") for line in paste(snapshot_of(run), "a.log").splitlines() if line.startswith("- ")
    ]
    assert told == ["crashed", "secret-in-log", "not-finite", *["known-message"] * 3]


def test_the_report_has_the_scores_of_the_main_screen() -> None:
    names = ("eval/aime-2024", "eval/gsm8k", "eval/gsm8k-truncated_ratio", "eval/lag_steps")
    run = state([*healthy(12), Record("eval", 11, dict.fromkeys(names, 0.5), 4000.0)])
    rows = [line.split()[0] for line in paste(snapshot_of(run), "a.log").splitlines() if line.startswith("eval/")]
    assert rows == ["eval/aime-2024", "eval/gsm8k"]


def test_the_report_names_the_window_of_its_means() -> None:
    run = RunState(Judge(), window=9)
    run.feed(healthy(12))
    assert "mean 9" in paste(snapshot_of(run), "a.log")
    assert "mean 5" not in paste(snapshot_of(run), "a.log")


def test_the_report_says_the_day_where_it_is_another() -> None:
    run = state([args(num_rollout=48), *healthy(12)])
    assert "last line 00:47" in paste(snapshot_of(run), "a.log", today=80_000.0)
    assert "last line 1 Jan 00:47" in paste(snapshot_of(run), "a.log", today=3 * 86_400.0)
