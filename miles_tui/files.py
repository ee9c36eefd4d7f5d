"""The file system as it is: questions that never fail, people's files read with a guard, files written whole.

A folder may be closed, its mount dead, a name too long: `pathlib`'s own `exists` and `is_dir` raise for these.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

Name = str | PathLike[str]
LARGEST = 1 << 20  # bytes of a file that a person wrote: a profile has 10 KB


class UnfitFileError(OSError):
    """What lies there is no plain file, or too large; `strerror` says which."""


def kind(path: Name) -> int:
    """The type of what `path` leads to (`stat.S_IFREG` and so on); 0 where nothing is, or where that can't be told."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)  # noqa: PTH116
    except (OSError, ValueError):
        return 0


def is_dir(path: Name) -> bool:
    """Whether a folder is there, as far as that can be told."""
    return kind(path) == stat.S_IFDIR


def is_file(path: Name) -> bool:
    """Whether a plain file is there, as far as that can be told."""
    return kind(path) == stat.S_IFREG


def is_missing(path: Name) -> bool:
    """Whether surely nothing is there. Where that can't be told it is False: whoever opens it hears why."""
    try:
        os.stat(path)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def named(folder: Path, suffix: str) -> list[Path]:
    """What lies in a folder under names that end so, by name; none where the folder is missing. Raises OSError."""
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(suffix)]  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []


def open_plain(path: Name) -> BinaryIO:
    """A plain file, to be read. Raises OSError, for anything but a plain file too, and waits for nothing.

    To open a pipe would wait for its writer, and a device has no end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnfitFileError(0, "it is no plain file", os.fspath(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_small(path: Name) -> bytes:
    """The bytes of a plain file of at most `LARGEST`. Raises OSError."""
    with open_plain(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnfitFileError(0, f"it has more than {LARGEST >> 20} MiB", os.fspath(path))
    return data


def write_whole(path: Path, text: str) -> None:
    """Make `text` the file's, whole or not at all: written beside it, then renamed. Raises OSError.

    A link's target is replaced, its mode kept; what may not be written to is not replaced either. A pipe or a device
    is written to as it is.
    """
    data = text.encode()
    target = Path(os.path.realpath(path))
    try:
        old = os.stat(target)  # noqa: PTH116
    except FileNotFoundError:
        mode = 0o666 & ~_umask()
    else:
        # Also what is none: it is opened for writing as a test, and a pipe or a device in earnest.
        with open(path, "ab") as file:  # noqa: PTH123
            if not stat.S_ISREG(old.st_mode):
                file.write(data)
                return
        mode = stat.S_IMODE(old.st_mode)
    _replace(target, data, mode)


def _replace(target: Path, data: bytes, mode: int) -> None:
    import tempfile  # 5 ms, and only where something is written

    handle, beside = tempfile.mkstemp(dir=target.parent, prefix=".miles-tui.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)  # before the rename: else a power cut could leave an empty file under the name
        Path(beside).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise


def _umask() -> int:
    """The process's mask, which can't be read without setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
