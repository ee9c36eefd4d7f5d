"""The chart: what it shows, that no value ends it, what it costs on the wire, and that any plotext draws the same."""

from __future__ import annotations

import math
import random
import subprocess
import sys

import pytest
from drawn import rows, series, styled, wire
from hypothesis import given, settings
from hypothesis import strategies as st

from miles_tui.core.model.series import PAUSED, Point, Series
from miles_tui.core.text.cells import cells
from miles_tui.present.plot.chart import PointMark, canvas, draw_chart, plain_canvas, readout, thinned
from miles_tui.present.plot.scale import AHEAD, Scale, labels, rollout_range, ticks, value_range
from miles_tui.present.plot.sparkline import ASCII_GLYPHS, BLOCKS, BRAILLE, Glyphs
from miles_tui.ui.theming.roles import ROLES

ALL = pytest.mark.parametrize("glyphs", [BRAILLE, BLOCKS, ASCII_GLYPHS], ids=lambda g: g.name)


def gap_jump(rollouts: int = 60) -> Series:
    rng = random.Random(3)
    return series([0.0149 + rng.gauss(0, 0.0004) + (0.006 if n >= 45 else 0) for n in range(rollouts)])


@ALL
def test_it_shows_rollouts_mean_range_alert_and_cursor(glyphs: Glyphs) -> None:
    s = gap_jump()
    chart = draw_chart(
        118, 30, s.points(), s.means(), band=(0.0136, 0.0164), marks=[PointMark(47)], cursor=30, glyphs=glyphs
    )  # fmt: skip
    assert len(chart.lines) == 30
    assert all(cells(row) == 118 for row in rows(chart))
    if glyphs is ASCII_GLYPHS:
        assert "".join(rows(chart)).isascii()
    grid = styled(chart)
    styles = {style for line in grid for style, _ in line}
    assert {"chart.mean", "chart.raw", "chart.band", "chart.mark", "chart.cursor", "chart.axis"} <= styles <= set(ROLES)
    column = chart.column_of(47)
    assert column is not None
    assert grid[0][column] == ("chart.mark", glyphs.above)
    edges = [row for row in range(28) if sum(char in "╌-" for _, char in grid[row]) > 60]
    assert len(edges) == 2
    at_end = [r for r in range(28) if any(s == "chart.mean" for s, _ in grid[r][chart.left + 95 :])]
    assert max(at_end) < min(edges), "the mean ends above the range"


def test_axes_have_round_numbers_and_rollouts() -> None:
    s = gap_jump()
    text = rows(draw_chart(100, 24, s.points(), s.means()))
    numbers = [row.split("┤")[0].strip() for row in text if "┤" in row]
    assert len(numbers) >= 4
    assert len({len(n) for n in numbers}) == 1
    assert [float(n) for n in numbers] == sorted(map(float, numbers), reverse=True)
    assert text[-1].split()[0] == "0"
    assert all(n.isdigit() for n in text[-1].split())


def test_the_mean_is_a_line_and_rollouts_are_dots() -> None:
    s = series([1.0, 3.0] * 30)
    grid = styled(draw_chart(100, 24, s.points(), s.means()))
    mean = {c for line in grid[:-2] for c, (style, _) in enumerate(line) if style == "chart.mean"}
    assert mean == set(range(min(mean), max(mean) + 1)), "no hole in the line"
    raw = [(r, c) for r, line in enumerate(grid) for c, (style, _) in enumerate(line) if style == "chart.raw"]
    assert len({r for r, _ in raw}) <= 4, "two heights, nothing in between"


def test_what_is_not_finite_paused_or_of_a_restart_is_marked() -> None:
    s = series([1.0, 1.2, 0.9, 1.1, 1.3, 1.0, 1.2, 1.1])
    s.restart(6)
    s.set(6, math.nan)
    s.set(7, 1.1, PAUSED)
    s.set(8, math.inf)
    chart = draw_chart(60, 12, s.points(), s.means())
    found = [cell for line in styled(chart) for cell in line]
    assert found.count(("spark.bad", "×")) == 2
    assert found.count(("spark.paused", "○")) == 1
    assert any(style == "spark.dead" for style, _ in found)
    assert any(char == "┊" for _, char in found)


def test_a_log_scale_takes_what_it_can_and_says_the_rest() -> None:
    s = series([10.0**n for n in range(-3, 4)] + [0.0])
    chart = draw_chart(80, 20, s.points(), [], log=True)
    assert chart.log
    assert any(char == "▼" for line in styled(chart) for _, char in line)
    numbers = [float(row.split("┤")[0]) for row in rows(chart) if "┤" in row]
    assert all(math.log10(n) == pytest.approx(round(math.log10(n))) for n in numbers)
    flat = draw_chart(80, 20, series([0.0] * 9).points(), [], log=True)
    assert not flat.log
    assert "log" in flat.note


