"""The person's settings: one TOML file, every key documented, each with where its value came from.

Nothing is written unasked; a missing file is the defaults.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from miles_tui.core.conditions import CONDITIONS
from miles_tui.core.signals import BY_NAME
from miles_tui.errors import BadSetting
from miles_tui.locations import config_dir

FILE = "config.toml"


class Notify(BaseModel):
    """How an alert is noticed when nobody looks. Only what happens from now on rings, never an old log's past."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bell: Literal["critical", "warning", "never"] = Field(
        "critical", description="the least severity that rings the terminal bell (tmux marks the window)"
    )
    title: bool = Field(True, description="put the verdict into the terminal's title and tmux's pane title")
    desktop: Literal["off", "osc9", "osc777"] = Field(
        "off",
        description="a desktop notification by the terminal: OSC 9 (iTerm2, WezTerm, kitty) or OSC 777 (foot, urxvt)",
    )
    command: str = Field(
        "",
        description="run when an alert above a notice fires, and when it is resolved: JSON on its standard input, "
        "the log's name in MILES_TUI_LOG",
    )
    command_seconds: float = Field(10.0, gt=0, le=600, description="after which that command is ended")


class Settings(BaseModel):
    """What a person can set once and for all. Options on the command line win."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    theme: str = Field("", description="the theme's name; empty: dark or light as the terminal is")
    profile: str = Field("", description="the profile to judge by, where none is named on the command line")
    signals: list[str] = Field(
        default_factory=lambda: list(BY_NAME), description="the signals that are shown, in this order"
    )
    metrics: list[str] = Field(
        default_factory=list, description="log names of further metrics that are rows of their own"
    )
    switched_off: list[str] = Field(default_factory=list, description="conditions that are not judged")
    window: int = Field(5, ge=5, le=100, description="rollouts that a shown mean covers")
    history: int = Field(4096, ge=64, le=1_000_000, description="rollouts that are kept of each metric")
    mouse: bool = Field(True, description="use the mouse; off leaves it to the terminal and tmux")
    remember: bool = Field(False, description="remember the theme and the selected signal from one start to the next")
    notify: Notify = Field(default_factory=Notify, description="how an alert is noticed when nobody looks")

    @field_validator("signals")
    @classmethod
    def _known_signals(cls, value: list[str]) -> list[str]:
        return _all_known(value, BY_NAME, "signal")

    @field_validator("switched_off")
    @classmethod
    def _known_conditions(cls, value: list[str]) -> list[str]:
        return _all_known(value, CONDITIONS, "condition")


def config_file() -> Path:
    """Where the settings are looked for."""
    return config_dir() / FILE


def load_settings(path: Path | None = None) -> Settings:
    """The settings in a file, or the defaults where there is none. Raises BadSetting with file, key and reason."""
    path = path or config_file()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(f"{path}: not a TOML file: {error}") from None
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        raise BadSetting(f"{path}: {_said(error)}") from None


def effective(settings: Settings, path: Path, options: Mapping[str, object] | None = None) -> str:
    """All settings as TOML, each with its meaning and where its value came from: the file, an option or the default."""
    given = options or {}
    lines = [f"# {path}{'' if path.exists() else ' (there is no such file: these are the defaults)'}", ""]
    lines += _table(settings, Settings, given)
    lines += ["# " + (Settings.model_fields["notify"].description or ""), "[notify]", ""]
    lines += _table(settings.notify, Notify, {})
    return "\n".join(lines).rstrip() + "\n"


def _table(values: BaseModel, model: type[BaseModel], options: Mapping[str, object]) -> list[str]:
    lines = []
    for key, field in model.model_fields.items():
        value = getattr(values, key)
        if isinstance(value, BaseModel):
            continue
        source = "option" if key in options else "file" if key in values.model_fields_set else "default"
        lines += [f"# {field.description}", f"{key} = {_toml(options.get(key, value))}  # {source}", ""]
    return lines


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, int | float):
        return repr(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _all_known(names: list[str], known: Mapping[str, object], what: str) -> list[str]:
    for name in names:
        if name not in known:
            raise ValueError(f'"{name}" is no {what}{_nearest(name, known)}')
    return list(dict.fromkeys(names))


def _nearest(name: str, known: Mapping[str, object]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(known), 1)
    return f'; did you mean "{near[0]}"?' if near else f"; there are {', '.join(known)}"


def _said(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        owner = Notify if key.startswith("notify.") else Settings
        return f"{key}: unknown key{_nearest(str(first['loc'][-1]), owner.model_fields)}"
    return f"{key}: {str(first['msg']).removeprefix('Value error, ')}"


def editor_hint() -> str:
    """How to open the file, for `miles-tui config`."""
    return f"{os.environ.get('EDITOR', 'an editor')} {config_file()}"
