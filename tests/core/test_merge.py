"""The lines of one rollout become one rollout: its two stages, its updates, whichever comes first."""

from __future__ import annotations

import math

import pytest

from miles_tui.core.model.records import Record, Source
from miles_tui.core.model.rollout import Stage
from miles_tui.core.run.line_schema import is_train_side
from miles_tui.core.run.rollout_assembler import MOST_OPEN, Merged, Merger
from miles_tui.core.run.update_means import MOST_MEANS

TRAINER = Source("MegatronTrainRayActor", "2")
CRITIC = Source("MegatronTrainRayActor", "8")


def sampled(n: int, **more: float) -> Record:
    return Record(
        "perf", n, {"rollout/response_len/mean": 10.5, "rollout/truncated_ratio": 0.1, "perf/rollout_time": 9.0}
    )


def scored(n: int) -> Record:
    return Record("rollout", n, {"rollout/response_lengths": 10.0, "rollout/raw_reward": 0.5}, source=TRAINER)


def step(n: int, gap: float = 0.01, grad: float = 1.0, source: Source = TRAINER) -> Record:
    metrics = {"train/train_rollout_logprob_abs_diff": gap, "train/grad_norm": grad, "train/pg_clipfrac": 0.0}
    return Record("step", n, metrics, source=source)


def trained(n: int) -> Record:
    return Record("perf", n, {"perf/train_time": 5.0, "perf/step_time": 6.0}, source=TRAINER)


def take(merger: Merger, record: Record) -> Merged:
    return merger.take(record, merger.layouts.of(record.kind, record.metrics))


def stages(merger: Merger, *records: Record) -> list[tuple[str, int]]:
    return [(stage.name, r.number) for record in records for stage, r in take(merger, record).ready]


def test_the_two_perf_lines_of_a_rollout_merge() -> None:
    merger = Merger()
    for record in (sampled(0), scored(0), step(0), trained(0)):
        rollout = take(merger, record).rollout
    assert {"perf/rollout_time", "perf/train_time", "rollout/raw_reward", "train/grad_norm"} <= set(rollout.metrics)
    assert rollout.number == 0


def test_each_rollout_reaches_each_stage_once() -> None:
    merger = Merger()
    records = [r for n in range(3) for r in (sampled(n), scored(n), step(n), step(n), trained(n))]
    assert stages(merger, *records) == [(s, n) for n in range(3) for s in ("SAMPLED", "TRAINED")]
    assert merger.close_all() == []


def test_the_manual_name_beats_a_sibling_whichever_comes_first() -> None:
    merger = Merger()
    assert take(merger, sampled(0)).signals["answer length"] == 10.5
    assert take(merger, scored(0)).signals["answer length"] == 10.0
    take(merger, sampled(0))
    assert take(merger, sampled(0)).rollout.values["answer length"] == 10.0


def test_k_is_learned_from_the_lines_and_updates_are_averaged() -> None:
    merger = Merger()
    for record in (sampled(0), scored(0), step(0, 0.01), step(1, 0.03), trained(0)):
        merged = take(merger, record)
    assert merger.planned == 2
    assert merged.rollout.updates == 2
    assert merged.rollout.values["gap"] == 0.02
    assert merged.rollout.metrics["train/train_rollout_logprob_abs_diff"] == 0.02
    assert merged.rollout.first["train/train_rollout_logprob_abs_diff"] == 0.01
    assert take(merger, scored(1)).rollout.number == 1
    assert take(merger, step(2)).rollout.number == 1


def test_k_is_learned_without_train_side_perf_lines() -> None:
    merger = Merger()
    stages(merger, scored(0), step(0), step(1), step(2), scored(1))
    assert merger.planned == 3


def test_with_k_known_the_last_update_closes_the_rollout() -> None:
    merger = Merger()
    merger.planned = 2
    assert stages(merger, sampled(0), scored(0), step(0)) == [("SAMPLED", 0)]
    assert stages(merger, step(1)) == [("TRAINED", 0)]


def test_async_order_closes_nothing_early() -> None:
    merger = Merger()
    seen = stages(
        merger, sampled(0), scored(0), sampled(1), step(0), trained(0), scored(1), sampled(2), step(1), trained(1)
    )
    assert seen == [("SAMPLED", 0), ("TRAINED", 0), ("SAMPLED", 1), ("TRAINED", 1)]


def test_a_critic_neither_sets_signals_nor_closes() -> None:
    merger = Merger()
    merger.planned = 1
    critic = Record("critic-step", 0, {"train/critic-grad_norm": 4.0, "train/step": 0}, source=CRITIC)
    stages(merger, sampled(0), scored(0), critic)
    assert stages(merger, step(0, grad=1.0)) == [("TRAINED", 0)]
    merged = take(merger, step(0, grad=4.5, source=CRITIC))
    assert merged.signals == {}
    assert merged.rollout.values["gradient norm"] == 1.0
    assert "train/critic-grad_norm" in merged.rollout.metrics


def test_a_failed_try_of_a_fault_tolerant_trainer_is_not_the_end_of_the_rollout() -> None:
    merger = Merger()
    stages(merger, scored(2), step(2), trained(2))
    assert stages(merger, scored(3), trained(3), scored(3)) == [("SAMPLED", 3)]
    assert stages(merger, step(3), trained(3)) == [("TRAINED", 3)]


