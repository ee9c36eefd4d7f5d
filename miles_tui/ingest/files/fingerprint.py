"""What of a file was read before, under another name, packed or cut: told by the bytes, not by names and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from miles_tui.ingest.files.gzip_file import GzipFile, is_packed, unpacked
from miles_tui.ingest.files.open_file import CHUNK, MARK, OPENING, SPOT, Fingerprint, Peek, PlainFile

TextFile = PlainFile | GzipFile

FIRST_BYTES = 1 << 16  # bytes of a text that are read to see how it begins
SEARCHED = 1 << 28  # bytes of a file in which the end of a text is looked for: 50 ms
DIGITS = 16  # in the last `MARK` bytes of a text: a moment, or measured numbers, which do not come twice


class Unread(NamedTuple):
    """Of a file's text what lies behind `begin` was not read; `length`: of the text, 0 where it is not known."""

    begin: int = 0
    length: int = 0


ALL_READ = Unread()


def as_source(file: PlainFile, unread: Unread = ALL_READ) -> TextFile:
    """What reads the file from there on; of plain text `file` itself, which `find_unread` set to begin there."""
    return GzipFile(file, unread.begin, unread.length) if is_packed(file) else file


def as_sources(files: Iterable[PlainFile], unread: Mapping[PlainFile, Unread]) -> list[TextFile]:
    """What reads each of them. Raises OSError, and then none of them is left open by what was made."""
    sources: list[TextFile] = []
    try:
        for file in files:
            sources.append(as_source(file, unread[file]))  # noqa: PERF401  # what was made is closed on an error
    except OSError:
        for source in sources:
            source.close()
        raise
    return sources


def find_unread(file: PlainFile, traces: Iterable[Fingerprint], short: int = 2 * MARK) -> Unread | None:
    """What of `file` was not read, where `traces` were, and sets a plain file to begin there; None where all was.

    Logs begin alike: a text of fewer than `short` bytes counts only where it is all of the file.
    """
    known = [trace for trace in traces if trace.size]
    if is_packed(file):
        return _unread_of_packed(file, known, short)
    size = file.stat().st_size
    fitting = [trace for trace in known if size >= trace.size and (trace.size >= short or trace.size == size)]
    fitting = [trace for trace in fitting if file.fits(trace)]
    if fitting:
        file.starts_at(max(fitting, key=lambda trace: trace.size))
    elif any(trace.size > size and trace.agrees(file.peek, size) for trace in known):
        return None  # a copy made before the text went on
    return Unread(file.offset, size) if file.left() else None


def _unread_of_packed(file: PlainFile, traces: list[Fingerprint], short: int) -> Unread | None:
    """As `find_unread`. Only a text that begins like one that was read is unpacked, at 300 MB/s."""
    opening = next(unpacked_text(file), b"")[:OPENING]
    likely = [trace for trace in traces if _begin_alike(trace, opening)]
    if not opening or any(trace.opening and trace.size & 0xFFFFFFFF == _packed_length(file) for trace in likely):
        return None
    if not likely:
        return Unread()
    peek, length = _looked_into(file, likely)
    fitting = [trace for trace in likely if trace.size >= min(short, length) and trace.agrees(peek, length)]
    known = max((trace.size for trace in fitting), default=0)
    return None if known >= length else Unread(known, length)


def _packed_length(file: PlainFile) -> int:
    """The length of the last member's text, modulo 2**32, which ends the file."""
    return int.from_bytes(file.peek(4, max(0, file.stat().st_size - 4)), "little")


def _begin_alike(trace: Fingerprint, opening: bytes) -> bool:
    known = trace.opening or trace.head
    return opening.startswith(known) or known.startswith(opening)


