"""Profiles on disk: the bundled ones and the person's own, found by name or by path."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from miles_tui.config.paths import PACKAGE, profiles_dir
from miles_tui.config.profile_file import read_profile, write_profile
from miles_tui.config.toml_file import read_toml_text, toml_files
from miles_tui.core.alerting.profile import Profile
from miles_tui.core.text.sanitize import plain
from miles_tui.errors import BadSetting, nearest
from miles_tui.files import is_dir, is_file, is_missing, write_whole

BUNDLED = PACKAGE / "_profiles"
SUFFIX = ".toml"


class KnownProfile(NamedTuple):
    """One profile that is known here: `error` says why it can't be used, and `profile` is None then."""

    name: str
    path: Path
    bundled: bool
    profile: Profile | None
    error: str


def load(name: str) -> Profile:
    """The profile with that name or in that file; the person's own wins over a bundled one of the same name.

    Raises BadSetting: no such profile (with the names that are known), unreadable, or wrong.
    """
    path = find(name)
    if path is None:
        near = nearest(name, [found.name for found in known_profiles()])
        raise BadSetting(f"no profile {name}: neither a file nor a name{near} (miles-tui calibrate makes one)")
    return read(path)


def find(name: str) -> Path | None:
    """The file of a profile, or None where surely none is there.

    A name with a slash or `.toml` is a path; any other is one where no profile has it.
    """
    paths = [Path(os.path.expanduser(name))]  # noqa: PTH111  # pathlib's raises for a `~name` that nobody has
    if "/" not in name and not name.endswith(SUFFIX):
        paths = [*(folder / f"{name}{SUFFIX}" for folder in (profiles_dir(), BUNDLED)), *paths]
    return next((path for path in paths if not is_missing(path)), None)


def read(path: Path) -> Profile:
    """The profile in a file. Raises BadSetting."""
    if is_dir(path):
        raise BadSetting(f"{path}: no profile: it is a folder")
    try:
        return read_profile(read_toml_text(path), str(path))
    except FileNotFoundError:
        raise BadSetting(f"{path}: can't be read: it does not exist") from None


def known_profiles(closed: list[str] | None = None) -> list[KnownProfile]:
    """All profiles by name, the person's own first; a wrong file is listed with its error.

    A folder that can't be read is told of in `closed`.
    """
    found: dict[str, KnownProfile] = {}
    for folder, bundled in ((profiles_dir(), False), (BUNDLED, True)):
        for path in toml_files(folder, [] if closed is None else closed):
            if path.stem in found:
                continue
            try:
                profile, said = read(path), ""
            except BadSetting as error:
                profile, said = None, str(error)
            found[path.stem] = KnownProfile(path.stem, path, bundled, profile, said)
    return list(found.values())


def place(name: str) -> Path:
    """Where the person's own profile of that name is to lie.

    Raises BadSetting for what is no name, or would not be found by it, and for a bundled profile's: whoever asks for
    that one would get another.
    """
    if "/" in name or name.startswith((".", "-")) or name.endswith(SUFFIX) or not name.strip() or plain(name) != name:
        raise BadSetting(f"{name!r}: not a name for a profile (give a file with -o)")
    if not is_missing(BUNDLED / f"{name}{SUFFIX}"):
        raise BadSetting(f"{name} is a bundled profile, which yours would hide: give another name")
    return profiles_dir() / f"{name}{SUFFIX}"


def replaced(path: Path) -> Profile | None:
    """The profile that `save` would write over; None where there is none, or nothing in it.

    Raises BadSetting for a file that is something else: `-o b.log` is a slip that would cost a log. Likewise where its
    folder is missing, unless that is the person's own for profiles.
    """
    if path.parent != profiles_dir() and is_missing(path.parent):
        raise BadSetting(f"{path}: can't be written: there is no folder {path.parent}")
    if not is_file(path) or not path.stat().st_size:
        return None
    try:
        return read(path)
    except BadSetting:
        raise BadSetting(
            f"{path}: is there and is no profile: not replaced (remove it, or give another name)"
        ) from None


def save(profile: Profile, path: Path | None = None) -> Path:
    """Write a profile, under its own name in the person's folder when no path is given; returns the path.

    That folder is made. Raises BadSetting when it can't be written.
    """
    if path is None:
        path = place(profile.name)
    try:
        if path.parent == profiles_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, write_profile(profile))
    except OSError as error:
        raise BadSetting(f"{path}: can't be written: {error.strerror or error}") from None
    return path
