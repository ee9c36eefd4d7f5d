"""Which files come after the one that is being read, and where in them to begin."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterable
from contextlib import ExitStack
from pathlib import Path

from miles_tui.core.model.chunks import Why
from miles_tui.ingest.files.away import UnlessAway, is_away
from miles_tui.ingest.files.fingerprint import (
    TextFile,
    Unread,
    as_source,
    as_sources,
    copies_among,
    end_in,
    find_unread,
)
from miles_tui.ingest.files.gzip_file import is_packed
from miles_tui.ingest.files.open_file import MARK, NOTHING, FileKey, Fingerprint, PlainFile
from miles_tui.ingest.files.rotations import is_ambiguous, lies_between
from miles_tui.ingest.follow.directory_snapshot import FileInFolder, Folder, oldest_first

PAST_TEXTS = 64  # texts remembered, to know their copies
WHOLE_TEXTS, SHORT_OPENING = 2, 1 << 16  # the newest keep their whole opening, the others so much of it
LOOKS = 5  # a path that changes more often than that while we look is left for the next time
SLACK_NS = (
    2_000_000_000  # a rotation that was missed is no older than the file before it; late lines may make that younger
)

Step = tuple[Why | None, TextFile]  # the cut before a file (None: its text goes on), and the file


def _real(path: str) -> str:
    """The path without symbolic links. Raises OSError where a part of it gives no answer."""
    with UnlessAway():
        return os.path.realpath(path, strict=True)
    return os.path.realpath(path)


def _without_copies(wholes: list[PlainFile], files: Iterable[PlainFile]) -> list[PlainFile]:
    """The `files`, without those that are copies of one another or of `wholes`; these are closed."""
    files = list(files)
    copies = copies_among([*wholes, *files]) if files else []
    for copy in copies:
        if copy in files:
            copy.close()
    return [file for file in files if file not in copies]


class RotationTracker:
    """What `path` led to, and what lay beside that, at the last change; what was read before.

    `remote`: the path is opened at each look, which makes NFS ask its server.
    """

    def __init__(self, path: str, *, remote: bool = False) -> None:
        self.path = path
        self.remote = remote
        self._begun = False
        self._past: deque[tuple[FileKey, Fingerprint]] = deque(maxlen=PAST_TEXTS)
        self._real = os.path.realpath(path)
        self._folder: Folder | None = None  # at the last change; None before the first look

    def look(self) -> tuple[FileKey, int]:
        """The file that the path leads to now, and its size. Raises OSError."""
        if self.remote:
            with PlainFile(self.path) as file:
                found = file.stat()
        else:
            found = os.stat(self.path)  # noqa: PTH116
        return (found.st_dev, found.st_ino), found.st_size

    def remember(self, file: TextFile) -> None:
        """What was read of `file` is not to be read again, wherever it turns up. It is the last text that was read."""
        if file.trace.size and not any(file.trace.begins(known) for _, known in self._past):
            self._forget(file)
            if len(self._past) >= WHOLE_TEXTS:
                key, known = self._past[-WHOLE_TEXTS]
                self._past[-WHOLE_TEXTS] = key, known._replace(opening=known.opening[:SHORT_OPENING])
            self._past.append((file.key, file.trace))

    def remember_late(self, file: PlainFile, given: Fingerprint) -> None:
        """The same of a text to which lines were added after the next one was begun, so far as it was `given`."""
        self._forget(file)
        if len(self._past) == PAST_TEXTS:
            self._past.popleft()
        self._past.appendleft((file.key, given))

    def _forget(self, file: TextFile) -> None:
        """What is known of the beginning of the text that was read of `file`."""
        for key, known in tuple(self._past):
            if key == file.key and known.opening and file.trace.opening.startswith(known.opening):
                self._past.remove((key, known))

    def skip_known(self, file: TextFile) -> bool:
        """Set a text that is begun behind the end of the last one read, where that is in it; returns whether it is.

        That is so when a log's head is cut off: its newest lines are written over it, or renamed to it.
        """
        if not self._past or not isinstance(file, PlainFile):
            return False
        end = end_in(file, self._past[-1][1])
        if end:
            file.starts_behind(end)
        return end > 0

    def known_of(self, file: TextFile) -> Fingerprint:
        """What of the bytes that were read of `file`, from its beginning on, was read before; NOTHING where it differs.

        All of them (its own trace), while they are no more than a beginning of such a text: it is being written again.
        That is only sure as far as the beginning is kept whole: two texts can begin with megabytes of the same noise.
        """
        size = file.offset
        if not isinstance(file, PlainFile):
            return NOTHING
        texts = [known for _, known in self._past if known.opening and known.size >= 2 * MARK]
        alike = [known for known in texts if known.agrees(file.peek, size)]
        if any(size <= len(known.opening) for known in alike):
            return file.trace
        sure = max((len(known.opening) if known.size >= size else known.size for known in alike), default=0)
        return file.whole_of(sure) if sure else NOTHING

    def line_up(self, held: TextFile | None, late: Collection[FileKey] = ()) -> list[Step]:
        """The files after `held`, all open, in the order written: those that were missed, then that at the path.

        Empty when that is `held` itself, while that holds no text yet, or while the path changes too
        quickly. What comes to the files `late` is given otherwise. Raises OSError when the path can't be opened.
        """
        for _ in range(LOOKS):
            try:
                new = PlainFile(self.path)
            except OSError as error:
                if self._folder is None and not is_away(error):
                    # What appears from now on, while the log is missing, belongs to it.
                    self._real = _real(self.path)
                    place, name = os.path.split(self._real)
                    self._folder = Folder.look(place, [name])[0]
                raise
            if held and new.key == held.key:
                new.close()
                return []
            steps = self._steps(held, new, late)
            if steps is not None:
                return steps
        return []

    def _steps(self, held: TextFile | None, new: PlainFile, late: Collection[FileKey]) -> list[Step] | None:
        """One try of `line_up`; None when the folder changed under it. Then, and on an error, all files are closed."""
        missed: list[TextFile] = []
        try:
            real = _real(self.path)
            place, name = os.path.split(real)
            names = {name, Path(self._real).name}
            last = self._folder
            folder, found = Folder.look(last.path if last else place, names)
            if last:
                appeared = [f for f in found if f.key not in late and not last.knows(f)]
                missed.extend(self._missed(held, new, appeared, folder, found))
            if self.look()[0] != new.key:
                raise FileNotFoundError  # the second look: the path moved on while we listed the folder
            if held and not missed and not new.stat().st_size:
                new.close()
                return []
            why = self._resume(held, new, Why.ROTATED if missed else self._why(held, real))
            if place != folder.path:
                folder = Folder.look(place, names)[0]
            new.live = True
            newest = as_source(new)
        except OSError as error:
            for file in (*missed, new):
                file.close()
            if is_away(error):
                raise
            return None
        read = held.offset if held else self._past[-1][1].size if self._past else 0
        goes_on = bool(missed and read and missed[0].offset == read)
        # A file that is gone was not the last before these: what came between is gone with it.
        gone = isinstance(held, PlainFile) and not held.stat().st_nlink
        first = None if goes_on or not self._begun else Why.RECREATED if gone else Why.ROTATED
        self._real, self._begun, self._folder = real, True, folder
        return [*((Why.ROTATED if n else first, file) for n, file in enumerate(missed)), (why, newest)]

    def reopen(self, file: TextFile) -> bool:
        """Open `file`, whose descriptor fails, anew: by the path, or as the rotation that begins with what was read.

        Returns whether it was found. Raises OSError where it can't be looked for.
        """
        with ExitStack() as closing:
            new = closing.enter_context(PlainFile(self.path))
            known = file.trace.size >= 2 * MARK and file.is_in(new)
            if new.key != file.key and not known:
                real = _real(self.path)
                place = self._folder.path if self._folder else os.path.dirname(real)  # noqa: PTH120
                found = Folder.look(place, {Path(real).name, Path(self._real).name})[1]
                others = [closing.enter_context(PlainFile(f.path)) for f in found]
                others = [o for o in others if (o.key == file.key or file.trace.size) and file.is_in(o)]
                if others:
                    new = max(others, key=lambda other: (other.key == file.key, other.left()))
                elif not file.trace.size or not file.is_in(new):
                    return False
            if new.key != file.key:
                self.number_anew(())
            file.take(new)
        return True

    def number_anew(self, unread: Iterable[TextFile]) -> None:
        """From now on texts tell which files lay here before: inodes may be others. Those of `unread` are forgotten.

        Raises OSError, and then nothing is changed.
        """
        if self._folder:
            forgotten = {file.key[1] for file in unread}
            texts = [trace for inode, trace in self._folder.inodes.items() if trace and inode not in forgotten]
            folder, found = Folder.look(self._folder.path, {Path(self._real).name})
            self._folder = folder.without_new(found, texts)

    def _why(self, held: TextFile | None, real: str) -> Why | None:
        if not self._begun:
            return None
        if real != self._real:
            return Why.LINK_SWAPPED
        return Why.ROTATED if isinstance(held, PlainFile) and held.stat().st_nlink else Why.RECREATED

    def _resume(self, held: TextFile | None, new: PlainFile, why: Why | None) -> Why | None:
        """Begin behind what was read of the same text: a log synced anew, restored, or moved back."""
        texts = [*self._past, *([(held.key, held.trace)] if held else [])]
        fitting = [(key, t) for key, t in texts if (key == new.key or t.size >= 2 * MARK) and new.fits(t)]
        if not fitting or is_packed(new):
            return why
        known = max(fitting, key=lambda text: text[1].size)
        new.starts_at(known[1])
        return None if known == texts[-1] and why is not Why.ROTATED else why

    def _missed(
        self,
        held: TextFile | None,
        new: PlainFile,
        appeared: list[FileInFolder],
        folder: Folder,
        found: list[FileInFolder],
    ) -> list[TextFile]:
        """The files that `appeared` since the last look, among all that were `found`, and hold something unread."""
        since = held.stat().st_mtime_ns - SLACK_NS if isinstance(held, PlainFile) else 0
        named = next((f for f in found if held and f.key == held.key), None)
        keys = {new.key, held.key} if held else {new.key}
        read, older = self._texts(held), self._folder.texts if self._folder else []
        unread: dict[PlainFile, Unread] = {}
        with ExitStack() as closing:
            for f in oldest_first((f for f in appeared if f.key not in keys and f.mtime_ns >= since), named):
                file = closing.enter_context(PlainFile(f.path))
                if file.key != f.key:
                    raise FileNotFoundError  # renamed since the folder was listed
                rest = self._unread(file, read, older)
                if rest and self._is_ours(file, held if isinstance(held, PlainFile) else None, new):
                    unread[file] = rest
                    continue
                if self._folder and is_packed(file):  # it is unpacked once
                    self._folder.inodes[f.key[1]] = folder.inodes[f.key[1]]
                file.close()
            files = _without_copies([new, *([held] if isinstance(held, PlainFile) else [])], unread)
            sources = as_sources(files, unread)
            closing.pop_all()
        return sources

    def _texts(self, held: TextFile | None) -> list[Fingerprint]:
        """All that was read, and `held`."""
        return [trace for _, trace in self._past] + ([held.trace] if held else [])

    def _unread(self, file: PlainFile, read: list[Fingerprint], older: list[Fingerprint]) -> Unread | None:
        """As `known.find_unread`, of the texts `read`. A packed file may also be one of the `older` ones.

        Beside the plain file of its name a packed one (gzip is at work) says nothing of its own.
        """
        plain = file.path.removesuffix(".gz")
        if plain != file.path and Path(plain).name != Path(self._real).name:
            with UnlessAway():
                os.stat(plain)  # noqa: PTH116
                return None
        return find_unread(file, [*read, *older] if is_packed(file) else read)

    def _is_ours(self, file: PlainFile, before: PlainFile | None, after: PlainFile) -> bool:
        """Whether the file is no other run's, whose name is only like that of a rotation."""
        ambiguous = is_ambiguous(Path(file.path).name, Path(self._real).name)
        return not ambiguous or lies_between(file, before, after)

    def truncated_away(self, held: PlainFile) -> list[TextFile]:
        """What `held` contained before it was truncated and was not read, oldest first: from the copies made of it.

        The copy of what we were reading is set behind what we read; further ones are of texts that
        came and went since the last look. All copies are noted: they are no rotations.
        Raises OSError, and then none is.
        """
        assert self._folder  # there is a held file, so the folder was looked at
        folder, found = Folder.look(self._folder.path, [Path(self._real).name])
        until = held.stat().st_mtime_ns
        unread: dict[PlainFile, Unread] = {}
        goes_on: list[PlainFile] = []
        read, older = self._texts(None), self._folder.texts  # the copies that are noted below are of what is sought
        noted = dict(self._folder.inodes)
        with ExitStack() as opened:
            for f in oldest_first((f for f in found if f.key != held.key and f.mtime_ns <= until), None):
                last = noted.get(f.key[1])
                known = self._folder.knows(f)
                noted[f.key[1]] = now = folder.inodes[f.key[1]]
                with UnlessAway(), ExitStack() as closing:
                    file = closing.enter_context(PlainFile(f.path))
                    if is_packed(file) and known and last == now:
                        continue  # it is unpacked once
                    rest = find_unread(file, [held.trace], short=1)
                    if rest and rest.begin:
                        goes_on.append(file)
                    elif rest and not known:
                        rest = self._unread(file, read, older)
                    else:
                        continue
                    if rest and self._is_ours(file, None, held):
                        unread[file] = rest
                        opened.push(closing.pop_all())
            with ExitStack() as closing:
                wholes = [held]
                with UnlessAway():  # the path may lead to another file by now
                    wholes.append(closing.enter_context(PlainFile(self.path)))
                files = _without_copies(wholes, unread)
            # Of several that go on, the longest: the others were made earlier, or are still being made.
            rests = sorted((file for file in files if file in goes_on), key=lambda file: unread[file].length)
            for shorter in rests[:-1]:
                shorter.close()
            sources = as_sources([*rests[-1:], *(file for file in files if file not in goes_on)], unread)
            opened.pop_all()
        self._folder.inodes = noted
        return sources
