"""The person's settings: one TOML file, every key documented, each with where its value came from.

Nothing is written unasked; a missing file is the defaults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from miles_tui.config.paths import bundled_themes, config_dir, themes_dir
from miles_tui.config.toml_file import parsed, read_toml_text, toml_entry, toml_files, wrong_key
from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.errors import BadSetting, nearest
from miles_tui.files import is_missing

SETTINGS_FILE = "config.toml"
MOST_ENTRIES = 500
_ENTRY = re.compile(r"^(?=[ \t]*(?:\[|[\w\"'.-]+[ \t]*=))", re.MULTILINE)  # where a table or a key begins
# Setting -> the commands without a screen that read it: those of a person, who is to be told the same everywhere.
ALSO_READ_BY = {"profile": "status, report", "switched_off": "status, report", "window": "report"}


def _once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _known(known: Mapping[str, object], what: str) -> AfterValidator:
    """Each name by itself: of a list with a wrong one the others count."""

    def check(name: str) -> str:
        if name not in known:
            raise ValueError(f'"{name}" is no {what}{nearest(name, known)}')
        return name

    return AfterValidator(check)


SignalNames = Annotated[list[Annotated[str, _known(BY_NAME, "signal")]], AfterValidator(_once)]
ConditionNames = Annotated[list[Annotated[str, _known(CONDITIONS, "condition")]], AfterValidator(_once)]


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
    signals: SignalNames = Field(
        default_factory=lambda: list(BY_NAME), description="the signals that are shown, in this order"
    )
    metrics: list[str] = Field(
        default_factory=list, description="log names of further metrics that are rows of their own"
    )
    switched_off: ConditionNames = Field(default_factory=list, description="conditions that are not judged")
    window: int = Field(5, ge=5, le=100, description="rollouts that a shown mean covers")
    history: int = Field(4096, ge=64, le=1_000_000, description="rollouts that are kept of each metric")
    mouse: bool = Field(True, description="use the mouse; off leaves it to the terminal and tmux")
    remember: bool = Field(False, description="remember the theme and the selected signal from one start to the next")
    notify: Notify = Field(default_factory=Notify, description="how an alert is noticed when nobody looks")


def config_file() -> Path:
    """Where the settings are looked for."""
    return config_dir() / SETTINGS_FILE


def in_force(path: Path) -> tuple[Settings, dict[str, str]]:
    """The settings as a file has them, and key -> what is wrong with its value there.

    What is wrong counts as not written, the rest as it is; no file is the defaults. Raises BadSetting where the file
    can't be read.
    """
    try:
        data, wrong = _readable(read_toml_text(path, "replace"), path)
    except FileNotFoundError:
        return Settings(), {}
    while True:
        try:
            settings = Settings.model_validate(data)
        except ValidationError as error:
            wrong |= _faults(error)
            for place in sorted((fault["loc"] for fault in error.errors()), key=_backwards):
                _leave_out(data, place)
        else:
            return settings, _wrong_names(settings.theme, settings.profile) | wrong


def _readable(text: str, path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The tables of a settings' file, and "line n" -> what is wrong with an entry there that is no TOML."""
    wrong = {f"line {n}": "no UTF-8 text" for n, line in enumerate(text.split("\n"), 1) if "\ufffd" in line}
    try:
        return parsed(text, str(path)), wrong
    except BadSetting:
        entries = _ENTRY.split(text)
        if len(entries) > MOST_ENTRIES:  # each is tried with those before it
            raise
    good, line = "", 1
    for entry in entries:
        try:
            parsed(good + entry, "")
        except BadSetting as error:
            wrong[f"line {line}"] = re.sub(r" \(at [^()]*\)$", "", str(error).removeprefix(": "))
        else:
            good += entry
        line += entry.count("\n")
    return parsed(good, str(path)), wrong


def _backwards(place: tuple[int | str, ...]) -> tuple[tuple[bool, int], ...]:
    """An order in which a list's entries can be left out one after another: the last one first."""
    return tuple((isinstance(part, str), -part if isinstance(part, int) else 0) for part in place)


def _leave_out(data: dict[str, Any], place: tuple[int | str, ...]) -> None:
    """Take out of tables what is wrong there; a list of which nothing is left, too."""
    owner: Any = data
    for part in place[:-1]:
        owner = owner[part]
    del owner[place[-1]]
    if isinstance(owner, list) and not owner:
        _leave_out(data, place[:-1])


def _wrong_names(theme: str, profile: str) -> dict[str, str]:
    """Setting -> what is wrong with its value: no such theme, no such profile, or one that can't be used."""
    from miles_tui.config.profile_store import load

    wrong = {}
    # Who reads the themes says so where a folder can't be read.
    themes = sorted(path.stem for folder in (bundled_themes(), themes_dir()) for path in toml_files(folder, []))
    if theme and theme not in themes:
        wrong["theme"] = f"there is no theme {theme}{nearest(theme, themes)}"
    try:
        load(profile) if profile else None
    except BadSetting as error:
        wrong["profile"] = " ".join(str(error).split())
    return wrong


def effective(settings: Settings, path: Path, wrong: Mapping[str, str] | None = None) -> str:
    """All settings as TOML, each with its meaning, who reads it, where its value came from, and what is wrong."""
    missing = " (there is no such file: these are the defaults)" if is_missing(path) else ""
    lines = [f"# {harmless_name(path)}{missing}"]
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
        faults = "; ".join(text for name, text in wrong.items() if name == key or name.startswith(f"{key}."))
        said = f"{'' if source == 'file' else ', for the file is wrong'}: {harmless_name(faults)}" if faults else ""
        also = f" (also: {ALSO_READ_BY[key]})" if model is Settings and key in ALSO_READ_BY else ""
        lines += [f"# {field.description}{also}", f"{toml_entry(key, value)}  # {source}{said}", ""]
    return lines


def _faults(error: ValidationError) -> dict[str, str]:
    """Key -> what is wrong with it, in the order of the settings."""
    faults = error.errors(include_url=False)
    return dict(wrong_key(fault, lambda key: Notify if key.startswith("notify.") else Settings) for fault in faults)
