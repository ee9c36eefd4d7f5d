"""Lines that a writer still adds to a rotated file after the new one was begun."""

from __future__ import annotations

from miles_tui.ingest.files.open_file import CHUNK, Fingerprint, PlainFile


class LateLines:
    """Whole lines from behind what was read of `file`; they are put between lines of the new file.

    `torn`: the text read so far ended inside a line. That line was closed by the cut; its rest is skipped.
    """

    def __init__(self, file: PlainFile, *, until: float, torn: bool) -> None:
        self.until = until
        self.file = file
        self._rest = b""
        self._torn = torn

    def read(self) -> bytes:
        """The lines that were completed since the last call, at most a chunk. Raises OSError."""
        new = self.file.read(CHUNK)
        if not isinstance(new, bytes) or not new:
            return b""
        if self._torn:
            _, newline, new = new.partition(b"\n")
            self._torn = not newline
        lines, newline, rest = (self._rest + new).rpartition(b"\n")
        self._rest = rest[-CHUNK:]  # a line longer than that is no metric
        return lines + newline

    def given(self) -> Fingerprint:
        """What was given of the file's text: not the beginning of its last line. Raises OSError."""
        return self.file.whole_of(self.file.offset - len(self._rest)) if self._rest else self.file.trace

    def close(self) -> None:
        self.file.close()
