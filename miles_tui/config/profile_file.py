"""A profile as a TOML text that a person can read and edit."""

from __future__ import annotations

import re

from pydantic import ValidationError

from miles_tui.config.toml_file import parsed, toml_value
from miles_tui.core.alerting.profile import Profile, SignalProfile, TimeProfile
from miles_tui.core.model.signals import BY_NAME
from miles_tui.errors import BadSetting, nearest, right_value


def read_profile(text: str, source: str) -> Profile:
    """The profile in a TOML text. `source` names the file in an error. Raises BadSetting with file, key and reason."""
    data = parsed(text, f"{source}: no profile")
    try:
        return Profile.model_validate(data)
    except ValidationError as error:
        # an unknown key first: a missing one is mostly the same key, misspelt
        first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            owner = SignalProfile if "signals" in key else TimeProfile if key.startswith("time.") else Profile
            said = f"unknown key{nearest(str(first['loc'][-1]), owner.model_fields)}"
        else:
            said = right_value(first["type"], first.get("ctx", {}), first["msg"])
        raise BadSetting(f"{source}: {key}: {said}") from None


def write_profile(profile: Profile) -> str:
    """The profile as TOML, a comment above each kind of field; `read_profile` gives the same profile back."""
    lines = [
        "# Ranges for miles-tui. Use them with --profile; every value may be edited.",
        "",
    ]
    for key, field in Profile.model_fields.items():
        if key in ("arguments", "signals", "time"):
            continue
        lines += [f"# {field.description}", _toml_entry(key, getattr(profile, key)), ""]
    lines += [f"# {Profile.model_fields['arguments'].description}", "[arguments]"]
    lines += [_toml_entry(key, value) for key, value in profile.arguments.items()] + [""]
    lines.append(f"# {Profile.model_fields['signals'].description}, with these fields:")
    lines += [f"#   {key:13} {field.description}" for key, field in SignalProfile.model_fields.items()] + [""]
    for name, signal in profile.signals.items():
        unit = BY_NAME[name].unit
        lines += [f"# {BY_NAME[name].meaning}{f', in {unit}' if unit else ''}", f"[signals.{_toml_key(name)}]"]
        lines += [
            _toml_entry(key, getattr(signal, key))
            for key in SignalProfile.model_fields
            if getattr(signal, key) is not None
        ]
        lines.append("")
    if profile.time:
        lines += [f"# {Profile.model_fields['time'].description}", "[time]"]
        for key, field in TimeProfile.model_fields.items():
            lines += [f"# {field.description}", _toml_entry(key, getattr(profile.time, key))]
    return "\n".join(lines).rstrip() + "\n"


def _toml_entry(key: str, value: object) -> str:
    """One `key = value` line; None is a line that is commented out."""
    if value is None:
        return f'#{_toml_key(key)} = ""'
    return f"{_toml_key(key)} = {toml_value(value)}"


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)