@pytest.mark.parametrize(
    ("low", "high", "bounds", "some"),
    [
        (0.55, 0.87, (0.55, 0.875), (0.6, 0.7, 0.8)),
        (0.0007, 0.0029, (0.0007, 0.003), (0.001, 0.0015, 0.002)),
        (3.0, 90.0, (3.0, 100.0), (5, 10, 20, 50)),
    ],
)
def test_a_log_scale_fits_what_is_within_a_decade_or_two(
    low: float, high: float, bounds: tuple[float, float], some: tuple[float, ...]
) -> None:
    s = series([low * (high / low) ** (n / 40) for n in range(41)])
    chart = draw_chart(100, 31, s.points(), s.means(), log=True)
    assert chart.bounds == pytest.approx(bounds)
    numbers = [float(row.split("┤")[0]) for row in rows(chart) if "┤" in row]
    assert len(numbers) >= 4
    assert set(some) <= set(numbers)


def test_zoom_shows_only_its_part() -> None:
    s = gap_jump()
    chart = draw_chart(80, 20, s.points(), s.means(), span=(10, 20))
    assert chart.span == (10, 20)
    assert chart.bounds[1] < 0.018, "the jump is out of sight"
    assert chart.column_of(9) is chart.column_of(21) is None
    for rollout in range(10, 21):
        column = chart.column_of(rollout)
        assert column is not None
        assert chart.rollout_at(column) == rollout
    assert chart.rollout_at(0) is None
    assert chart.rollout_at(80) is None


def test_reference_runs_lie_behind() -> None:
    s = gap_jump()
    other = [(n, 0.0150) for n in range(60)]
    grid = styled(draw_chart(80, 20, s.points(), s.means(), references=[other]))
    assert sum(style == "chart.reference" for line in grid for style, _ in line) > 10
    assert any(style == "chart.mean" for line in grid for style, _ in line)
    zoomed = draw_chart(80, 20, s.points(), s.means(), references=[[(5, 0.01505)]], span=(30, 44))
    assert all(style != "chart.reference" for line in styled(zoomed) for style, _ in line), "it is out of sight"


def test_a_cursor_reads_values() -> None:
    s = gap_jump()
    said = readout(s.points(), s.means(), 30)
    assert said.startswith("rollout 30   0.01")
    assert "mean 0.01" in said
    assert readout(s.points(), s.means(), 999) == "rollout 999   no value"
    assert "paused" in readout([Point(3, 1.0, PAUSED)], [], 3)


@pytest.mark.parametrize(("width", "height"), [(0, 0), (10, 3), (23, 30), (100, 5)])
def test_too_small_is_a_sentence(width: int, height: int) -> None:
    chart = draw_chart(width, height, gap_jump().points(), [])
    assert len(chart.lines) == height
    assert all(len(row) == width for row in rows(chart))
    assert chart.note
    assert chart.rollout_at(5) is None
    assert chart.column_of(5) is None


@ALL
@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(st.tuples(st.floats(), st.integers(0, 3)), max_size=40),
    size=st.tuples(st.integers(0, 90), st.integers(0, 30)),
    band=st.one_of(st.none(), st.tuples(st.floats(), st.floats())),
    log=st.booleans(),
    span=st.one_of(st.none(), st.tuples(st.integers(-5, 50), st.integers(-5, 50))),
)
def test_no_value_ends_it(
    glyphs: Glyphs,
    data: list[tuple[float, int]],
    size: tuple[int, int],
    band: tuple[float, float] | None,
    log: bool,
    span: tuple[int, int] | None,
) -> None:
    s = Series()
    for rollout, (value, flags) in enumerate(data):
        s.set(rollout, value, flags)
    chart = draw_chart(
        *size, s.points(), s.means(), band=band, marks=[PointMark(3)], log=log, span=span, cursor=4, glyphs=glyphs
    )  # fmt: skip
    assert [cells(row) for row in rows(chart)] == [size[0]] * size[1]


