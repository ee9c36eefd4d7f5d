"""The file system at its worst: closed folders, dead mounts, names too long, pipes, full disks."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import LOGS

from miles_tui import files
from miles_tui.cli.main import main
from miles_tui.config import view_state as remember
from miles_tui.config.profile_store import known_profiles
from miles_tui.errors import UnreadableLog
from miles_tui.files import UnfitFileError, is_dir, is_file, is_missing, named, read_small, write_whole
from miles_tui.ingest.history.pause_log import PauseLog

ERRORS = [errno.EACCES, errno.ESTALE, errno.ENOTCONN, errno.EIO, errno.ETIMEDOUT, errno.ENAMETOOLONG]
Fail = Callable[[int], Path]


@pytest.fixture
def dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fail:
    """A folder, whatever is asked of which fails from now on."""
    folder = tmp_path / "dead"
    folder.mkdir()
    (folder / "train.log").write_bytes((LOGS / "gap-jump.log").read_bytes())

    def fail(code: int) -> Path:
        for name in ("stat", "lstat", "open", "scandir", "listdir", "mkdir"):
            real = getattr(os, name)

            def asked(path: object, *args: object, real: Callable[..., object] = real, **more: object) -> object:
                if str(path).startswith(str(folder)):
                    raise OSError(code, os.strerror(code), str(path))
                return real(path, *args, **more)

            monkeypatch.setattr(os, name, asked)
        return folder

    return fail


@pytest.mark.parametrize("code", ERRORS, ids=errno.errorcode.get)
def test_a_question_is_answered_whatever_the_file_system_says(dead: Fail, code: int) -> None:
    folder = dead(code)
    assert not is_dir(folder)
    assert not is_file(folder / "train.log")
    assert not is_missing(folder / "train.log"), "that is not known"
    with pytest.raises(OSError, match=os.strerror(code)):
        named(folder, ".log")


def test_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    assert is_dir(tmp_path)
    assert is_missing(tmp_path / "nothing")
    assert named(tmp_path / "nothing", ".toml") == []
    assert not is_missing("x" * 300)
    assert not is_file("a\0b")


@pytest.mark.parametrize("code", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize(
    "command",
    [
        "check LOG", "check DIR", "check OK LOG", "check --tail 3 LOG", "check --rotated LOG", "report LOG",
        "report DIR", "status LOG", "status DIR", "export LOG", "export --follow LOG", "calibrate LOG", "LOG", "DIR",
        "replay LOG", "demo", "check OK --profile DIR/a.toml", "check OK --profile mine", "status OK --profile mine",
        "check OK --pauses DIR/a", "calibrate OK -o DIR/a.toml", "calibrate OK --name mine", "profiles", "config",
    ],
)  # fmt: skip
def test_every_command_says_it_in_a_line(
    dead: Fail, code: int, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = dead(code)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    names = {"LOG": f"{folder}/train.log", "DIR": str(folder), "OK": str(LOGS / "plain-seed1.log")}
    argv = [names.get(word, word.replace("DIR", names["DIR"])) for word in command.split()]
    status = main(argv)
    lines = [line for line in capsys.readouterr().err.splitlines() if "warning: one run" not in line]
    if command == "demo":
        assert (status, lines) == (1, []), "it needs nothing of all this"
        return
    assert status == 2, lines
    assert len(lines) == 1
    assert str(folder) in lines[0]


@pytest.mark.parametrize("argv", ["check", "report", "status", "export", "calibrate", "replay", "--no-mouse",
                                  "check x.log --pauses", "x.log --compare", "status x.log --profile",
                                  "calibrate x.log -o", "calibrate x.log --name"])  # fmt: skip
def test_an_empty_name_is_no_name_of_this_folder(argv: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*argv.split(), ""]) == 2
    assert "the name is empty" in capsys.readouterr().err


def test_status_and_report_go_on_without_settings(
    dead: Fail, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(dead(errno.ENOTCONN)))
    for command in ("status", "report"):
        assert main([command, str(LOGS / "plain-seed1.log")]) == 0
        out, err = capsys.readouterr()
        assert "finished" in out
        assert "config.toml" in err
        assert len(err.splitlines()) == 1


# -- what people write is read with a guard --------------------------------------------------------


def test_only_a_plain_file_is_read_and_nothing_is_waited_for(tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_bytes(b"#" * (files.LARGEST + 1))
    for path in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match="no plain file"):
            read_small(path)
    with pytest.raises(UnfitFileError, match="more than 1 MiB"):
        read_small(large)
    with pytest.raises(UnreadableLog, match="no plain file"):
        PauseLog(pipe)


def test_no_command_waits_for_a_pipe_among_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    for name in ("config.toml", "view.json", "profiles/mine.toml"):
        (tmp_path / "miles-tui" / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(tmp_path / "miles-tui" / name)
    assert main(["status", str(LOGS / "plain-seed1.log")]) == 0
    assert main(["report", str(LOGS / "plain-seed1.log")]) == 0
    assert main(["config"]) == 2
    assert capsys.readouterr().err.count("config.toml: can't be read: it is no plain file") == 3
    assert next(found.error for found in known_profiles()).endswith("it is no plain file")
    assert remember.recalled() == {}


# -- what is written is written whole --------------------------------------------------------------


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    file, link = tmp_path / "there" / "a.toml", tmp_path / "a.toml"
    file.parent.mkdir()
    write_whole(file, "one\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~files._umask()
    file.chmod(0o640)
    link.symlink_to(file)
    held = file.open()
    write_whole(link, "two\n")
    assert (link.is_symlink(), file.read_text(), held.read()) == (True, "two\n", "one\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    held.close()
    assert [path.name for path in file.parent.iterdir()] == ["a.toml"]


@pytest.mark.parametrize("call", ["fsync", "fchmod"])
def test_a_full_disk_leaves_the_old_one_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text("one\n")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(file, "two\n")
    assert file.read_text() == "one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.toml"]


def test_calibrate_over_a_profile_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    argv = ["calibrate", *(str(LOGS / f"plain-seed{n}.log") for n in (1, 2)), "-o", str(file)]
    assert main(argv) == 0
    before = file.read_bytes()
    capsys.readouterr()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert main(argv) == 2
    assert capsys.readouterr().err == f"miles-tui: {file}: can't be written: No space left on device\n"
    assert file.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_may_not_be_written_to_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("one\n")
    file.chmod(0o400)
    with pytest.raises(PermissionError):
        write_whole(file, "two\n")
    assert file.read_text() == "one\n"


def test_a_pipe_takes_it_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "one\n")
    assert os.read(reader, 99) == b"one\n"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
