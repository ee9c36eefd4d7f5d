"""Sparklines: what they show, and how little of them changes."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miles_tui.core.model.series import PAUSED, Series
from miles_tui.core.text.cells import cells
from miles_tui.present.plot.sparkline import (
    ASCII_GLYPHS,
    BLOCKS,
    BRAILLE,
    GROUP,
    HOLD,
    Frame,
    Glyphs,
    slots_of,
    spark,
    y_range,
)
from miles_tui.present.plot.sparkline_axis import PERS, Axis, Column, axis_of, columns_of

ALL = pytest.mark.parametrize("glyphs", [BRAILLE, BLOCKS, ASCII_GLYPHS], ids=lambda g: g.name)


def series(values: list[float]) -> Series:
    out = Series()
    for rollout, value in enumerate(values):
        out.set(rollout, value)
    return out


def placed(s: Series, width: int, glyphs: Glyphs = BRAILLE) -> tuple[list[Column], Axis]:
    axis = axis_of(s.spans(), slots_of(width, glyphs), 1 if glyphs.joint else GROUP)
    return columns_of(s.tail(axis.reach + 5), axis), axis


def draw(
    s: Series,
    width: int = 40,
    glyphs: Glyphs = BRAILLE,
    low: float | None = None,
    high: float | None = None,
    frame: Frame | None = None,
) -> list[tuple[str, str]]:
    """One (style, character) a cell."""
    frame = frame or Frame()
    columns, axis = placed(s, width, glyphs)
    frame.follow(columns, axis, width, glyphs, low, high)
    return [(style, char) for style, text in spark(columns, frame) for char in text]


def levels(char: str) -> tuple[set[int], set[int]]:
    """Of a braille cell: heights with both dots, and heights with the left one."""
    dots = ord(char) - 0x2800
    both = {i for i, bits in enumerate((0xC0, 0x24, 0x12, 0x09)) if dots & bits == bits}
    left = {i for i, bits in enumerate((0x40, 0x04, 0x02, 0x01)) if dots & bits}
    return both, left


@ALL
@given(
    data=st.lists(st.tuples(st.floats(), st.integers(0, 3)), max_size=60),
    width=st.integers(0, 50),
    edges=st.one_of(st.none(), st.tuples(st.floats(), st.floats())),
    restart=st.integers(0, 60),
)
def test_any_values_give_exactly_the_width(
    glyphs: Glyphs, data: list[tuple[float, int]], width: int, edges: tuple[float, float] | None, restart: int
) -> None:
    s = Series()
    for rollout, (value, flags) in enumerate(data):
        s.set(rollout, value, flags)
    s.restart(restart)
    s.set(restart, 1.0)
    low, high = sorted(edges) if edges else (None, None)
    text = "".join(char for _, char in draw(s, width, glyphs, low, high))
    assert len(text) == cells(text) == width
    assert text.isascii() or glyphs is not ASCII_GLYPHS


def test_rollouts_and_their_mean_can_be_told_apart() -> None:
    row = draw(series([1.0, 3.0] * 10))[1:21]
    assert [char for _, char in row[:4]] == ["⡀", "⠁", "⡀", "⠁"]  # no mean before five rollouts
    for n, (_, char) in enumerate(row[4:], 4):
        both, left = levels(char)
        assert len(both) == 1, "the mean is a line: two dots side by side"
        assert both <= {1, 2}
        assert left - both == ({0} if n % 2 == 0 else {3}), "the rollout is a dot of its own"


@pytest.mark.parametrize("glyphs", [BLOCKS, ASCII_GLYPHS], ids=lambda g: g.name)
def test_without_braille_the_mean_has_a_mark_of_another_shape(glyphs: Glyphs) -> None:
    assert not set(glyphs.means) & set(glyphs.steps)
    row = draw(series([1.0, 3.0] * 10), 24, glyphs)
    assert all(char in glyphs.means for _, char in row[5::6])
    assert all(char in glyphs.steps for i, (_, char) in enumerate(row) if i % 6 != 5)


@pytest.mark.parametrize("glyphs", [BLOCKS, ASCII_GLYPHS], ids=lambda g: g.name)
def test_without_braille_a_new_level_keeps_its_line(glyphs: Glyphs) -> None:
    values = [1.0, 1.1] * 5 + [3.0, 3.4, 3.8, 4.2, 4.6, 5.0]
    columns, axis = placed(series(values), 24, glyphs)
    frame = Frame()
    frame.follow(columns, axis, 24, glyphs, 1.0, 1.1)
    row = [(style, char) for style, text in spark(columns, frame) for char in text]
    singles = [cell for i, cell in enumerate(row) if i % 6 != 5][: len(values)]
    outside = singles[10:]
    assert all(style == "spark.out" for style, _ in outside)
    assert [char == glyphs.above for _, char in outside] == [True, False, False, False, False, True]
    heights = [glyphs.steps.index(char) for _, char in outside[1:-1]]
    assert heights == sorted(heights)
    assert heights[-1] > heights[0] or glyphs is ASCII_GLYPHS


@ALL
def test_the_mean_shows_a_trend(glyphs: Glyphs) -> None:
    row = draw(series([0.1 * n for n in range(40)]), 49 if glyphs is not BRAILLE else 41, glyphs)
    if glyphs is BRAILLE:
        heights = [max(levels(char)[0]) for _, char in row[5:41]]
    else:
        heights = [glyphs.means.index(char) for _, char in row[5:48:6]]
    assert heights == sorted(heights)
    assert heights[0] == 0
    assert heights[-1] == (3 if glyphs is BRAILLE else len(glyphs.means) - 1)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=40), st.floats(-3, 0), st.floats(0.1, 3))
def test_a_rollout_outside_the_range_is_beyond_the_bar_or_marked(values: list[float], low: float, high: float) -> None:
    frame = Frame()
    row = draw(series(values), 41, BRAILLE, low, high, frame)
    reach = HOLD * (frame.high - frame.low)
    style, bar = row[0]
    assert style == "spark.range"
    inside = {i for i, bit in enumerate((0x80, 0x20, 0x10, 0x08)) if bar not in "▲▼" and (ord(bar) - 0x2800) & bit}
    for value, (style, char) in zip(values, row[1:], strict=False):
        assert (style == "spark.out") == (not low <= value <= high)
        if style == "spark.out" and char not in "▲▼" and inside:
            _both, left = levels(char)
            beyond = {level for level in left if (level > max(inside) if value > high else level < min(inside))}
            edge = frame.low - reach <= value <= frame.high + reach  # no height is left, but it is on the scale
            assert beyond or edge, f"{value} is drawn inside {low} to {high}"
        if style == "spark.out" and char in "▲▼":
            assert (char == "▲") == (value > high)
            assert value > frame.high + reach if char == "▲" else value < frame.low - reach


def test_a_value_a_hair_below_the_scale_has_no_mark() -> None:
    """A level that left the range: the early values vary by less than a hundredth of what is drawn now."""
    early = [0.00070, 0.00066, 0.00072] * 5 + [0.000655] * 3
    row = draw(series([*early, *[0.0029] * 15]), 41, BRAILLE, 0.00066, 0.00072)
    assert [style for style, _ in row[16:19]] == ["spark.out"] * 3, "the colour says it"
    assert not {"▲", "▼"} & {char for _, char in row}


@ALL
def test_what_is_not_finite_paused_dead_or_of_another_attempt_is_seen(glyphs: Glyphs) -> None:
    s = series([1.0, 2.0, 1.5, 1.2, 1.8, 1.1, 1.9, 1.4])
    s.restart(6)
    s.set(6, math.nan)
    s.set(7, 1.3, PAUSED)
    row = draw(s, 30, glyphs)
    by_style = {style: [char for name, char in row if name == style] for style, _ in row}
    assert by_style["spark.bad"] == [glyphs.bad]
    assert by_style["spark.paused"] == [glyphs.paused]
    assert len(by_style["spark.dead"]) == 2
    assert by_style["spark.break"] == [glyphs.parting]


def test_columns_of_the_newest_attempt_stand_at_rollout_numbers_and_earlier_ones_before_them() -> None:
    s = series([float(n) for n in range(30)])
    s.restart(20)
    for rollout in range(20, 25):
        s.set(rollout, 0.0)
    at = [c.at for c in placed(s, 60)[0]]
    assert at[-5:] == [20, 21, 22, 23, 24]
    assert at[-6] == 18, "a slot is free for the parting"
    assert at == sorted(set(at))
    columns, axis = placed(s, 13)
    assert axis.per == 4
    assert [(c.at, c.attempt) for c in columns][-3:] == [(3, 1), (5, 2), (6, 2)], "attempts share no column"


@given(st.integers(1, 700), st.integers(1, 120), st.integers(0, 50))
def test_the_whole_run_is_in_sight_in_the_smallest_columns_that_fit(rollouts: int, slots: int, first: int) -> None:
    axis = axis_of([(1, first, first + rollouts - 1)], slots)
    last = (first + rollouts - 1) // axis.per
    assert axis.start <= last < axis.start + slots, "the newest rollout is in sight"
    if axis.whole:
        assert axis.first == first
        assert axis.start == first // axis.per
        smaller = PERS[: PERS.index(axis.per)]
        assert all((first + rollouts - 1) // per - first // per >= slots for per in smaller)
    else:
        assert axis.per == PERS[-1]
        assert last - axis.start + 1 >= slots - max(1, slots // 4)
        assert axis.first == axis.start * axis.per
    later = axis_of([(1, first, first + rollouts)], slots)
    assert later.per >= axis.per


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=300), st.integers(1, 40), st.integers(0, 299))
def test_a_column_is_made_of_its_rollouts_alone(values: list[float], slots: int, restart: int) -> None:
    s = series(values)
    if restart < len(values):
        s.restart(restart)
        s.set(restart, 2.0)
    axis = axis_of(s.spans(), slots)
    means = dict(s.means()) if restart >= len(values) else {}
    for column in columns_of(s.tail(axis.reach + 5), axis):
        shift = dict(axis.shifts)[column.attempt]
        inside = [p for p in s.points() if p.attempt == column.attempt and p.rollout // axis.per + shift == column.at]
        live = [p.value for p in inside if not p.flags]
        if column.mark:
            assert 2 * len(live) <= len(inside)
            continue
        assert column.value == pytest.approx(sum(live) / len(live))
        assert (column.low, column.high) == (min(live), max(live))
        known = [means[p.rollout] for p in inside if p.rollout in means]
        if means or len(values) < 5:
            assert column.line == (pytest.approx(sum(known) / len(known), abs=1e-9) if known else None)


def test_what_one_rollout_of_many_says_is_not_lost() -> None:
    values = [1.0, 1.4, 1.2, 0.8, 1.1] * 40
    values[50], values[120] = 400.0, math.nan
    s = series(values)
    s.mark(70, PAUSED)
    row = draw(s, 41)
    assert placed(s, 41)[1].per == 5
    assert row[11] == ("spark.step", "▲")
    assert row[25] == ("spark.bad", "×")
    assert row[15][0] == "spark.mean", "one of five is paused: the others are shown"
    for rollout in (71, 72):
        s.mark(rollout, PAUSED)
    assert draw(s, 41)[15] == ("spark.paused", "○")
    row = draw(series([1.0 + 0.1 * (n % 3) + (0.5 if n >= 150 else 0.0) for n in range(200)]), 41, BRAILLE, 0.9, 1.3)
    assert {style for style, _ in row[31:]} == {"spark.out"}
    assert "spark.out" not in {style for style, _ in row[:30]}


@ALL
@pytest.mark.parametrize("width", [13, 31, 60])
def test_a_new_rollout_changes_few_cells(glyphs: Glyphs, width: int) -> None:
    rng = random.Random(5)
    s, frame, moves, count = Series(), Frame(), 0, 300
    before: list[tuple[str, str]] = []
    for rollout in range(count):
        s.set(rollout, 0.6 + 0.2 * rollout / count + rng.gauss(0, 0.05))
        columns, axis = placed(s, width, glyphs)
        moved = frame.follow(columns, axis, width, glyphs, 0.5, 0.9)
        now = [(style, char) for style, text in spark(columns, frame) for char in text]
        if moved:
            moves += 1
        elif before:
            changed = [i for i in range(width) if now[i] != before[i]]
            assert len(changed) <= 2, "only the new rollout, and a mark of the mean"
        before = now
    regrouped = PERS.index(axis.per)
    assert axis.whole or width == 13
    assert moves <= 12 + regrouped + (0 if axis.whole else 30), f"{moves} times in {count} rollouts"


@ALL
def test_the_heights_fit_the_noise_although_the_first_rollout_knew_of_none(glyphs: Glyphs) -> None:
    rng = random.Random(2)
    s, frame = Series(), Frame()
    for rollout in range(20):
        s.set(rollout, 0.015 + rng.gauss(0, 0.0003))
        row = draw(s, 31, glyphs, frame=frame)
    assert len({char for style, char in row if style in ("spark.step", "spark.mean")}) > 3


def test_one_far_spike_does_not_press_the_rest_flat() -> None:
    row = draw(series([1.0, 1.4, 1.2, 0.8, 1.1] * 4 + [400.0] + [1.0, 1.4]), 41)
    assert any(char == "▲" for _, char in row)
    assert len({char for _, char in row[1:21]}) > 3


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)), st.lists(st.floats(-1e9, 1e9)))
def test_the_y_range_is_never_empty(steps: list[float], means: list[float]) -> None:
    low, high = y_range(steps, means, None)
    assert low < high
    assert math.isfinite(high - low)


def test_a_constant_zero_lies_at_the_bottom() -> None:
    assert {char for _, char in draw(series([0.0] * 20))[5:21]} == {"⣀"}
    assert levels(draw(series([0.7] * 20))[10][1])[0] <= {1, 2}


def test_one_rollout_alone_does_not_need_a_mean() -> None:
    assert [style for style, char in draw(series([1.0]), 10) if char != " "] == ["spark.step"]
