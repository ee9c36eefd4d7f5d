"""A file whose beginning is written over, a line after the other, while what was read behind it still stands there."""

from __future__ import annotations

from miles_tui.ingest.source import PlainFile

WINDOW = 1 << 20  # bytes of the old text that are compared at each look: 0.1 ms


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
