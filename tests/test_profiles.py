"""Profiles on disk: the bundled ones and the person's own, by name and by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from miles_tui.config.paths import profiles_dir
from miles_tui.config.profile_store import find, known_profiles, load, place, save
from miles_tui.core.alerting.profile import Profile, SignalProfile
from miles_tui.errors import BadSetting


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def test_the_manuals_ranges_are_bundled_with_its_warning() -> None:
    manual = load("manual")
    assert (manual.signals["gap"].low, manual.signals["gap"].high) == (0.0136, 0.0164)
    assert (manual.signals["gradient norm"].low, manual.signals["gradient norm"].high) == (0.35, 4.95)
    assert "setup only" in manual.warning
    assert manual.norm("gap") is None, "the manual tells ranges and no levels: the rules learn from the run"


def test_a_saved_profile_is_found_by_name_and_by_path(home: Path) -> None:
    mine = Profile(name="mine", signals={"gap": SignalProfile(low=0.1, high=0.2)})
    path = save(mine)
    assert path.is_relative_to(home)
    assert load("mine") == mine
    assert load(str(path)) == mine
    elsewhere = save(mine, home / "x.toml")
    assert load(str(elsewhere)) == mine


def test_the_persons_own_profile_wins(home: Path) -> None:
    profiles_dir().mkdir(parents=True)
    save(Profile(name="manual", about="mine"), profiles_dir() / "manual.toml")
    assert load("manual").about == "mine"
    assert [(p.name, p.bundled) for p in known_profiles()] == [("manual", False)]


def test_a_wrong_profile_is_listed_with_its_error(home: Path) -> None:
    path = save(Profile(name="wrong"))
    path.write_text("nam = 1")
    (wrong,) = [p for p in known_profiles() if p.name == "wrong"]
    assert wrong.profile is None
    assert "wrong.toml" in wrong.error


@pytest.mark.parametrize("name", ["nobody", "no/such.toml", "x.toml"])
def test_no_such_profile_names_those_that_are(name: str) -> None:
    assert find(name) is None
    with pytest.raises(BadSetting, match="manual"):
        load(name)


def test_what_is_no_text_is_told(home: Path) -> None:
    (home / "x.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadSetting, match="no UTF-8 text"):
        load(str(home / "x.toml"))
    (home / "d.toml").mkdir()
    with pytest.raises(BadSetting, match="it is a folder"):
        load(str(home / "d.toml"))


@pytest.mark.parametrize("name", ["../x", ".x", "-x", "x.toml", "", "  ", "two\nlines", "\x1b[31mred"])
def test_what_would_not_be_found_by_its_name_is_refused(name: str) -> None:
    with pytest.raises(BadSetting, match="not a name"):
        place(name)


def test_a_bundled_profiles_name_is_not_taken() -> None:
    with pytest.raises(BadSetting, match="manual is a bundled profile"):
        place("manual")


def test_a_file_without_a_suffix_is_found_where_no_profile_has_its_name(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    for name in ("mine", "manual"):
        save(Profile(name=name, about="beside"), home / name)
    assert load("mine").about == "beside"
    assert load("manual").about != "beside"
