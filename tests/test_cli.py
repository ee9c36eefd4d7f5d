"""The command line as a person and a script meet it: a process, its output and its exit status."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import LOGS, one_clear_line, run

# What each recorded log must raise above a notice, and the rollouts at which it may be raised.
RAISED = {
    "plain-seed1": {}, "plain-seed2": {}, "plain-seed3": {}, "four-updates": {}, "resume": {},
    "gap-jump": {"gap-jump": range(21, 24)},
    "grad-growth": {"grad-norm-growth": range(18, 33)},
    "talks-longer": {"reward-down-length-up": range(22, 32)},
    "clipped": {"clipped-on-policy": range(26, 27)},
    "slow-engine": {"rollout-slowdown": range(20, 30)},
    "nan": {"not-finite": range(30, 31)},
    "crash": {"crashed": range(16, 18)},
}  # fmt: skip


Report = dict[str, Any]  # as JSON gives it


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    done = run("check", "--format", "json", *(str(LOGS / f"{name}.log") for name in RAISED))
    assert done.returncode == 1, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [Path(row["log"]).stem for row in rows] == list(RAISED)
    return {Path(row["log"]).stem: row for row in rows}


@pytest.mark.parametrize("name", RAISED)
def test_recorded_logs_raise_what_they_must_and_nothing_else(reports: dict[str, Report], name: str) -> None:
    alerts = [a for a in reports[name]["alerts"] if a["severity"] != "notice"]
    assert {a["condition"] for a in alerts} == set(RAISED[name])
    for alert in alerts:
        assert alert["raised_step"] in RAISED[name][alert["condition"]], alert
        assert alert["evidence"]
        assert alert["likely_cause"]
        assert alert["first_check"]


def test_the_shape_of_the_report(reports: dict[str, Report]) -> None:
    plain = reports["plain-seed1"]
    assert plain["rollouts"] == 48
    assert plain["last_rollout"] == 47
    assert plain["updates_per_rollout"] == 1
    assert plain["attempts"] == 1
    assert plain["state"] == "finished"
    assert list(plain["signals"]) == [
        "reward", "answer length", "cut share", "gap", "KL to the engine", "gradient norm", "clip fraction",
        "rollout time",
    ]  # fmt: skip
    reward = plain["signals"]["reward"]
    assert reward["log_name"] == "rollout/raw_reward"
    assert reward["count"] == 48
    assert reward["min"] <= reward["mean5"] <= reward["max"]
    assert reports["four-updates"]["updates_per_rollout"] == 4
    assert reports["crash"]["state"] == "crashed"
    assert reports["resume"]["signals"]["gap"]["count"] == 25


def test_exit_statuses() -> None:
    assert run("check", str(LOGS / "plain-seed1.log")).returncode == 0
    assert run("check", str(LOGS / "gap-jump.log")).returncode == 1


def test_export_gives_each_metric_line_as_printed() -> None:
    done = run("export", str(LOGS / "plain-seed1.log"))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [(r["kind"], r["step"]) for r in rows[:4]] == [("perf", 0), ("rollout", 0), ("step", 0), ("perf", 0)]
    assert rows[0]["time"] == "2026-10-15T16:01:02.216"
    assert rows[0]["attempt"] == 1
    table = list(csv.reader(io.StringIO(run("export", "--format", "csv", str(LOGS / "plain-seed1.log")).stdout)))
    assert table[0] == ["kind", "step", "attempt", "time", "metric", "value"]
    assert len(table) - 1 == sum(len(r["metrics"]) for r in rows)


def test_not_a_number_is_a_string_in_export(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("step 3: {'train/loss': nan, 'train/grad_norm': -inf, 'train/x': inf}\n")
    (row,) = [json.loads(line) for line in run("export", str(log)).stdout.splitlines()]
    assert row["metrics"] == {"train/loss": "nan", "train/grad_norm": "-inf", "train/x": "inf"}
    assert row["time"] is None


def test_standard_input() -> None:
    done = run("check", "--format", "json", "-", stdin=(LOGS / "gap-jump.log").read_bytes())
    assert json.loads(done.stdout)["rollouts"] == 48
    assert done.returncode == 1


def test_output_that_is_no_terminal_gets_the_text_of_check() -> None:
    bare, checked = run(str(LOGS / "gap-jump.log")), run("check", str(LOGS / "gap-jump.log"))
    assert bare.stdout == checked.stdout
    assert "gap-jump" in bare.stdout
    assert "\x1b" not in bare.stdout


def test_alone_it_opens_the_newest_log_here(tmp_path: Path) -> None:
    assert "no Miles log" in one_clear_line(run(cwd=tmp_path))
    (tmp_path / "old.log").write_bytes((LOGS / "plain-seed1.log").read_bytes())
    os.utime(tmp_path / "old.log", (1, 1))
    (tmp_path / "new.log").write_bytes((LOGS / "gap-jump.log").read_bytes())
    assert "new.log" in run(cwd=tmp_path).stdout


def test_help_and_version() -> None:
    helped = run("--help")
    assert helped.returncode == 0
    assert all(word in helped.stdout for word in ("demo", "check", "export", "calibrate", "replay", "explain"))
    assert run("--version").stdout.startswith("miles-tui ")


def test_several_logs_give_the_highest_status(tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_text("nothing here\n")
    done = run("check", str(LOGS / "gap-jump.log"), str(tmp_path / "empty.log"), str(LOGS / "plain-seed1.log"))
    assert done.returncode == 3
    assert done.stdout.count("rollout 47 of 48") == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_export_follows_until_it_is_interrupted(tmp_path: Path, number: signal.Signals) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 0: {'train/loss': 1.0}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "miles_tui", "export", "--follow", str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["step"] == 0
    with log.open("a") as out:
        out.write("step 1: {'train/loss': 2.0}\n")
    assert json.loads(process.stdout.readline())["step"] == 1
    with log.open("a") as out:
        out.write("step 2: {'train/loss': 3.0}\n")
    process.send_signal(number)
    rest, errors = process.communicate(timeout=10)
    assert [json.loads(line)["step"] for line in rest.splitlines()] == [2]
    assert process.returncode in (0, 130, 143)
    assert errors == b""


def test_check_is_quick() -> None:
    """Half a second of CPU time at most beyond a bare interpreter's: what else the machine does is not measured."""

    def used() -> float:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return spent.ru_utime + spent.ru_stime

    def seconds(command: list[str]) -> float:
        times = []
        for _ in range(3):
            begin = used()
            subprocess.run(command, capture_output=True, check=False)
            times.append(used() - begin)
        return min(times)

    bare = seconds([sys.executable, "-c", "import pydantic"])
    assert seconds([sys.executable, "-m", "miles_tui", "check", str(LOGS / "plain-seed1.log")]) < bare + 0.5


