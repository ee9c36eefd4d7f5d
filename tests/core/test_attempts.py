"""A step forward, a restart, or a repetition: what tells them apart, and that going back alone does not."""

from __future__ import annotations

from miles_tui.core.model.records import Event, EventKind, Record, Source
from miles_tui.core.run.attempts import Attempts
from miles_tui.core.run.line_schema import is_train_side


def rec(n: int, kind: str = "rollout", t: float | None = None, pid: str = "1") -> Record:
    return Record(kind, n, {"rollout/raw_reward": 0.5}, t, Source("Trainer", pid) if pid else Source())


def places(*items: Record | Event) -> list[str]:
    attempts, out = Attempts(), []
    for item in items:
        if isinstance(item, Event):
            attempts.note(item)
        else:
            out.append(attempts.place(item, is_train_side(item.kind, item.metrics)).name)
    return out


LAUNCH, TROUBLE, FAILED = (Event(k, "x") for k in (EventKind.LAUNCH, EventKind.TROUBLE, EventKind.JOB_FAILED))


def test_going_back_alone_is_no_restart() -> None:
    assert places(rec(3, t=10), rec(2, t=9)) == ["ONWARD"] * 2
    assert places(rec(3), rec(3), rec(4)) == ["ONWARD"] * 3


def test_a_lower_number_of_a_new_process_is_a_restart() -> None:
    assert places(rec(3, t=10), rec(0, t=99, pid="7")) == ["ONWARD", "RESTART"]


def test_a_held_back_line_of_another_process_is_none() -> None:
    assert places(rec(3, t=10), rec(2, t=5, pid="7")) == ["ONWARD"] * 2


def test_a_launch_between_marks_a_restart_even_when_the_numbers_go_on() -> None:
    assert places(rec(17), LAUNCH, rec(18, pid="7")) == ["ONWARD", "RESTART"]
    assert places(rec(17), LAUNCH, rec(15, pid="7"), rec(16, pid="7")) == ["ONWARD", "RESTART", "ONWARD"]


def test_the_launch_before_the_first_record_is_none() -> None:
    assert places(LAUNCH, LAUNCH, rec(0), rec(1)) == ["ONWARD"] * 2


def test_a_retried_rollout_is_none() -> None:
    assert places(rec(2), rec(3), rec(3), rec(4)) == ["ONWARD"] * 4


def test_update_numbers_may_fall_with_varying_k() -> None:
    assert places(rec(40, "step"), TROUBLE, rec(36, "step")) == ["ONWARD"] * 2


def test_the_tail_printed_again_after_a_failure_says_nothing_new() -> None:
    lines = (rec(1, t=10), rec(2, t=20), TROUBLE, FAILED, rec(1, t=10), rec(2, t=20))
    assert places(*lines) == ["ONWARD"] * 2 + ["REPLAY"] * 2


def test_life_after_a_failed_job_is_a_restart() -> None:
    assert places(rec(1, t=10), rec(2, t=20), FAILED, LAUNCH, rec(0, t=90, pid="9")) == ["ONWARD", "ONWARD", "RESTART"]


def test_a_long_gap_marks_a_restart_where_nothing_else_can() -> None:
    bare = [rec(n, t=30.0 * n, pid="") for n in range(5)]
    assert places(*bare, rec(0, t=5000, pid="")) == ["ONWARD"] * 5 + ["RESTART"]


def test_evaluations_may_repeat() -> None:
    assert places(rec(5), rec(0, "eval"), rec(0, "eval"), rec(6)) == ["ONWARD"] * 4


def test_two_jobs_in_one_file_are_no_restarts_beyond_the_second_jobs_first_line() -> None:
    lines = [r for n in range(20) for r in (rec(n, t=100.0 * n, pid="1"), rec(100 + n, t=100.0 * n + 50, pid="2"))]
    assert places(*lines).count("RESTART") <= 1


def turn(n: int, t: float, *, k: int = 1, trainer: str = "1", manager: str = "2") -> list[Record]:
    """A rollout's records, in Miles's order."""
    source = Source("Trainer", trainer) if trainer else Source()
    ours = Source("RolloutManager", manager) if manager else Source()
    updates = [Record("step", n * k + u, {"train/grad_norm": 1.0}, t + 60 + u, source) for u in range(k)]
    return [
        Record("perf", n, {"perf/rollout_time": 40.0}, t + 40, ours),
        Record("rollout", n, {"rollout/raw_reward": 0.5}, t + 50, source),
        *updates,
        Record("perf", n, {"perf/train_time": 60.0}, t + 100, source),
    ]


