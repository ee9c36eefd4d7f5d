"""The files that people write (settings, profiles, themes): one way to read them, one line for what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from miles_tui.errors import BadSetting
from miles_tui.files import read_small


def read_toml_text(path: Path, errors: str = "strict") -> str:
    """The text of a plain file of a sensible size; `errors` as of `bytes.decode`.

    Raises BadSetting, FileNotFoundError where there is none.
    """
    try:
        return read_small(path).decode("utf-8-sig", errors)  # an editor's mark at the beginning says nothing
    except UnicodeDecodeError:
        raise BadSetting(f"{path}: can't be read: it is no UTF-8 text") from None
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(str(path)) from None
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
