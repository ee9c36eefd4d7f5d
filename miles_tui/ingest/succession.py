"""Which files come after the one that is being read, and where in them to begin."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from miles_tui.ingest.pieces import Why
from miles_tui.ingest.siblings import Folder, Found, is_packed, is_packed_copy, oldest_first, read_before
from miles_tui.ingest.source import MARK, GzipFile, Key, PlainFile, Trace

PAST = 64  # texts remembered, to know their copies
LOOKS = 5  # a path that changes more often than that while we look is left for the next time
SLACK_NS = (
    2_000_000_000  # a rotation that was missed is no older than the file before it; late lines may make that younger
)

Source = PlainFile | GzipFile
Step = tuple[Why | None, Source]  # the cut before a file (None: its text goes on), and the file


def as_source(file: PlainFile) -> Source:
    return GzipFile(file) if is_packed(file) else file


def _begins(whole: PlainFile, file: PlainFile) -> bool:
    """Whether `file` is empty, or a beginning of what is in `whole`: a copy, perhaps still being made."""
    size = file.stat().st_size
    return not size or whole.fits(file.trace_of(size))


class Succession:
    """What `path` led to, and what lay beside that, at the last change; what was read before.

    `remote`: the path is opened at each look, which makes NFS ask its server.
    """

    def __init__(self, path: str, *, remote: bool = False) -> None:
        self.path = path
        self.remote = remote
        self._begun = False
        self._past: deque[tuple[Key, Trace]] = deque(maxlen=PAST)
        self._real = os.path.realpath(path)
        self._folder: Folder | None = None  # at the last change; None before the first look

    def look(self) -> tuple[Key, int]:
        """The file that the path leads to now, and its size. Raises OSError."""
        if self.remote:
            with PlainFile(self.path) as file:
                found = file.stat()
        else:
            found = os.stat(self.path)  # noqa: PTH116
        return (found.st_dev, found.st_ino), found.st_size

    def remember(self, file: Source) -> None:
        """What was read of `file` is not to be read again, wherever it turns up."""
        if file.trace.size:
            self._past.append((file.key, file.trace))

    def line_up(self, held: Source | None) -> list[Step]:
        """The files after `held`, all open, in the order written: those that were missed, then that at the path.

        Empty when that is `held` itself, while that holds no text yet, or while the path changes too
        quickly. Raises OSError when the path can't be opened.
        """
        for _ in range(LOOKS):
            try:
                new = PlainFile(self.path)
            except OSError:
                if self._folder is None:  # what appears from now on, while the log is missing, belongs to it
                    place, name = os.path.split(self._real)
                    self._folder = Folder.look(place, [name])[0]
                raise
            if held and new.key == held.key:
                new.close()
                return []
            steps = self._steps(held, new)
            if steps is not None:
                return steps
        return []

    def _steps(self, held: Source | None, new: PlainFile) -> list[Step] | None:
        """One try of `line_up`; None when the folder changed under it, with all files closed again."""
        real = os.path.realpath(self.path)
        place, name = os.path.split(real)
        names = {name, Path(self._real).name}
        last = self._folder
        folder, found = Folder.look(last.path if last else place, names)
        missed: list[PlainFile] = []
        try:
            if last:
                missed.extend(self._missed(held, new, [f for f in found if not last.knows(f)], found))
            if self.look()[0] != new.key:
                raise FileNotFoundError  # the second look: the path moved on while we listed the folder
        except OSError:
            for file in (*missed, new):
                file.close()
            return None
        if held and not missed and not new.stat().st_size:
            new.close()
            return []
        first = Why.ROTATED if self._begun else None
        steps: list[Step] = [(Why.ROTATED if n else first, as_source(file)) for n, file in enumerate(missed)]
        why = Why.ROTATED if missed else self._why(held, real)
        new.live = True
        steps.append((self._resume(held, new, why), as_source(new)))
        self._real, self._begun = real, True
        self._folder = folder if place == folder.path else Folder.look(place, names)[0]
        return steps

    def _why(self, held: Source | None, real: str) -> Why | None:
        if not self._begun:
            return None
        if real != self._real:
            return Why.LINK_SWAPPED
        return Why.ROTATED if isinstance(held, PlainFile) and held.stat().st_nlink else Why.RECREATED

    def _resume(self, held: Source | None, new: PlainFile, why: Why | None) -> Why | None:
        """Begin behind what was read of the same text: a log synced anew, restored, or moved back."""
        texts = [*self._past, *([(held.key, held.trace)] if held else [])]
        fitting = [(key, t) for key, t in texts if (key == new.key or t.size >= 2 * MARK) and new.fits(t)]
        if not fitting or is_packed(new):
            return why
        known = max(fitting, key=lambda text: text[1].size)
        new.starts_at(known[1])
        return None if known == texts[-1] and why is not Why.ROTATED else why

    def _missed(
        self, held: Source | None, new: PlainFile, appeared: list[Found], found: list[Found]
    ) -> Iterator[PlainFile]:
        """The files that `appeared` since the last look, among all that were `found`, and hold something unread."""
        since = held.stat().st_mtime_ns - SLACK_NS if isinstance(held, PlainFile) else 0
        named = next((f for f in found if held and f.key == held.key), None)
        wholes = [whole for whole in (held, new) if isinstance(whole, PlainFile)]
        keys = {new.key, held.key} if held else {new.key}
        for f in oldest_first((f for f in appeared if f.key not in keys and f.mtime_ns >= since), named):
            with ExitStack() as closing:
                file = closing.enter_context(PlainFile(f.path))
                if file.key != f.key:
                    raise FileNotFoundError  # renamed since the folder was listed
                if not any(_begins(whole, file) for whole in wholes) and self._is_new(file, held):
                    closing.pop_all()
                    yield file

    def _is_new(self, file: PlainFile, held: Source | None = None) -> bool:
        """Whether there is something in `file` that was not read; it is then set to begin there."""
        traces = [trace for _, trace in self._past]
        if held:
            traces.append(held.trace)
        if is_packed(file):
            return not is_packed_copy(file, traces)
        known = read_before(file, traces)
        if known:
            file.starts_at(known)
        return file.left() > 0

    def truncated_away(self, held: PlainFile) -> list[Source]:
        """What `held` contained before it was truncated and was not read, oldest first: from the copies made of it.

        The copy of what we were reading is set behind what we read; further ones are of texts that
        came and went since the last look. All copies are noted: they are no rotations.
        """
        assert self._folder  # there is a held file, so the folder was looked at
        folder, found = Folder.look(self._folder.path, [Path(self._real).name])
        until = held.stat().st_mtime_ns
        rest: list[Source] = []
        others: list[Source] = []
        for f in oldest_first((f for f in found if f.key != held.key and f.mtime_ns <= until), None):
            known = self._folder.knows(f)
            self._folder.inodes[f.key[1]] = folder.inodes[f.key[1]]
            with suppress(OSError), ExitStack() as closing:
                file = closing.enter_context(PlainFile(f.path))
                if held.trace.size and file.left() >= held.trace.size and file.fits(held.trace):
                    file.starts_at(held.trace)
                    if not file.left():
                        continue
                    for shorter in rest:  # made earlier
                        shorter.close()
                    rest = [file]
                elif known or _begins(held, file) or not self._is_new(file):
                    continue
                else:
                    others.append(as_source(file))
                closing.pop_all()
        return [*rest, *others]
