"""Numbers, cells and times as a person reads them."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from miles_tui.core.text.ascii import spelled, to_ascii
from miles_tui.core.text.cells import ago, cells, clock, cut, date_of, duration, fit_path, fit_text, pad, wrap
from miles_tui.core.text.numbers import fit_number, number, signed

FLOATS = st.floats(-1e307, 1e307)  # beyond, one rounded digit is no number any more


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (-0.0, "0"), (1, "1"), (0.81, "0.810"), (412.37, "412"), (1234.56, "1235"), (32768.0, "32768"),
        (99_999.7, "1.00e5"), (2.9e9, "2.90e9"), (0.000681, "0.000681"), (0.0000631, "6.31e-5"), (9.999, "10.0"),
        (-0.031, "-0.0310"), (math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf"), (152.6, "153"),
        (1e300, "1.00e300"),
    ],
)  # fmt: skip
def test_a_number_has_the_digits_that_mean_something(value: float, text: str) -> None:
    assert number(value) == text


@given(FLOATS, st.integers(1, 6))
@example(9.9995, 4)
@example(0.00009999, 2)
def test_a_number_is_rounded_and_never_wrong(value: float, digits: int) -> None:
    assert float(number(value, digits)) == pytest.approx(value, rel=0.51 * 10 ** (1 - digits), abs=1e-320)


@given(st.one_of(FLOATS, st.sampled_from([math.nan, math.inf, -math.inf])), st.integers(0, 12), st.integers(1, 5))
@example(0.000681, 6, 3)
def test_a_number_is_never_cut(value: float, width: int, digits: int) -> None:
    text = fit_number(value, width, digits)
    assert len(text) <= width
    if text.strip("#"):
        assert text in ("nan", "inf", "-inf") or float(text) == pytest.approx(value, rel=0.51, abs=1e-320)
    assert len(number(value, digits, width)) == width


def test_a_narrow_width_keeps_as_many_digits_as_it_can() -> None:
    assert fit_number(0.000681, 6) == "6.8e-4"
    assert fit_number(0.0149, 5) == "0.015"
    assert fit_number(1234.56, 3) == "1e3"
    assert fit_number(-0.0149, 3) == "###"


def test_a_change_has_its_sign() -> None:
    assert [signed(v) for v in (0.031, -12.0, 0.0)] == ["+0.031", "-12", "0"]
    assert signed(0.0314, 3, 6) == "+0.031"
    assert signed(123456.0, 3, 4) == "+1e5"
    assert len(signed(math.nan, 2, 8)) == 8


@pytest.mark.parametrize("text", ["reward", "模型 reward", "naïve", "e\u0301", "答え…", "a\tb", "", "ﬁ", "▲●⠿"])
def test_cells_are_counted_as_the_screen_counts_them(text: str) -> None:
    assert cells(text) == cell_len(text)


@given(st.text(), st.integers(0, 20))
def test_text_never_leaves_its_width(text: str, width: int) -> None:
    assert cells(fit_text(text, width)) <= width
    assert cells(fit_path(text, width)) <= width
    assert cells(cut(text, width)) <= width
    assert text.startswith(cut(text, width))
    for align in ("left", "right", "centre"):
        assert cells(pad(text, width, align)) == width


def test_what_is_left_out_is_said() -> None:
    assert fit_text("rollout time", 8) == "rollout…"
    assert fit_text("rollout time", 8, "...") == "rollo..."
    assert fit_path("/data/runs/train.log", 12) == "…s/train.log"
    assert fit_text("reward", 6) == "reward"


@given(st.lists(st.text("ab模", min_size=1, max_size=9), max_size=12), st.integers(4, 20))
def test_wrapped_lines_lose_nothing(words: list[str], width: int) -> None:
    lines = wrap(" ".join(words), width, "  ")
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(words)


def test_words_stay_whole_where_they_fit() -> None:
    assert wrap("the weight update logs", 12, "  ") == ["the weight", "  update", "  logs"]


@pytest.mark.parametrize(
    ("day", "expected"),
    [(0, "1970-01-01"), (-1, "1969-12-31"), (20_741, "2026-10-15"), (10**9, "9999-12-31"), (-(10**9), "0001-01-01")],
)
def test_the_calendar_is_right_and_ends_nothing(day: int, expected: str) -> None:
    assert date_of(day).isoformat() == expected


def test_clock_times_name_the_day_only_when_it_is_another() -> None:
    noon = 1_792_022_400.0 + 12 * 3600  # 2026-10-15
    assert clock(noon + 158) == "12:02"
    assert clock(noon + 158, exact=True) == "12:02:38"
    assert clock(noon, today=noon + 60) == "12:00"
    assert clock(noon, today=noon + 86_400) == "15 Oct 12:00"
    assert clock(1e18)  # a mad time stamp ends nothing


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.63, "0.63 s"), (47.52, "47.5 s"), (59.96, "1 min 00 s"), (152.6, "2 min 33 s"), (3600, "1 h 00 min"),
        (7500, "2 h 05 min"), (86_400 * 3 + 4 * 3600, "3 d 4 h"), (-47.5, "-47.5 s"),
    ],
)  # fmt: skip
def test_durations_have_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_age_changes_once_a_minute_at_most() -> None:
    assert ago(0) == ago(59.9) == "under a minute ago"
    assert ago(7530) == "2 h 05 min ago"
    assert ago(90_000) == "1 d 1 h ago"
    for minute in (*range(1, 70), 125, 1439, 1440, 3000):
        assert len({ago(60 * minute + second) for second in (0, 13.7, 31, 59.9)}) == 1


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("value 0.0150 more", 10, "value…"),
        ("value 0.0150 more", 13, "value 0.0150…"),
        ("loss 1.58e-8 so", 11, "loss…"),
        ("at 17:59:45 x", 8, "at…"),
        ("level -0.015 and", 9, "level…"),
        ("level 5. and so on", 10, "level 5.…"),
        ("pass@128", 7, "pass@…"),
    ],
)
def test_half_a_number_is_never_shown(text: str, width: int, shown: str) -> None:
    assert fit_text(text, width) == shown


def test_a_sign_without_a_stand_in_of_one_cell_is_spelled() -> None:
    assert to_ascii(spelled("0.0150 ± 0.000297")) == "0.0150 +/- 0.000297"
