"""A step forward, a restart, or a repetition: what tells them apart, and that going back alone does not."""

from __future__ import annotations

from miles_tui.core.attempts import Attempts, Place
from miles_tui.core.layout import is_train_side
from miles_tui.core.records import Fact, FactKind, Record, Source


def rec(n: int, kind: str = "rollout", t: float | None = None, pid: str = "1") -> Record:
    return Record(kind, n, {"rollout/raw_reward": 0.5}, t, Source("Trainer", pid) if pid else Source())


def places(*items: Record | Fact) -> list[str]:
    attempts, out = Attempts(), []
    for item in items:
        if isinstance(item, Fact):
            attempts.note(item)
        else:
            out.append(attempts.place(item, is_train_side(item.kind, item.metrics)).name)
    return out


LAUNCH, TROUBLE, FAILED = (Fact(k, "x") for k in (FactKind.LAUNCH, FactKind.TROUBLE, FactKind.JOB_FAILED))


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
    assert Place.ONWARD is not Place.REPLAY


def test_two_jobs_in_one_file_are_no_restarts_beyond_the_second_jobs_first_line() -> None:
    lines = [r for n in range(20) for r in (rec(n, t=100.0 * n, pid="1"), rec(100 + n, t=100.0 * n + 50, pid="2"))]
    assert places(*lines).count("RESTART") <= 1
