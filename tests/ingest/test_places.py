"""Where a rollout's record stands in the files of a log."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from miles_tui.core.parsing.metric_line import records_in
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.history import context_lines as places
from miles_tui.ingest.history.context_lines import ContextLines, find_place

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
NOISE = b"[2026-10-15 23:00:09] Decode batch. #running-req: 23: {x\n" * 50


def record(number: int, minute: int, kind: str = "rollout") -> bytes:
    return b"[2026-10-15 16:%02d:00] a.py:1 - %s %d: {'rollout/raw_reward': 0.5}\n" % (minute, kind.encode(), number)


def line_of(place: ContextLines | None) -> bytes:
    assert place is not None
    return place.text[place.at :].split(b"\n")[0]


@pytest.mark.parametrize("block", [512, 4096, 1 << 20])
def test_the_last_record_of_a_rollout(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(places, "CONTEXT_BLOCK", block)
    log = LOGS / "gap-jump.log"
    for rollout in (0, 23, 47):
        found = find_place([log], rollout)
        (said,) = records_in(line_of(found)).records
        assert (said.kind, said.number) == ("perf", rollout)
        assert "perf/train_time" in said.metrics
    assert find_place([log], 48) is None


def test_the_lines_around_are_whole(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"".join(NOISE * 100 + record(i, i) for i in range(30)) + b"unfinished")
    found = find_place([log], 12)
    assert line_of(found) == record(12, 12).rstrip()
    assert found is not None
    assert len(found.text) < 2 * places.AROUND + 200
    assert found.text.startswith(b"[2026")
    assert found.text.endswith(b"\n")


def test_updates_and_prompts_are_no_rollouts(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    quoted = b"(A pid=1) text=\"look at rollout 3: {'rollout/raw_reward': 1}, please\"\n"
    log.write_bytes(record(3, 1) + record(3, 2, "step") + quoted + NOISE)
    assert line_of(find_place([log], 3)) == record(3, 1).rstrip()


def test_of_several_attempts_the_one_at_that_time(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(record(7, 10) + record(8, 11) + record(7, 30) + record(8, 31))
    at = records_in(record(7, 10)).records[0].time
    assert at is not None
    assert line_of(find_place([log], 7)) == record(7, 30).rstrip()
    assert line_of(find_place([log], 7, at)) == record(7, 10).rstrip()
    assert line_of(find_place([log], 7, at + 50)) == record(7, 10).rstrip()


def test_rotations_are_looked_through(tmp_path: Path) -> None:
    old, packed, new = tmp_path / "train.log.1", tmp_path / "train.log.2.gz", tmp_path / "train.log"
    old.write_bytes(record(1, 1))
    packed.write_bytes(gzip.compress(record(0, 0)))
    new.write_bytes(record(2, 2))
    found = find_place([packed, old, new], 1)
    assert found is not None
    assert found.path == old
    assert find_place([packed, old, new], 0) is None
    with pytest.raises(UnreadableLog):
        find_place([tmp_path / "none.log"], 1)
