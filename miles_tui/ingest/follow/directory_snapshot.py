"""The files beside a log: its rotations, and its copies.

When a log was rotated twice before we looked, the file in between is known only by its name and by
having appeared since the last look. A copy (of `copytruncate`, of a person) has such a name too and
is told by its content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from miles_tui.ingest.files.away import UnlessAway
from miles_tui.ingest.files.open_file import FileKey, Fingerprint, PlainFile
from miles_tui.ingest.files.rotations import is_rotation


class FileInFolder(NamedTuple):
    """A file that may be a rotation that was missed."""

    path: str
    key: FileKey
    mtime_ns: int

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(digits) for digits in re.findall(r"\d+", Path(self.path).name))


def oldest_first(found: Iterable[FileInFolder], held: FileInFolder | None) -> list[FileInFolder]:
    """In the order in which they were written; `held`, where its name is known, was written before all of them.

    By the numbers in their names: whether these grow or fall with age is told by the number of `held`.
    Otherwise by the time of the last write, which ticks in steps of 1 to 4 ms.
    """
    files = sorted(found, key=lambda f: ([-n for n in f.numbers], f.path))
    files.sort(key=lambda f: f.mtime_ns)
    if held and held.numbers:
        if all(f.numbers > held.numbers for f in files):
            files.sort(key=lambda f: f.numbers)
        elif all(f.numbers and f.numbers < held.numbers for f in files):
            files.sort(key=lambda f: f.numbers, reverse=True)
    return files


@dataclass(slots=True)
class Folder:
    """What lay in a folder at one look: every inode, and a trace of each rotation asked for.

    An inode says little of a file: a rotation deletes the oldest file, and the next file made takes
    its inode. Hence the traces.
    """

    path: str
    inodes: dict[int, Fingerprint | None]

    @classmethod
    def look(cls, path: str, names: Iterable[str]) -> tuple[Folder, list[FileInFolder]]:
        """The folder now, and in it the rotations of the logs called `names`. One that may not be read is empty.

        Raises OSError where the file system gives no answer.
        """
        inodes: dict[int, Fingerprint | None] = {}
        found: list[FileInFolder] = []
        names = tuple(names)
        with UnlessAway(), os.scandir(path) as entries:
            for entry in entries:
                inodes[entry.inode()] = None
                if not entry.is_symlink() and any(is_rotation(entry.name, name) for name in names):
                    with UnlessAway(), PlainFile(entry.path) as file:
                        status = file.stat()
                        inodes[entry.inode()] = file.trace_of(status.st_size)
                        found.append(FileInFolder(entry.path, file.key, status.st_mtime_ns))
        return cls(path, inodes), found

    @property
    def texts(self) -> list[Fingerprint]:
        """The rotations that lay here."""
        return [trace for trace in self.inodes.values() if trace]

    def without_new(self, found: Iterable[FileInFolder], texts: Iterable[Fingerprint]) -> Folder:
        """This look, less those of the rotations `found` that have none of `texts` in them: they are new.

        For a folder that was mounted anew, where inodes do not tell which file is which. Raises OSError.
        """
        texts = [text for text in texts if text.size]
        inodes = dict(self.inodes)
        for f in found:
            with PlainFile(f.path) as file:
                if file.left() and not any(file.fits(text) for text in texts):
                    inodes.pop(f.key[1], None)
        return Folder(self.path, inodes)

    def knows(self, found: FileInFolder) -> bool:
        """Whether that file lay here already, under whatever name."""
        inode = found.key[1]
        trace = self.inodes.get(inode)
        if trace is None:
            return inode in self.inodes
        with UnlessAway(), PlainFile(found.path) as file:
            return file.fits(trace) and (trace.size > 0 or not file.left())
        return True
