"""`--tail` and `--since` on the command line: packed logs, rotations, several logs, and what is not there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from miles_tui.cli.main import main

LOG = Path(__file__).resolve().parents[1] / "sample_logs" / "plain-seed1.log"


def exported(capsys: pytest.CaptureFixture[str], *args: str) -> list[int]:
    """The numbers of the rollouts that `export` gives."""
    assert main(["export", *args]) == 0
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    return sorted({line["step"] for line in lines if line["kind"] == "rollout"})


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(LOG.read_bytes()))
    return path


def test_the_tail_of_a_packed_log(packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exported(capsys, "--tail", "5", str(packed)) == list(range(43, 48))
    assert exported(capsys, "--since", "40", str(packed)) == list(range(40, 48))
    assert exported(capsys, "--follow", "--tail", "5", str(packed)) == list(range(43, 48))


@pytest.mark.parametrize("command", ["status", "report", "check"])
def test_a_packed_log_has_a_state(packed: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(packed)]) == 0
    assert "finished" in capsys.readouterr().out


def test_the_tail_goes_back_into_rotations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LOG.read_bytes()
    cut = text.rindex(b"\n", 0, text.index(b"rollout 44: {")) + 1
    (tmp_path / "train.log.1").write_bytes(text[:cut])
    live = tmp_path / "train.log"
    live.write_bytes(text[cut:])
    assert exported(capsys, "--tail", "20", str(live)) == list(range(44, 48))
    assert exported(capsys, "--rotated", "--tail", "20", str(live)) == list(range(28, 48))
    assert exported(capsys, "--rotated", "--tail", "2", str(live)) == [46, 47]


@pytest.mark.parametrize(
    ("since", "says"),
    [
        ("999", "nothing is that late"),
        ("2030-01-01", "nothing is that late"),
        ("2026-10-15T16:20Z", "a log does not say its zone"),
        ("99999999", "give a rollout number"),
    ],
)
def test_what_is_not_there_is_said(since: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "export", "report"):
        assert main([command, "--since", since, str(LOG)]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.count("\n") == 1
        assert says in err


def test_one_log_without_a_tail_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    early = tmp_path / "early.log"
    early.write_bytes(LOG.read_bytes()[: LOG.stat().st_size // 2])
    assert main(["check", "--since", "40", str(early), str(LOG)]) == 2
    out, err = capsys.readouterr()
    assert "early.log: --since 40: nothing is that late" in err
    assert "rollout 47 of 48" in out