@given(st.lists(st.tuples(st.integers(0, 5000), st.floats(-9, 9)), max_size=300))
def test_a_column_has_two_points_at_most(values: list[tuple[int, float]]) -> None:
    across = Scale(0, 5000, 40)
    kept = thinned(values, across)
    assert set(kept) <= set(values)
    columns = [across.dot(x) for x, _ in kept]
    assert all(columns.count(column) <= 2 for column in columns)
    if values:
        assert max(y for _, y in kept) == max(y for _, y in values)
        assert min(y for _, y in kept) == min(y for _, y in values)


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(2, 10))
def test_ticks_are_inside_and_tell_themselves_apart(low: float, length: float, count: int) -> None:
    high = low + length
    if high - low < 1e-6 * abs(low):
        return
    found = ticks(low, high, count)
    room = 1e-6 * (high - low)
    assert all(low - room <= tick <= high + room for tick in found)
    assert len(found) <= count + 1
    texts = labels(found)
    if max(map(abs, found), default=0) < 1e5:
        assert len(set(texts)) == len(found)


@given(st.integers(0, 10**6), st.integers(0, 10**5))
def test_the_x_range_has_room_for_what_comes(first: int, length: int) -> None:
    begin, end = rollout_range(first, first + length)
    assert begin == first
    assert first + length < end <= first + length + 2 + 2.5 / AHEAD * (length + 1)


def test_the_y_range_ends_at_round_numbers() -> None:
    assert value_range([0.53, 0.87], None, 7) == pytest.approx((0.525, 0.875))
    assert value_range([3.0, 3.0], None, 5) == pytest.approx((2.7, 3.3))
    assert value_range([0.0], None, 5) == (0.0, 1.0)
    low, high = value_range([1.0, 2.0], (0.5, 2.5), 5)
    assert low <= 0.5
    assert high >= 2.5
    assert value_range([1.0, 2.0], (-500.0, 500.0), 5) == pytest.approx((1.0, 2.0))


@pytest.mark.parametrize("history", [1, 48, 1000])
def test_a_new_rollout_is_cheap_on_the_wire(history: int) -> None:
    rng = random.Random(7)
    values = [0.6 + 0.15 * n / 100 + rng.gauss(0, 0.05) for n in range(history + 25)]
    sent = wire([series(values[:n]) for n in range(history, history + 25)], 118, 30, band=(0.53, 0.87))[1:]
    assert max(sent) <= 8192
    assert sum(sent) / len(sent) <= 1500


@pytest.mark.parametrize(("width", "height"), [(10, 3), (37, 9), (108, 20)])
def test_every_canvas_sets_the_same_dots(width: int, height: int) -> None:
    rng = random.Random(width)
    spots = [(float(rng.randrange(2 * width)), float(rng.randrange(4 * height))) for _ in range(60)]
    spots += [(x, y) for x in (0.0, 2.0 * width - 1) for y in (0.0, 4.0 * height - 1)]
    assert canvas()(width, height, spots, False) == plain_canvas(width, height, spots, False)


def test_every_canvas_joins_by_the_same_line() -> None:
    spots = [(float(x), 20 + 15 * math.sin(x / 9)) for x in range(0, 120, 7)]
    one, other = (draw(60, 12, [(x, round(y)) for x, y in spots], True) for draw in (canvas(), plain_canvas))
    places = [dots_of(layer) for layer in (one, other)]
    assert len(places[0]) >= 113, "a dot in each column at least"
    for these, those in (places, places[::-1]):
        near = {(x + i, y + j) for x, y in those for i in (-1, 0, 1) for j in (-1, 0, 1)}
        assert these <= near, "lines may round differently, not go elsewhere"


def dots_of(layer: list[list[int]]) -> set[tuple[int, int]]:
    """Every dot that is set, from the upper left."""
    bits = {1: (0, 0), 2: (0, 1), 4: (0, 2), 64: (0, 3), 8: (1, 0), 16: (1, 1), 32: (1, 2), 128: (1, 3)}
    return {
        (2 * column + x, 4 * row + y)
        for row, patterns in enumerate(layer)
        for column, pattern in enumerate(patterns)
        for bit, (x, y) in bits.items()
        if pattern & bit
    }


def test_plotext_is_imported_by_the_first_chart_only() -> None:
    code = (
        "import sys; from miles_tui.present.plot import chart; from miles_tui.core.model.series import Point\n"
        "assert 'plotext' not in sys.modules\n"
        "chart.draw_chart(60, 12, [Point(0, 1.0)], [])\n"
        "assert 'plotext' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_broken_plotext_costs_no_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotext", None)  # its import fails, as where its compiled part is missing
    canvas.cache_clear()
    try:
        assert canvas() is plain_canvas
        s = gap_jump()
        assert any(
            style == "chart.mean" for line in styled(draw_chart(80, 20, s.points(), s.means())) for style, _ in line
        )
    finally:
        canvas.cache_clear()
