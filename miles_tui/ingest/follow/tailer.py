"""One log's bytes, whatever happens to its file.

`Tailer` knows no records: it gives every byte once, in order, and says where one text ends and another
begins. It looks when it is asked to (`read`), never waits, and is used from one thread. It relies on:

- An open file can be read to its end under any name or none, and keeps its inode from being used
  again. So the old file is read to its end once more *after* the new one was seen to hold text, and
  only then the new one; an empty new file changes nothing yet.
- The bytes before the offset are compared at every read (`Fingerprint`): a truncated file may have
  grown past the offset again since the last look.
- What appeared in the folder since the last look, under a rotation's name, was rotated in between
  (`rotation_tracker`); copies are told by their content.
- A file system that gives no answer (`away`) says nothing of the file: whatever fails in the middle of
  a look leaves all as it was before. A descriptor that fails while the path can be opened is dead (a
  stale NFS handle, a folder mounted anew): the file is opened again and known by its text.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from miles_tui.core.model.chunks import Appeared, Cut, Data, Ended, Missing, Piece, Why
from miles_tui.ingest.files.away import is_away
from miles_tui.ingest.files.fingerprint import TextFile
from miles_tui.ingest.files.gzip_file import GzipFile
from miles_tui.ingest.files.open_file import CHUNK, NOTHING, FileKey, Lost, PlainFile, in_words
from miles_tui.ingest.follow.late_lines import LateLines
from miles_tui.ingest.follow.rewritten import TORN_SECONDS, Rewritten
from miles_tui.ingest.follow.rotation_tracker import RotationTracker, Step

BUDGET = 1 << 20  # bytes a read: 1 ms to scan, 10 ms on text made to be slow
SHRINK_SECONDS = 0.01  # a shrink counts when it is seen again that much later: NFS can report a stale size once
SHRINK_SECONDS_REMOTE = 1.0
GONE_SECONDS = 1.0  # a rotation leaves no file for a moment, a server is away for one: that is not said
DEAD_SECONDS = 2.0  # a descriptor that fails for so long, while the path can be opened, never answers again
LATE_SECONDS = 60.0  # without lines that its writer still adds, a rotated file is let go; a look costs 3 us
DELETED_SECONDS = 3600.0  # a deleted file that no longer grows is let go then: it takes space on the disk
LATE_FILES = 4
LOOK_AGAIN_SECONDS = 0.05  # the path changed faster than it could be looked at


class Tailer:
    """The bytes of the log at `path`, which need not exist yet; of its first file from byte `start` on.

    `remote`: the file system is shared over a network, where sizes are confirmed longer. `clock`
    gives seconds, for tests.
    """

    def __init__(
        self, path: str, *, start: int = 0, remote: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = path
        self.caught_up = False  # nothing more to be had at the last read
        self.ended = False
        self.unsettled = True  # what the path leads to changed at the last read, or is missing
        self.retry_in: float | None = None  # seconds until another look is wanted, though nothing changes
        self.position = 0  # bytes given
        self._start = start
        self._shrink = SHRINK_SECONDS_REMOTE if remote else SHRINK_SECONDS
        self._clock = clock
        self._tracker = RotationTracker(path, remote=remote)
        self._held: TextFile | None = None
        self._next: deque[Step] = deque()
        self._late: list[LateLines] = []
        self._empty_at: int | None = None  # when the held file was written to last, if it was empty at the last look
        self._first = False  # nothing was read yet of the held file's text
        self._last = b"\n"  # the last byte given
        self._since: dict[str, float] = {}  # when a state began that counts only if it lasts
        self._rewritten = Rewritten(self._tracker, self._since, self._lasted)
        self._ripe: tuple[FileKey, bool] | None = None  # the new file at the path, and whether it held text, as seen
        # before the last read of the old one
        self._missing = ""

    @property
    def size(self) -> int:
        """`position`, and what is known to be left."""
        files = [self._held, *(file for _, file in self._next)]
        try:
            return self.position + sum(file.left() for file in files if file)
        except OSError:
            return self.position

    def read(self, budget: int = BUDGET) -> list[Piece]:
        """What is new, up to `budget` bytes. Never raises OSError: a path that can't be read is `Missing`."""
        out: list[Piece] = []
        room = budget
        self.caught_up, self.unsettled, self.retry_in = self.ended, False, None
        while room > 0 and not self.caught_up:
            try:
                data = self._advance(min(room, CHUNK), out)
            except OSError as error:
                self._away(error, out)
                data = None
            if data is None:
                self.caught_up = True
                data = self._late_lines()
            if data:
                room -= len(data)
                self.position += len(data)
                self._last = data[-1:]
                out.append(Data(data))
        return out

    def hold(self) -> list[Piece]:
        """Open what the path leads to and read nothing: it is read later, whatever its name is by then."""
        out: list[Piece] = []
        self._begin(out)
        return out

    def close(self) -> None:
        for file in (self._held, *(file for _, file in self._next), *self._late):
            if file:
                file.close()
        self._held = None
        self._next.clear()
        self._late.clear()

    def _advance(self, most: int, out: list[Piece]) -> bytes | None:
        """The next bytes; b"" when something else happened and more may follow, None when nothing more is there."""
        held = self._held
        if held is None:
            return self._begin(out)
        before = held.trace
        if self._last == b"\n" and (lines := self._rewritten.lines()):
            return lines
        try:
            got = held.read(most)
        except OSError as error:
            return self._dead(held, error, out)
        if self._since.pop("failed", None) is not None:
            self._since.pop("dead", None)
            self._say_found(out)
        if isinstance(got, Lost):
            return self._start_over(held, got, out)
        self._since.pop("shrunk", None)
        if got:
            self._since.pop("deleted", None)
            try:
                if self._came_and_went(held):
                    return self._turn(out)
                skipped = self._first and self._tracker.skip_known(held)
                skipped = skipped or self._rewritten.comes_again(held, first=self._first)
            except OSError:
                held.trace = before  # it was not given
                raise
            self._first = False
            return b"" if skipped else got
        if self._next:
            return self._turn(out)
        if isinstance(held, GzipFile):
            self.ended = True
            out.append(Ended(held.wrong))
            return None
        if held.trace is NOTHING and self._came_and_went(held):
            return self._turn(out)
        return self._look_on(held, out)

    def _begin(self, out: list[Piece]) -> bytes | None:
        """Open what the path leads to, and what was rotated away from it while we waited."""
        self.unsettled = True
        try:
            if not self._next:
                self._next.extend(self._tracker.line_up(None, [late.file.key for late in self._late]))
        except OSError as error:
            self._say_missing(error, out)
            return None
        if not self._next:
            self.retry_in = LOOK_AGAIN_SECONDS
            return None
        self._say_found(out)
        first = self._next[0][1]
        if isinstance(first, GzipFile):
            first.begin = max(first.begin, self._start)
        elif self._start and first.left() >= self._start:
            first.starts_behind(self._start)
        self._start = 0
        return self._turn(out)

    def _look_on(self, held: PlainFile, out: list[Piece]) -> bytes | None:
        """At the end of the file: whether the path leads to another one by now."""
        try:
            key, size = self._tracker.look()
            if key == held.key:
                self._ripe = None
                self._since.pop("torn", None)
                self._say_found(out)
                return None
            if (seen := (key, size > 0)) != self._ripe:
                self._ripe = seen
                return b""
            if self._last != b"\n" and not self._lasted("torn", TORN_SECONDS):
                return None
            self._next.extend(self._tracker.line_up(held, [late.file.key for late in self._late]))
        except OSError as error:
            self._gone(held, error, out)
            return None
        self._since.pop("torn", None)
        if not self._next:
            self.retry_in = LOOK_AGAIN_SECONDS if size else None
            return None
        self._say_found(out)
        return self._turn(out)

    def _turn(self, out: list[Piece]) -> bytes:
        """Put the held file away and take the next one."""
        why, file = self._next[0]
        if self._held and not any(self._held is later for _, later in self._next):
            self._put_away(self._held)
        self._held = None  # until the next one is begun, come what may
        self._rewritten.reset()
        if not file.offset and self._tracker.skip_known(file) and why is not Why.ROTATED:
            why = None
        self._next.popleft()
        self._held, self._ripe, self._empty_at, self.unsettled = file, None, None, True
        self._first = not file.offset
        for late in [late for late in self._late if late.file.key == file.key]:  # a link swapped back, for one
            self._late.remove(late)
            late.close()
        self._cut(why, out)
        return b""

    def _cut(self, why: Why | None, out: list[Piece]) -> None:
        if why:
            out.append(Cut(why))
            self._last = b"\n"

    def _put_away(self, file: TextFile) -> None:
        self._tracker.remember(file)
        if isinstance(file, GzipFile) or not file.live:
            file.close()
        else:
            self._late.append(LateLines(file, until=self._clock() + LATE_SECONDS, torn=self._last != b"\n"))
            if len(self._late) > LATE_FILES:
                self._late.pop(0).close()

    def _late_lines(self) -> bytes:
        """Lines that were added to files already put away; only between two lines of the present one."""
        lines = b""
        now = self._clock()
        for late in tuple(self._late):
            if self._last == b"\n":
                more = self._late_read(late, now)
                lines += more
                if more:
                    late.until = now + LATE_SECONDS
                    with suppress(OSError):
                        self._tracker.remember_late(late.file, late.given())
            if now >= late.until:
                self._late.remove(late)
                late.close()
        return lines

    def _late_read(self, late: LateLines, now: float) -> bytes:
        """What came; as long as nothing can be read it is not let go."""
        try:
            return late.read()
        except OSError:
            late.until = max(late.until, now + LOOK_AGAIN_SECONDS)
        if "away" not in self._since:
            with suppress(OSError):
                late.until = late.until if self._tracker.reopen(late.file) else now
        return b""

    def _start_over(self, held: TextFile, lost: Lost, out: list[Piece]) -> bytes | None:
        """The file is no longer what we read: go on with what a copy has more of it, then from its beginning."""
        if self._next:
            return self._turn(out)  # a copy, or a file already rotated away: it is of no more use
        if lost is Lost.SHRUNK and not self._lasted("shrunk", self._shrink):
            return None
        if lost is not Lost.SHRUNK and isinstance(held, PlainFile) and self._rewritten.goes_over(held, lost):
            self._since.pop("shrunk", None)
            self._cut(Why.TRUNCATED if self._rewritten.begins else None, out)
            return b""
        assert isinstance(held, PlainFile)  # a packed file is finished: it loses nothing
        self._from_its_beginning(held, self._tracker.truncated_away(held))
        self._since.pop("shrunk", None)
        return self._turn(out)

    def _from_its_beginning(self, held: PlainFile, before: list[TextFile]) -> None:
        """Next comes what was truncated away, then the file's present text."""
        # Behind a text that is empty so far the cut was said when it was emptied.
        goes_on = not held.offset or (bool(before) and before[0].offset > 0)
        self._tracker.remember(held)
        held.starts_at(NOTHING)
        whys = [None if goes_on or not self.position else Why.TRUNCATED, *(Why.TRUNCATED for _ in before)]
        self._next.extend(zip(whys, (*before, held), strict=True))

    def _came_and_went(self, held: TextFile) -> bool:
        """Whether a file that was empty at the last look held a text since then, that was copied and truncated away."""
        if isinstance(held, GzipFile) or (self._empty_at is None and held.trace is not NOTHING):
            return False
        written = held.stat().st_mtime_ns
        read, texts = held.trace, list[TextFile]()
        if self._empty_at not in (None, written):
            held.trace = NOTHING
            try:
                texts = self._tracker.truncated_away(held)
            finally:
                held.trace = read
        self._empty_at = None
        if texts:
            held.trace = NOTHING
            self._from_its_beginning(held, texts)
            return True
        self._empty_at = written if read is NOTHING else None
        return False

    def _dead(self, held: TextFile, error: OSError, out: list[Piece]) -> bytes | None:
        """The open file can't be read. If the path can be opened meanwhile, the file is found anew, or given up."""
        self._away(error, out)
        self._since.setdefault("failed", self._clock())
        try:
            if self._tracker.reopen(held):
                self._since.pop("dead", None)
                self.retry_in = LOOK_AGAIN_SECONDS
            elif self._lasted("dead", DEAD_SECONDS):
                unread = [file for _, file in self._next]
                self._tracker.number_anew(unread)
                self._tracker.remember(held)
                for file in (held, *unread):
                    file.close()
                self._next.clear()
                self._held, self.retry_in = None, LOOK_AGAIN_SECONDS
        except OSError as worse:
            if is_away(worse):
                self._since.pop("dead", None)
        return None

    def _away(self, error: OSError, out: list[Piece]) -> None:
        """A look failed: it is made again. That is said once it has lasted."""
        self.unsettled = True
        if self._lasted("away", GONE_SECONDS, again=False):
            self._say_missing(error, out)

    def _gone(self, held: PlainFile, error: OSError, out: list[Piece]) -> None:
        if is_away(error):
            raise error
        self.unsettled = True
        if self._lasted("gone", GONE_SECONDS, again=False):
            self._say_missing(error, out)
        if not held.stat().st_nlink and self._lasted("deleted", DELETED_SECONDS, again=False):
            self._tracker.remember(held)
            held.close()
            self._held = None

    def _say_missing(self, error: OSError, out: list[Piece]) -> None:
        self.unsettled = True
        if in_words(error) != self._missing:
            self._missing = in_words(error)
            out.append(Missing(self._missing))

    def _say_found(self, out: list[Piece]) -> None:
        self._since.pop("gone", None)
        self._since.pop("away", None)
        if self._missing:
            self._missing = ""
            out.append(Appeared())

    def _lasted(self, state: str, seconds: float, *, again: bool = True) -> bool:
        """Whether `state`, which holds now, was there at a look `seconds` ago too; `again`: look again for it then."""
        now = self._clock()
        left = self._since.setdefault(state, now) + seconds - now
        if left > 0 and again:
            self.retry_in = min(left, self.retry_in or left)
        return left <= 0
