"""An input that is no regular file: standard input, a pipe, a FIFO, a terminal."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator

from miles_tui.core.model.chunks import Data, Ended, Piece
from miles_tui.ingest.files.gzip_file import GZIP_MAGIC, Gunzip
from miles_tui.ingest.files.open_file import CHUNK


class Stream:
    """The bytes that come out of the descriptor `fd`; the same questions as for `Tailer`.

    Never waits: a read is made only where something is there. (O_NONBLOCK would do as well, but it is
    shared with whoever else has the pipe or the terminal open, the shell for one.) Text packed with
    gzip is unpacked. `close` closes the descriptor only if `owned`.
    """

    unsettled = False
    retry_in: float | None = None

    def __init__(self, fd: int, *, owned: bool = False) -> None:
        self.fd = fd
        self.caught_up = False
        self.ended = False
        self.position = 0
        self._owned = owned
        self._first = True
        self._gunzip: Gunzip | None = None
        self._texts: Iterator[bytes] = iter(())  # what is still to be unpacked of the bytes read last
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    @property
    def size(self) -> int:
        return self.position

    def read(self, budget: int) -> list[Piece]:
        """What is there, up to about `budget` bytes, and `Ended` when the other end is closed."""
        out: list[Piece] = []
        room = budget
        self.caught_up = self.ended
        while room > 0 and not self.caught_up:
            if text := next(self._texts, b""):
                room -= len(text)
                self.position += len(text)
                out.append(Data(text))
                continue
            if not self._poll.poll(0):
                self.caught_up = True
                break
            try:
                data = os.read(self.fd, min(CHUNK, room))
            except OSError:  # a terminal that hung up says EIO
                data = b""
            if not data:
                self.ended = self.caught_up = True
                out.append(Ended(self._gunzip.wrong if self._gunzip else ""))
                break
            if self._first:
                self._first = False
                self._gunzip = Gunzip() if data.startswith(GZIP_MAGIC) else None
            self._texts = self._gunzip.feed(data) if self._gunzip else iter((data,))
        return out

    def close(self) -> None:
        if self._owned and not self.ended:
            self._owned = False
            os.close(self.fd)
