"""A profile as a TOML text that a person can read and edit."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from miles_tui.config.toml_file import parsed, toml_entry, toml_key, wrong_key
from miles_tui.core.alerting.profile import Profile, SignalProfile, TimeProfile
from miles_tui.core.model.signals import BY_NAME
from miles_tui.errors import BadSetting


def read_profile(text: str, source: str) -> Profile:
    """The profile in a TOML text. `source` names the file in an error. Raises BadSetting with file, key and reason."""
    data = parsed(text, f"{source}: no profile")
    try:
        return Profile.model_validate(data)
    except ValidationError as error:
        # an unknown key first: a missing one is mostly the same key, misspelt
        first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        key, said = wrong_key(first, _owner_of)
        raise BadSetting(f"{source}: {key}: {said}") from None


def _owner_of(key: str) -> type[BaseModel]:
    return SignalProfile if "signals" in key else TimeProfile if key.startswith("time.") else Profile


def write_profile(profile: Profile) -> str:
    """The profile as TOML, a comment above each kind of field; `read_profile` gives the same profile back."""
    lines = ["# Ranges for miles-tui. Use them with --profile; every value may be edited.", ""]
    for key, field in Profile.model_fields.items():
        if key not in ("arguments", "signals", "time"):
            lines += [f"# {field.description}", toml_entry(key, getattr(profile, key)), ""]
    lines += [f"# {Profile.model_fields['arguments'].description}", "[arguments]"]
    lines += [toml_entry(key, value) for key, value in profile.arguments.items()] + [""]
    lines.append(f"# {Profile.model_fields['signals'].description}, with these fields:")
    lines += [f"#   {key:13} {field.description}" for key, field in SignalProfile.model_fields.items()] + [""]
    for name, signal in profile.signals.items():
        unit = BY_NAME[name].unit
        lines += [f"# {BY_NAME[name].meaning}{f', in {unit}' if unit else ''}", f"[signals.{toml_key(name)}]"]
        given = {key: getattr(signal, key) for key in SignalProfile.model_fields}
        lines += [toml_entry(key, value) for key, value in given.items() if value is not None]
        lines.append("")
    if profile.time:
        lines += [f"# {Profile.model_fields['time'].description}", "[time]"]
        for key, field in TimeProfile.model_fields.items():
            lines += [f"# {field.description}", toml_entry(key, getattr(profile.time, key))]
    return "\n".join(lines).rstrip() + "\n"
