"""Which folders are listened at, when events are trusted, and that a wait ends when it should."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import watchfiles._rust_notify as notify

from miles_tui.ingest.follow import watcher as watch
from miles_tui.ingest.follow.watcher import Attention, Stop, Watch, Woke, file_system, folders_on_the_way

DEADLINE = 10.0

MOUNTS = r"""
22 1 0:21 / / rw,relatime - overlay overlay rw,lowerdir=/x
23 22 0:22 / /proc rw - proc proc rw
30 22 0:40 / /mnt/shared rw,relatime shared:1 - nfs4 server:/export rw
31 30 0:41 / /mnt/shared/scratch rw - lustre 10.0.0.1@tcp:/fs rw
32 22 0:42 / /mnt/with\040blank rw - fuse.sshfs host: rw
33 22 0:43 / /mnt/shared2 rw - ext4 /dev/sda rw
34 22 0:44 / /mnt/shared2 rw - 9p share rw
"""


@pytest.fixture
def stop() -> Iterator[Stop]:
    stop = Stop()
    yield stop
    stop.close()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WATCHFILES_FORCE_POLLING", raising=False)


def woke_by_event(watched: Watch) -> bool:
    """Whether an event ends one of the next waits."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if watched.wait() is Woke.EVENT:
            return True
    return False


def test_the_folder_of_each_link_and_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "data" / "one").mkdir(parents=True)
    (tmp_path / "links").mkdir()
    (tmp_path / "data" / "one" / "attempt.log").touch()
    (tmp_path / "data" / "latest").symlink_to("one")
    (tmp_path / "links" / "train.log").symlink_to("../data/latest/attempt.log")
    assert folders_on_the_way(str(tmp_path / "links" / "train.log")) == [
        str(tmp_path / "links"),
        str(tmp_path / "data"),
        str(tmp_path / "data" / "one"),
    ]


def test_the_last_folder_that_exists(tmp_path: Path) -> None:
    assert folders_on_the_way(str(tmp_path / "a" / "b" / "train.log")) == [str(tmp_path)]
    (tmp_path / "a").mkdir()
    assert folders_on_the_way(str(tmp_path / "a" / "b" / "train.log")) == [str(tmp_path / "a")]
    (tmp_path / "dangling").symlink_to("a/gone/train.log")
    assert folders_on_the_way(str(tmp_path / "dangling")) == [str(tmp_path), str(tmp_path / "a")]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert folders_on_the_way(str(tmp_path / "a")) == [str(tmp_path)]


def test_a_relative_path_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert folders_on_the_way("train.log") == [str(tmp_path)]


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv", "overlay"),
        ("/mnt/shared/run", "nfs4"),
        ("/mnt/shared", "nfs4"),
        ("/mnt/shared/scratch/run", "lustre"),
        ("/mnt/with blank/run", "fuse.sshfs"),
        ("/mnt/shared2", "9p"),
        ("/mnt/shared3", "overlay"),
    ],
)
def test_the_file_system_of_a_folder(folder: str, kind: str) -> None:
    assert file_system(folder, MOUNTS) == kind


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "lustre", "fuse", "fuse.sshfs", "9p", "cifs", "smb3", "ceph", "virtiofs"]
)
def test_no_events_from_a_shared_file_system(
    tmp_path: Path, stop: Stop, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "file_system", lambda _: kind)
    watched = Watch(str(tmp_path / "train.log"), stop)
    watched.arm()
    assert watched.how == f"every 0.2 s: {kind} sends no events"
    assert watched.wait(0.001) is Woke.RETRY
    watched.close()


def test_polling_that_was_asked_for(tmp_path: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")
    by_environment, by_argument = Watch(str(tmp_path / "x"), stop), Watch(str(tmp_path / "x"), stop, polling=True)
    assert by_environment.arm()
    assert not by_argument.arm()
    assert by_environment.how == "every 0.2 s: WATCHFILES_FORCE_POLLING is set"
    assert by_argument.how == "every 0.2 s"
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "false")
    by_default = Watch(str(tmp_path / "x"), stop)
    by_default.arm()
    assert by_default.how == "by events"
    by_default.close()


