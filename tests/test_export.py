"""Export: JSON that any program reads, the numbers as the log has them."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from commands import LOGS, one_clear_line, run
from hypothesis import given
from hypothesis import strategies as st

from miles_tui.commands.export import Exporter, plain_number, stamp
from miles_tui.core.model.records import Record
from miles_tui.core.parsing.reader import Reader

PREFIX = "(Trainer pid=1) [2026-10-15 16:01:02.216 actor] model.py:854 - step 3: "


def exported(text: str) -> list[str]:
    lines: list[str] = []
    exporter, reader = Exporter(lines.append), Reader()
    exporter.take([*reader.feed(text.encode()), *reader.finish()])
    return "".join(lines).splitlines()


def no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


VALUES = st.one_of(
    st.floats().map(repr),
    st.integers().map(repr),
    st.sampled_from(
        [
            "-0",
            "-0.0",
            "1E5",
            "1e+05",
            "1e400",
            "9" * 310,
            "1.",
            ".5",
            "+1",
            "01",
            "None",
            "True",
            "[1]",
            "np.float64(0.5)",
            "np.float64(nan)",
            "np.int64(3)",
            "np.float64(1.)",
        ]
    ),
)


@given(st.lists(st.tuples(st.sampled_from(["train/a", "train/b", "a: b", "c"]), VALUES), min_size=1, max_size=6))
def test_each_row_is_strict_json_of_the_record(pairs: list[tuple[str, str]]) -> None:
    text = PREFIX + "{" + ", ".join(f"'{key}': {value}" for key, value in pairs) + "}\n"
    records = [item for item in Reader().feed(text.encode()) if isinstance(item, Record)]
    rows = [json.loads(line, parse_constant=no_constant) for line in exported(text)]
    assert len(rows) == len(records)
    for row, record in zip(rows, records, strict=True):
        expected = {name: plain_number(value) for name, value in record.metrics.items()}
        assert repr(row["metrics"]) == repr(expected), "values, their types, and the order of the keys"
        assert list(row) == ["kind", "step", "attempt", "time", "metrics"]
        assert row["time"] == "2026-10-15T16:01:02.216"


def test_numbers_stay_as_printed() -> None:
    (line,) = exported(PREFIX + "{'train/lr': 1e-06, 'train/loss': 0.10000000000000000555}\n")
    assert '"metrics": {"train/lr": 1e-06, "train/loss": 0.10000000000000000555}' in line


@given(st.floats(0, 253_370_764_860.999))
def test_a_stamp_is_the_time_to_the_millisecond(time: float) -> None:
    moment = datetime.fromtimestamp(time, UTC).replace(tzinfo=None)
    assert stamp(time) == moment.isoformat(timespec="milliseconds")


@pytest.mark.parametrize(("time", "text"), [(None, None), (59.9999996, "1970-01-01T00:01:00.000")])
def test_a_stamp_at_the_edge(time: float | None, text: str | None) -> None:
    assert stamp(time) == text


def test_no_key_and_no_sequence_is_in_a_metrics_name() -> None:
    token, key = "hf_" + "a1B2c3D4e5F6g7H8" * 2, "0123456789abcdef" * 2
    text = f"{PREFIX}{{'rollout/{token}': 1, 'x/api_key={key}': 2, 'train/\u202eloss': 3, 'train/a': 4}}\n"
    for form in ("jsonl", "csv"):
        lines: list[str] = []
        Exporter(lines.append, form).take(Reader().feed(text.encode()))
        written = "".join(lines)
        assert all(name in written for name in ("rollout/hf_***", "x/api_key=***", "train/loss", "train/a"))
        assert token not in written
        assert key not in written
        assert "\u202e" not in written


def test_names_that_differ_in_their_keys_alone_stay_two() -> None:
    one, two = "train/hf_" + "a1B2" * 9, "train/hf_" + "c3D4" * 9
    out: list[str] = []
    Exporter(out.append).take([Record("step", 1, {one: 1.0, two: 2.0})])
    assert list(json.loads(out[0])["metrics"].values()) == [1.0, 2.0]
    assert "a1B2" not in out[0]


def test_a_whole_number_has_one_form_whatever_stands_beside_it() -> None:
    for beside in ("'b': 2", "'n': None", "'s': 'x'"):
        line = f"step 1: {{'train/a': {10**308}, {beside}}}\n".encode()
        (record,) = (item for item in Reader().feed(line) if isinstance(item, Record))
        assert record.metrics["train/a"] == 10**308


def test_following_a_packed_log_that_is_cut_short_says_so(tmp_path: Path) -> None:
    packed = tmp_path / "train.log.gz"
    packed.write_bytes(gzip.compress((LOGS / "plain-seed1.log").read_bytes())[:-5000])
    done = run("export", "--follow", str(packed))
    assert done.stdout
    assert done.returncode == 2
    assert "train.log.gz: " in one_clear_line(done)