def restarts(records: list[Record]) -> list[int]:
    return [i for i, place in enumerate(places(*records)) if place == "RESTART"]


def test_an_attempt_that_repeats_only_the_last_rollout() -> None:
    for k in (1, 3):
        before = [r for n in range(8) for r in turn(n, 150.0 * n, k=k)]
        again = [r for n in range(7, 10) for r in turn(n, 400.0 + 150.0 * n, k=k, trainer="11", manager="12")]
        assert restarts([*before, *again]) == [len(before)]
        assert restarts([*before, *again[1:]]) == [len(before)], "where the rollout side prints nothing"
        assert restarts([*before[:-1], *again]) == [len(before) - 1], "where it died before it closed the rollout"
        assert restarts([*before[: -k - 1], *again]) == [len(before) - k - 1], "or before the updates"
        unstamped = [Record(r.kind, r.number, r.metrics, None, r.source) for r in [*before, *again]]
        assert restarts(unstamped) == [len(before)]


def test_the_very_first_rollout_repeated_by_new_processes() -> None:
    again = turn(0, 500.0, trainer="11", manager="12")
    assert restarts([*turn(0, 0.0), *again]) == [4]
    first = turn(0, 0.0)[:1]
    assert restarts([*first, *again]) == [], "nothing had come of it: it goes on"


def test_the_last_rollout_repeated_without_any_process_id() -> None:
    before = [r for n in range(5) for r in turn(n, 150.0 * n, trainer="", manager="")]
    again = [r for n in range(4, 6) for r in turn(n, 400.0 + 150.0 * n, trainer="", manager="")]
    assert restarts([*before, *again]) == [len(before)]


def test_a_replaced_cell_that_tries_again_is_no_restart() -> None:
    before = [r for n in range(5) for r in turn(n, 150.0 * n)]
    failed = [r for r in turn(5, 750.0) if r.kind != "step"]  # a try that failed prints no update
    again = turn(5, 900.0, trainer="99")[1:]
    assert restarts([*before, *failed, *again]) == []


def test_a_second_cell_is_no_restart() -> None:
    lines = [r for n in range(5) for r in turn(n, 150.0 * n)]
    for n in range(5):
        at = next(i for i, r in enumerate(lines) if r.kind == "step" and r.number == n)
        lines[at:at] = [Record("rollout", n, {"rollout/raw_reward": 0.5}, 150.0 * n + 51, Source("Trainer", "5"))]
    assert restarts(lines) == []


def reversed_(records: list[Record]) -> bool:
    attempts = Attempts()
    for record in records:
        attempts.place(record, is_train_side(record.kind, record.metrics))
    return attempts.reversed


def test_a_log_whose_newest_line_comes_first() -> None:
    for k in (1, 3):
        forwards = [r for n in range(6) for r in turn(n, 150.0 * n, k=k)]
        bare = [Record(r.kind, r.number, r.metrics) for r in forwards]
        for lines in (forwards, bare):
            assert reversed_(lines[::-1])
            assert not reversed_(lines)
    assert places(*forwards[::-1]) == ["ONWARD"] * len(forwards)


def test_numbers_that_fall_for_other_reasons_are_no_reverse_order() -> None:
    before = [r for n in range(6) for r in turn(n, 150.0 * n)]
    again = [r for n in range(2, 6) for r in turn(n, 2000.0 + 150.0 * n, trainer="11", manager="12")]
    assert not reversed_([*before, *again])
    held = [r for n in (5, 2, 1, 0, 6) for r in turn(n, 150.0 * n)]
    assert not reversed_(held), "lines that were held back at a log's beginning"
    steps = [Record("step", n, {"train/grad_norm": 1.0}, 10.0 * i) for i, n in enumerate((40, 36, 32, 28, 29))]
    assert not reversed_(steps), "k varies"
    assert not reversed_([Record("rollout", 0, {"rollout/raw_reward": 0.5}) for _ in range(9)])


def test_three_falls_tell_a_log_in_reverse_order_and_two_do_not() -> None:
    lines = [rec(n, t=10.0 * n) for n in (9, 8, 7, 6)]
    assert not reversed_(lines[:3])
    assert reversed_(lines)
