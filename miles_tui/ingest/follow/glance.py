"""A log that is looked at now and then: its new bytes, with nothing held open between two looks.

`Tailer` holds a file for each log, and knows all that lay beside it. Of hundreds of logs a place is kept instead:
which file, how much of it was read, and that text's ends (1 KB), by which it is known again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from miles_tui.core.model.chunks import Appeared, Cut, Data, Missing, Piece, Why
from miles_tui.ingest.files.gzip_file import is_packed
from miles_tui.ingest.files.log_file import Log, read_all
from miles_tui.ingest.files.open_file import MARK, NOTHING, FileKey, Fingerprint, Lost, PlainFile, in_words
from miles_tui.ingest.files.rotations import is_rotation

PIECE = 1 << 17  # bytes given at once: 50 rollouts, which take 8 ms to judge; keys wait for them
Mark = tuple[int, ...]  # of a file: device, inode, size, times of the last write and of the last change


def mark_of(path: str | os.PathLike[str]) -> Mark:
    """What a file is by now: another value when it was written to, replaced or made readable. Raises OSError."""
    found = os.stat(path)  # noqa: PTH116
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Glance:
    """The bytes of a log, the rotations before it first. A look at a log that nobody wrote to is one stat.

    What was renamed or copied away since the last look is read to its end where a file beside the log holds it, not
    packed. A file that came and went between two looks is not found.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self.caught_up = False  # nothing more was to be had at the last look
        self.position = 0  # bytes given
        self.mark: Mark = ()  # of the file, when it was read to its end
        self._once: Iterator[Piece] = self._before()
        self._key: FileKey | None = None  # the file that was read, up to the end of `_trace`
        self._trace = NOTHING
        self._missing = ""
        self._left = Why.RECREATED  # why the file that was read is no longer the log, as far as `_rest` could tell

    @property
    def written(self) -> float:
        """When the log was written to last, in seconds of the file system's clock; 0 where that is not known."""
        return self.mark[3] / 1e9 if self.mark else 0.0

    def read(self) -> list[Piece]:
        """What is new, up to `PIECE` bytes.

        Never raises OSError: a path that can't be read is `Missing`. Raises UnreadableLog of what is read only once.
        """
        out: list[Piece] = []
        piece = next(self._once, None)
        if piece is not None:
            self.caught_up = False
            out.append(piece)
        try:
            if not out:
                self._look(out)
        except OSError as error:
            self.caught_up, self.mark = True, ()
            if in_words(error) != self._missing:
                self._missing = in_words(error)
                out.append(Missing(self._missing))
        self.position += sum(len(piece.data) for piece in out if isinstance(piece, Data))
        return out

    def _before(self) -> Iterator[Piece]:
        start = self.log.start
        for part in self.log.before:
            yield from _sliced(read_all(part, start=start))
            yield Cut(Why.ROTATED)
            start = 0

    def _look(self, out: list[Piece]) -> None:
        mark = mark_of(self.log.path)
        self.caught_up = mark == self.mark
        if self.caught_up:
            return
        with PlainFile(str(self.log.path)) as file:
            if self._missing:
                self._missing = ""
                out.append(Appeared())
            if is_packed(file):  # a packed log is a finished one: it is given whole, and again where it was replaced
                out += [Cut(Why.RECREATED)] if self._key else []
                self._key, self.mark = file.key, mark
                self._once = _sliced(read_all(self.log.path))
                return
            if self._key is None:
                file.starts_at(file.trace_of(0 if self.log.before else self.log.start))
            elif not self._goes_on(file):
                if rest := self._rest():
                    out.append(Data(rest))
                    return
                if not file.left():
                    self.caught_up = True  # a new file that holds no text yet changes nothing
                    return
                out.append(Cut(Why.TRUNCATED if file.key == self._key else self._left))
            data = file.read(PIECE)
            if isinstance(data, Lost):  # rewritten under our eyes
                out.append(Cut(Why.TRUNCATED))
                file.starts_at(NOTHING)
                data = b""
            self._key, self._trace = file.key, _ends(file.trace)
            if data:
                out.append(Data(data))
            self.caught_up = not file.left()
            self.mark = mark if self.caught_up and mark[2] == file.offset else ()

    def _goes_on(self, file: PlainFile) -> bool:
        """Whether `file` begins with what was read; it is to be read on from there then."""
        trace = self._trace
        same = file.key == self._key
        if file.stat().st_size < trace.size or not (same or trace.size >= 2 * MARK) or not file.fits(trace):
            return False
        file.starts_at(trace)
        return True

    def _rest(self) -> bytes:
        """What stands behind what was read in the file that was read, or in a copy of it: it has another name now."""
        folder, name = os.path.split(os.path.realpath(self.log.path))
        with os.scandir(folder) as entries:
            found = [e for e in entries if is_rotation(e.name, name) and e.is_file(follow_symlinks=False)]
        beside = sorted(((e.stat().st_mtime_ns, e.path) for e in found), reverse=True)
        self._left = Why.RECREATED
        for place, (written, path) in enumerate(beside):
            try:
                with PlainFile(path) as file:
                    if is_packed(file) or not self._goes_on(file):
                        continue
                    if not place and all(other < written for other, _ in beside[1:]):
                        self._left = Why.ROTATED  # no file came between it and the log
                    if not file.left():
                        continue
                    data = file.read(PIECE)
                    if isinstance(data, bytes) and data:
                        self._trace = _ends(file.trace)
                        return data
            except OSError:
                continue
        return b""


def _sliced(chunks: Iterator[bytes]) -> Iterator[Piece]:
    return (Data(chunk[at : at + PIECE]) for chunk in chunks for at in range(0, len(chunk), PIECE))


def _ends(trace: Fingerprint) -> Fingerprint:
    return trace._replace(opening=b"", spots=())
