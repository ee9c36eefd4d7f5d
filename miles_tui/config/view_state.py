"""The view that a person left: theme and selected signal, in the state folder, only where the settings ask for it."""

from __future__ import annotations

import json

from miles_tui.config.paths import state_dir
from miles_tui.files import read_small, write_whole

VIEW_FILE = "view.json"
KEYS = ("theme", "signal")


def recalled() -> dict[str, str]:
    """What was kept; empty where nothing was, or where it can't be read: it is a convenience, never an error."""
    try:
        data = json.loads(read_small(state_dir() / VIEW_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {key: data[key] for key in KEYS if isinstance(data.get(key), str)}


def keep(view: dict[str, str]) -> str:
    """Keep it, whole or not at all; a line that says what went wrong, "" where nothing did."""
    path = state_dir() / VIEW_FILE
    if view == recalled():
        return ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(view, indent=1) + "\n")
    except OSError as error:
        return f"{path}: the view can't be kept: {error.strerror or error}\n"
    return ""
