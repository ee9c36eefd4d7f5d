"""A long log read by a second process, while this one works on what came out of it so far.

    second: bytes -> Reader -> items --pipe--> this one: the same items in the same order

Reading and judging a log cost about the same: on two cores it is done in the time of the longer. A record
crosses in 2 µs (`marshal` on plain tuples; pickled objects take 5). Only for commands without a screen: a process
with threads must not fork.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
from collections.abc import Callable, Iterator

from miles_tui.core.model.records import NOBODY, Item, Record, Source

BATCH = 256  # items that cross at once
PIPE = 1 << 20  # bytes that the second process may be ahead, where the system lets a pipe be so large
_LENGTH = 8  # bytes before each parcel

Batches = Callable[[], Iterator[list[Item]]]


def can_read_ahead() -> bool:
    """Whether a second process can run beside this one."""
    if not hasattr(os, "fork"):
        return False
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1


def read_ahead(batches: Batches) -> Iterator[list[Item]]:
    """What `batches()` gives, made in a second process, which ends with this one, however this one ends.

    Should the second process fail, this one begins anew, leaves out what was handed out already, and meets the
    error itself: `batches()` must give the same items each time.
    """
    end, begin = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(end)
        os.close(begin)
        yield from batches()
        return
    if child == 0:
        os.close(end)
        _run(batches, begin)
    os.close(begin)
    count, whole = 0, False
    try:
        for items in _received(end):
            whole = not items
            count += len(items)
            yield items
    finally:
        os.close(end)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not whole:
        for items in batches():
            yield items[count:]
            count = max(0, count - len(items))


# -- the second process ----------------------------------------------------------------------


def _run(batches: Batches, pipe: int) -> None:
    """The life of the second process: it never returns, and leaves without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = 1
    try:
        _widen(pipe)
        _send_all(batches, pipe)
        status = 0
    except BaseException:  # noqa: BLE001  whatever it is, the other process meets it again and tells it
        pass
    finally:
        os._exit(status)


def _send_all(batches: Batches, pipe: int) -> None:
    parent, waiting, known = os.getppid(), list[Item](), {NOBODY: 0}
    for items in batches():
        waiting += items
        if len(waiting) >= BATCH:
            _send(pipe, _packed(waiting, known))
            waiting = []
        if os.getppid() != parent:  # it was killed: nobody reads
            return
    if waiting:
        _send(pipe, _packed(waiting, known))
    _send(pipe, _packed([], known))


def _widen(pipe: int) -> None:
    import fcntl

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


def _send(pipe: int, parcel: bytes) -> None:
    left = memoryview(len(parcel).to_bytes(_LENGTH, "little") + parcel)
    while left:
        left = left[os.write(pipe, left) :]


def _packed(items: list[Item], known: dict[Source, int]) -> bytes:
    """A parcel: the sources that come for the first time, and the items. A record's source is its place among all."""
    fresh: list[tuple[str, str, str]] = []
    out: list[tuple[object, ...] | bytes] = []
    for item in items:
        if not isinstance(item, Record):
            out.append(_pickled(item))  # a few in a thousand
            continue
        place = known.get(item.source)
        if place is None:
            place = known[item.source] = len(known)
            fresh.append((item.source.role, item.source.pid, item.source.ip))
        out.append((item.kind, item.number, item.metrics, item.time, place, item.logger, item.critic))
    return marshal.dumps((fresh, out))


def _pickled(fact: Item) -> bytes:
    import pickle  # 3 ms

    return pickle.dumps(fact)


# -- this process ------------------------------------------------------------------------------


def _received(pipe: int) -> Iterator[list[Item]]:
    """The batches that come; an empty one is the last. Without it the other process died."""
    sources = [NOBODY]
    while (head := _exactly(pipe, _LENGTH)) and (parcel := _exactly(pipe, int.from_bytes(head, "little"))):
        fresh, packed = marshal.loads(parcel)
        sources += [Source(*parts) for parts in fresh]
        yield [
            _unpickled(entry)
            if isinstance(entry, bytes)
            else Record(entry[0], entry[1], entry[2], entry[3], sources[entry[4]], entry[5], critic=entry[6])
            for entry in packed
        ]


def _unpickled(parcel: bytes) -> Item:
    import pickle

    fact: Item = pickle.loads(parcel)  # our own child's bytes
    return fact


def _exactly(pipe: int, size: int) -> bytes:
    """The next `size` bytes, or nothing where they end before."""
    parts, left = [], size
    while left:
        data = os.read(pipe, left)
        if not data:
            return b""
        parts.append(data)
        left -= len(data)
    return b"".join(parts)
