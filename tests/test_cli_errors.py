"""What is wrong ends in one clear line: no traceback, no hang, nothing that acts on the terminal."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from commands import LOGS, one_clear_line, run


def test_a_missing_file(tmp_path: Path) -> None:
    done = run("check", str(tmp_path / "nowhere.log"))
    assert done.returncode == 2
    assert "nowhere.log" in one_clear_line(done)


def test_a_folder_without_a_log(tmp_path: Path) -> None:
    done = run("check", str(tmp_path))
    assert done.returncode == 2
    one_clear_line(done)


def test_a_binary_file(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(bytes(range(256)) * 2000)
    done = run("check", str(tmp_path / "x.bin"))
    assert done.returncode in (2, 3)
    assert "binary" in one_clear_line(done)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    log = tmp_path / "secret.log"
    log.write_text("step 0: {'train/loss': 1.0}\n")
    log.chmod(0)
    done = run("check", str(log))
    assert done.returncode == 2
    assert "secret.log" in one_clear_line(done)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("------------------------ arguments ------------------------\n  num_rollout ....... 48\n"
         "-------------------- end of arguments ---------------------\n"
         + '(SGLangEngine pid=1) [2026-10-15 16:00:00] INFO: "POST /generate" 200 OK\n' * 50, "2>&1"),
        ('{"level": "info", "data": {"loss": 0.5}, "step": 3}\n' * 50, "JSON"),
        ("step:1 - actor/pg_loss:0.01 - critic/score/mean:0.5\n" * 50, "not of Miles"),
        ("", "empty"),
    ],
    ids=["stdout-only", "json", "another-framework", "empty"],
)  # fmt: skip
def test_a_log_without_a_metric_says_the_usual_cause(tmp_path: Path, text: str, says: str) -> None:
    log = tmp_path / "train.log"
    log.write_text(text)
    done = run("check", str(log))
    assert done.returncode == 3
    assert says.lower() in one_clear_line(done).lower()
    assert run("export", str(log)).returncode == 3


def test_an_unknown_option_names_the_nearest() -> None:
    done = run("check", "--formt", "json", "x.log")
    assert done.returncode == 2
    assert "--format" in one_clear_line(done)
    assert run("check", "--format", "yaml", "x.log").returncode == 2


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("chekc", "no file chekc: did you mean miles-tui check?"),
        ("--theme light statu x", "no file statu: did you mean miles-tui status?"),
        ("help", "did you mean miles-tui --help?"),
        ("--theme light demo", "commands come first: miles-tui demo --theme light"),
        ("--format json check x.log", "commands come first: miles-tui check --format json x.log"),
        ("x.log --no-mouse check", "commands come first: miles-tui check x.log --no-mouse"),
        ("./chekc", "chekc does not exist"),
        ("chekc.log", "chekc.log does not exist"),
        ("train", "train does not exist"),
    ],
)
def test_a_command_that_is_misspelt_or_late_is_not_waited_for(tmp_path: Path, argv: str, says: str) -> None:
    done = run(*argv.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert says in one_clear_line(done)


def test_a_file_that_is_named_nearly_like_a_command_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "chekc").write_bytes((LOGS / "plain-seed1.log").read_bytes())
    assert "48" in run("chekc", cwd=tmp_path).stdout


def test_options_stand_between_logs_too() -> None:
    one, two = (str(LOGS / f"plain-seed{n}.log") for n in (1, 2))
    done = run("check", one, "--format", "json", two)
    assert [json.loads(line)["log"] for line in done.stdout.splitlines()] == [one, two]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m miles_tui export {LOGS / 'plain-seed1.log'} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_log_that_cannot_be_read_hides_none_that_can(tmp_path: Path) -> None:
    done = run("check", "--format", "json", str(LOGS / "plain-seed1.log"), str(tmp_path / "nope.log"))
    assert done.returncode == 2
    assert json.loads(done.stdout)["rollouts"] == 48
    assert "nope.log" in one_clear_line(done)


def test_extreme_values_and_names_are_no_traceback(tmp_path: Path) -> None:
    log = tmp_path / os.fsdecode(b"b\xff.log")
    log.write_text("".join(f"step {n}: {{'train/grad_norm': {n}e200, 'train/pg_loss': 1e-300}}\n" for n in range(30)))
    done = run("check", "--format", "json", str(log))
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["rollouts"] == 30


def test_a_bad_pause_pattern_is_one_line() -> None:
    assert "no regular expression" in one_clear_line(run("calibrate", "--pause", "(", str(LOGS / "plain-seed1.log")))


def test_a_log_is_not_replaced_by_a_profile(tmp_path: Path) -> None:
    log = tmp_path / "b.log"
    log.write_bytes((LOGS / "plain-seed2.log").read_bytes())
    done = run("calibrate", str(LOGS / "plain-seed1.log"), "-o", str(log))
    assert done.returncode == 2
    assert "is no profile: not replaced" in one_clear_line(done)
    assert log.read_bytes() == (LOGS / "plain-seed2.log").read_bytes()


NASTY = "no\x1b[2J\x1b]0;gone\x07\u202e-" + "hf_" + "a1B2c3D4e5F6g7H8" * 2


def test_a_files_name_acts_on_nothing_and_shows_no_key(tmp_path: Path) -> None:
    log = tmp_path / f"{NASTY}.log"
    log.write_bytes((LOGS / "gap-jump.log").read_bytes())
    (tmp_path / "empty" / NASTY).mkdir(parents=True)
    for argv in (("check", str(log)), ("check", str(tmp_path)), ("report", str(log)), ("status", str(tmp_path)),
                 ("check", f"{log}x"), ("report", f"{log}x"), ("export", f"{log}x"), (f"{log}x", "--rotate"),
                 ("check", str(tmp_path / "empty" / NASTY)), ("calibrate", str(log), "-o", f"{log}.toml")):  # fmt: skip
        done = run(*argv)
        text = done.stdout + done.stderr
        assert text
        assert not any(char in text for char in ("\x1b", "\x07", "\u202e")), argv
        assert NASTY[-30:] not in text, argv
    (row,) = map(json.loads, run("check", "--format", "json", str(log)).stdout.splitlines())
    assert row["log"] == str(log), "the name as given"


@pytest.mark.parametrize("command", ["check", "export", "status", "report", "export --follow"])
def test_a_full_disk_is_one_line(command: str) -> None:
    shell = f"exec {sys.executable} -m miles_tui {command} {LOGS / 'gap-jump.log'} > /dev/full"
    done = subprocess.run(["sh", "-c", shell], stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 2
    one_clear_line(subprocess.CompletedProcess(done.args, done.returncode, "", done.stderr))


@pytest.mark.parametrize(
    "command", ["check LOG >&-", "check LOG 2>&-", "export LOG >&-", "export --follow - <&-", "check - <&-"]
)
def test_a_closed_descriptor_is_no_traceback_and_no_hang(command: str) -> None:
    shell = f"exec {sys.executable} -m miles_tui {command.replace('LOG', str(LOGS / 'gap-jump.log'))}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
    assert (
        done.returncode == {"check LOG": 1, "export LOG": 0, "export --follow -": 0, "check -": 3}[command[:-4].strip()]
    )


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("calibrate LOG --name manual", "manual is a bundled profile"),
        ("calibrate LOG --name ''", "the name is empty"),
        ("calibrate LOG -o nosuch/x.toml", "there is no folder nosuch"),
        ("check LOG --profile notes.md", "notes.md: no profile: not a TOML file"),
        ("check LOG --profile folder", "folder: no profile: it is a folder"),
        ("check LOG --tail abc", "abc is no number of rollouts"),
        ("check LOG --tail 0", "0 is no number of rollouts"),
        ("demo --speed x", "x is no number above 0"),
        ("replay LOG --speed nan", "nan is no number above 0"),
    ],
)
def test_a_slip_is_told_in_plain_words_and_leaves_nothing(tmp_path: Path, argv: str, says: str) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nsome text\n")
    (tmp_path / "folder").mkdir()
    given = [str(LOGS / "plain-seed1.log") if a == "LOG" else a for a in shlex.split(argv)]
    done = run(*given, cwd=tmp_path, env={"XDG_CONFIG_HOME": str(tmp_path / "own")})
    assert done.returncode == 2
    assert says in one_clear_line(done)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "notes.md"]


def test_pauses_without_a_time_are_told(tmp_path: Path) -> None:
    log, pauses = str(LOGS / "plain-seed1.log"), tmp_path / "pauses.log"
    for text, told in (("no time\n", True), ("", False), ("2026-10-15 16:00:00 paused", False)):
        pauses.write_text(text)
        done = run("check", log, "--pauses", str(pauses))
        assert done.returncode == 0
        assert ("no line has a time stamp" in done.stderr) is told


def test_what_is_to_be_pasted_can_be(tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path / "own")}
    seeds = [str(LOGS / f"plain-seed{n}.log") for n in (1, 2)]
    for given in (["--name", "Two words"], ["-o", "mine"], ["-o", "it's mine.toml"]):
        said = run("calibrate", *seeds, *given, cwd=tmp_path, env=home).stdout
        option = shlex.split(said.splitlines()[-1].removeprefix("use it with "))
        assert run("check", seeds[0], *option, cwd=tmp_path, env=home).returncode == 0, said
