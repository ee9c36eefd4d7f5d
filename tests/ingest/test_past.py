"""Where to begin in a log whose past nobody wants."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise
from pathlib import Path

import pytest

from miles_tui.core.parsing.reader import Reader
from miles_tui.errors import UsageError
from miles_tui.ingest.files import reverse_reader as backwards
from miles_tui.ingest.files.log_file import Log, read_all
from miles_tui.ingest.history import start_position as past
from miles_tui.ingest.history.start_position import Past, begin_in, launch_facts, parse_since, without_past

LOGS = Path(__file__).resolve().parents[2] / "sample_logs"
LOG = LOGS / "plain-seed1.log"


def begin_at(log: Path, wanted: Past) -> int:
    return begin_in([log], wanted)[1]


def first_rollouts(log: Path, begin: int) -> list[int]:
    from miles_tui.core.model.records import Record
    from miles_tui.core.parsing.reader import Reader

    data = log.read_bytes()[begin:]
    return [r.number for r in Reader().feed(data) if isinstance(r, Record)]


@pytest.mark.parametrize("block", [700, 4096, 1 << 20])
@pytest.mark.parametrize("wanted", [1, 5, 40])
def test_the_newest_rollouts(monkeypatch: pytest.MonkeyPatch, block: int, wanted: int) -> None:
    monkeypatch.setattr(past, "SEARCH_BLOCK", block)
    numbers = first_rollouts(LOG, begin_at(LOG, Past(rollouts=wanted)))
    assert sorted(set(numbers)) == list(range(48 - wanted, 48))


def test_from_a_rollout_on() -> None:
    assert min(first_rollouts(LOG, begin_at(LOG, parse_since("31")))) == 31


@pytest.mark.parametrize("since", ["17:00", "2026-10-15T17:00", "2026-10-15 17:00:00"])
def test_from_a_time_on(since: str) -> None:
    begin = begin_at(LOG, parse_since(since))
    text = LOG.read_bytes()
    assert b"15 16:59:" in text[:begin] or b"15 16:58:" in text[:begin]
    assert b"[2026-10-15 16:5" not in text[begin:].split(b"metrics.py")[1]
    assert 0 < begin < len(text)


def test_everything_where_the_log_is_shorter() -> None:
    assert begin_at(LOG, Past(rollouts=100)) == 0
    assert begin_at(LOG, Past(step=0)) == 0


def test_several_updates_a_rollout_are_counted_as_one() -> None:
    log = LOGS / "four-updates.log"
    numbers = first_rollouts(log, begin_at(log, Past(rollouts=2)))
    assert {n for n in numbers if n < 48} >= {46, 47}
    assert min(numbers) == 46


@pytest.mark.parametrize("text", ["yesterday", "25:00", "-3", "2026-13-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="give a rollout number"):
        parse_since(text)


WANTED = [Past(rollouts=1), Past(rollouts=7), Past(rollouts=1000), parse_since("31"), parse_since("17:00")]


@pytest.mark.parametrize("wanted", WANTED)
def test_a_packed_log_is_read_forwards_to_the_same_place(tmp_path: Path, wanted: Past) -> None:
    packed = tmp_path / "a.log.gz"
    packed.write_bytes(gzip.compress(LOG.read_bytes()))
    begin = begin_at(packed, wanted)
    assert begin == begin_at(LOG, wanted)
    log = without_past(Log(packed, "a"), wanted)
    assert b"".join(read_all(log)) == LOG.read_bytes()[begin:]
    assert [fact.data["num_rollout"] for fact in log.launch] == (["48"] if begin else [])


@pytest.mark.parametrize("cuts", [(10,), (3, 10, 30, 46)])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("wanted", WANTED)
def test_the_past_goes_on_in_the_rotations(tmp_path: Path, wanted: Past, packed: bool, cuts: tuple[int, ...]) -> None:
    text = LOG.read_bytes()
    ends = [0, *(begin_at(LOG, Past(step=cut)) for cut in cuts), len(text)]
    parts = []
    for number, (begin, end) in enumerate(pairwise(ends)):
        last = end == len(text)
        part = tmp_path / ("train.log" if last else f"train-{number}.log")
        part.write_bytes(gzip.compress(text[begin:end]) if packed and not last else text[begin:end])
        parts.append(part)
    log = without_past(Log(parts[-1], "train.log", tuple(parts[:-1])), wanted)
    assert b"".join(read_all(log)) == text[begin_at(LOG, wanted) :]


def test_status_looks_into_no_packed_rotation(tmp_path: Path) -> None:
    packed, live = tmp_path / "train.log.1.gz", tmp_path / "train.log"
    packed.write_bytes(gzip.compress(metric(0) + metric(1)))
    live.write_bytes(metric(2))
    assert begin_in([packed, live], Past(rollouts=3)) == (0, 0)
    assert begin_in([packed, live], Past(rollouts=3, most=1000)) == (1, 0)


@pytest.mark.parametrize("given", ["48", "999", "2030-01-01", "20300101", "2026-10-16T08:00"])
def test_nothing_is_that_late(given: str) -> None:
    with pytest.raises(UsageError, match=rf"--since {given}: nothing is that late: the last is .* 47, 2026-10-15 18:0"):
        without_past(Log(LOG, "a.log"), parse_since(given))


def test_lines_without_a_time_are_not_found_by_time(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(metric(0) + metric(1))
    with pytest.raises(UsageError, match="its lines have no time"):
        begin_at(log, parse_since("16:00"))
    assert begin_at(log, parse_since("1")) == len(metric(0))


@pytest.mark.parametrize("given", ["2026-10-15T16:20Z", "2026-10-15T16:20:00+02:00"])
def test_a_zone_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="a log does not say its zone"):
        parse_since(given)


def test_eight_digits_are_a_date() -> None:
    assert parse_since("20261015").time == parse_since("2026-10-15").time
    assert begin_at(LOG, parse_since("20261015")) == 0
    for text in ("99999999", "202610151620", "²"):
        with pytest.raises(UsageError, match="give a rollout number"):
            parse_since(text)


def test_what_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    log = Log(tmp_path / "a.log", "a.log")
    assert without_past(log, Past(rollouts=3)) is log


def test_an_endless_line_costs_no_more_than_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backwards, "MAX_LINE", 5000)
    monkeypatch.setattr(past, "SEARCH_BLOCK", 1000)
    log = tmp_path / "a.log"
    head = b"rollout 0: {'rollout/raw_reward': 0.5}\nrollout 1: {'rollout/raw_reward': 0.5}\n"
    log.write_bytes(head + b"x" * 50_000 + b"\nrollout 2: {'rollout/raw_reward': 0.5}\n")
    assert first_rollouts(log, begin_at(log, Past(rollouts=2))) == [1, 2]


def test_blocks_backwards_are_the_whole_file_in_complete_lines(tmp_path: Path) -> None:
    rng = random.Random(1)
    log = tmp_path / "a.log"
    for size in (7, 64, 4096):
        lines = [bytes(rng.choice(b"ab\r{") for _ in range(rng.randint(0, 40))) + b"\n" for _ in range(60)]
        data = b"".join(lines)[: -rng.randint(0, 1) or None]
        log.write_bytes(data)
        with log.open("rb") as file:
            got = list(backwards.blocks_backwards(file.fileno(), size))
        assert b"".join(block for _, block in reversed(got)) == data
        assert all(data[at : at + len(block)] == block for at, block in got)
        assert all(at == 0 or data[at - 1 : at] in (b"\n", b"\r") for at, _ in got)


def test_the_printed_arguments_are_found_at_the_beginning() -> None:
    (fact,) = launch_facts(LOG)[:1]
    assert fact.data["num_rollout"] == "48"


def metric(n: int) -> bytes:
    return f"rollout {n}: {{'rollout/raw_reward': 0.5}}\n".encode()


def test_no_more_bytes_than_are_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "SEARCH_BLOCK", 1000)
    log = tmp_path / "a.log"
    log.write_bytes(b"".join(metric(n) + b"engine noise\n" * 30 for n in range(200)))
    begin = begin_at(log, Past(rollouts=150, most=10_000))
    assert log.read_bytes()[begin:].startswith(b"rollout ")
    assert 10_000 - 2000 < log.stat().st_size - begin < 10_000 + 2000
    assert begin_at(log, Past(rollouts=5, most=10_000)) == begin_at(log, Past(rollouts=5))


def test_a_long_stretch_without_a_record_counts_at_its_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "SEARCH_BLOCK", 1000)
    monkeypatch.setattr(past, "STRETCH", 4000)
    log = tmp_path / "a.log"
    log.write_bytes(b"".join(metric(n) + b"engine noise\n" * 1000 for n in range(20)))
    # 13 KB of noise a rollout, of which 9 count sixfold: 58 KB.
    assert first_rollouts(log, begin_at(log, Past(rollouts=20, most=50_000))) == [19]
    assert first_rollouts(log, begin_at(log, Past(rollouts=20, most=100_000))) == [18, 19]


def test_what_follows_the_newest_record_bounds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "SEARCH_BLOCK", 1000)
    log = tmp_path / "a.log"
    log.write_bytes(metric(0) + metric(1) + b"engine noise\n" * 1000)
    assert first_rollouts(log, begin_at(log, Past(rollouts=1, most=2000))) == [1]


def test_a_beginning_without_arguments_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"engine noise\n" * 20_000 + metric(0))
    monkeypatch.setattr(Reader, "feed", lambda *_: pytest.fail("it was searched"))
    assert launch_facts(log) == []


@pytest.mark.parametrize("at", [0, 65_530, 200_000])
def test_arguments_are_found_wherever_a_piece_ends(tmp_path: Path, at: int) -> None:
    table = LOG.read_bytes()[: begin_at(LOG, Past(step=1))]
    log = tmp_path / "a.log"
    log.write_bytes((b"engine noise\n" * 20_000)[-at or 10**9 :] + table)
    assert launch_facts(log)[0].data["num_rollout"] == "48"
