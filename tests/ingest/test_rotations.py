"""Which files are the rotations of a log: by name where it is plain, by the text where it is not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from miles_tui.core.model.chunks import Data
from miles_tui.ingest.discovery import find_logs, runs_in
from miles_tui.ingest.files.open_file import PlainFile
from miles_tui.ingest.files.rotations import End, base_of, continues, first_metrics, last_metrics
from miles_tui.ingest.follow.tailer import Tailer

NOISE = b"(SGLangEngine pid=43) [2026-10-15 16:00:00] Decode batch. #running-req: 54\n"


def rollouts(begin: int, end: int, *, hour: int = 16, noise: int = 1) -> bytes:
    return b"".join(
        NOISE * noise
        + b"[2026-10-15 %02d:%02d:00.214 r] log_utils.py:542 - rollout %d: {'rollout/raw_reward': 0.5}\n" % (hour, n, n)
        + b"[2026-10-15 %02d:%02d:30.214 r] log_utils.py:542 - step %d: {'train/loss': 0.5}\n" % (hour, n, n)
        for n in range(begin, end)
    )


def write(path: Path, text: bytes) -> Path:
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def parts(folder: Path) -> list[tuple[str, ...]]:
    """The parts of `train.log`'s run, found beside it, and the runs of the folder: they say the same."""
    (log,) = find_logs([folder / "train.log"], rotations=True)
    found = tuple(part.name for part in log.parts)
    runs = sorted(tuple(part.name for part in run.parts) for run in runs_in(folder))
    assert found in runs
    return [found, *(run for run in runs if run != found)]


@pytest.mark.parametrize(
    "name",
    [
        "train.log.1", "train.log.1.gz", "train.log.gz", "train.log.old", "train.log.bak", "train.log.prev",
        "train.log~", "train.log-20261015", "train.log.2026-10-15_16-00", "train.log.1.bak", "train-20261015.log",
        "train.1.log", "train.2026-10-15.log", "train.2026-10-15.log.gz", "train_1.log", "train-2.log", "train.old.log",
    ],
)  # fmt: skip
def test_one_rule_for_all_ways(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, rollouts(0, 10))
    write(tmp_path / "train.log", rollouts(10, 20))
    assert parts(tmp_path) == [(name, "train.log")]


@pytest.mark.parametrize("name", ["train-2.log", "train.2.log", "train2.log", "train-20261015.log"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (rollouts(0, 10), rollouts(0, 10)),
        (rollouts(0, 10), rollouts(0, 10, hour=17)),
        (rollouts(0, 10), rollouts(8, 20, hour=17)),
        (rollouts(0, 10, hour=17), rollouts(10, 20, hour=16)),
        (rollouts(0, 10), b"  rollout_batch_size ......................... 32\n"),
    ],
    ids=["beside each other", "one after another", "resumed", "against time", "just begun"],
)
def test_another_run_is_no_rotation(tmp_path: Path, name: str, first: bytes, second: bytes) -> None:
    write(tmp_path / name, first)
    write(tmp_path / "train.log", second)
    assert parts(tmp_path)[0] == ("train.log",)


def test_the_tenth_run_is_no_rotation_of_the_first(tmp_path: Path) -> None:
    write(tmp_path / "run-10.log", rollouts(0, 10))
    write(tmp_path / "run-1.log", rollouts(10, 20))
    assert len(runs_in(tmp_path)) == 2


def test_a_chain_of_names_that_say_little(tmp_path: Path) -> None:
    write(tmp_path / "train.1.log", rollouts(0, 10))
    write(tmp_path / "train.2.log.gz", rollouts(10, 20))
    write(tmp_path / "train.3.log", rollouts(20, 30))
    write(tmp_path / "train.4.log", rollouts(0, 30, hour=18))
    write(tmp_path / "train.log.1", rollouts(30, 40))
    write(tmp_path / "train.log", rollouts(40, 50))
    whole = ("train.1.log", "train.2.log.gz", "train.3.log", "train.log.1", "train.log")
    assert parts(tmp_path) == [whole, ("train.4.log",)]


def test_metric_lines_far_from_the_ends_are_found(tmp_path: Path) -> None:
    write(tmp_path / "train.1.log", rollouts(0, 2) + NOISE * 20_000)
    write(tmp_path / "train.log", NOISE * 20_000 + rollouts(2, 4))
    assert parts(tmp_path) == [("train.1.log", "train.log")]


