"""Charts of several signals, reference runs behind, long runs: what is drawn, said, sent, and which keys do it."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from drawn import rows, series, styled, wire
from driven import Driven
from runs import curves

from miles_tui.cli.screens import add_screen, setup_of
from miles_tui.commands.arguments import add_profile, parser
from miles_tui.core.alerting.alert import Alert, AlertState
from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.engine import Judge
from miles_tui.core.alerting.evidence import NO_EVIDENCE
from miles_tui.core.model.series import PAUSED
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.run.run_state import RunState
from miles_tui.core.run.snapshot_builder import snapshot_of
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.discovery import find_logs
from miles_tui.present.chart_data import PLENTY, chart_title, curves_of, marks_at, partners, values_of
from miles_tui.present.plot.chart import Other, PointMark, draw_chart
from miles_tui.present.plot.sparkline import ASCII_GLYPHS
from miles_tui.present.styled_text import plain_text
from miles_tui.ui.screens.chart import ChartScreen

Dashboard = Callable[..., Any]
MakeJudge = Callable[[dict[int, tuple[str, str]]], Judge]
SAMPLE = "talks-longer.log"


def title(screen: Driven) -> str:
    return screen.text.splitlines()[1].strip()


# -- what is drawn -----------------------------------------------------------------------------


def test_a_mark_has_the_sign_and_the_colour_of_its_alert() -> None:
    for condition, style, sign in (("gap-jump", "chart.mark", ""), ("grad-norm-growth", "warning", "△")):
        words = CONDITIONS[condition]
        alert = Alert(words, words.severity, words.signals, NO_EVIDENCE, 23, None)
        assert marks_at(alert.snapshot()) == [PointMark(23, style, sign)]
        alert.state, alert.resolved_step = AlertState.RESOLVED, 30
        assert marks_at(alert.snapshot()) == [PointMark(23, "chart.axis", sign), PointMark(30, "chart.axis", "·")]


def test_a_second_signal_has_its_numbers_at_the_right() -> None:
    s, other = series([0.5 + n / 100 for n in range(40)]), [(n, 400.0 + 10 * n) for n in range(40)]
    text = rows(draw_chart(100, 24, s.points(), s.means(), others=[Other(other, "chart.second", "2")], tag="1"))
    right = [float(row.rsplit("├", 1)[1]) for row in text if "├" in row]
    left = [float(row.split("┤")[0]) for row in text if "┤" in row]
    assert max(right) >= 700 > min(right) >= 300
    assert max(left) < 1.1
    assert all(len(row) == 100 for row in text)
    for tag in "12":
        assert any(tag + edge in row for row in text for edge in "│├"), "each line has its number behind its end"


def test_a_third_has_a_scale_of_its_own() -> None:
    s = series([float(n) for n in range(40)])
    others = [Other([(n, 9.0 * n) for n in range(40)], "chart.second", "2"),
              Other([(n, 80.0 - n) for n in range(40)], "chart.third", "3")]  # fmt: skip
    grid = styled(draw_chart(100, 24, s.points(), s.means(), others=others, tag="1", band=(5.0, 9.0)))
    for style in ("chart.second", "chart.third", "chart.mean"):
        assert sum(cell[0] == style for line in grid for cell in line) > 5, style
    ends = {char for line in grid[:-2] for style, char in line[80:] if style != "chart.axis"}
    assert {"1", "2", "3"} <= ends, "each line has its number behind its end, one above the other where they meet"
    assert all(char != "╌" for line in grid for _, char in line), "the range of one of several"


def test_without_colours_and_braille_lines_differ() -> None:
    s, other = series([1.0 + n for n in range(30)]), [(n, 90.0 - n) for n in range(30)]
    text = "".join(rows(draw_chart(80, 20, s.points(), s.means(), others=[Other(other)], glyphs=ASCII_GLYPHS)))
    assert text.isascii()
    assert text.count("+") > 10
    assert text.count("*") > 10


def test_too_narrow_for_a_right_axis_it_is_left_out() -> None:
    s = series([1.0 + n for n in range(30)])
    chart = draw_chart(24, 8, s.points(), s.means(), others=[Other([(n, 12345.0 + n) for n in range(30)])])
    assert all(len(row) == 24 for row in rows(chart))
    assert chart.left + chart.columns == 24


def test_references_set_the_scale_unless_they_press_the_signal_flat() -> None:
    s = series([1.0 + n / 30 for n in range(30)])
    near = draw_chart(80, 20, s.points(), s.means(), references=[[(n, 2.3) for n in range(30)]])
    far = draw_chart(80, 20, s.points(), s.means(), references=[[(n, 500.0) for n in range(30)]])
    assert near.bounds[1] >= 2.3
    assert far.bounds[1] < 3
    assert any(style == "chart.reference" for line in styled(near) for style, _ in line)
    assert all(style != "chart.reference" for line in styled(far) for style, _ in line), "no line along the edge"


def test_of_a_very_long_run_each_block_keeps_its_extremes() -> None:
    run, rng = RunState(Judge(), capacity=100_000), random.Random(1)
    s = run.signals["reward"]
    for n in range(60_000):
        s.set(n, rng.random())
    s.set(60_000, 7.0)
    s.set(60_001, math.nan)
    s.set(60_002, 0.5, PAUSED)
    s.set(60_003, 0.25)
    points, means = values_of(curves(run), "reward")
    assert len(points) <= PLENTY
    assert max(p.value for p in points if math.isfinite(p.value)) == 7.0
    assert min(p.value for p in points) == min(s.y[:60_000])
    assert any(math.isnan(p.value) for p in points)
    assert any(p.flags & PAUSED for p in points)
    assert points[-1].rollout == 60_003
    assert [p.rollout for p in points] == sorted({p.rollout for p in points})
    assert 1000 < len(means) <= PLENTY
    begin = time.process_time()
    values_of(curves(run), "reward")
    assert time.process_time() - begin < 0.5


def simulated(kind: str, rollouts: int) -> list[float]:
    rng = random.Random(kind)
    match kind.removesuffix(" again"):
        case "flat":
            return [0.015 + rng.gauss(0, 0.0003) for _ in range(rollouts)]
        case "spikes":
            return [abs(rng.gauss(1, 0.3)) * (4 if rng.random() < 0.02 else 1) for _ in range(rollouts)]
        case _:
            return [0.55 + 0.25 * min(1.0, n / 800) + rng.gauss(0, 0.04) for n in range(rollouts)]


@pytest.mark.parametrize("history", [100, 998, 1998])  # they pass 1,000 and 2,000, where the axis is another
@pytest.mark.parametrize("kind", ["flat", "spikes", "climbs"])
def test_a_new_scale_is_within_eight_kilobytes(kind: str, history: int) -> None:
    values = [*simulated(kind, history + 4), 2 * max(simulated(kind, history))]  # the last one moves the y-axis
    end = len(values)
    other = [(n, 400.0 + 50 * math.sin(n / 20)) for n in range(end)]
    reference = series(simulated(kind + " again", history)).means()
    steps = [series(values[:n]) for n in range(history, end + 1)]
    band, noisy = (min(values), max(values[:-1])), Other(series(simulated(kind + " again", end)).means())
    for options in (
        {},
        {"references": [reference]},
        {"others": [Other(other)], "references": [reference]},
        {"others": [Other(other), noisy]},
    ):
        sent = wire(steps, 118, 31, band=band, **options)
        assert max(sent[1:]) <= 8192, options
        assert sent[-1] > 500, "the scale did move"


# -- what is said ------------------------------------------------------------------------------


def test_the_title_says_whose_numbers_the_axes_have() -> None:
    run = RunState(Judge())
    names = ("rollout/raw_reward", "rollout/response_lengths", "rollout/x")
    lines = [f"rollout {n}: {dict(zip(names, (0.5 + n / 100, 400 + n, n), strict=True))}\n" for n in range(8)]
    run.feed(Reader().feed("".join(lines).encode()))
    drawn = curves_of(snapshot_of(run), curves(run), ["reward", "answer length", "rollout/x"])
    said = " ".join(plain_text(part.long) for part in chart_title(drawn, None, 5, ""))
    assert said == "1 reward 0.550 (left) 2 answer length 405 (right) 3 rollout/x 5 (own scale)"
    at = " ".join(plain_text(part.long) for part in chart_title(drawn, 3, 5, ""))
    assert at.startswith("rollout 3 1 reward 0.530 (left)")
    assert "–" in " ".join(plain_text(part.long) for part in chart_title(drawn, 99, 5, ""))


def test_partners_are_what_conditions_read_together() -> None:
    run = RunState(Judge())
    assert partners(snapshot_of(run), "reward")[0] == "answer length"
    assert partners(snapshot_of(run), "rollout time") == ["answer length"]
    assert "reward" in partners(snapshot_of(run), "answer length")
    assert partners(snapshot_of(run), "gap") == []
    assert partners(snapshot_of(run), "train/loss") == []


# -- the keys ----------------------------------------------------------------------------------


async def test_c_draws_the_pair_that_a_condition_names(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("enter", "c")
        assert "1 reward" in title(screen)
        assert "2 answer length" in title(screen)
        assert "├" in screen.text
        await screen.press("left")
        assert title(screen).startswith("rollout 47")
        for _ in range(len(partners(screen.app.session.snapshot, "reward"))):
            await screen.press("c")
        assert title(screen).startswith("reward")
        assert screen.app.session.chosen.marked == []
        await screen.press("j", "j", "j", "c")
        assert "no condition reads gap together" in screen.text


async def test_v_keeps_a_signal_while_another_is_looked_at(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("enter", "v", "j", "j")
        assert title(screen).startswith("1 cut share")
        assert "2 reward" in title(screen)
        await screen.press("v", "j")
        assert [name in title(screen) for name in ("1 gap", "2 reward", "3 cut share (own")] == [True] * 2 + [False]
        assert screen.app.screen.subjects == ["gap", "reward", "cut share"]
        await screen.press("V")
        assert title(screen).startswith("gap")
        assert screen.app.screen.subjects == ["gap"]


async def test_marks_are_made_on_the_main_screen_and_in_the_browser_too(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        assert "reward marked" in await screen.press("v")
        await screen.press("m", "slash", *"total_lengths", "enter", "v")
        assert "2 marked share a chart" in screen.text
        assert "v" in screen.line("v")[:6]
        await screen.press("escape", "escape", "j", "enter")
        assert screen.app.screen.subjects == ["answer length", "reward", "rollout/total_lengths"]
        await screen.press("escape", "k", "v")
        assert screen.app.session.chosen.marked == ["rollout/total_lengths"]


async def test_at_most_three_are_drawn(dashboard: Dashboard) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("enter", "v", "j", "v", "j", "v", "j", "v", "j")
        assert len(screen.app.screen.subjects) == 3
        assert "├" in screen.text


async def test_a_metrics_chart_goes_on_and_is_drawn_for_its_own_records_only(
    dashboard: Dashboard, blocks: list[bytes]
) -> None:
    async with dashboard(b"".join(blocks[:20])) as screen:
        await screen.press("m", "slash", *"total_lengths", "enter", "enter")
        assert isinstance(screen.app.screen, ChartScreen)
        before, drawn = screen.text, screen.app.screen._chart
        await screen.give(b"[2026-10-15 18:00:00] log.py:1 - step 20: {'train/loss': 0.5}\n")
        assert screen.app.screen._chart is drawn
        assert await screen.give(blocks[20]) != before
        assert screen.app.screen._chart is not drawn


# -- reference runs ----------------------------------------------------------------------------


async def test_reference_runs_are_read_after_the_first_paint_and_lie_behind(
    dashboard: Dashboard, sample_logs: Callable[[str], str]
) -> None:
    logs = find_logs([sample_logs("plain-seed1.log"), sample_logs("plain-seed2.log")])
    async with dashboard(SAMPLE, compare=tuple(logs)) as screen:
        await screen.wait(lambda _: len(screen.app.references.runs) == 2)
        await screen.press("enter")
        assert "behind: plain-seed1, plain-seed2" in title(screen)
        assert "chart.reference" in {style for line in screen.app.screen._chart.lines for style, _ in line}
        means = screen.app.references.runs[0].means("reward", 5)
        assert len(means) == 44
        assert screen.app.references.runs[0].means("reward", 5) is means


async def test_an_open_chart_takes_a_reference_when_it_was_read(
    dashboard: Dashboard, sample_logs: Callable[[str], str]
) -> None:
    async with dashboard(SAMPLE) as screen:
        await screen.press("enter")
        assert "behind" not in title(screen)
        screen.app.run_worker(
            screen.app.references.read(find_logs([sample_logs("plain-seed1.log")]), screen.app._compared)
        )
        await screen.wait(lambda text: "behind: plain-seed1" in text)


async def test_a_reference_without_metrics_is_told_of(dashboard: Dashboard, tmp_path: Any) -> None:
    empty = tmp_path / "empty.log"
    empty.write_text("nothing\n")
    async with dashboard(SAMPLE, compare=tuple(find_logs([str(empty)]))) as screen:
        await screen.wait(lambda _: bool(screen.app._notifications))
        (said,) = screen.app._notifications
        assert said.message.endswith("empty.log: no metric to compare with")


def test_compare_is_an_option_that_may_be_given_again(sample_logs: Callable[[str], str], tmp_path: Any) -> None:
    p = parser("", "x")
    add_profile(p)
    add_screen(p)
    given = ["--compare", sample_logs("plain-seed1.log"), "--compare", sample_logs("plain-seed2.log")]
    assert [log.path.name for log in setup_of(p.parse_args(given)).compare] == ["plain-seed1.log", "plain-seed2.log"]
    assert setup_of(p.parse_args([])).compare == ()
    with pytest.raises(UnreadableLog):
        setup_of(p.parse_args(["--compare", str(tmp_path / "none.log")]))
