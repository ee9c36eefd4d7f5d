"""Which logs an argument means."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from miles_tui.errors import UnreadableLog
from miles_tui.ingest import discovery as logs
from miles_tui.ingest.discovery import Told, age_seconds, find_logs, newest_log, runs_in, why_empty
from miles_tui.ingest.files.rotations import is_rotation

METRIC = b"[2026-10-15 16:0%d:38.214 x] log_utils.py:542 - step %d: {'train/loss': 3.2e-08, 'train/step': %d}\n"


def metric(number: int) -> bytes:
    return METRIC % (number, number, number)


def write(path: Path, text: bytes, age: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    os.utime(path, (1_800_000_000 - age, 1_800_000_000 - age))
    return path


def names(folder: Path) -> list[tuple[str, ...]]:
    return [tuple(part.name for part in log.parts) for log in runs_in(folder)]


def test_a_folder_stands_for_its_runs_newest_first(tmp_path: Path) -> None:
    write(tmp_path / "old.log", metric(1), age=100)
    write(tmp_path / "new.out", b"engine noise\n" * 9000 + metric(1), age=10)
    write(tmp_path / "launch.log", b"  rollout_batch_size ......................... 32\n", age=50)
    write(tmp_path / "other.log", b"nothing of ours\n")
    write(tmp_path / "run.sh", b"python train.py --x\n" + metric(1))
    write(tmp_path / "weights.bin", b"\0" * 1000)
    write(tmp_path / "sub" / "deeper.log", metric(1))
    assert names(tmp_path) == [("new.out",), ("launch.log",), ("old.log",)]
    assert newest_log(tmp_path) == tmp_path / "new.out"


def test_folders_below_count_where_there_is_none(tmp_path: Path) -> None:
    write(tmp_path / "a" / "train.log", metric(1), age=9)
    write(tmp_path / "b" / "train.log", metric(1), age=5)
    write(tmp_path / ".hidden" / "train.log", metric(1))
    assert [log.path for log in runs_in(tmp_path)] == [tmp_path / "b" / "train.log", tmp_path / "a" / "train.log"]


def test_rotations_in_a_folder_are_one_run(tmp_path: Path) -> None:
    write(tmp_path / "train.log", metric(3))
    write(tmp_path / "train.log.1", metric(2))
    write(tmp_path / "train.log.2.gz", gzip.compress(metric(1)))
    write(tmp_path / "attempt-1.log", metric(1), age=5)
    write(tmp_path / "attempt-2.log", metric(1), age=6)
    assert names(tmp_path) == [
        ("train.log.2.gz", "train.log.1", "train.log"),
        ("attempt-1.log",),
        ("attempt-2.log",),
    ]


def test_a_link_and_its_target_are_one(tmp_path: Path) -> None:
    write(tmp_path / "attempt-1.log", metric(1))
    (tmp_path / "train.log").symlink_to("attempt-1.log")
    assert len(runs_in(tmp_path)) == 1


def test_rays_worker_files_give_way_to_the_jobs_log(tmp_path: Path) -> None:
    write(tmp_path / "worker-1f-01000000-77.err", metric(1))
    assert names(tmp_path) == [("worker-1f-01000000-77.err",)]
    write(tmp_path / "job-driver-raysubmit_x.log", metric(1))
    assert names(tmp_path) == [("job-driver-raysubmit_x.log",)]


@pytest.mark.parametrize("given", [("train.log.1", "train.log"), ("train.log", "train.log.1")])
def test_given_rotations_are_one_log(tmp_path: Path, given: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.log", metric(2))
    write(tmp_path / "train.log.1", metric(1))
    write(tmp_path / "other.log", metric(1))
    logs = find_logs(["other.log", *given])
    assert [(str(log), [part.name for part in log.parts]) for log in logs] == [
        ("other.log", ["other.log"]),
        ("train.log", ["train.log.1", "train.log"]),
    ]


@pytest.mark.parametrize(
    ("files", "order"),
    [
        (["train.log", "train.log.1", "train.log.10", "train.log.2"], [2, 3, 1, 0]),
        (["train.log", "train.log-20261014.gz", "train.log-20261015"], [1, 2, 0]),
        (["train.log", "train.log.2026-10-14_03", "train.log.2026-10-14_12"], [1, 2, 0]),
    ],
)
def test_the_order_of_rotations_by_their_names(tmp_path: Path, files: list[str], order: list[int]) -> None:
    paths = [write(tmp_path / name, b"step 1: {'train/loss': %d}\n" % n) for n, name in enumerate(files)]
    (log,) = find_logs(paths)
    assert [part.name for part in log.parts] == [files[n] for n in order]


def test_times_in_the_text_say_more_than_numbers(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"train.log.{n}", metric(n)) for n in (2, 1, 3)]
    (log,) = find_logs([*paths, write(tmp_path / "train.log", metric(4))])
    assert [part.name for part in log.parts] == ["train.log.1", "train.log.2", "train.log.3", "train.log"]


def test_rotations_are_found_when_asked_for(tmp_path: Path) -> None:
    live = write(tmp_path / "train.log", metric(3))
    write(tmp_path / "train.log.1", metric(2))
    write(tmp_path / "train.log.err", metric(1))
    assert find_logs([live])[0].before == ()
    assert find_logs([live], rotations=True)[0].before == (tmp_path / "train.log.1",)


def test_standard_input(tmp_path: Path) -> None:
    (log,) = find_logs([Path("-")])
    assert str(log) == "-"
    assert age_seconds(log, 0) is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("model.pt", b"PK\x03\x04" + bytes(range(256)) * 9, "is no text, it is a zip archive or a checkpoint"),
        ("x", os.urandom(4096), "is no text, it is a binary file"),
        ("run-1.wandb", b":W&B\x19\x01" + os.urandom(99), "W&B data file: give the printed log"),
        ("train.log.xz", b"\xfd7zXZ\0" + os.urandom(99), "unpack it first"),
        ("events.out.tfevents.1", b'\x18\0\0\0\0\0\0\0\xa3\x7fK"\tbrain.Event:2', "TensorBoard event file"),
    ],
)
def test_binary_files_are_named(tmp_path: Path, name: str, text: bytes, message: str) -> None:
    with pytest.raises(UnreadableLog, match=message) as error:
        find_logs([write(tmp_path / name, text)])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", [b"", b"\0" * 70_000 + metric(1), metric(1) + b"\xff\xfe\x00garbage\x00 \xc3\x28\n"])
def test_odd_text_is_text(tmp_path: Path, text: bytes) -> None:
    assert len(find_logs([write(tmp_path / "train.log", text)])) == 1


def test_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLog, match="does not exist"):
        find_logs([tmp_path / "train.log"])
    assert find_logs([tmp_path / "train.log"], must_exist=False)[0].path == tmp_path / "train.log"
    with pytest.raises(UnreadableLog, match="holds no Miles log"):
        find_logs([tmp_path])
    with pytest.raises(UnreadableLog, match="holds no Miles log"):
        newest_log(tmp_path)


def test_why_a_log_is_empty(tmp_path: Path) -> None:
    assert "TRL" in why_empty(write(tmp_path / "a.log", b"{'loss': 0.5, 'grad_norm': 0.1, 'epoch': 0.1}\n"))
    assert why_empty(tmp_path / "gone")
    assert why_empty("-")


def test_the_age_of_a_log(tmp_path: Path) -> None:
    assert age_seconds(write(tmp_path / "train.log", b"", age=60), 1_800_000_000) == 60
    assert age_seconds(tmp_path / "gone", 1.0) is None


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("train.log.1", True),
        ("train.log.1.gz", True),
        ("train.log.gz", True),
        ("train.log-20261015", True),
        ("train.log.old", True),
        ("train.log.copy", True),
        ("train.log~", True),
        ("train.1.log", True),
        ("train-2026-10-15.log", True),
        ("train.log", False),
        ("train.log.err", False),
        ("train.log.1.tmp", False),
        ("train.logs", False),
        ("train-eval.log", False),
        ("train2.log", True),
        ("eval.log", False),
        ("xtrain.log.1", False),
    ],
)
def test_names_of_rotations(name: str, is_one: bool) -> None:
    assert is_rotation(name, "train.log") is is_one


def test_many_newer_files_of_other_kinds_hide_no_log(tmp_path: Path) -> None:
    write(tmp_path / "train.log", metric(1), age=900)
    for i in range(2000):
        (tmp_path / f"words-{i}").write_bytes(b"words of another program\n")
    assert names(tmp_path) == [("train.log",)]


def test_many_newer_outputs_of_workers_hide_no_log(tmp_path: Path) -> None:
    write(tmp_path / "job-driver-1.log", metric(1), age=900)
    for i in range(400):
        (tmp_path / f"worker-{i}.out").write_bytes(metric(1))
    assert names(tmp_path) == [("job-driver-1.log",)]


def test_what_can_not_be_looked_at_hides_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links in a circle, a pipe, a file and a folder that may not be entered."""
    write(tmp_path / "train.log", metric(1))
    (tmp_path / "loop.log").symlink_to(tmp_path / "loop.log")
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "dangling.log").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe.log")
    write(tmp_path / "closed.log", metric(1))
    write(tmp_path / "below" / "inner.log", metric(1))
    stat = Path.stat

    def forbidden(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.name in ("closed.log", "below"):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", forbidden)
    assert names(tmp_path) == [("train.log",)]


def test_a_file_is_looked_into_again_only_where_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, other = write(tmp_path / "train.log", metric(1)), write(tmp_path / "other.txt", b"words\n")
    told: Told = {}
    assert [log.path for log in runs_in(tmp_path, told)] == [run]
    looked: list[str] = []

    def looking(path: str | Path) -> bytes:
        looked.append(Path(path).name)
        return Path(path).read_bytes()

    monkeypatch.setattr(logs, "sample", looking)
    write(run, metric(1) + metric(2), age=-5)
    assert [log.path for log in runs_in(tmp_path, told)] == [run]
    assert looked == [], "a log stays one"
    write(other, metric(1), age=-6)
    assert [log.path for log in runs_in(tmp_path, told)] == [other, run]
    assert looked == ["other.txt"]


def test_an_argument_that_may_not_be_read_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, closed = tmp_path / "runs", tmp_path / "closed" / "train.log"
    runs.mkdir()
    (runs / "train.log").write_text("rollout 0: {'rollout/raw_reward': 0.5}\n")
    real = os.stat

    def refuse(path: str | Path, *args: Any, **options: Any) -> os.stat_result:
        if str(path) == str(closed):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *args, **options)

    opened = os.open
    monkeypatch.setattr(os, "stat", refuse)
    monkeypatch.setattr(os, "open", lambda path, *args: (refuse(path), opened(path, *args))[1])
    with pytest.raises(UnreadableLog, match=r"train.log may not be read \(permission denied\)"):
        find_logs([runs, closed], must_exist=False)
    assert [log.path for log in find_logs([runs, closed], must_exist=False, patient=True)] == [runs / "train.log"]
