"""Settings with something wrong in them: what is right counts, what is wrong is named, everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import LOGS

from miles_tui.cli.main import main
from miles_tui.config.settings import MOST_ENTRIES, Settings, in_force
from miles_tui.errors import BadSetting

PLAIN = str(LOGS / "plain-seed1.log")
Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "miles-tui" / "config.toml"
    path.parent.mkdir()

    def write(text: str | bytes) -> Path:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('profile = "manual"\nwindow = 9\nwindw = 7\n', {"windw": 'unknown key; did you mean "window"?'}),
        ('profile = "manual"\nwindow = 9\nhistory = 1\n', {"history": "64 or more"}),
        ('profile = "manual"\nwindow = 9\nmouse = "x"\nnotify = 3\n', {"mouse": "true or false", "notify": "a table"}),
        ('profile = "manual"\nwindow = 9\n[notify]\nbell = "loud"\n', {"notify.bell": "'critical', 'warning'"}),
        ('profile = "manual"\nwindow = 9\n[notify]\nbel = "never"\n', {"notify.bel": "unknown key"}),
        ('profile = "manual"\nwindow = 9\n[other]\na = 1\n', {"other": "unknown key"}),
        ('profile = "manual"\nwindow = 9\ntheme = "nix"\n', {"theme": "there is no theme nix"}),
        ('theme = dark\nprofile = "manual"\nwindow = 9\n', {"line 1": "not a TOML file"}),
        ('profile = "manual"\nsignals = [\n  "gap",\nwindow = 9\n', {"line 2": "not a TOML file"}),
        ('profile = "manual"\nwindow = 9\nwindow = 8\n', {"line 3": "not a TOML file: Cannot overwrite a value"}),
        ('profile = "manual"\nwindow = 9\n[notify\n', {"line 3": "not a TOML file"}),
        (b'\xef\xbb\xbfprofile = "manual"\r\n# caf\xe9\r\nwindow = 9\r\n', {"line 2": "no UTF-8 text"}),
    ],
)
def test_what_is_right_counts_and_what_is_wrong_is_named(
    write: Write, text: str | bytes, wrong: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(text)
    settings, faults = in_force(path)
    assert (settings.profile, settings.window) == ("manual", 9)
    assert list(faults) == list(wrong)
    assert all(said in faults[key] for key, said in wrong.items())
    for command in ("status", "report", "config"):
        assert main([command, *([PLAIN] if command != "config" else [])]) == (2 if command == "config" else 0)
        out, err = capsys.readouterr()
        lines = [line.split(": ")[2] for line in err.splitlines()]
        assert lines == list(wrong), "each in a line of its own"
        assert str(path) in err
        assert {"status": "finished", "report": "mean 9", "config": 'profile = "manual"  # file'}[command] in out


def test_a_wrong_entry_of_a_list_costs_itself(write: Write) -> None:
    settings, wrong = in_force(write('signals = ["gap", "x", 3, "reward", "gap"]\nswitched_off = ["nope"]\n'))
    assert settings.signals == ["gap", "reward"]
    assert settings.switched_off == []
    assert list(wrong) == ["signals.1", "signals.2", "switched_off.0"]
    settings, _ = in_force(write('signals = ["x"]\n'))
    assert settings.signals == Settings().signals, "a list of which nothing is left was not written"


def test_a_broken_profile_is_named_and_the_rest_counts(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    path = write('profile = "mine"\nwindow = 9\n')
    (path.parent / "profiles").mkdir()
    (path.parent / "profiles" / "mine.toml").write_text("name = 3\n")
    (path.parent / "profiles" / "well.toml").write_bytes(
        (LOGS.parent / "miles_tui" / "_profiles" / "manual.toml").read_bytes()
    )
    settings, wrong = in_force(path)
    assert (settings.window, list(wrong)) == (9, ["profile"])
    assert main(["report", PLAIN]) == 0
    assert "mine.toml" in capsys.readouterr().err
    assert main(["profiles"]) == 0
    out = capsys.readouterr().out
    assert "mine             can't be used" in out
    assert "well             144 rollouts" in out


def test_what_is_no_settings_file_at_all(write: Write, tmp_path: Path) -> None:
    assert in_force(tmp_path / "nowhere") == (Settings(), {})
    with pytest.raises(BadSetting, match="not a TOML file"):
        in_force(write("a = \n" * (MOST_ENTRIES + 1)))
    settings, wrong = in_force(write("what is this?\n"))
    assert (settings, list(wrong)) == (Settings(), ["line 1"])


def test_settings_that_only_a_screen_asks_for_cost_a_quick_command_nothing(write: Write) -> None:
    from test_fences import HEAVY, headless_modules

    write('theme = "light"\n[notify]\nbell = "never"\n')
    assert not headless_modules("status", PLAIN) & (HEAVY - {"tomllib"})