def test_only_the_newest_rollouts_are_read_when_asked() -> None:
    log = str(LOGS / "plain-seed1.log")
    tail = json.loads(run("check", "--format", "json", "--tail", "12", log).stdout)
    assert tail["rollouts"] == 12
    assert tail["updates_per_rollout"] == 1
    assert tail["state"] == "finished"  # the arguments at the beginning are known all the same
    since = [json.loads(line)["step"] for line in run("export", "--since", "40", log).stdout.splitlines()]
    assert min(since) == 40
    assert "give a rollout number" in one_clear_line(run("check", "--since", "noon", log))
    assert "pipe has no past" in one_clear_line(run("check", "--tail", "3", "-", stdin=b"x"))


def test_status_is_one_line_and_report_reads_in_a_chat() -> None:
    assert run("status", str(LOGS / "gap-jump.log")).stdout == "▲1 gap-jump · 47/48\n"
    text = run("report", str(LOGS / "gap-jump.log")).stdout
    assert "**gap-jump** (critical, since rollout 2" in text
    assert len(text) < 2500
    assert "rollout_batch_size=32" in text


def test_calibrate_writes_a_profile_that_check_uses(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    seeds = [str(LOGS / f"plain-seed{n}.log") for n in (1, 2, 3)]
    done = run("calibrate", *seeds, "-o", str(profile))
    assert done.returncode == 0
    assert done.stderr == ""
    report = json.loads(run("check", "--format", "json", "--profile", str(profile), str(LOGS / "gap-jump.log")).stdout)
    assert report["profile"] == "mine"
    assert min((a["condition"], a["raised_step"]) for a in report["alerts"]) <= ("gap-jump", 23)
    warned = run("calibrate", str(LOGS / "gap-jump.log"), "-o", str(tmp_path / "bad.toml")).stderr
    assert "not a healthy run" in warned
    assert "two or three seeds" in warned


def test_a_named_profile_lives_in_the_config_folder(tmp_path: Path) -> None:
    seeds = [str(LOGS / f"plain-seed{n}.log") for n in (1, 2)]
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert run("calibrate", *seeds, "--name", "lab", env=home).returncode == 0
    assert (tmp_path / "miles-tui" / "profiles" / "lab.toml").exists()
    again = run("calibrate", *seeds, "--name", "lab", env=home)
    assert again.returncode == 0
    assert "lab.toml: replaces the ranges of 96 rollouts from 2 runs" in one_clear_line(again)
    assert "lab" in run("profiles", env=home).stdout
    assert run("check", "--profile", "lab", seeds[0], env=home).returncode == 0
    wrong = run("check", "--profile", "lob", seeds[0], env=home)
    assert wrong.returncode == 2
    assert "no profile lob" in one_clear_line(wrong)


def test_a_profile_of_another_setup_is_used_with_a_warning(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    run("calibrate", str(LOGS / "plain-seed1.log"), str(LOGS / "plain-seed2.log"), "-o", str(profile))
    done = run("check", "--profile", str(profile), str(LOGS / "four-updates.log"))
    assert "another setup" in done.stderr
    assert "global_batch_size" in done.stderr


def test_explain() -> None:
    assert "Likely cause" in run("explain", "grad-norm-growth").stdout
    assert "gradient norm" in run("explain", "train/grad_norm").stdout
    assert all(name in run("explain").stdout for name in ("gap-jump", "known-message", "eval/lag_steps"))
    assert "did you mean gap-jump" in one_clear_line(run("explain", "gap-jmp"))
    assert "did you mean KL to the engine, train/train_rollout_kl, train/ppo_kl or" in one_clear_line(
        run("explain", "KL")
    )
    assert "did you mean no-signal, train/entropy_loss or" in one_clear_line(run("explain", "nothing"))
    assert "alone lists them" in one_clear_line(run("explain", "xyzzy"))
    assert "judged   by gap-jump;" in run("explain", "gap").stdout
    assert "by no condition of its own" in run("explain", "KL to the engine").stdout


def test_explain_knows_families_and_lists_a_part() -> None:
    family = run("explain", "rollout/zero_std/count_*").stdout
    assert "all got the reward *" in family
    assert "unit     groups" in family
    assert "unit     bytes" in run("explain", "perf/update_weights_wire_bytes").stdout
    part = run("explain", "perf/update*").stdout.splitlines()
    assert len(part) > 5
    assert all("update" in line for line in part if line.strip().startswith("perf/"))
    assert run("explain", "multi_turn").stdout == run("explain", "multi_turn/*").stdout
    assert "did you mean train/pg_loss" in one_clear_line(run("explain", "train/pgloss"))
    assert "did you mean rollout/response_len/median" in one_clear_line(run("explain", "rollout/respnse_len/median"))
    assert "There are more: miles-tui explain '*loss*'" in one_clear_line(run("explain", "loss"))
    assert "(nothing)" in one_clear_line(run("explain", ""))


def test_explain_takes_a_name_of_several_words_and_several_names() -> None:
    assert run("explain", "KL", "to", "the", "engine").stdout == run("explain", "KL to the engine").stdout
    both = run("explain", "train/ois", "train/tis").stdout
    assert both.startswith("train/ois\n")
    assert "\n\ntrain/tis\n" in both


def test_values_are_shown_with_their_units() -> None:
    for command in ("check", "report"):
        shown = run(command, str(LOGS / "plain-seed1.log")).stdout
        assert all(
            label in shown for label in ("answer length, tokens ", "KL to the engine, nats ", "rollout time, s ")
        )


def test_explain_tells_what_holds_a_condition_back() -> None:
    assert "Held back while reward-down-length-up has an open alert" in run("explain", "cut-share-high").stdout
    assert "holds back gap-jump and grad-norm-growth" in run("explain", "not-finite").stdout
    assert "eside" not in run("explain", "rollout-slowdown").stdout


def test_config_names_where_each_value_came_from(tmp_path: Path) -> None:
    folder = tmp_path / "miles-tui"
    assert "# default" in run("config", env={"XDG_CONFIG_HOME": str(tmp_path)}).stdout
    assert not folder.exists(), "asking writes nothing"
    folder.mkdir()
    (folder / "config.toml").write_text('theme = "light"\n[notify]\nbell = "never"\n')
    text = run("config", env={"XDG_CONFIG_HOME": str(tmp_path)}).stdout
    assert 'theme = "light"  # file' in text
    assert 'bell = "never"  # file' in text
    (folder / "config.toml").write_text("thme = 1\n")
    wrong = run("config", env={"XDG_CONFIG_HOME": str(tmp_path)})
    assert wrong.returncode == 2
    assert 'config.toml: thme: unknown key; did you mean "theme"?' in one_clear_line(wrong)


def test_config_tells_every_wrong_value_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "miles-tui").mkdir()
    file = tmp_path / "miles-tui" / "config.toml"
    file.write_text('theme = "lihgt"\nmouse = false\n')
    done = run("config", env={"XDG_CONFIG_HOME": str(tmp_path)})
    assert done.returncode == 2
    assert 'theme: there is no theme lihgt; did you mean "light"?' in one_clear_line(done)
    assert "mouse = false  # file" in done.stdout, "the others are in force"
    file.write_text('theme = "lihgt"\nwindow = 2\nmouse = 3\n[notify]\nbell = "x"\ncommand_seconds = 0\n')
    done = run("config", env={"XDG_CONFIG_HOME": str(tmp_path)})
    assert done.returncode == 2
    assert [line.partition("config.toml: ")[2] for line in done.stderr.splitlines()] == [
        'theme: there is no theme lihgt; did you mean "light"?',
        "window: 5 or more",
        "mouse: true or false",
        "notify.bell: 'critical', 'warning' or 'never'",
        "notify.command_seconds: above 0",
    ]
    assert "window = 5  # default, for the file is wrong: 5 or more" in done.stdout


@pytest.mark.parametrize("named", [True, False], ids=["named", "found beside it"])
def test_rotations_are_read_in_the_order_of_the_run(tmp_path: Path, named: bool) -> None:
    lines = (LOGS / "gap-jump.log").read_bytes().split(b"\n")
    third = len(lines) // 3
    for name, part in (
        ("t.log.2", lines[:third]),
        ("t.log.1", lines[third : 2 * third]),
        ("t.log", lines[2 * third :]),
    ):
        (tmp_path / name).write_bytes(b"\n".join(part) + b"\n" * (name != "t.log"))
    paths = [str(tmp_path / name) for name in ("t.log.1", "t.log", "t.log.2")]
    done = run("check", "--format", "json", *(paths if named else ["--rotated", str(tmp_path / "t.log")]))
    (report,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert report["rollouts"] == 48
    assert [(a["condition"], a["raised_step"]) for a in report["alerts"]] == [("gap-jump", 23)]
