"""Bytes to a real terminal while a chart is open: a rollout, also one that changes the scale and raises an alert."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from terminal import Terminal, has

MOST = 8192  # bytes a new rollout may send to an open chart, its lines arriving one after another


@pytest.mark.parametrize(("keys", "signal"), [("jjj\r", "gap"), ("vjjj\r", "2 reward")], ids=["one", "two"])
def test_a_new_rollout_in_an_open_chart_is_within_its_budget(
    tmp_path: Path, blocks: list[bytes], keys: str, signal: str
) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"".join(blocks[:18]))
    with Terminal([sys.executable, "-m", "miles_tui", str(log)], 120, 36) as terminal:
        terminal.wait(lambda text: "rollout 17 of 48" in text)
        terminal.drain()
        terminal.send(keys)
        terminal.wait(lambda text: "Esc back" in text and signal in text and "┬" in text)
        terminal.drain(0.6)
        sent = []
        for number, block in enumerate(blocks[18:34], 18):
            before = terminal.bytes
            for line in block.splitlines(keepends=True):
                with log.open("ab") as file:
                    file.write(line)
                if b": {" in line:
                    terminal.drain(0.03, 0.03)
            terminal.wait(has(f"rollout {number} "))
            terminal.drain(0.2)
            sent.append(terminal.bytes - before)
        assert "▲ 1 alert" in terminal.text
        assert re.search(r"0\.04", terminal.text), "the scale went up to what came"
        assert 0 < max(sent) <= MOST, sent
        print("bytes a rollout:", sent)
