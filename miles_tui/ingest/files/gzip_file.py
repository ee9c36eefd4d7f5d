"""A gzip file: its text in pieces, and as a place to read on from."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

from miles_tui.ingest.files.open_file import CHUNK, Lost, OpenFile, Peek, PlainFile

GZIP_MAGIC = b"\x1f\x8b"
_AT_ONCE = 1 << 16  # bytes of a packed file
_PIECE = 64  # bytes of a damaged file: at most 1,032 times as many of text


def is_packed(file: PlainFile) -> bool:
    return file.peek(2) == GZIP_MAGIC


class Gunzip:
    """gzip in, text out, never more than `CHUNK` at once: a small file can hold a very long text.

    Several members behind one another are one text; what follows the last is ignored, as gzip does.
    A file that ends too early gives what there is; `broken` says that it is damaged, `wrong` what is amiss so far.
    """

    def __init__(self) -> None:
        self._z = zlib.decompressobj(wbits=31)
        self._begun = False  # inside a member
        self._over = False
        self.broken = False

    @property
    def wrong(self) -> str:
        """What is amiss if the file ends here, in a few words; a file that is complete does not end inside a member."""
        return "the gzip file is damaged" if self.broken else "the gzip file ends too early" if self._begun else ""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The text of the next `data` of the file; to be read to its end before the next call."""
        # What stands behind a member is copied: of bytes that are all short members a part at a time.
        for at in range(0, len(data), _AT_ONCE):
            yield from self._feed(data[at : at + _AT_ONCE])

    def _feed(self, data: bytes) -> Iterator[bytes]:
        while not self._over:
            if not self._begun:
                data = data.lstrip(b"\0")
                if not data:
                    return
                if not data.startswith(GZIP_MAGIC[: len(data)]):
                    self._over = True
                    return
                self._begun = True
            before = self._z.copy()  # 44 KB for up to a megabyte
            try:
                text = self._z.decompress(data, CHUNK)
            except zlib.error:
                self.broken = self._over = True
                yield from _up_to_damage(before, data)
                return
            if text:
                yield text
            data = self._z.unconsumed_tail
            if self._z.eof:
                data, self._z, self._begun = self._z.unused_data, zlib.decompressobj(wbits=31), False
            elif not data and len(text) < CHUNK:
                return


def _up_to_damage(z: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """What can still be unpacked of `data`, in which the damage is, from the state `z` before it."""
    for at in range(0, len(data), _PIECE):
        try:
            text = z.decompress(data[at : at + _PIECE])
        except zlib.error:
            return
        if text:
            yield text


def unpacked(peek: Peek, gunzip: Gunzip | None = None) -> Iterator[bytes]:
    """The text of a gzip file, at most `CHUNK` at once, by `gunzip` where it is to be asked afterwards."""
    gunzip, at = gunzip or Gunzip(), 0
    while data := peek(CHUNK // 4, at):
        at += len(data)
        yield from gunzip.feed(data)


class GzipFile(OpenFile):
    """A gzip file, read to its end: what `PlainFile` is for text. `trace` and offsets count the text's bytes.

    It gives the text behind `begin`; up to there it is only unpacked, at 300 MB/s. `length`: of the text, where known.
    """

    __slots__ = ("_at", "_gunzip", "_packed", "_texts", "begin", "length")

    def __init__(self, plain: PlainFile, begin: int = 0, length: int = 0) -> None:
        self._packed = plain.trace_of(plain.stat().st_size)
        super().__init__(plain.detach(), plain.path, plain.key)
        self.begin, self.length = begin, length
        self._gunzip = Gunzip()
        self._at = 0  # in the packed file
        self._texts: Iterator[bytes] = iter(())  # of what was read of it

    @property
    def wrong(self) -> str:
        """At its end: what is amiss, in a few words."""
        return self._gunzip.wrong

    def read(self, most: int) -> bytes | Lost:
        del most  # a chunk is as long as it comes, at most CHUNK
        while True:
            for text in self._texts:
                before = self.trace.size
                self.trace = self.trace.grown(self.trace.tail + text)
                if self.trace.size > self.begin:
                    return text[max(0, self.begin - before) :]
            data = os.pread(self._fd, CHUNK // 4, self._at)
            if not data:
                return b""
            self._at += len(data)
            self._texts = self._gunzip.feed(data)

    def is_in(self, other: PlainFile) -> bool:
        """Whether `other` is this file."""
        return other.fits(self._packed)

    @property
    def offset(self) -> int:
        """Where the next read begins."""
        return max(self.begin, self.trace.size)

    def left(self) -> int:
        """How many bytes are still to be read, as far as known."""
        return max(0, self.length - self.offset)
