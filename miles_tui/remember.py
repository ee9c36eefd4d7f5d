"""The view that a person left: theme and selected signal, in the state folder, only where the settings ask for it."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from miles_tui.locations import state_dir

FILE = "view.json"
KEYS = ("theme", "signal")


def recalled() -> dict[str, str]:
    """What was kept; empty where nothing was, or where it can't be read: it is a convenience, never an error."""
    try:
        data = json.loads((state_dir() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {key: data[key] for key in KEYS if isinstance(data.get(key), str)}


def keep(view: dict[str, str]) -> str:
    """Keep it, whole or not at all; a line that says what went wrong, "" where nothing did."""
    path = state_dir() / FILE
    if view == recalled():
        return ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, json.dumps(view, indent=1) + "\n")
    except OSError as error:
        return f"{path}: the view can't be kept: {error.strerror or error}\n"
    return ""


def _replace(path: Path, text: str) -> None:
    """Write beside it and rename, so that two dashboards that end at once leave one of the two."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{FILE}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise
