"""A text that is written again, more slowly than it is read: what was read already and stands there again is not new.

Either the file was emptied, and begins with what it held before (synced anew, restored), or its beginning is written
over, a line after the other, while the rest still stands behind it as it was read.
"""

from __future__ import annotations

from collections.abc import Callable

from miles_tui.ingest.files.fingerprint import TextFile
from miles_tui.ingest.files.open_file import MARK, Lost, PlainFile
from miles_tui.ingest.follow.rotation_tracker import RotationTracker

TORN_SECONDS = 0.25  # how long a line may take to end: a rotated file's last one, or one that is put over others
WINDOW = 1 << 20  # bytes of the old text that are compared at each look: 0.1 ms


class Rewritten:
    """What of the file at hand is no news. `lasted`: whether a state of `since` did hold some seconds ago too."""

    def __init__(self, tracker: RotationTracker, since: dict[str, float], lasted: Callable[[str, float], bool]) -> None:
        self._tracker = tracker
        self._since = since
        self._lasted = lasted
        self.reset()

    def reset(self) -> None:
        """Another file is at hand, or this one from its beginning."""
        self.begins = False  # a text was found just now that is put over the one read
        self._again = False  # all that was read is a beginning of a text that was read before
        self._over: Overwriting | None = None

    def comes_again(self, held: TextFile, *, first: bool) -> bool:
        """Whether what was just read of the file is not new, or not yet known to be. `first`: it is the first of it.

        A text that turns out to be another one is read from its beginning.
        """
        if not (first or self._again):
            return False
        known = self._tracker.known_of(held)
        was, self._again = self._again, known is held.trace
        if self._again or not (was or known.size) or not isinstance(held, PlainFile):
            return self._again
        held.starts_at(known)
        return True

    def goes_over(self, held: PlainFile, lost: Lost) -> bool:
        """Whether the file is written over from its beginning on: then it is read on, and what is put there as well.

        When the writer comes to the end of what was read, that is rewritten, and the beginning is as it was.
        """
        self.begins = lost is Lost.OVERWRITTEN and (self._over is None or self._over.at >= MARK)
        if self.begins:
            self._over = Overwriting(held)
        elif not self._over or (lost is Lost.REWRITTEN and held.peek(len(held.trace.head)) != held.trace.head):
            return False
        held.starts_behind(held.offset)
        return True

    def lines(self) -> bytes:
        """Those that were put over the text read; only between two others."""
        over = self._over
        if over is None:
            return b""
        before = over.open
        lines = over.read(settled=bool(before) and self._lasted("open", TORN_SECONDS))
        if over.open != before:
            self._since.pop("open", None)
        if over.open:
            self._lasted("open", TORN_SECONDS)
        if over.over:
            self._over = None
        return lines


class Overwriting:
    """The lines that are put over the text read of `file`, from its beginning on. What is as it was read is not new.

    `over`: the writer went beyond what is known of the old text: the file's own reading goes on there.
    `open`: a line that may be half the new one and half the old, until something behind it changes too, or it settles.
    """

    def __init__(self, file: PlainFile) -> None:
        self.over = False
        self.open = b""
        self.at = 0  # so far lines were given
        self._file = file
        self._old = file.trace.opening  # what stood from there on
        file.starts_behind(file.offset)

    def read(self, *, settled: bool) -> bytes:
        """Lines that stand in place of others since the last call, the open one too where it has `settled`."""
        now = self._file.peek(len(self._old), self.at)
        differs = _last_difference(self._old, now)
        begin, end = now.rfind(b"\n", 0, max(0, differs - 1)) + 1, now.find(b"\n", max(0, differs - 1)) + 1
        self.over = differs == len(self._old) or (differs > 0 and not end)
        line = now[begin:end] if differs and not self.over else b""
        given = 0 if not differs else end if settled and line == self.open else begin
        self.open = line if given == begin else b""
        if self.over:
            self._file.starts_behind(self.at + given)
        else:
            self._go_on(given)
        return now[:given]

    def _go_on(self, given: int) -> None:
        """What stands behind the lines given, and was read, is the old text: it is taken as it is by now."""
        known = self.at + len(self._old)
        self.at += given
        more = min(self.at + WINDOW, self._file.offset) - known
        self._old = self._old[given:] + (self._file.peek(more, known) if more > 0 else b"")
        if given:
            self._file.starts_behind(self._file.offset)


def _last_difference(old: bytes, now: bytes) -> int:
    """The index behind the last byte that differs, 0 where none does."""
    if old == now:
        return 0
    if len(old) != len(now):
        return len(old)
    low, high = 0, len(old)
    while low < high:  # from `high` on both are the same
        middle = (low + high) // 2
        if old[middle:high] == now[middle:high]:
            high = middle
        else:
            low = middle + 1
    return high
