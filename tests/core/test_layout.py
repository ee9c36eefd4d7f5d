"""The meaning of a line's kind and names, worked out once for all lines alike."""

from __future__ import annotations

import math

import pytest

from miles_tui.core.run.line_schema import MOST_SCHEMA_NAMES, Layout, Layouts, as_floats, is_train_side, prefix_of

STEP = {"train/grad_norm": 0.9, "train/step": 3, "train/loss": 1e-8}


def layout(metrics: dict[str, float | int], kind: str = "step") -> Layout:
    return Layouts().of(kind, metrics)


def test_lines_of_a_kind_and_names_have_one_layout() -> None:
    layouts = Layouts()
    first = layouts.of("step", STEP)
    assert layouts.of("step", dict.fromkeys(STEP, 0.0)) is first
    assert layouts.of("critic-step", STEP) is not first
    assert layouts.of("step", dict(reversed(STEP.items()))) is not first, "values go by their place"


def test_a_layout_knows_what_its_kind_and_names_mean() -> None:
    assert (layout(STEP).update, layout(STEP).train_side) == (True, True)
    assert (layout(STEP, "critic-step").update, layout(STEP, "eval").update) == (True, False)
    assert (layout(STEP, "rollout").train_side, layout(STEP, "eval").train_side) == (True, False)
    assert not is_train_side("perf", ("perf/rollout_time",))
    assert is_train_side("perf", ("perf/rollout_time", "beta/perf/step_time"))


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("train/loss", ""), ("alpha/train/loss", "alpha/"), ("a/b/perf/x", "a/b/"), ("pretrain/loss", ""), ("loss", "")],
)
def test_the_part_before_a_family_is_the_models_name(name: str, prefix: str) -> None:
    assert prefix_of(name) == prefix


def test_names_that_are_never_the_same_are_not_kept_for_good() -> None:
    layouts = Layouts()
    for n in range(2 * MOST_SCHEMA_NAMES):
        layouts.of("perf", [f"rollout/zero_std/count_{n}"])
    assert sum(len(known.names) for known in layouts._known.values()) <= MOST_SCHEMA_NAMES
    assert layouts.of("perf", ["perf/train_time"]).train_side


def test_a_line_of_floats_is_taken_as_it_is_and_integers_become_floats() -> None:
    floats = {"a": 0.5, "b": math.nan}
    assert as_floats(floats) is floats
    mixed = as_floats({"a": 10**400, "b": -(10**400)})
    assert list(mixed.items()) == [("a", math.inf), ("b", -math.inf)]
    assert [type(value) for value in as_floats({"a": 1, "b": 2.0}).values()] == [float, float]
    assert [type(value) for value in as_floats({"a": 1.0, "b": 2}).values()] == [float, float]
    assert as_floats(floats) is floats


def test_the_first_model_that_is_asked_for_has_the_signals() -> None:
    layouts = Layouts()
    beta, alpha = (layouts.of("step", [f"{model}/train/grad_norm", f"{model}/train/x"]) for model in ("beta", "alpha"))
    assert layouts.signals(alpha) == (("gradient norm", "alpha/train/grad_norm", None),)
    assert layouts.signals(beta) == ()
    assert layouts.namespace == "alpha/"


def test_signals_are_in_the_order_of_the_line_with_the_place_of_their_name() -> None:
    layouts = Layouts()
    line = layouts.of("perf", ["perf/rollout_time", "rollout/response_len/mean", "misc"])
    assert layouts.signals(line) == (
        ("rollout time", "perf/rollout_time", None),
        ("answer length", "rollout/response_len/mean", 1),
    )
