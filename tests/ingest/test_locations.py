"""Where things lie; asking creates nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from miles_tui.config import paths as locations


def test_by_the_xdg_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    assert locations.config_dir() == tmp_path / "settings" / "miles-tui"
    assert locations.profiles_dir() == tmp_path / "settings" / "miles-tui" / "profiles"
    for unset in ("", "relative/folder"):
        monkeypatch.setenv("XDG_CONFIG_HOME", unset)
        assert locations.themes_dir() == tmp_path / ".config" / "miles-tui" / "themes"
    assert list(tmp_path.iterdir()) == []


def test_bundled_data_is_in_the_wheel_or_beside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "miles_tui"
    package.mkdir()
    monkeypatch.setattr(locations, "PACKAGE", package)
    assert locations.bundled_themes() == tmp_path / "themes"
    (package / "_themes").mkdir()
    assert locations.bundled_themes() == package / "_themes"
    with pytest.raises(FileNotFoundError, match=r"gap-jump\.log"):
        locations.sample_log("gap-jump.log")
