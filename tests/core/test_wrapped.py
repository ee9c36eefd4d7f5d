"""Logs that a service handed out as JSON: their lines come out as the plain log has them, whatever the cuts."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from costs import grows_less
from hypothesis import given, settings
from hypothesis import strategies as st

from miles_tui.core.alerting.engine import Judge
from miles_tui.core.model.records import Item, Record
from miles_tui.core.parsing.diagnose import diagnose
from miles_tui.core.parsing.reader import Reader
from miles_tui.core.parsing.wrapped import Unwrap, is_wrapped
from miles_tui.core.run.run_state import RunState
from miles_tui.present.alerts.evidence_words import evidence_words

LINES = [
    f"\x1b[36m(Trainer pid=4)\x1b[0m [2026-09-02 18:{n:02}:00.125 actor_cell0_rank0] log_utils.py:542 - "
    f"step {n}: {{'train/grad_norm': {n}.5, 'train/ü \\ \"x\" 😀/y': 1.0}}"
    for n in range(6)
] + [
    "Traceback (most recent call last):",
    '  File "/root/train.py", line 1',
    "torch.OutOfMemoryError: CUDA out of memory",
]
PLAIN = "\n".join(LINES) + "\n"


def each(make: Callable[[str], object]) -> list[object]:
    return [make(line) for line in LINES]


def otel(line: str) -> object:
    attributes = [{"key": "log.file", "value": {"stringValue": "step 9: {'train/no': 1.0}"}}]
    log = {"timeUnixNano": "1788372000123456789", "attributes": attributes, "body": {"stringValue": line}}
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": [log]}]}]}


STREAM = {"stream": {"app": "miles"}, "values": each(lambda line: ["1788372000000000000", line])}
GRAFANA = each(lambda line: {"line": line, "timestamp": "1788372000000000000", "fields": {"app": "miles"}})
GCLOUD = each(lambda line: {"insertId": "a", "textPayload": line + "\n", "timestamp": "2026-09-02T18:00:00Z"})
CLOUD = {"events": each(lambda line: {"timestamp": 1788372000000, "message": line, "ingestionTime": 1})}
FORMS: dict[str, str] = {
    "Grafana's download": json.dumps(GRAFANA),
    "the same, not escaped to ASCII": json.dumps(GRAFANA, ensure_ascii=False),
    "the same, a field a line": json.dumps(GRAFANA, indent=2),
    "gcloud": json.dumps(GCLOUD, indent=2),
    "gcloud, a payload of fields": json.dumps(each(lambda line: {"jsonPayload": {"message": line}}), indent=2),
    "OpenTelemetry": "\n".join(map(json.dumps, each(otel))),
    "OpenTelemetry, all in one": json.dumps(
        {"resourceLogs": [{"scopeLogs": [{"logRecords": each(lambda line: {"body": {"stringValue": line}})}]}]}
    ),
    "Ray's REST interface": json.dumps({"logs": PLAIN}),
    "the same as a list": json.dumps({"logs": LINES}),
    "CloudWatch": json.dumps(CLOUD, indent=4),
    "CloudWatch's Insights": json.dumps(
        {"results": each(lambda line: [{"field": "@timestamp", "value": "x"}, {"field": "@message", "value": line}])}
    ),
    "Loki's answer": json.dumps({"status": "success", "data": {"resultType": "streams", "result": [STREAM]}}),
    "Elasticsearch": json.dumps({"took": 3, "hits": {"hits": each(lambda line: {"_source": {"message": line}})}}),
    "Datadog": json.dumps({"data": each(lambda line: {"id": "a", "attributes": {"message": line}})}),
    "Azure": json.dumps({"tables": [{"name": "x", "rows": each(lambda line: ["2026-09-02T18:00:00Z", line])}]}),
    "journald, a field a line": "\n".join(
        json.dumps(row, indent=1) for row in each(lambda line: {"_PID": "4", "MESSAGE": line})
    ),
    "docker's file in an array": "[" + ",\n".join(
        map(json.dumps, each(lambda line: {"log": line + "\n", "stream": "stderr", "time": "2026-09-02T18:00:00Z"}))
    ) + "]",
    "docker's lines in Grafana's": json.dumps(
        each(lambda line: {"line": json.dumps({"log": line + "\n", "stream": "stderr"})})
    ),
    "behind a mark and blanks": "\ufeff\n " + json.dumps(GRAFANA),
}  # fmt: skip


def read(text: str | bytes, cuts: list[int] | None = None) -> list[Item]:
    data = text.encode() if isinstance(text, str) else text
    reader, items, at = Reader(), [], 0
    for cut in cuts or []:
        items += reader.feed(data[at : at + cut])
        at += cut
    return [*items, *reader.feed(data[at:]), *reader.finish()]


def records(items: list[Item]) -> list[tuple[int, dict[str, float], float | None, str]]:
    return [(i.number, i.metrics, i.time, i.source.pid) for i in items if isinstance(i, Record)]


WANTED = records(read(PLAIN))


@pytest.mark.parametrize("form", FORMS)
def test_a_wrapped_log_is_read_as_the_plain_one(form: str) -> None:
    assert len(WANTED) == 6
    items = read(FORMS[form])
    assert records(items) == WANTED
    run = RunState(Judge())
    run.feed(items)
    run.finish()
    assert run.verdict() == "crashed"
    assert "CUDA out of memory" in evidence_words(run.alerts[-1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cut", [1, 7])
def test_the_cuts_change_nothing(form: str, cut: int) -> None:
    text = FORMS[form].encode()
    assert records(read(text, [cut] * (len(text) // cut))) == WANTED


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.lists(st.integers(1, 30), max_size=40))
def test_any_text_comes_out_of_its_string(said: str, cuts: list[int]) -> None:
    data = json.dumps([{"line": said + "\n", "x": {"y": [1, "2"]}}, {"line": "end"}]).encode()
    unwrap, out, at = Unwrap(), b"", 0
    for cut in cuts:
        out += unwrap.feed(data[at : at + cut])
        at += cut
    out += unwrap.feed(data[at:]) + unwrap.rest()
    kept = said.encode("utf-8", "replace").replace(b"\b", b"").replace(b"\f", b"")
    assert out == kept + b"\nend\n"


@pytest.mark.parametrize(("head", "wrapped"), [
    (b"[2026-09-02 18:00:00 a] model.py:1 - step 1: {'a': 1.0}", False),
    (b'{"log":"step 1: {}\\n","stream":"stderr"}', False),
    (b'{"message": "x", "level": "info"}', False),
    (b"(Trainer pid=4) step 1: {'train/x': 1.0}", False),
    (b"{'train/x': 1.0}", False),
    (b"[1, 2]", False),
    (b"[]", False),
    (b"", None), (b"[", None), (b"{\n", None), (b'[{"', True), (b'[ { "line"', True), (b'{\n  "a": 1', True),
    (b'{"resourceLogs":[', True), (b'{"logs": "', True),
])  # fmt: skip
def test_what_looks_wrapped(head: bytes, wrapped: bool | None) -> None:
    assert is_wrapped(head) is wrapped


def test_a_plain_log_whose_first_line_is_json_is_plain() -> None:
    for first in ('[{"role": "user", "content": "hi"}]', '{"status": "ok"}', '{\n  "lr": 1e-6\n}', '{"data": [1, 2]}'):
        assert records(read(f"{first}\n{PLAIN}")) == WANTED, first


def test_a_torn_value_costs_only_itself() -> None:
    rows = FORMS["OpenTelemetry"].split("\n")
    torn = "\n".join([*rows[:2], rows[2][: len(rows[2]) - 60], *rows[3:]])
    assert [n for n, *_ in records(read(torn))] == [0, 1, 3, 4, 5]


def test_one_record_of_a_log_that_ends_early_is_lost() -> None:
    text = FORMS["Grafana's download"]
    assert records(read(text[: text.index("step 4") + 30])) == WANTED[:4]


def test_a_rotated_log_may_be_of_another_form() -> None:
    reader = Reader()
    first = [*reader.feed(FORMS["Grafana's download"].encode()), *reader.cut()]
    assert records([*first, *reader.feed(PLAIN.encode()), *reader.finish()]) == WANTED * 2


@pytest.mark.parametrize("form", ["Grafana's download", "gcloud", "OpenTelemetry", "Ray's REST interface"])
def test_the_work_is_linear(form: str) -> None:
    def text(n: int) -> bytes:
        lines = [LINES[0]] * n
        return {
            "Grafana's download": lambda: json.dumps([{"line": line} for line in lines]),
            "gcloud": lambda: json.dumps([{"textPayload": line} for line in lines], indent=1),
            "OpenTelemetry": lambda: "\n".join(json.dumps(otel(line)) for line in lines),
            "Ray's REST interface": lambda: json.dumps({"logs": "\n".join(lines)}),
        }[form]().encode()

    def work(n: int) -> None:
        unwrap = Unwrap()
        for at in range(0, len(texts[n]), 4096):
            unwrap.feed(texts[n][at : at + 4096])

    texts = {n: text(n) for n in (500, 2000)}
    assert grows_less(work, 500)


@pytest.mark.parametrize("text", [
    json.dumps([{"said": line} for line in LINES]),
    "\n".join(json.dumps({"a": {"said": line}}) for line in LINES),
    "\n".join('"2026-09-02","' + line.replace('"', '""') + '"' for line in LINES),  # a table with commas
])  # fmt: skip
def test_a_form_that_is_not_known_is_told_and_how_to_unwrap_it(text: str) -> None:
    assert records(read(text)) == []
    said = diagnose(text.encode())
    assert said is not None
    assert "jq -r '.. | strings'" in said
    assert "start of a run" not in said