def test_a_guessed_rollout_number_is_taken_back() -> None:
    merger = Merger()
    assert [take(merger, step(n)).rollout.number for n in (41, 42, 43)] == [41, 42, 43]
    merged = take(merger, trained(10))
    assert merged.forget_from == 11
    assert take(merger, scored(11)).rollout.number == 11
    assert take(merger, step(44)).rollout.number == 11


def test_a_lost_rollout_line_does_not_glue_two_rollouts() -> None:
    merger = Merger()
    stages(merger, scored(0), step(0), trained(0), scored(1), step(1), trained(1))
    assert take(merger, step(2)).rollout.number == 2


def test_namespaced_metrics_fill_the_signals_of_the_first_model_only() -> None:
    merger = Merger()
    first = take(merger, Record("step", 0, {"alpha/train/grad_norm": 1.5}))
    second = take(merger, Record("step", 0, {"beta/train/grad_norm": 7.0}))
    assert first.signals == {"gradient norm": 1.5}
    assert second.signals == {}
    assert second.rollout.metrics == {"alpha/train/grad_norm": 1.5, "beta/train/grad_norm": 7.0}


def test_open_rollouts_are_bounded() -> None:
    merger = Merger()
    for n in range(0, 4000, 2):
        take(merger, Record("multi_turn", n, {"multi_turn/x": 1.0}))
    assert len(merger._open) <= MOST_OPEN + 1


def test_the_side_of_a_perf_line_is_told_by_its_keys() -> None:
    assert not is_train_side("perf", sampled(0).metrics)
    assert is_train_side("perf", trained(0).metrics)
    assert is_train_side("perf", ("alpha/perf/train_time",))


def test_stage_order_is_sampled_then_trained() -> None:
    assert Stage.SAMPLED.value < Stage.TRAINED.value


def test_a_block_that_is_printed_again_is_not_judged_again() -> None:
    merger = Merger()
    whole = [r for n in range(60) for r in (sampled(n), scored(n), step(n), trained(n))]
    assert len(stages(merger, *whole)) == 120
    assert stages(merger, *whole[4:-8]) == []
    assert stages(merger, sampled(60), scored(60), step(60)) == [("SAMPLED", 60), ("TRAINED", 60)]


def test_the_first_update_is_only_taken_for_it_when_it_surely_is() -> None:
    merger = Merger()
    merger.planned = 2
    stages(merger, scored(0), step(0), step(1), scored(1), step(3))
    assert take(merger, trained(1)).rollout.first == {}, "update 2 was lost"
    stages(merger, scored(2), step(4), step(5))
    assert take(merger, trained(2)).rollout.first["train/grad_norm"] == 1.0


def test_a_log_that_begins_inside_a_rollout_has_no_first_update_there() -> None:
    merger = Merger()
    assert take(merger, step(42)).rollout.first == {}
    stages(merger, step(43), trained(10), scored(11))
    assert take(merger, step(44)).rollout.first != {}


def test_a_rollout_side_far_ahead_does_not_blind_the_judge() -> None:
    merger = Merger()
    ahead = [r for n in range(40) for r in (sampled(n + 10), scored(n), step(n), trained(n))]
    seen = stages(merger, *(sampled(n) for n in range(4)), *ahead)
    assert [n for s, n in seen if s == "TRAINED"] == list(range(40))
    assert take(merger, trained(39)).rollout.values["gap"] == 0.01


def test_a_run_without_a_trainer_is_judged_all_the_same() -> None:
    merger = Merger()
    seen = stages(merger, *(sampled(n) for n in range(20)))
    assert [n for s, n in seen if s == "TRAINED"] == list(range(16))


def test_absurd_values_are_infinite_to_the_rules_and_themselves_on_the_screen() -> None:
    merged = take(Merger(), step(0, gap=-1e200))
    assert merged.signals["gap"] == -1e200
    assert merged.rollout.values["gap"] == float("-inf")
    assert take(Merger(), step(0, gap=10**400)).signals["gap"] == float("inf")


@pytest.mark.parametrize("value", [math.nan, -math.nan])
def test_not_a_number_is_no_infinity_to_the_rules(value: float) -> None:
    assert math.isnan(take(Merger(), step(0, gap=value)).rollout.values["gap"])


def test_the_names_of_a_rollout_are_bounded() -> None:
    merger = Merger()
    take(merger, scored(0))
    for n in range(300):
        rollout = take(merger, Record("step", n, {f"train/{n}-{i}": 1.0 for i in range(100)})).rollout
    assert rollout.updates == 300
    assert len(rollout.metrics) == MOST_MEANS
    assert take(merger, step(300, gap=0.5)).signals["gap"] == 0.5


def test_the_mean_over_updates_is_the_same_whether_or_not_they_have_the_same_names() -> None:
    merger, other = Merger(), Merger()
    for n, gap in enumerate((0.01, 0.02, 0.06)):
        alike = take(merger, step(n, gap)) if n else take(merger, scored(0)) and take(merger, step(0, gap))
        record = step(n, gap)
        if n == 1:
            record.metrics["train/only_here"] = 7.0
        mixed = take(other, record) if n else take(other, scored(0)) and take(other, record)
    assert alike.rollout.updates == mixed.rollout.updates == 3
    assert alike.metrics == mixed.metrics
    assert mixed.rollout.metrics["train/only_here"] == 7.0
    assert mixed.metrics["train/train_rollout_logprob_abs_diff"] == (0.01 + 0.02 + 0.06) / 3
