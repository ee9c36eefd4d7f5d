"""`status`, `report` and `config` as a person meets them, and what all commands do with a poor output."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from commands import LOGS, one_clear_line, run
from runs import rollout

from miles_tui.core.alerting.conditions.stalled import LEAST_SECONDS
from miles_tui.core.model.records import Record
from miles_tui.core.run.monitor import Monitor
from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.ingest.discovery import find_logs
from miles_tui.present.alerts.evidence_words import evidence_words
from miles_tui.runs.read_run import read_as_of

GAP_JUMP = str(LOGS / "gap-jump.log")
START = 1_790_000_000.0


def lines(count: int, fault: int = 10**9) -> str:
    """A run's log; from rollout `fault` on the gap is three times what it was."""
    out: list[str] = []
    for n in range(count):
        for record in rollout(n, start=START, gap=0.045) if n >= fault else rollout(n, start=START):
            assert isinstance(record, Record)
            stamp = datetime.fromtimestamp(record.time or 0.0, UTC).isoformat(" ", "milliseconds")[:-6]
            out.append(
                f"[{stamp} actor] {record.logger or 'a.py'}:1 - {record.kind} {record.number}: {record.metrics}\n"
            )
    return "".join(out)


def settings(folder: Path, text: str) -> dict[str, str]:
    """An environment with these settings."""
    (folder / "miles-tui").mkdir(exist_ok=True)
    (folder / "miles-tui" / "config.toml").write_text(text)
    return {"XDG_CONFIG_HOME": str(folder)}


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    log = tmp_path / "train.log"
    log.write_text(lines(300, fault=23))
    return log


# -- how far back --------------------------------------------------------------------------------


def test_status_judges_far_enough_back_to_see_an_old_fault(broken: Path) -> None:
    assert run("status", str(broken)).stdout == "▲1 gap-jump · 299\n"
    assert "newest 320 rollouts" in run("status", "--help").stdout


def test_status_of_a_packed_log_and_of_a_pipe_is_that_of_all_of_it(broken: Path, tmp_path: Path) -> None:
    packed = tmp_path / "old.log.gz"
    packed.write_bytes(gzip.compress(broken.read_bytes()))
    assert run("status", str(packed)).stdout == "▲1 gap-jump · 299\n"
    assert run("status", "-", stdin=broken.read_bytes()).stdout == "▲1 gap-jump · 299\n"


