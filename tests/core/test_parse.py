"""A line's metric records: every form of them, and what is none."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from miles_tui.core.model.records import Record
from miles_tui.core.parsing.brace_scan import next_numbered
from miles_tui.core.parsing.dict_parser import BAD, TORN, careful_metrics, fast_metrics
from miles_tui.core.parsing.fast_path import Usual
from miles_tui.core.parsing.line_prefix import head_time, stamps_before, time_of
from miles_tui.core.parsing.metric_line import records_in

D = "{'train/loss': 0.5, 'train/grad_norm': 12.75, 'train/step': 3}"
RAY = "\x1b[36m(MegatronTrainRayActor pid=2, ip=192.0.2.4)\x1b[0m "
LOG = "[2026-10-15 16:01:02.216 actor_cell0_rank0] model.py:854 - "
DOCKER = {"stream": "stderr", "time": "2026-10-15T16:01:02.5Z"}


def kinds(text: str) -> list[tuple[str, int, int]]:
    return [(r.kind, r.number, len(r.metrics)) for r in records_in(text.encode()).records]


@pytest.mark.parametrize(
    "text",
    [
        f"step 3: {D}",
        f"{RAY}{LOG}step 3: {D}",
        f"{RAY}{LOG}step 3: {D}\x1b[32m [repeated 7x across cluster]\x1b[0m",
        f"2026-08-14T07:31:02.029054704Z {RAY}{LOG}step 3: {D}",
        f"[pod/head-0/ray-head] 2026-08-14T07:31:02.029Z step 3: {D}",
        f"2026-08-15T06:00:00.13Z stderr F {RAY}{LOG}step 3: {D}",
        f"trainer-1  | step 3: {D}",
        f"trainer-1  | 2026-08-14T07:31:02.029Z step 3: {D}",
        f"miles-head-0 ray-head step 3: {D}",
        f"0: step 3: {D}",
        f"[default0]:{RAY}{LOG}step 3: {D}",
        f"  4933:{RAY}{LOG}step 3: {D}",
        f"logs/run.log-9121-{RAY}{LOG}step 3: {D}",
        f"> {RAY}{LOG}step 3: {D}",
        f"Oct 15 16:01:02 box miles[22]: step 3: {D}",
        f"I1015 18:03:00.000000 2211 run.py:7] (A pid=2) step 3: {D}",
        f"2026-08-04 | INFO | worker step 3: {D}",
        f"16:43:41 SUCCESS step 3: {D}",
        f"[EVAL RESULT] step 3: {D}",
        f"INFO:root:step 3: {D}",
        f"100%|███| 256/256 [01:33<00:00,  2.74it/s]step 3: {D}",
        f"\x1b[1A\x1b[2K\x1b[31mstep 3:\x1b[0m {D}\x1b[K",
        f"^[[36m(A pid=3)^[[0m step 3: {D}",
        f"\ufeff\0\0step 3: {D}",
        f"don't panic (A pid=3) step 3: {D}",
        json.dumps({"log": f"\x1b[36m(A pid=1)\x1b[0m step 3: {D}\n", **DOCKER}),
        json.dumps({"level": "INFO", "message": f"step 3: {D}"}),
        json.dumps({"jsonPayload": {"message": f"{LOG}step 3: {D}"}}),
        f"x-1 | {json.dumps({'msg': f'step 3: {D}'})}",
        f"{LOG}step 3: {json.dumps({'train/loss': math.nan, 'train/x': None, 'train/y': True, 'a/b': 1, 'c/d': 2})}",
        f"step 3: {D}(SGLangEngine pid=4) [2026-10-15 16:01:02] Decode batch",
    ],
)
def test_forms(text: str) -> None:
    assert kinds(text) == [("step", 3, 3)]
    data = f"{text}\n".encode()
    brace = next_numbered(data, 0, 0, len(data))
    assert brace >= 0, "the search for braces does not find it"


@pytest.mark.parametrize(
    "text",
    [
        f'text_preview="please explain: step 7: {D}", label=42',
        f"example data: ['<|im_start|>user\\nstep 3: {D}<|im_end|>'] reward=0",
        f'INFO payload="{LOG}step 8: {D}"',
        f"payload says step 9: {D}",
        f"x/step 3: {D}",
        f"micro_steps-3: {D}",
        f"`step 3: {D}`",
        f"step 3: {D}, what is wrong with it?",
        "Ports for engine 3: {'nccl/a': 1, 'b': 2}",
        "pid 15277: {'a/b': 1}",
        "lout 12: {'rollout/raw_reward': 0.5}",
        "step:1 - actor/entropy:0.323",
        "step 5: {}",
        "step 5: {'train/note': 'x', 'train/none': None}",
        json.dumps({"prompt": f"step 3: {D}"}),
        json.dumps({"msg": f'First sample: "please: step 3: {D}"'}),
        "step 3: {'train/loss': 0.5, 'train/grad_norm': 12",
    ],
)
def test_what_is_no_metric_line(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    "kind", ["step", "critic-step", "ref-step", "rollout", "perf", "eval", "multi_turn", "passrate", "sandbox"]
)
def test_kinds(kind: str) -> None:
    assert kinds(f"{kind} 3: {{'{kind}/a': 1}}") == [(kind, 3, 1)]


def test_another_kind_counts_behind_a_logger_only() -> None:
    assert kinds(f"{LOG}sft 3: {{'train/loss': 1.5}}") == [("sft", 3, 1)]
    assert kinds("sft 3: {'train/loss': 1.5}") == []


@pytest.mark.parametrize(
    ("head", "seconds", "role", "logger"),
    [
        (f"{RAY}{LOG}", 57662.216, "MegatronTrainRayActor", "model.py"),
        (f"2026-10-15T23:00:00.5Z {RAY}{LOG}", 57662.216, "MegatronTrainRayActor", "model.py"),
        ("[2026-10-15 16:01:02] data.py:193 - ", 57662.0, "", "data.py"),
        ("2026-10-15T16:01:02.0290547Z ", 57662.0290547, "", ""),
        ("2026-10-15 16:01:02,773 INFO ", 57662.773, "", ""),
        ("<14>1 2026-10-15T16:01:02.5+02:00 box miles 2211 - - ", 57662.5, "", ""),
        ("(MyActor(index=2) pid=470031) ", None, "MyActor(index=2)", ""),
        ("(pid=44120) ", None, "", ""),
        ("(train_group/actor_0 pid=8, ip=2001:db8::7) ", None, "train_group/actor_0", ""),
        ("[2026-13-45 16:01:02] data.py:193 - ", None, "", "data.py"),
    ],
)
def test_who_and_when(head: str, seconds: float | None, role: str, logger: str) -> None:
    (record,) = records_in(f"{head}step 3: {D}".encode()).records
    assert (record.source.role, record.logger) == (role, logger)
    if seconds is None:
        assert record.time is None
    else:
        assert record.time is not None
        assert round(record.time % 86400, 6) == round(seconds, 6)


def test_two_records_in_one_line() -> None:
    whole, later = f"{RAY}{LOG}step 3: {D}", f"{RAY}{LOG}step 4: {D}"
    assert [k[1] for k in kinds(whole + later)] == [3, 4]
    assert [k[1] for k in kinds(whole[:-30] + later)] == [4], "a torn record before another writer's"


# -- dicts ---------------------------------------------------------------------------------------

NUMBERS = st.one_of(st.floats(), st.integers(-(10**25), 10**25))
KEYS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)
ODD = st.one_of(st.none(), st.booleans(), st.text(max_size=10), st.lists(st.integers(), max_size=3))


def same(a: object, b: object) -> bool:
    return repr(a) == repr(b)


@given(st.dictionaries(KEYS, st.one_of(NUMBERS, ODD), max_size=12))
def test_both_ways_read_what_python_prints(found: dict[str, object]) -> None:
    text = repr(found)
    wanted = {k: v for k, v in found.items() if type(v) in (int, float)}
    got = careful_metrics(text, 0)
    assert isinstance(got, tuple)
    assert same(got[0], wanted)
    assert got[1] == len(text)
    fast = fast_metrics(text.encode())
    assert fast is None or same(fast, wanted)


@given(st.dictionaries(KEYS, NUMBERS, min_size=1, max_size=6), st.data())
def test_a_cut_dict_gives_nothing(found: dict[str, float], data: st.DataObject) -> None:
    text = repr(found)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert careful_metrics(cut, 0) is TORN
    assert fast_metrics(cut.encode()) is None


@given(st.text(st.sampled_from("{}'\"[](),: \\e.1-naif\nx_/"), max_size=60))
def test_any_text_is_read_without_an_exception_and_alike(text: str) -> None:
    text = "{" + text + "}"
    got, fast = careful_metrics(text, 0), fast_metrics(text.encode())
    if fast is not None:
        assert isinstance(got, tuple)
        assert same(got[0], fast)
        assert got[1] == len(text)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("tensor(0.0121)", 0.0121),
        ("tensor(2.5000, device='cuda:0')", 2.5),
        ("tensor(1., device='cuda:0', grad_fn=<MeanBackward0>)", 1.0),
        ("tensor([0.5000])", 0.5),
        ("tensor([0.1, 0.2])", None),
        ("array(0.25)", 0.25),
        ("np.float64(nan)", math.nan),
        ("np.int64(9)", 9),
        ("numpy.float32(-inf)", -math.inf),
        ("-nan", math.nan),
        ("Infinity", math.inf),
        ("1e999", math.inf),
        ("2.E+3", 2000.0),
        (".5", 0.5),
        ("1_000", 1000),
        ("9" * 400, math.inf),
        ("-" + "9" * 5000, -math.inf),
        ("12.75abc", None),
        ("np.bool_(True)", None),
        ("<object at 0x7f>", None),
        ("'12.75'", None),
        ("[{'a': 1}, (2, 3)]", None),
    ],
)
def test_values(value: str, number: float | None) -> None:
    text = f"{{'a/x': 1, 'a/y': {value}, 'a/z': 2}}"
    got = careful_metrics(text, 0)
    assert isinstance(got, tuple)
    wanted = {"a/x": 1, "a/z": 2} if number is None else {"a/x": 1, "a/y": number, "a/z": 2}
    assert same(got[0], wanted)
    fast = fast_metrics(text.encode())
    assert fast is None or same(fast, wanted)


def test_nested_dicts_are_flattened() -> None:
    text = "{'train': {'loss': 0.5, 'deep': {'x': 1}}, 'eval/pass': {1: 0.5, 8: 0.75}}"
    wanted = {"train/loss": 0.5, "train/deep/x": 1, "eval/pass/1": 0.5, "eval/pass/8": 0.75}
    assert careful_metrics(text, 0) == (wanted, len(text))


def test_another_writer_inside_a_number_makes_no_number() -> None:
    text = "{'a': 1, 'b': 12(SGLang pid=3) [x] Decode, #run: 6, 'c': 5}"
    assert careful_metrics(text, 0) is BAD


LINE_PARTS = st.sampled_from(
    [
        RAY,
        LOG,
        "step 3: ",
        "perf 12: ",
        D,
        "{'a/b': nan}",
        "x ",
        '"',
        "'",
        "{",
        "\x1b[0m",
        "[2026-10-15 16:01:02] ",
        "}",
        ": ",
    ]
)


@given(st.lists(LINE_PARTS, max_size=8).map("".join))
def test_the_fast_way_and_the_other_agree(text: str) -> None:
    data = text.encode()
    record = Usual().record(data, 0, len(data))
    if record is not None:
        assert repr(records_in(data).records) == repr([record])


def test_a_dict_that_comes_twice_is_one() -> None:
    usual = Usual()
    lines = [f"{RAY}{LOG}step {n}: {found}".encode() for n, found in ((1, D), (2, D), (3, "{'train/loss': 0.25}"))]
    records = [usual.record(line, 0, len(line)) for line in lines]
    assert [r.number for r in records if r] == [1, 2, 3]
    one, two, three = (r.metrics for r in records if r)
    assert one is two
    assert (one["train/loss"], three["train/loss"]) == (0.5, 0.25)


@pytest.mark.parametrize("text", ["0.5", "-0", "1E5", "1e400", "nan", "9" * 30, "9" * 400, "None", "1, 'a': 2", "[1]"])
def test_what_is_printed_as_json_says_the_same(text: str) -> None:
    """Where the JSON text is given on, it is JSON but for the words of what is not finite, and holds the metrics."""
    line = f"step 3: {{'b': 1, 'a': {text}}}".encode()
    record = Usual().record(line, 0, len(line))
    if record is not None and record.printed:
        assert repr(json.loads(record.printed)) == repr(record.metrics)


def test_a_record_is_hashable_by_its_source() -> None:
    (one,), (two,) = (records_in(f"{RAY}{LOG}step {i}: {D}".encode()).records for i in (1, 2))
    assert isinstance(one, Record)
    assert one.source is two.source, "one object a writer"


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("9999-12-31 23:59:60.000", None),
        ("9999-01-01 00:00:00", None),
        ("0000-01-01 00:00:00", None),
        ("0001-01-01 00:00:00", None),
        ("2026-13-01 00:00:00", None),
        ("2026-00-01 00:00:00", None),
        ("2026-02-30 00:00:00", None),
        ("2026-01-01 24:00:00", None),
        ("2026-01-01 00:60:00", None),
        ("2026-01-01 00:00:61", None),
        ("2016-12-31 23:59:60", 1483228800.0),
        ("9998-12-31 23:59:60.999", 253370764800.999),
        ("1970-01-01 00:00:00", 0.0),
    ],
)
def test_a_time_is_a_date_that_can_be_printed(stamp: str, seconds: float | None) -> None:
    assert time_of(f"[{stamp} a] model.py:1 - ") == seconds
    line = f"[{stamp} a] model.py:1 - step 3: {D}".encode()
    (record,) = records_in(line).records
    assert record.time == seconds
    fast = Usual().record(line, 0, len(line))
    assert fast is None or fast.time == seconds


def shown(pairs: list[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"'{key}': {value}" for key, value in pairs) + "}"


SOME_KEYS = st.sampled_from(["a", "b", "a/b", "a/c"])
VALUES = st.recursive(
    st.sampled_from(["1", "2.5", "None", "nan", "True", "'x'", "[1]", "np.float64(3)"]),
    lambda inner: st.lists(st.tuples(SOME_KEYS, inner), max_size=4).map(shown),
    max_leaves=8,
)


@given(st.lists(st.tuples(SOME_KEYS, VALUES), min_size=1, max_size=6))
@example([("a/b", "1"), ("a/b", "None")])
@example([("a", "{'b': 1}"), ("a", "{'c': 1}"), ("a/b", "None")])
def test_both_ways_agree_on_equal_keys(pairs: list[tuple[str, str]]) -> None:
    text = shown(pairs)
    got, fast = careful_metrics(text, 0), fast_metrics(text.encode())
    assert isinstance(got, tuple)
    assert fast is None or same(got[0], fast)


def test_of_equal_keys_the_last_counts() -> None:
    assert careful_metrics("{'a/b': 1, 'a/b': None, 'c': 1, 'c': 2}", 0) == ({"c": 2}, 39)


OWN = "[2026-09-02 18:00:41.182 actor_cell0_rank0] model.py:8 - "
AT = time_of("2026-09-02 18:00:41.182")


@pytest.mark.parametrize(("head", "outer"), [
    (OWN, 0),
    ("[2026-09-03 09:00:00] " + OWN, 1),  # ts '[%F %T]'
    ("[2026-09-03 09:00:00] (Trainer pid=4) " + OWN, 1),
    ("\x1b[36m(Trainer pid=4)\x1b[0m [2026-09-03 09:00:00] " + OWN, 1),
    ("[2026-09-03 09:00:01] [2026-09-03 09:00:00] " + OWN, 2),  # ts behind ts
    ("2026-09-03 09:00:00 " + OWN, 0),  # a transport's without brackets is no such stamp
    ("2026-09-03T09:00:00.5Z stderr F " + OWN, 0),
    ("2026-09-03 09:00:00 2026-09-02 18:00:41,182 - root - INFO - ", 1),  # ts '%F %T', and a logger without brackets
    ("2026-09-03 09:00:00 2026-09-02 18:00:41.182 | INFO     | a:b:8 - ", 1),
])  # fmt: skip
def test_the_stamp_next_to_the_text_is_the_loggers_own(head: str, outer: int) -> None:
    (record,) = records_in((head + "step 3: {'train/grad_norm': 1.0}").encode()).records
    assert record.time == AT
    bracketed, before = stamps_before(head)
    assert (bracketed, before) == ("actor_cell0" in head, outer)
    assert head_time(head + "x", own=bracketed, outer=outer) == AT


def test_a_line_with_a_transports_stamp_alone_has_no_time_of_its_own() -> None:
    line = "[2026-09-03 09:00:00] Traceback (most recent call last):"
    assert head_time(line, own=True, outer=1) is None
    assert head_time(line, own=True) == time_of(line)