@pytest.mark.parametrize(
    ("error", "how"),
    [
        (OSError("OS file watch limit reached. about [...]"), "every 0.2 s: no inotify watch is left"),
        (
            notify.WatchfilesRustInternalError("Error creating recommended watcher: Too many open files (os error 24)"),
            "every 0.2 s: no inotify instance is left",
        ),
        (PermissionError(13, "Permission denied"), "every 0.2 s: the folder can't be watched"),
        (
            UnicodeEncodeError("utf-8", "\udce9", 0, 1, "surrogates not allowed"),
            "every 0.2 s: a name there is no UTF-8",
        ),
        (RuntimeError("whatever comes"), "every 0.2 s: the folder can't be watched"),
    ],
)
def test_a_limit_of_inotify(
    tmp_path: Path, stop: Stop, error: Exception, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(notify, "RustNotify", refuse)
    watched = Watch(str(tmp_path / "train.log"), stop)
    assert watched.arm()
    assert watched.how == how
    assert not watched.arm(), "not tried again and again"


def test_a_watcher_that_fails_is_done_without(tmp_path: Path, stop: Stop) -> None:
    watched = Watch(str(tmp_path / "train.log"), stop)
    watched.arm()
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).touch()
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    deadline = time.monotonic() + DEADLINE
    while watched.how == "by events":
        assert time.monotonic() < deadline
        assert watched.wait() is not Woke.STOP
    assert watched.how == "every 0.2 s: a name there is no UTF-8"
    assert not watched.arm(), "not tried again and again"
    assert watched.wait(0.001) is Woke.RETRY
    watched.close()


def test_what_gives_no_answer_is_as_good_as_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> str:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(os, "readlink", away)
    monkeypatch.setattr(os.path, "isdir", lambda _: False)
    assert folders_on_the_way("/mnt/shared/run/train.log") == ["/mnt/shared/run"]


def test_a_write_ends_the_wait(tmp_path: Path, stop: Stop) -> None:
    watched = Watch(str(tmp_path / "train.log"), stop)
    assert watched.arm()
    assert not watched.arm()
    (tmp_path / "train.log").write_text("one\n")
    assert woke_by_event(watched)
    watched.close()


def test_a_folder_that_was_made_anew_is_heard_again(tmp_path: Path, stop: Stop) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    watched = Watch(str(folder / "train.log"), stop)
    watched.arm()
    folder.rename(tmp_path / "old")
    folder.mkdir()
    assert watched.arm(), "another folder under the same name"
    (folder / "train.log").write_text("one\n")
    assert woke_by_event(watched)
    watched.close()


def test_writes_without_events_end_in_polling(tmp_path: Path, stop: Stop) -> None:
    watched = Watch(str(tmp_path / "train.log"), stop)
    watched.arm()
    for woke in (Woke.BEAT, Woke.BEAT, Woke.EVENT, Woke.BEAT, Woke.RETRY, Woke.BEAT):
        watched.learn(woke, found=True)
        watched.learn(Woke.BEAT, found=False)
    assert watched.how == "by events"
    watched.learn(Woke.BEAT, found=True)
    assert watched.how == "every 0.2 s: its writes send no events"


def test_a_folder_that_vanishes_meanwhile_is_watched_once_it_is_there(
    tmp_path: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanished(*_: object) -> None:
        raise FileNotFoundError

    watched = Watch(str(tmp_path / "train.log"), stop, polling=False)
    with monkeypatch.context() as patch:
        patch.setattr(notify, "RustNotify", vanished)
        assert not watched.arm(), "nothing is heard that was not heard before"
    assert watched.arm()
    assert watched.how == "by events"
    watched.close()


def test_a_look_hangs_when_it_was_begun_long_ago() -> None:
    attention = Attention()
    assert not attention.hangs(100.0, 2.0), "none goes on"
    attention.began = 97.0
    assert attention.hangs(99.0, 2.0)
    assert not attention.hangs(98.9, 2.0)


@pytest.mark.parametrize("polling", [True, False])
def test_a_stop_ends_the_wait(tmp_path: Path, stop: Stop, polling: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "HEARTBEAT", 2 * DEADLINE)
    monkeypatch.setattr(watch, "POLL", 2 * DEADLINE)
    watched = Watch(str(tmp_path / "train.log"), stop, polling=polling)
    watched.arm()
    got: list[Woke] = []

    def wait_long() -> None:
        while not got or got[-1] is not Woke.STOP:
            got.append(watched.wait())

    thread = threading.Thread(target=wait_long)
    thread.start()
    stop.set()
    thread.join(DEADLINE)
    assert got[-1:] == [Woke.STOP]
    watched.close()


def test_a_log_that_nobody_looks_at_is_looked_at_now_and_then(
    tmp_path: Path, stop: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "FAR_SECONDS", 0.05)
    log, attention = tmp_path / "train.log", Attention(near=False)
    log.touch()
    watched = Watch(str(log), stop, attention=attention)
    assert not watched.arm()
    assert watched.how == "now and then"
    log.write_text("one\n")
    assert watched.wait() is Woke.BEAT
    attention.near = True
    assert watched.arm()
    assert watched.how == "by events"
    log.write_text("two\n")
    assert woke_by_event(watched)
    attention.near = False
    log.write_text("three\n")
    assert watched.wait() is Woke.BEAT
    assert watched.how == "now and then"
    watched.close()
