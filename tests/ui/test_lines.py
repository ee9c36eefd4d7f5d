"""Header, rows and alerts as text, without an app."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.model.glossary import meaning_of
from miles_tui.core.model.signals import SIGNALS, Signal
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.snapshot import PhaseSnapshot
from miles_tui.core.text.cells import cells
from miles_tui.present.alerts.alert_list import as_text, notes
from miles_tui.present.header import Surroundings, heading, sentence
from miles_tui.present.layout import LEAST_HEIGHT, LEAST_WIDTH, columns, plan
from miles_tui.present.signal_rows import common_owner, detail_row, range_text, signal_row, title_row
from miles_tui.present.styled_text import Part, Spans, packed, plain_text, width_of
from miles_tui.present.view_models import LIGHTS, AlertView, RowView

GAP = RowView("gap", last=0.0387123, mean=0.03871, change=-0.0004, trend=1, low=0.0146, high=0.0154, owner="first 10",
              light=LIGHTS["critical"])  # fmt: skip


def no_spark(view: RowView, width: int) -> Spans:
    return [("spark.mean", "~" * width)]


def alert(condition: str = "gap-jump", state: str = "firing", **changes: object) -> AlertView:
    words = CONDITIONS[condition]
    view = AlertView(condition, words.severity.value, state, words.title, "gap 0.0409, level 0.0150",
                     words.likely_cause, words.first_check, 23, 61_320.0, None, None, 1, ("gap",),
                     False, False, 1, 1)  # fmt: skip
    return dataclasses.replace(view, **changes)  # type: ignore[arg-type]


values = st.one_of(st.none(), st.floats(width=32), st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 2.9e9, -1e-7]))


@given(values, values, values, st.integers(LEAST_WIDTH, 240), st.sampled_from(SIGNALS), st.booleans())
def test_a_row_fills_its_width_and_cuts_no_number(
    last: float | None, mean: float | None, change: float | None, width: int, signal: Signal, learning: bool
) -> None:
    view = RowView(signal.name, last=last, mean=mean, change=change, low=-1234.5, high=1e7, owner="a long name",
                   learning=(6, 10) if learning else None)  # fmt: skip
    c = columns(width)
    row = plain_text(signal_row(view, c, no_spark))
    assert cells(row) <= width
    assert signal.name in row
    if c.range:
        assert cells(row) == width - c.margin
        assert "learning 6 of 10" in row if learning else "1.00e7" in row or "1.0e7" in row
    assert "#" not in row
    assert cells(plain_text(title_row(c, "first 10", 5))) <= width


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_columns_are_in_line(width: int) -> None:
    c = columns(width)
    rows = [plain_text(signal_row(GAP._replace(name=s.name), c, no_spark)) for s in SIGNALS]
    assert len({row.index("0.0387") for row in rows}) == 1
    title = plain_text(title_row(c, "", 5))
    assert title.index("last") + 4 == rows[0].index("0.0387") + 6, "figures end where their title ends"


def test_a_row_in_full() -> None:
    row = plain_text(signal_row(GAP, columns(80), no_spark, owner="first 10"))
    assert row == " ▲ gap                0.0387   0.0387  -0.0004 ↑ ~~~~~~~~~~~~~ 0.0146 to 0.0154"


@given(st.integers(0, 250), st.integers(0, 100))
def test_a_plan_uses_the_screen_and_keeps_what_matters(width: int, height: int) -> None:
    p = plan(width, height)
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        assert p.too_small
        return
    assert p.header + p.gaps + p.titles + len(SIGNALS) + p.detail + p.alerts + p.footer == height
    assert p.alerts >= 1
    assert p.columns.spark >= 12 or width < 76


@pytest.mark.parametrize(
    ("low", "high", "width", "shown"),
    [
        (0.0136, 0.0164, 16, "0.0136 to 0.0164"),
        (0.000663, 0.000732, 16, "0.00066–0.00073"),
        (0.0, 0.0, 16, "always 0"),
        (396.0, 787.0, 24, "396 to 787 (manual)"),
        (-123456.0, 7e9, 16, "-1.2e5 to 7.0e9"),
    ],
)
def test_a_range_is_said_as_exactly_as_fits(low: float, high: float, width: int, shown: str) -> None:
    view = RowView("gap", low=low, high=high, owner="manual")
    assert range_text(view, width, "" if width > 20 else "manual") == shown


def test_whose_ranges_are_said_once_where_they_are_the_same() -> None:
    assert common_owner([GAP, GAP._replace(name="reward")]) == "first 10"
    known = GAP._replace(owner="manual")
    owner = common_owner([GAP, known])
    assert plain_text(title_row(columns(80), owner, 5)).endswith("range, *first 10")
    for width in (80, 120):
        assert plain_text(signal_row(GAP, columns(width), no_spark, owner=owner)).rstrip().endswith("0.0154*")
        assert plain_text(signal_row(known, columns(width), no_spark, owner=owner)).rstrip().endswith("0.0154")


@given(st.integers(LEAST_WIDTH, 200))
def test_the_detail_has_whole_pieces_only(width: int) -> None:
    row = plain_text(detail_row(GAP, meaning_of("train/train_rollout_logprob_abs_diff"), width, 1))
    assert cells(row) <= width
    assert row.strip().startswith("gap")
    assert not row.endswith(("to", "0.0136", "."))


HEADER = dataclasses.replace(
    Monitor().snapshot(), kind="alert", verdict="1 alert", rollout=31, planned=48,
    phase=PhaseSnapshot("training", 61_200.0), last=61_320.0, usual=147.0, left=2_680.0, attempt=2, profile="manual",
)  # fmt: skip
UNTIL = PhaseSnapshot("training", 61_200.0, 61_380.0)
AROUND = Surroundings("some-long-name-of-a-log.log", notes=("polling every 0.2 s",), frozen=True)


@given(st.integers(LEAST_WIDTH, 240), st.sampled_from([1, 2]))
def test_the_header_always_has_the_verdict_and_the_rollout(width: int, lines: int) -> None:
    shown = [plain_text(line) for line in heading(HEADER, AROUND, width, lines, 1 if width > 76 else 0)]
    assert len(shown) == lines
    assert all(cells(line) <= width for line in shown)
    assert shown[0].strip().startswith("▲ 1 alert")
    assert "31" in shown[0]
    assert "paused" in " ".join(shown)


def test_the_header_in_full() -> None:
    first, second = (plain_text(line) for line in heading(HEADER, AROUND, 160, 2, 0))
    assert first.startswith("▲ 1 alert   rollout 31 of 48   phase training since 17:00")
    assert first.endswith("some-long-name-of-a-log.log")
    assert second == ("view paused · last line 17:02 · ends about 17:46 · every 2 min 27 s · attempt 2 · profile manual"
                      " · polling every 0.2 s")  # fmt: skip


def test_the_header_says_what_the_person_should_know() -> None:
    view = dataclasses.replace(HEADER, phase=UNTIL, updates_per_rollout=4, off=frozenset({"stalled"}), rebased_at=11)
    around = Surroundings("a.log", age="4 min ago", zone="UTC+5:30", bar=(77, 256))
    first, second = (plain_text(line) for line in heading(view, around, 200, 2, 0))
    assert "phase training since 17:00   generated 77 of 256   usually until 17:03" in first
    for said in ("last line 17:02, 4 min ago", "times in UTC+5:30", "new baseline since rollout 12", "1 condition off",
                 "4 updates a rollout"):  # fmt: skip
        assert said in second
    narrow = plain_text(heading(view, around, 42, 1, 0)[0])
    assert narrow.startswith("▲ 1 alert   31/48   training   77/256")


def test_the_header_has_dates_where_the_last_line_is_of_another_day() -> None:
    view = dataclasses.replace(HEADER, left=86_400.0)
    day = 86_400.0
    fresh = plain_text(heading(view, Surroundings("a.log"), 160, 2, 0)[1])
    assert "last line 17:02 · ends about 2 Jan 17:02" in fresh
    old = plain_text(heading(view, Surroundings("a.log", today=61_320.0 + 40 * day), 160, 2, 0)[1])
    assert "last line 1 Jan 17:02 · ends about 2 Jan 17:02" in old


def test_a_header_of_one_line_has_the_name_of_a_log_where_there_is_room() -> None:
    line = plain_text(heading(HEADER, Surroundings("a.log"), 120, 1, 0)[0])
    assert line.startswith("▲ 1 alert   rollout 31 of 48   phase training since 17:00")
    assert line.endswith("  a.log")
    assert cells(line) == 120
    narrow = plain_text(heading(HEADER, Surroundings("a-name-of-a-log.log"), 40, 1, 0)[0])
    assert narrow == plain_text(heading(HEADER, Surroundings(), 40, 1, 0)[0]), "it takes no fact's place"
    assert plain_text(heading(HEADER, Surroundings("a.log", run="a.log"), 120, 1, 0)[0]).count("a.log") == 1


def test_the_phase_says_rollout_only_behind_its_label() -> None:
    view = dataclasses.replace(HEADER, phase=PhaseSnapshot("rollout", 61_200.0))
    assert "phase rollout since 17:00" in plain_text(heading(view, Surroundings(), 120, 1, 0)[0])
    assert (
        plain_text(heading(view, Surroundings(), 50, 1, 0)[0]).rstrip() == "▲ 1 alert   rollout 31 of 48   generating"
    )
    unknown = dataclasses.replace(view, phase=PhaseSnapshot("rollout"))
    assert (
        plain_text(heading(unknown, Surroundings(), 60, 2, 0)[0]).rstrip()
        == "▲ 1 alert   rollout 31 of 48   generating"
    )


OTHERS = tuple(f"run-of-{day}.log: 1 alert" for day in ("monday", "tuesday", "friday", "sunday"))


@pytest.mark.parametrize(("width", "lines"), [(120, 2), (80, 2), (60, 2), (40, 1)])
def test_other_runs_give_way_to_this_ones_facts(width: int, lines: int) -> None:
    """What the header says of its own run is there with and without alerts elsewhere."""
    alone = [plain_text(line) for line in heading(HEADER, Surroundings("a.log"), width, lines, 0)]
    among = [plain_text(line) for line in heading(HEADER, Surroundings("a.log", elsewhere=OTHERS), width, lines, 0)]
    for fact in ("1 alert", "31", "last", "ends", "every 2 min 27 s", "attempt 2"):
        assert (fact in " ".join(among)) == (fact in " ".join(alone)), fact
    assert ("4 other runs: alerts" in " ".join(among)) == (width != 60)


@given(st.integers(LEAST_WIDTH, 240), st.sampled_from([1, 2]), st.integers(0, 5), st.booleans())
def test_a_frozen_view_never_looks_live(width: int, lines: int, notes: int, answered: bool) -> None:
    around = Surroundings(
        "some-long-name-of-a-log.log", tuple(f"reading, {n} %" for n in range(notes)), said="a copied" * answered,
        frozen=True, elsewhere=OTHERS[:notes], run="a.log", more="↓ 3 more rows",
    )  # fmt: skip
    assert "paused" in " ".join(plain_text(line) for line in heading(HEADER, around, width, lines, 0))


def test_an_answer_to_a_key_comes_first_where_there_is_one_line() -> None:
    said = "gap-jump quiet for 10 rollouts"
    around = Surroundings("a.log", ("reading, 3 %",), said=said, elsewhere=OTHERS)
    assert plain_text(heading(HEADER, around, 40, 1, 0)[0]) == "▲ gap-jump quiet for 10 rollouts"
    frozen = plain_text(heading(HEADER, around._replace(frozen=True), 40, 1, 0)[0])
    assert frozen.startswith("▲ view paused: gap-jump quiet for")
    assert cells(frozen) <= 40


@pytest.mark.parametrize("verdict", ["stalled", "crashed"])
def test_a_run_that_stands_still_has_no_end_in_sight(verdict: str) -> None:
    view = dataclasses.replace(HEADER, verdict=verdict, kind=verdict, phase=UNTIL)
    for lines in (1, 2):
        said = " ".join(plain_text(line) for line in heading(view, Surroundings("a.log"), 200, lines, 0))
        assert "ends" not in said
        assert "usually" not in said


@given(st.integers(1, 37), st.integers(1, 9))
def test_too_small_a_screen_says_whole_words(width: int, height: int) -> None:
    shown = [plain_text(line) for line in sentence(HEADER, width, height)]
    assert len(shown) <= height
    assert all(cells(line) <= width for line in shown)
    if width >= 10 and height >= 7:
        assert " ".join(shown[1:]) == "too small for miles-tui: it needs 38x10"


def test_an_alert_says_all_that_is_known_where_there_is_room() -> None:
    (note,) = notes([alert()], 0, 100, 20, 61_320.0)
    text = [plain_text(line) for line in note.lines]
    assert text[0] == "▲ gap-jump  critical, since rollout 23, 17:02"
    assert text[1] == "  gap 0.0409, level 0.0150"
    assert text[2].startswith("  likely cause: ")
    assert any(line.startswith("  first check: ") for line in text)


def test_where_room_is_short_every_alert_keeps_its_title() -> None:
    alerts = [alert(), alert("cut-share-high"), alert("not-finite", state="recovering")]
    shown = notes(alerts, 0, 58, 4, None)
    assert [len(n.lines) for n in shown] == [2, 1, 1]
    assert "cut-share-high" in plain_text(shown[1].lines[0])
    read = notes(alerts, 1, 58, 4, None, whole=True)
    assert len(read[1].lines) > 4


@given(st.integers(20, 160), st.integers(1, 30), st.integers(0, 2))
def test_alerts_never_leave_their_pane(width: int, room: int, current: int) -> None:
    alerts = [alert(), alert(state="resolved", resolved_step=31, resolved_time=62_000.0), alert(count=3, seen=True)]
    for note in notes(alerts, current, width, room, 61_320.0):
        assert all(width_of(line) <= width for line in note.lines)


def test_the_life_of_an_alert_is_said() -> None:
    def title(view: AlertView) -> str:
        return plain_text(notes([view], 0, 120, 20, 61_320.0)[0].lines[0])

    assert title(alert(state="recovering")).endswith("recovering, since rollout 23, 17:02")
    assert title(alert(raised_step=None)).endswith("critical, before the first rollout, 17:02")
    assert title(alert(state="resolved", resolved_step=31, resolved_time=62_000.0)).endswith(
        "resolved, rollout 23 to 31, 17:13"
    )
    assert title(alert(count=2, seen=True)).endswith("17:02, 2 times, seen")
    assert title(alert(snoozed=True, seen=True)).endswith("snoozed")


@pytest.mark.parametrize(
    ("width", "title"),
    [
        (60, "▲ gap-jump  critical, since rollout 23, 17:02"),
        (36, "▲ gap-jump  critical, since 23"),
        (26, "▲ gap-jump  since 23"),
        (12, "▲ gap-jump"),
    ],
)
def test_a_narrow_title_keeps_the_severity_as_long_as_it_fits(width: int, title: str) -> None:
    assert plain_text(notes([alert()], 0, width, 1, 61_320.0)[0].lines[0]) == title


def test_an_alert_for_a_chat_message() -> None:
    assert as_text(alert(), "train.log").splitlines()[0] == "gap-jump (critical, since rollout 23, 17:02) in train.log"


@given(st.lists(st.tuples(st.integers(0, 9), st.text("abc ", max_size=20)), max_size=6), st.integers(1, 60))
def test_packed_parts_fit(parts: list[tuple[int, str]], width: int) -> None:
    assert width_of(packed([Part(rank, [("text", text)]) for rank, text in parts], width)) <= width