def _looked_into(file: PlainFile, traces: list[Fingerprint]) -> tuple[Peek, int]:
    """The text's bytes at the places that tell it from `traces`, and its length: in one go, keeping no more."""
    spans = sorted({(at, size) for trace in traces for size, at in trace.spans()})
    found: dict[tuple[int, int], bytes] = {}
    first = at = 0
    for text in unpacked(file.peek):
        end = at + len(text)
        for begin, size in spans[first:]:
            if begin >= end:
                break
            found[size, begin] = found.get((size, begin), b"") + text[max(0, begin - at) : max(0, begin + size - at)]
        while first < len(spans) and sum(spans[first]) <= end:
            first += 1
        at = end
    return lambda size, begin: found.get((size, begin), b""), at


def unpacked_text(file: PlainFile) -> Iterator[bytes]:
    """The text of a file, unpacked, from its beginning: few bytes first, then `CHUNK` at once."""
    if is_packed(file):
        yield from unpacked(file.peek)
        return
    at = 0
    while data := file.peek(CHUNK if at else FIRST_BYTES, at):
        at += len(data)
        yield data


def begins(whole: PlainFile, file: PlainFile) -> bool:
    """Whether `file` is empty, or a beginning of what is in `whole`: a copy, perhaps still being made.

    Where one of them is packed, both are read as far as they are the same.
    """
    if not is_packed(whole) and not is_packed(file):
        size = file.stat().st_size
        return not size or whole.fits(file.trace_of(size))
    texts, rest = unpacked_text(whole), b""
    for text in unpacked_text(file):
        while len(rest) < len(text) and (more := next(texts, b"")):
            rest += more
        if not rest.startswith(text):
            return False
        rest = rest[len(text) :]
    return True


def copies_among(files: Sequence[PlainFile]) -> list[PlainFile]:
    """Those that are a beginning of another one; of two that are the same the packed one, or the latter. Not the first.

    Only files that begin alike are compared.
    """
    heads = {file: next(unpacked_text(file), b"")[:MARK] for file in files}
    kept: list[PlainFile] = []
    copies: list[PlainFile] = []
    for file in sorted(files, key=lambda file: file is not files[0] and is_packed(file)):
        head = heads[file]
        alike = [other for other in kept if head.startswith(heads[other]) or heads[other].startswith(head)]
        if any(begins(other, file) for other in alike):
            copies.append(file)
            continue
        shorter = [other for other in alike if other is not files[0] and begins(file, other)]
        copies += shorter
        kept = [*(other for other in kept if other not in shorter), file]
    return copies


def end_in(file: PlainFile, trace: Fingerprint) -> int:
    """The offset in `file` at which a text ends whose beginning was cut off; 0 where the file holds no such end.

    `tail -n 1000 log > part; cat part > log` leaves the newest lines only. The text's last bytes must be there once,
    and where more of the text is known, that too; else they must have enough digits to be no mere "done" banner.
    """
    most = min(file.stat().st_size, trace.size)
    end = _only(file, trace.tail, most) if len(trace.tail) == MARK and most <= SEARCHED else 0
    cut = trace.size - end
    if not end:
        return 0
    rest = trace.opening[cut:]
    spots = [(at, spot) for at, spot in trace.spots if at - SPOT >= cut]
    if file.peek(len(rest)) != rest or any(file.peek(SPOT, at - SPOT - cut) != spot for at, spot in spots):
        return 0
    distinct = bool(cut and (rest or spots)) or sum(map(trace.tail.count, b"0123456789")) >= DIGITS
    return end if distinct else 0


def _only(file: PlainFile, words: bytes, most: int) -> int:
    """Where the only occurrence of `words` in the first `most` bytes ends; 0 where there is none, or more than one."""
    found, at = 0, 0
    while at < most:
        text = file.peek(min(CHUNK + len(words), most - at), at)
        begin = text.find(words)
        while begin >= 0:
            end = at + begin + len(words)
            if found not in (0, end):
                return 0
            found = end
            begin = text.find(words, begin + 1)
        if not text:
            break
        at += CHUNK
    return found
