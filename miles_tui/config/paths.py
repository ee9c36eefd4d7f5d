"""Where things lie: the person's folders and the bundled data. Nothing is created by asking."""

from __future__ import annotations

import os
from pathlib import Path

from miles_tui.files import is_dir, is_file

APP = "miles-tui"
PACKAGE = Path(__file__).resolve().parents[1]


def config_dir() -> Path:
    """The folder of the person's settings, by the XDG rules (a relative XDG_CONFIG_HOME counts as unset)."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if Path(base).is_absolute() else _home() / ".config") / APP


def state_dir() -> Path:
    """The folder of what the program itself remembers, where the settings ask for it; likewise."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else _home() / ".local" / "state") / APP


def profiles_dir() -> Path:
    """The folder of the person's own profiles, one TOML file each."""
    return config_dir() / "profiles"


def themes_dir() -> Path:
    """The folder of the person's own themes, one TOML file each."""
    return config_dir() / "themes"


def bundled_themes() -> Path:
    """The folder of the bundled themes: inside the wheel, or at the top of the checkout."""
    return _bundled("themes")


def bundled_logs() -> Path:
    """The folder of the bundled logs, likewise."""
    return _bundled("sample_logs")


def sample_log(name: str) -> Path:
    """A bundled log. Raises FileNotFoundError when the installation lacks it."""
    path = bundled_logs() / name
    if not is_file(path):
        raise FileNotFoundError(f"{name} is not among the bundled logs in {path.parent}")
    return path


def _bundled(name: str) -> Path:
    inside = PACKAGE / f"_{name}"
    return inside if is_dir(inside) else PACKAGE.parent / name


def _home() -> Path:
    """The home folder; "/" for a user id without one, as containers have (nothing is found there, nothing fails)."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")
