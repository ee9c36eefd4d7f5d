"""Whatever lies where a person's TOML file should be: one plain line, no traceback, and nothing is waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import LOGS, one_clear_line, run

from miles_tui.config.toml_file import parsed, read_toml_text
from miles_tui.errors import BadSetting
from miles_tui.files import LARGEST


@pytest.mark.parametrize("text", ["a = " + "[" * 1500, "dark = " + "1" * 5000, "a = ", "a = 1\na = 2"])
def test_what_no_parser_takes_is_said_with_the_files_name(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"^mine\.toml: not a TOML file: "):
        parsed(text, "mine.toml")
    profile = tmp_path / "mine.toml"
    profile.write_text(text)
    done = run("check", str(LOGS / "plain-seed1.log"), "--profile", str(profile))
    assert done.returncode == 2
    assert "mine.toml" in one_clear_line(done)


def test_only_a_plain_file_of_a_sensible_size_is_read(tmp_path: Path) -> None:
    pipe, large, latin = tmp_path / "pipe.toml", tmp_path / "large.toml", tmp_path / "latin.toml"
    os.mkfifo(pipe)
    large.write_bytes(b"#" * (LARGEST + 1))
    latin.write_bytes(b"# \xe9")
    for path, said in (
        (pipe, "no plain file"),
        (large, "more than 1 MiB"),
        (latin, "no UTF-8"),
        (tmp_path, "no plain"),
    ):
        with pytest.raises(BadSetting, match=said):
            read_toml_text(path)
    with pytest.raises(FileNotFoundError):
        read_toml_text(tmp_path / "nowhere.toml")
