"""All of Unicode as log text in a real tmux, whose tables of widths are its own: no cell beside it is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from terminal import between_looks

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

COLUMNS, ROWS = 120, 36

# Runs in the pane: frames of every character between words, each looked at with tmux's own eyes, then empty ones.
IN_THE_PANE = f"""
import json, os, subprocess, sys
from rich.color import ColorSystem
from rich.segment import Segment
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip
from miles_tui.core.text.sanitize import plain
from miles_tui.ui.terminal.diff_renderer import Paper

socket, result = sys.argv[1:]
codes = [*range(0xA0, 0x3400), *range(0x3400, 0xF900, 16), *range(0xF900, 0x1F000, 4), *range(0x1F000, 0x1FB00)]
shown = [text for text in (plain(chr(code)) for code in codes) if text and text != "?"]
words = [f"<{{text}}>" for text in shown]
per_row = {COLUMNS} // 6  # a word of six cells at most
rows = [" ".join(words[i : i + per_row]) for i in range(0, len(words), per_row)]
paper = Paper()

def capture():
    command = ["tmux", "-S", socket, "capture-pane", "-p", "-t", "main"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\\n")[: {ROWS}]

def draw(texts):
    strips = [[Strip([Segment(text)]).adjust_cell_length({COLUMNS})] for text in texts]
    update = LayoutUpdate(strips, Region(0, 0, {COLUMNS}, {ROWS}))
    os.write(1, paper.update(update, ColorSystem.TRUECOLOR).encode())
    os.write(1, b"\\x1b[6n")  # answered once all before it is done
    answer = b""
    while not answer.endswith(b"R"):
        answer += os.read(0, 100)
    return capture()

import tty
tty.setraw(0)
os.write(1, b"\\x1b[2J\\x1b[?7l")
wrong, left = [], []
for i in range(0, len(rows), {ROWS}):
    frame = rows[i : i + {ROWS}] + [""] * ({ROWS} - len(rows[i : i + {ROWS}]))
    for meant, seen in zip(frame, draw(frame)):
        if (seen.count("<"), seen.count(">")) != (meant.count("<"), meant.count(">")):
            wrong.append([meant, seen])
    if i % (8 * {ROWS}) == 0:
        left += [row for row in draw(["." * 5] * {ROWS}) if row.rstrip() != "....."]
with open(result, "w") as file:
    json.dump({{"characters": len(shown), "wrong": wrong, "left": left}}, file)
"""


def test_log_text_in_any_script_leaves_all_other_cells_right(tmp_path: Path) -> None:
    socket, program, result = tmp_path / "tmux", tmp_path / "program.py", tmp_path / "result.json"
    program.write_text(IN_THE_PANE)
    env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE")} | {"LC_ALL": "C.UTF-8"}
    command = f"{sys.executable} {program} {socket} {result} 2> {tmp_path / 'errors'}"
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    subprocess.run(
        [*tmux, "-u", "new-session", "-d", "-s", "main", "-x", str(COLUMNS), "-y", str(ROWS), command],
        env=env,
        check=True,
    )
    try:
        deadline = time.monotonic() + 60
        while subprocess.run([*tmux, "has-session"], capture_output=True, check=False).returncode == 0:
            assert time.monotonic() < deadline, "not done within 60 s"
            between_looks()
    finally:
        subprocess.run([*tmux, "kill-server"], capture_output=True, check=False)
    assert result.exists(), (tmp_path / "errors").read_text()
    found = json.loads(result.read_text())
    assert found["characters"] > 20_000
    assert not found["left"], "rubbish of an earlier screen"
    assert not found["wrong"]