@pytest.mark.parametrize("half", [False, True])
def test_a_packed_copy_of_a_part_is_no_part(tmp_path: Path, half: bool) -> None:
    write(tmp_path / "train.log.2", rollouts(0, 10))
    one = write(tmp_path / "train.log.1", rollouts(10, 20, noise=500))
    packed = gzip.compress(one.read_bytes())
    (tmp_path / "train.log.1.gz").write_bytes(packed[: len(packed) // 2] if half else packed)
    write(tmp_path / "train.log", rollouts(20, 30))
    assert parts(tmp_path) == [("train.log.2", "train.log.1", "train.log")]


@pytest.mark.parametrize("name", ["train.log.bak", "train.log.bak.gz", "train.log.0.gz"])
@pytest.mark.parametrize("of", ["train.log", "train.log.1", "train.log.2.gz"])
def test_a_copy_made_before_a_part_grew_is_no_part(tmp_path: Path, name: str, of: str) -> None:
    texts = {"train.log.2.gz": (0, 10), "train.log.1": (10, 20), "train.log": (20, 30)}
    for part, (begin, end) in texts.items():
        write(tmp_path / part, rollouts(begin, end, noise=400))
    write(tmp_path / name, rollouts(texts[of][0], texts[of][1] - 3, noise=400))
    assert parts(tmp_path) == [tuple(texts)]


def test_a_copy_given_by_name_beside_the_log_is_no_part(tmp_path: Path) -> None:
    given = [write(tmp_path / name, rollouts(0, 9)) for name in ("train.log.1", "train.log.1.gz")]
    given.append(write(tmp_path / "train.log", rollouts(9, 12)))
    (log,) = find_logs(given)
    assert [part.name for part in log.parts] == ["train.log.1", "train.log"]


def test_a_log_is_read_though_its_copy_lies_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "train.log.1", rollouts(0, 9))
    packed = write(tmp_path / "train.log.1.gz", rollouts(0, 9))
    assert [log.parts for log in find_logs([packed])] == [(packed,)]


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("train.log.1.gz", "train.log"),
        ("train.log-20261015-1600", "train.log"),
        ("job.err.old", "job.err"),
        ("train.log~", "train.log"),
        ("train.log.gz", "train.log"),
        ("train.log.txt", "train.log.txt"),
        ("train.1.log", "train.1.log"),
        ("run-1", "run-1"),
    ],
)
def test_the_log_that_a_name_belongs_to(name: str, base: str) -> None:
    assert base_of(name) == base


@pytest.mark.parametrize(
    ("end", "start", "goes_on"),
    [
        ({"rollout": 9, "step": 39}, {"rollout": 10, "step": 40}, True),
        ({"rollout": 9, "perf": 8}, {"perf": 9, "rollout": 10}, True),
        ({"rollout": 9, "step": 9}, {"rollout": 9, "step": 10}, True),
        ({"rollout": 9}, {"rollout": 9}, False),
        ({"rollout": 9, "step": 39}, {"rollout": 10, "step": 10}, False),
        ({"rollout": 9}, {"step": 10}, False),
        ({}, {"step": 10}, False),
    ],
)
def test_numbers_that_go_on(end: dict[str, int], start: dict[str, int], goes_on: bool) -> None:
    assert continues(End(end, 100.0), End(start, 97.0)) is goes_on
    assert not continues(End(end, 100.0), End(start, 60.0))


def test_the_metrics_at_the_ends(tmp_path: Path) -> None:
    for name in ("a.log", "a.log.gz"):
        path = write(tmp_path / name, NOISE + rollouts(3, 9) + NOISE)
        with PlainFile(str(path)) as file:
            first, last = first_metrics(file), last_metrics(file)
        assert (first.numbers, last.numbers) == ({"rollout": 3, "step": 3}, {"rollout": 8, "step": 8})
        assert last.time is not None
        assert first.time is not None
        assert last.time - first.time == 5 * 60 + 30


class Followed:
    """A tail whose clock goes as far as it asks for."""

    def __init__(self, log: Path) -> None:
        self.now = 0.0
        self.tail = Tailer(str(log), clock=lambda: self.now)

    def text(self) -> bytes:
        pieces = self.tail.read()
        while not self.tail.caught_up or self.tail.retry_in is not None:
            self.now += self.tail.retry_in or 0.0
            pieces += self.tail.read()
        return b"".join(piece.data for piece in pieces if isinstance(piece, Data))


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("way", ["renamed", "truncated"])
def test_another_run_beside_the_log_is_not_followed(tmp_path: Path, way: str, stamped: bool) -> None:
    """A second run begins while the log is followed; then the log is rotated."""

    def text(begin: int, end: int) -> bytes:
        whole = rollouts(begin, end)
        return whole if stamped else whole.replace(b"[2026-10-15 16:", b"[")

    log = write(tmp_path / "train.log", text(0, 20))
    followed = Followed(log)
    assert followed.text() == text(0, 20)
    write(tmp_path / "train-2.log", text(5, 45))
    if way == "renamed":
        log.rename(tmp_path / "train.1.log")
        write(tmp_path / "train.0.log", text(20, 30))  # it came and went before we looked
        write(log, text(30, 40))
        assert followed.text() == text(20, 40)
    else:
        log.write_bytes(b"")
        write(log, text(20, 30))
        assert followed.text() == text(20, 30)
    followed.tail.close()
