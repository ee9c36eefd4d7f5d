"""The person's settings: one TOML file, every key documented, each with where its value came from.

Nothing is written unasked; a missing file is the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from miles_tui.core.conditions import CONDITIONS
from miles_tui.core.plain import harmless_name
from miles_tui.core.signals import BY_NAME
from miles_tui.errors import BadSetting, nearest, right_value
from miles_tui.locations import bundled_themes, config_dir, themes_dir
from miles_tui.tomlfile import parsed, text_of, toml_value

FILE = "config.toml"
# Setting -> the commands without a screen that read it: those of a person, who is to be told the same everywhere.
ALSO_READ_BY = {"profile": "status, report", "switched_off": "status, report", "window": "report"}


class Notify(BaseModel):
    """How an alert is noticed when nobody looks. Only what happens from now on rings, never an old log's past."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bell: Literal["critical", "warning", "never"] = Field(
        "critical", description="the least severity that rings the terminal bell (tmux marks the window)"
    )
    title: bool = Field(True, description="put the verdict into the terminal's title and tmux's pane title")
    desktop: Literal["off", "osc9", "osc777"] = Field(
        "off",
        description="a desktop notification by the terminal: OSC 9 (iTerm2, WezTerm, kitty) or OSC 777 (foot, urxvt); "
        "in tmux it needs `set -g allow-passthrough on`",
    )
    command: str = Field(
        "",
        description="run when an alert above a notice fires, and when it is resolved: JSON on its standard input, "
        "the log's name in MILES_TUI_LOG",
    )
    command_seconds: float = Field(
        10.0, gt=0, le=600, description="after which that command is ended, also when the dashboard was quit meanwhile"
    )


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
        return Settings.model_validate(_data(path))
    except ValidationError as error:
        (key, said), *others = _faults(error).items()
        more = f" (and {len(others)} more: miles-tui config tells all)" if others else ""
        raise BadSetting(f"{path}: {key}: {said}{more}") from None


def in_force(path: Path) -> tuple[Settings, dict[str, str]]:
    """The settings as the dashboard takes them, and key -> what is wrong with its value in the file.

    A value of the wrong kind makes all of them the defaults; a theme or a profile that there is not, only itself.
    Raises BadSetting where the file can't be read.
    """
    data = _data(path)
    settings, wrong = Settings(), {}
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        wrong = _faults(error)
    theme, profile = (value if isinstance(value := data.get(key), str) else "" for key in ("theme", "profile"))
    return settings, _wrong_names(theme, profile) | wrong


def _data(path: Path) -> dict[str, Any]:
    try:
        return parsed(text_of(path), str(path))
    except FileNotFoundError:
        return {}


def _wrong_names(theme: str, profile: str) -> dict[str, str]:
    """Setting -> what is wrong with its value: no such theme, no such profile, or one that can't be used."""
    from miles_tui.profiles import load

    wrong = {}
    themes = sorted(path.stem for folder in (bundled_themes(), themes_dir()) for path in folder.glob("*.toml"))
    if theme and theme not in themes:
        wrong["theme"] = f"there is no theme {theme}{nearest(theme, themes)}"
    try:
        load(profile) if profile else None
    except BadSetting as error:
        wrong["profile"] = " ".join(str(error).split())
    return wrong


def effective(settings: Settings, path: Path, wrong: Mapping[str, str] | None = None) -> str:
    """All settings as TOML, each with its meaning, who reads it, where its value came from, and what is wrong."""
    lines = [f"# {harmless_name(path)}{'' if path.exists() else ' (there is no such file: these are the defaults)'}"]
    lines += ["# The dashboard reads all of these, status and report those that say so, other commands none.", ""]
    lines += _table(settings, Settings, wrong or {})
    lines += ["# " + (Settings.model_fields["notify"].description or ""), "[notify]", ""]
    lines += _table(settings.notify, Notify, {k.removeprefix("notify."): v for k, v in (wrong or {}).items()})
    return "\n".join(lines).rstrip() + "\n"


def _table(values: BaseModel, model: type[BaseModel], wrong: Mapping[str, str]) -> list[str]:
    lines = []
    for key, field in model.model_fields.items():
        value = getattr(values, key)
        if isinstance(value, BaseModel):
            continue
        source = "file" if key in values.model_fields_set else "default"
        said = (
            f"{'' if source == 'file' else ', for the file is wrong'}: {harmless_name(wrong[key])}"
            if key in wrong
            else ""
        )
        also = f" (also: {ALSO_READ_BY[key]})" if model is Settings and key in ALSO_READ_BY else ""
        lines += [f"# {field.description}{also}", f"{key} = {toml_value(value)}  # {source}{said}", ""]
    return lines


def _all_known(names: list[str], known: Mapping[str, object], what: str) -> list[str]:
    for name in names:
        if name not in known:
            raise ValueError(f'"{name}" is no {what}{nearest(name, known)}')
    return list(dict.fromkeys(names))


def _faults(error: ValidationError) -> dict[str, str]:
    """Key -> what is wrong with it, in the order of the settings."""
    faults: dict[str, str] = {}
    for fault in error.errors(include_url=False):
        key = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            owner = Notify if key.startswith("notify.") else Settings
            faults[key] = f"unknown key{nearest(str(fault['loc'][-1]), owner.model_fields)}"
        else:
            faults[key] = right_value(fault["type"], fault.get("ctx", {}), fault["msg"])
    return faults
