"""The files that people write (settings, profiles, themes): one way to read them, one line for what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from miles_tui.errors import BadSetting

LARGEST = 1 << 20  # bytes: a profile has 10 KB


def text_of(path: Path) -> str:
    """The text of a file. Raises BadSetting, FileNotFoundError where there is none.

    Only of a plain file: a pipe would be waited for, by a screen whose keys are dead meanwhile.
    """
    try:
        if not path.exists():
            raise FileNotFoundError(str(path))
        if not path.is_file():
            raise BadSetting(f"{path}: can't be read: it is no plain file")
        if path.stat().st_size > LARGEST:
            raise BadSetting(f"{path}: can't be read: it has more than {LARGEST >> 20} MiB")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadSetting(f"{path}: can't be read: it is no UTF-8 text") from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadSetting(f"{path}: can't be read: {error.strerror or error}") from None


def parsed(text: str, where: str) -> dict[str, Any]:
    """TOML as a table. Raises BadSetting, which names `where`."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadSetting(f"{where}: not a TOML file: it is nested too deeply") from None
    except ValueError as error:  # also a number with thousands of digits
        raise BadSetting(f"{where}: not a TOML file: {error}") from None


def toml_value(value: object) -> str:
    """A value as TOML; what is not printable in a text is spelled."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}" for c in text)
        + '"'
    )
