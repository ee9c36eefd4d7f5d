"""A pause log beside the run's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from miles_tui.core.parsing.line_prefix import time_of
from miles_tui.errors import UnreadableLog
from miles_tui.ingest.history.pause_log import PauseLog


def at(clock: str) -> float:
    time = time_of(f"[2026-10-15 {clock}]")
    assert time is not None
    return time


def test_a_pause_touches_the_records_around_it(tmp_path: Path) -> None:
    log = tmp_path / "pauses.log"
    log.write_text("2026-10-15 16:20:00 too hot, paused\nno time here\n2026-10-15 16:22:20 resumed\n")
    pauses = PauseLog(log)
    assert pauses.between(at("16:19:00"), at("16:21:00"))
    assert pauses.between(at("16:22:00"), at("16:23:00"))
    assert not pauses.between(at("16:22:20"), at("16:30:00"))
    assert not pauses.between(at("16:00:00"), at("16:19:59"))


def test_it_is_read_on_as_it_grows_and_survives_its_rotation(tmp_path: Path) -> None:
    log = tmp_path / "pauses.log"
    log.write_text("2026-10-15 16:2")
    pauses = PauseLog(log)
    assert not pauses.between(at("16:00:00"), at("17:00:00"))
    for more in ("0:00 pau", "sed\n"):
        with log.open("a") as out:
            out.write(more)
        assert pauses.between(at("16:00:00"), at("17:00:00")), "a last line needs no end"
    assert pauses.between(at("16:00:00"), at("17:00:00"))
    log.unlink()
    assert pauses.between(at("16:00:00"), at("17:00:00"))
    log.write_text("2026-10-15 18:00:00 x\n")
    assert pauses.between(at("17:30:00"), at("18:00:00"))


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLog, match=r"nowhere\.log can't be read"):
        PauseLog(tmp_path / "nowhere.log")
