"""The browser of every metric: what a filter means, how the list is made, every key, and that it costs what is seen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from driven import Driven
from hypothesis import given
from hypothesis import strategies as st
from runs import curves
from textual.events import Key, Paste

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.series import Series
from miles_tui.core.model.signals import scores_of
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.core.text.cells import cells, middle
from miles_tui.present.metric_tree import Lazily, MetricEntry, entries, widths
from miles_tui.present.name_filter import matcher
from miles_tui.present.view_models import row_view
from miles_tui.runs.run_options import Setup
from miles_tui.runs.selection import Chosen, extra_rows, row_names, subject_of
from miles_tui.ui.screens.chart import ChartScreen
from miles_tui.ui.screens.main import MainScreen
from miles_tui.ui.screens.metrics import MetricsScreen
from miles_tui.ui.widgets.signals import SignalTable

Dashboard = Callable[..., Any]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
SAMPLE = "gap-jump.log"


def series(*values: float) -> Series:
    out = Series()
    for rollout, value in enumerate(values):
        out.set(rollout, value)
    return out


def record(kind: str, number: int, metrics: dict[str, float]) -> bytes:
    return f"[2026-10-15 16:{number % 60:02}:00] log.py:1 - {kind} {number}: {metrics}\n".encode()


def shown(screen: Any) -> list[str]:
    """The lines of the list that are in sight, without signs and margins."""
    lines = screen.text.splitlines()
    return [line.strip(" ▸▾v*") for line in lines[2:-2] if line.strip()]


# -- what a filter means -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "name", "meant"),
    [
        ("", "train/ppo_kl", True),
        ("KL", "train/ppo_kl", True),
        ("kl train", "train/ppo_kl", True),
        ("kl perf", "train/ppo_kl", False),
        ("*kl", "train/ppo_kl", True),
        ("ppo*", "train/ppo_kl", True),
        ("kl*", "train/ppo_kl", False),
        ("train/*", "train/ppo_kl", True),
        ("pass@?", "passrate/pass@8", True),
        ("pass@?", "passrate/pass@16", False),
        ("/kl$/", "train/train_rollout_kl", True),
        ("/kl$", "train/train_rollout_kl", True),
        ("/^rollout/", "train/train_rollout_kl", False),
        ("/", "anything", True),
        ("count_1.0", "rollout/zero_std/count_1.0", True),
    ],
)
def test_what_a_filter_means(typed: str, name: str, meant: bool) -> None:
    assert matcher(typed)(name) is meant


def test_a_regex_that_is_none_is_a_reason() -> None:
    with pytest.raises(ValueError, match="no regex yet"):
        matcher("/(kl")


@given(st.text(max_size=20), st.text(max_size=20))
def test_nothing_that_is_typed_ends_it(typed: str, name: str) -> None:
    with suppress(ValueError):
        assert matcher(typed)(name) in (True, False)


# -- the list ----------------------------------------------------------------------------------


def test_groups_come_in_their_order_and_numbers_by_size() -> None:
    names = ("passrate/pass@16", "passrate/pass@2", "train/loss", "rollout/rewards", "bare", "eval/x", "perf/step_time")
    found = entries({name: series(1.0) for name in names}, matcher(""), set())
    assert [e.label for e in found if e.is_group] == ["rollout", "train", "perf", "eval", "passrate", "other"]
    assert [e.label for e in found if e.group == "passrate"] == ["passrate", "pass@2", "pass@16"]
    assert found[-1] == MetricEntry("bare", ("bare",), "other")


def test_a_closed_group_is_one_line_that_says_how_many() -> None:
    metrics = {f"train/{i}": series(1.0) for i in range(7)}
    (only,) = entries(metrics, matcher(""), {"train"})
    assert only.closed
    assert len(only.names) == 7


def test_learning_rates_are_one_line_while_they_are_equal() -> None:
    metrics = {f"train/lr-pg_{i}": series(1e-6, 2e-6) for i in range(4)}
    labels = [e.label for e in entries(metrics, matcher(""), set())]
    assert labels == ["train", "lr-pg_* (4 equal)"]
    metrics["train/lr-pg_3"].set(2, 5e-6)
    assert len(entries(metrics, matcher(""), set())) == 5


def test_lines_are_made_when_they_are_looked_at() -> None:
    made: list[int] = []

    def make(at: int) -> list[tuple[str, str]]:
        made.append(at)
        return [("text", str(at))]

    lines = Lazily(1000, make)
    assert len(lines) == 1000
    assert len(lines[500:520]) == 20
    assert lines[7] == [("text", "7")]
    assert made == [*range(500, 520), 7]


@given(st.integers(38, 250), st.integers(1, 90))
def test_columns_fit(width: int, longest: int) -> None:
    w = widths(width, longest)
    assert 2 * w.margin + 3 + w.name + 2 * (w.number + 1) + 3 + w.spark <= width
    assert w.name >= 8 or w.name == longest


@given(st.text(max_size=40), st.integers(0, 30))
def test_both_ends_of_a_long_name_stay(text: str, width: int) -> None:
    short = middle(text, width)
    assert cells(short) <= width
    if cells(text) > width >= 3 and text.isascii() and text.isprintable():
        assert short[0] == text[0]
        assert short[-1] == text[-1]


# -- rows beyond the signals -------------------------------------------------------------------


def test_scores_are_told_from_their_statistics() -> None:
    names = ["eval/gsm8k", "eval/gsm8k-truncated_ratio", "eval/gsm8k-pass@16", "eval/aime/response_len/mean",
             "eval/aime-2024", "eval/lag_steps", "eval/duration_seconds", "train/loss"]  # fmt: skip
    assert scores_of(names) == ["eval/gsm8k", "eval/aime-2024"]


def test_rows_are_the_signals_of_the_settings_then_scores_then_pinned_ones() -> None:
    run = RunState(Judge())
    run.feed(Reader().feed(record("eval", 0, {"eval/gsm8k": 0.5}) + record("step", 0, {"train/loss": 0.1})))
    chosen = Chosen(pins=["train/loss", "eval/gsm8k", "not/logged"])
    assert extra_rows(run.metrics, chosen, ["train/loss"]) == ["eval/gsm8k", "train/loss"]
    setup = Setup(signals=("gap", "reward"), metrics=("not/logged",))
    assert row_names(run.metrics, chosen, setup) == ["gap", "reward", "eval/gsm8k", "train/loss"]


def test_a_log_name_that_a_signal_is_read_from_stands_for_it() -> None:
    run = RunState(Judge())
    run.feed(Reader().feed(record("rollout", 0, {"rollout/raw_reward": 0.5, "rollout/rewards": 0.1})))
    assert subject_of(snapshot_of(run), "rollout/raw_reward") == "reward"
    assert subject_of(snapshot_of(run), "rollout/rewards") == "rollout/rewards"


def test_constant_zero_tells_nothing_unless_zero_is_healthy() -> None:
    run = RunState(Judge())
    zeros = {"train/entropy_loss": 0.0, "train/ppo_kl": 0.0, "train/mis_tis_catastrophic_seq_fraction": 0.0}
    for i in range(6):
        run.feed(Reader().feed(record("step", i, {**zeros, "train/loss": 0.1})))
    assert "not informative" in row_view(snapshot_of(run), curves(run), "train/entropy_loss").note
    assert row_view(snapshot_of(run), curves(run), "train/ppo_kl").note == ""
    assert row_view(snapshot_of(run), curves(run), "train/mis_tis_catastrophic_seq_fraction").note == ""
    assert row_view(snapshot_of(run), curves(run), "train/loss").note == ""


# -- the screen --------------------------------------------------------------------------------


async def test_it_lists_every_metric_of_the_log_with_its_meaning(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, size=(120, 90)) as screen:
        text = await screen.press("m")
        assert isinstance(screen.app.screen, MetricsScreen)
        names = screen.app.session.monitor.state.metrics
        assert f"{len(names)} metrics" in text
        listed = [entry.name for entry in screen.app.screen._entries if not entry.is_group]
        folded = [name for name in names if name.startswith("train/lr-pg_")]
        assert sorted(listed) == sorted(set(names) - set(folded[1:]))
        for line, says in (("entropy_loss", "not informative"), ("lr-pg_*", "(2 equal)"), ("grad_norm", "⠤")):
            assert any(line in row and says in row for row in text.splitlines()), line
        await screen.press("slash", *"grad_norm", "enter")
        assert "gradient norm · gradient norm" in screen.text
        assert "manual: 0.35 to 4.95" in screen.text
        await screen.press("slash", "ctrl+u", *"total_len", "enter")
        assert "rollout/total_lengths · mean length of prompt and answer together (tokens)" in screen.text
        assert any("total_lengths, tokens" in row for row in screen.text.splitlines())


async def test_a_metric_of_a_fork_is_said_to_be_unknown(dashboard: Dashboard) -> None:
    async with dashboard(record("step", 0, {"train/my_own": 0.5})) as screen:
        assert "train/my_own · not one of Miles's own metrics that are known here" in await screen.press("m")


async def test_the_list_is_filtered_as_one_types(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert "metrics  / ▏" in await screen.press("m", "slash")
        chosen = screen.app.session.chosen
        assert "metrics  / kl▏" in await screen.press("k", "l")
        assert [line.split()[0].rstrip(",") for line in shown(screen)] == ["train", "ppo_kl", "train_rollout_kl"]
        assert "2 of" in screen.text
        await screen.press("ctrl+u", *"*kl")
        assert len(shown(screen)) == 3
        await screen.press("ctrl+u", *"/^train.*kl$/")
        assert len(shown(screen)) == 3
        await screen.press("ctrl+u", *"/(")
        assert "no regex yet" in screen.text
        await screen.press("ctrl+u", *"nothing like it")
        assert "no metric fits" in screen.text
        await screen.press("ctrl+w", "ctrl+w", "ctrl+w", "backspace")
        assert chosen.filter == ""
        screen.app.post_message(Paste("step\ntime"))
        await screen.pilot.pause()
        assert chosen.filter == "steptime"
        await screen.press("escape")
        assert chosen.filter == ""
        assert "▏" not in screen.text
        assert isinstance(screen.app.screen, MetricsScreen)


async def test_keys_of_the_app_are_letters_while_one_types(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        look = screen.app.look.name
        await screen.press("m", "slash", *"qt?pvm")
        assert screen.app.session.chosen.filter == "qt?pvm"
        assert screen.app.look.name == look
        assert isinstance(screen.app.screen, MetricsScreen)


async def test_keys_in_one_burst_go_where_they_are_meant(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("m")
        for key in ("slash", *"resp"):
            screen.app.post_message(Key(key, "/" if key == "slash" else key))
        await screen.wait(lambda text: "/ resp" in text)
        assert screen.app.session.chosen.pins == []
        for key in (*"onse", "enter", "p"):
            screen.app.post_message(Key(key, key if len(key) == 1 else None))
        await screen.wait(lambda _: bool(screen.app.session.chosen.pins))
        assert screen.app.session.chosen.filter == "response"


async def test_a_click_on_the_filter_types_and_one_beside_it_does_not(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("m")
        await screen.pilot.click("#field")
        assert "metrics  / kl▏" in await screen.press("k", "l")
        await screen.pilot.click("#body", offset=(5, 1))
        await screen.wait(lambda text: "metrics  / kl" in text and "▏" not in text)


async def test_a_slash_within_a_filter_stays_in_its_place(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("m")
        for char in "/perf/roll":
            screen.app.post_message(Key("slash" if char == "/" else char, char))
        await screen.wait(lambda _: len(screen.app.session.chosen.filter) >= len("perf/roll"))
        assert screen.app.session.chosen.filter == "perf/roll"


def current(screen: Driven) -> str:
    metrics = screen.app.screen
    assert isinstance(metrics, MetricsScreen)
    assert metrics.current is not None
    return metrics.current.name


async def test_a_filter_is_kept_by_enter_and_cleared_by_escape(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("m", "slash", "k", "l", "enter", "escape")
        assert isinstance(screen.app.screen, MetricsScreen), "the first Esc clears the filter"
        assert f"{len(screen.app.session.monitor.state.metrics)} metrics" in screen.text
        await screen.press("slash", "k", "l", "down")
        assert current(screen) == "train/train_rollout_kl"
        await screen.press("slash", "up")
        assert current(screen) == "train/ppo_kl"
        await screen.press("q", "q")
        assert isinstance(screen.app.screen, MainScreen)
        await screen.press("m")
        assert current(screen) == "train/ppo_kl", "the cursor is where it was"


async def test_enter_opens_the_chart_of_any_metric(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        for typed, subject in (("total_lengths", "rollout/total_lengths"), ("raw_reward", "reward")):
            await screen.press("m", "slash", "ctrl+u", *typed, "enter", "enter")
            assert isinstance(screen.app.screen, ChartScreen)
            assert screen.app.screen.signal == subject
            assert subject in screen.text.splitlines()[1]
            assert "┬" in screen.text
            await screen.press("escape", "escape", "escape")


async def test_enter_on_a_group_closes_and_opens_it(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("m", "home")
        assert screen.app.screen.current.is_group
        count = len(screen.app.screen._entries)
        assert "Enter opens or closes the group" in screen.text
        await screen.press("enter")
        assert screen.app.screen.current.closed
        assert len(screen.app.screen._entries) == count - len(screen.app.screen.current.names)
        await screen.press("p", "v")
        assert screen.app.session.chosen == Chosen(folded={"rollout"}, at="rollout"), "a group is no metric"
        await screen.press("enter")
        assert len(screen.app.screen._entries) == count


async def test_p_pins_a_metric_as_a_row_and_takes_it_away(dashboard: Dashboard, blocks: list[bytes]) -> None:
    async with dashboard(b"".join(blocks[:20])) as screen:
        assert "has its row" in await screen.press("m", "slash", *"raw_reward", "enter", "p")
        await screen.press("slash", "ctrl+u", *"total_lengths", "enter", "p")
        assert "total_lengths pinned: a row of the main screen" in screen.text
        assert any("*" in line and "total_lengths" in line for line in screen.text.splitlines())
        await screen.press("escape", "escape")
        before = screen.line("rollout/total_lengths")
        await screen.give(blocks[20])
        assert screen.line("rollout/total_lengths") != before, "it goes on"
        await screen.press("G")
        assert screen.app.screen.query_one(SignalTable).selected.name == "rollout/total_lengths"
        await screen.press("p")
        assert "is no row any more" in screen.text
        assert len(screen.app.screen.query_one(SignalTable)._views) == 8
        assert "was not pinned" in await screen.press("home", "p")


async def test_scores_are_rows_when_they_are_logged(dashboard: Dashboard, blocks: list[bytes]) -> None:
    async with dashboard(b"".join(blocks[:6])) as screen:
        assert "eval/" not in screen.text
        await screen.give(record("eval", 5, {"eval/gsm8k": 0.7125, "eval/gsm8k-truncated_ratio": 0.1}))
        assert "0.713" in screen.line("eval/gsm8k")
        assert "truncated_ratio" not in screen.text


async def test_the_settings_decide_the_rows(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE, signals=("gap", "reward"), metrics=("train/loss",)) as screen:
        names = [view.name for view in screen.app.screen.query_one(SignalTable)._views]
        assert names == ["gap", "reward", "train/loss"]
        screen.line("train/loss")
        await screen.press("end", "enter")
        assert screen.app.screen.signal == "train/loss"
        await screen.press("down")
        assert screen.app.screen.signal == "gap"


async def test_rows_beyond_the_screen_are_scrolled_to(dashboard: Dashboard) -> None:
    metrics = ("train/loss", "perf/step_time", "rollout/rewards", "rollout/returns", "train/pg_loss")
    async with dashboard(SAMPLE, size=(60, 15), metrics=metrics) as screen:
        assert "train/loss" not in screen.text
        assert "train/pg_loss" in await screen.press("G")
        table = screen.app.screen.query_one(SignalTable)
        assert table.selected.name == "train/pg_loss"
        assert "reward " not in "".join(screen.text.splitlines()[2:4])
        await screen.press("g")
        screen.line("reward")
        await screen.press("G")
        await screen.pilot.click(SignalTable, offset=(10, table.size.height - 2))
        await screen.pilot.pause()
        assert table.selected.name == "rollout/returns"


async def test_a_thousand_metrics_cost_what_is_in_sight(dashboard: Dashboard) -> None:
    log = b"".join(
        record("perf", n, {f"rollout/m{i}": 0.5 + (n * i) % 7 for i in range(990)} | {"perf/train_time": 1.0})
        for n in range(8)
    )
    async with dashboard(log) as screen:
        await screen.press("m", "end")
        browser = screen.app.screen
        assert len(browser._entries) > 990
        assert len(browser._drawn) <= 2 * screen.app.size.height
        before = dict(browser._drawn)
        await screen.give(record("step", 8, {"train/loss": 0.1}))
        again = {name: browser._drawn[name] for name in before}
        assert all(again[name][1] is before[name][1] for name in before), (
            "a record without these metrics draws none of them again"
        )


async def test_names_in_the_log_cant_act_on_the_terminal(dashboard: Dashboard) -> None:
    async with dashboard(record("step", 0, {"train/loss": 0.1})) as screen:
        screen.app.session.monitor.state.metrics["train/\x1b[31mred\x07"] = series(1.0)
        text = await screen.press("m", "G")
        assert "\x1b" not in text
        assert "\x07" not in text
