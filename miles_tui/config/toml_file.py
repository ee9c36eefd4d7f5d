"""The files that people write (settings, profiles, themes): read and written in one way, what is wrong in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miles_tui.errors import BadSetting, nearest, right_value
from miles_tui.files import named, read_small

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails


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


def toml_files(folder: Path, failed: list[str]) -> list[Path]:
    """The files of a folder, by name; that it can't be read is told in `failed`."""
    try:
        return named(folder, ".toml")
    except OSError as error:
        failed.append(f"{folder}: can't be read: {error.strerror or error}")
        return []


def wrong_key(fault: ErrorDetails, table: Callable[[str], type[BaseModel]]) -> tuple[str, str]:
    """A key and what is wrong with it; `table` knows the model that a key should be of."""
    key = ".".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        return key, f"unknown key{nearest(str(fault['loc'][-1]), table(key).model_fields)}"
    return key, right_value(fault["type"], fault.get("ctx", {}), fault["msg"])


def toml_entry(key: str, value: object) -> str:
    """One `key = value` line; None is a line that is commented out."""
    if value is None:
        return f'#{toml_key(key)} = ""'
    return f"{toml_key(key)} = {_toml_value(value)}"


def toml_key(name: str) -> str:
    """A key, in quotes where it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml_value(name)


def _toml_value(value: object) -> str:
    """A value as TOML; what is not printable in a text is spelled."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if not isinstance(value, str):
        return repr(value).lower()
    escaped = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escaped.get(c) or (c if c.isprintable() else _spelled(ord(c))) for c in value) + '"'


def _spelled(code: int) -> str:
    return f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