def test_status_of_a_folder_names_the_log(tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(lines(14))
    assert run("status", str(tmp_path)).stdout.endswith(" · 13 · b.log\n")


# -- a stall -------------------------------------------------------------------------------------


def at_age(log: Path, age: float) -> RunSnapshot:
    return read_as_of(Monitor(), find_logs([log])[0], log.stat().st_mtime + age)


def test_a_stall_grows_with_the_age_of_the_file(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(lines(30))
    assert at_age(log, 30).verdict == "healthy"
    run = at_age(log, 3600)
    assert run.verdict == "stalled"
    assert "no metric line for 60 min" in evidence_words(run.firing[0])


def test_what_engines_printed_since_the_newest_record_counts_too(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    last = max(record.time or 0.0 for record in rollout(29, start=START) if isinstance(record, Record))
    stamp = datetime.fromtimestamp(last + LEAST_SECONDS, UTC).isoformat(" ")[:19]
    log.write_text(lines(30) + f"[{stamp} TP0] Decode batch, #running-req: 3\n")
    assert at_age(log, 0).verdict == "healthy"
    assert at_age(log, 400).verdict == "stalled"


@pytest.mark.parametrize("name", ["plain-seed1", "crash"])
def test_a_run_that_is_over_is_no_stall(name: str) -> None:
    assert at_age(LOGS / f"{name}.log", 10 * 86_400).verdict == {"crash": "crashed"}.get(name, "finished")


def test_status_and_report_say_a_stall_and_check_does_not(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(lines(30))
    hour_ago = time.time() - 3600
    os.utime(log, (hour_ago, hour_ago))
    assert run("status", str(log)).stdout == "■ stalled · 29\n"
    assert "**stalled** (critical" in run("report", str(log)).stdout
    assert json.loads(run("check", "--format", "json", str(log)).stdout)["alerts"] == []


# -- settings ------------------------------------------------------------------------------------


def test_settings_count_for_a_person_and_not_for_a_script(tmp_path: Path, broken: Path) -> None:
    own = settings(tmp_path, 'switched_off = ["gap-jump"]\nwindow = 9\n')
    assert run("status", str(broken), env=own).stdout == "● healthy · 299\n"
    report = run("report", str(broken), env=own).stdout
    assert "No alert." in report
    assert "mean 9" in report
    assert run("check", str(broken), env=own).returncode == 1


def test_the_profile_of_the_settings_counts_and_an_option_wins(tmp_path: Path) -> None:
    seeds = [str(LOGS / f"plain-seed{n}.log") for n in (1, 2)]
    own = settings(tmp_path, 'profile = "lab"\n')
    missing = run("status", GAP_JUMP, env=own)
    assert missing.stdout == "▲1 gap-jump · 47/48\n"
    assert "no profile lab" in one_clear_line(missing)
    for name, off in (("lab", '["gap-jump"]'), ("other", "[]")):
        run("calibrate", *seeds, "--name", name, env=own)
        path = tmp_path / "miles-tui" / "profiles" / f"{name}.toml"
        path.write_text(f"switched_off = {off}\n" + "\n".join(
            line for line in path.read_text().splitlines() if not line.startswith("switched_off")))  # fmt: skip
    assert "gap-jump" not in run("status", GAP_JUMP, env=own).stdout
    assert "gap-jump" in run("status", "--profile", "other", GAP_JUMP, env=own).stdout


def test_settings_that_do_not_judge_cost_nothing(tmp_path: Path) -> None:
    own = settings(tmp_path, 'theme = "light"\n')
    code = (
        "import sys; from miles_tui.cli.main import main; "
        f"main(['status', {GAP_JUMP!r}]); sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, **own}, check=False).returncode == 0


def test_wrong_settings_are_one_line_and_the_defaults(tmp_path: Path) -> None:
    done = run("status", GAP_JUMP, env=settings(tmp_path, "window = 2\n"))
    assert done.stdout == "▲1 gap-jump · 47/48\n"
    assert "window" in one_clear_line(done)


# -- what a person mistypes ----------------------------------------------------------------------


def test_one_argument_too_many_is_no_option() -> None:
    said = one_clear_line(run("status", GAP_JUMP, "b.log"))
    assert "b.log is one argument too many" in said
    assert "option" not in said


# -- outputs -------------------------------------------------------------------------------------

ASCII_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_signs_become_their_stand_ins_where_the_encoding_has_none() -> None:
    assert run("status", GAP_JUMP, env=ASCII_LOCALE).stdout == "A1 gap-jump . 47/48\n"
    latin = subprocess.run(
        [sys.executable, "-m", "miles_tui", "status", GAP_JUMP],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"}, capture_output=True, check=True,
    )  # fmt: skip
    assert latin.stdout == "A1 gap-jump · 47/48\n".encode("latin-1")


COMMANDS = (["check", GAP_JUMP], ["check", "--format", "json", GAP_JUMP], ["report", GAP_JUMP], ["export", GAP_JUMP],
            ["explain"], ["explain", "gap-jump"], ["config"], ["profiles"], ["--help"])  # fmt: skip


@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_no_command_ends_in_a_traceback_on_an_ascii_output(argv: list[str]) -> None:
    done = run(*argv, env=ASCII_LOCALE)
    assert done.stderr == ""
    assert done.stdout.isascii()
    if "json" in argv:
        assert json.loads(done.stdout)["rollouts"] == 48


def test_a_name_that_no_encoding_holds_is_no_traceback(tmp_path: Path) -> None:
    log = tmp_path / os.fsdecode(b"l\xff\xc3\xb6g.log")
    assert "does not exist" in one_clear_line(run("check", str(log), env=ASCII_LOCALE))
    assert "does not exist" in one_clear_line(run("check", str(log)))
    log.write_text("nothing\n")
    assert "l?" in one_clear_line(run("report", str(log)))


@pytest.mark.parametrize("argv", [*COMMANDS, ["status", GAP_JUMP]], ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(argv: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "miles_tui", *argv], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == (0 if argv[0] == "export" else run(*argv).returncode), "the verdict is not unsaid"
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "miles_tui", "check", GAP_JUMP]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "miles-tui: standard output: No space left on device\n"


# -- config and calibrate ------------------------------------------------------------------------


def test_config_says_who_reads_a_setting() -> None:
    text = run("config").stdout.splitlines()
    described = {line.split(" = ")[0]: before for before, line in pairwise(text)}
    assert described["profile"].endswith("(also: status, report)")
    assert described["switched_off"].endswith("(also: status, report)")
    assert described["window"].endswith("(also: report)")
    assert "(also" not in described["theme"]


def test_config_marks_a_name_that_there_is_not(tmp_path: Path) -> None:
    done = run("config", env=settings(tmp_path, 'theme = "drak"\nprofile = "manual-gsm"\n'))
    assert done.returncode == 2
    theme, profile = done.stderr.strip().splitlines()
    assert theme.endswith('config.toml: theme: there is no theme drak; did you mean "dark"?')
    assert "no profile manual-gsm" in profile
    assert 'theme = "drak"  # file: there is no theme drak; did you mean "dark"?' in done.stdout
    assert run("config", env=settings(tmp_path, 'theme = "dark"\n')).returncode == 0


def test_calibrate_says_what_to_do_about_a_run_that_is_not_healthy(tmp_path: Path) -> None:
    done = run("calibrate", GAP_JUMP, str(LOGS / "plain-seed1.log"), "-o", str(tmp_path / "p.toml"))
    assert done.returncode == 0
    assert "it raised gap-jump" in one_clear_line(done)
    assert "learn again without this log" in done.stderr
