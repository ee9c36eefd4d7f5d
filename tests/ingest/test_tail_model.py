"""The tailer against a plain list: a writer does anything to its log, the reader looks at any time between.

What the tailer promises of every byte that can be read at all. Each has a test by its name below; the machine holds
all of them at once:

1. Once: no line is given twice, whatever its file is called by then, and however often the path leads back to it.
2. Whole: no line that stayed readable is lost, and a line written in pieces is given in one.
3. In order: a file's lines come in the order in which they were written, and a file's before its successor's.
4. Nothing is invented: what is given was written, byte for byte.
5. Copies are no text: `cp` and truncate gives what was not read yet, and nothing again.
6. Late lines: what a writer still adds to a rotated file comes once, between two lines of the present one.
7. A cut is said where one text ends and another begins, and nowhere else.

Not promised: what was deleted, written over or left by a link before a look (no reader can find it); late lines of a
file that no look found under the log's name, or behind which more was rotated before any look; and the place of late
lines among those of the new file.
"""

from __future__ import annotations

import os
import tempfile
from io import FileIO
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from ingest.tailing import Clock, append, lines, look, merged

from miles_tui.core.model.chunks import Cut, Data, Piece, Why
from miles_tui.ingest.follow.tailer import LATE_FILES, LATE_SECONDS, Tailer

FULL_LOOK = 1 << 20
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)  # to explain a failure traces every line


class LogModel(RuleBasedStateMachine):
    """A log behind a link, its writer, its reader, and the list of the lines that were written.

    Each line has a number. `written` is the order in which they must come; `late` are those whose place is free.
    Every write gets a time of its own, as on a disk where writes are not closer than its clock's step.
    """

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.TemporaryDirectory()
        self.folder = Path(self.home.name)
        self.link = self.folder / "train.log"
        self.clock = Clock()
        self.files = 0
        self.stamps = 1_800_000_000
        self.count = 0
        self.written: list[int] = []
        self.late: list[int] = []
        self.torn = b""  # what is still to be written of the last line
        self.rotated: FileIO | None = None  # its writer may still add to it
        self.seen = self.rotated_was_seen = False  # a look found text in the present file, in the rotated one
        self.out = self._new_attempt()
        self.rotation = 0  # which accident that was
        self.noticed = False  # a look found text in the file that came next
        self.last_late = 0.0  # when it was last written to
        self.tail = Tailer(str(self.link), clock=self.clock)
        self.got = b""
        self.cuts = 0
        self.accidents = 0  # each may be one cut, and no more
        self.look()  # following begins with a look: what was rotated away before it is history

    def teardown(self) -> None:
        try:
            self._end_line()
            self._append(self.out)
            self.look()
            assert self._unlate(self._numbers()) == self.written, "2: whole"
            assert set(self.late) <= set(self._numbers()), "6: late lines come too"
        finally:
            self.tail.close()
            self.out.close()
            if self.rotated:
                self.rotated.close()
            self.home.cleanup()

    # -- the writer ------------------------------------------------------------------------------

    def _new_attempt(self) -> FileIO:
        self.files += 1
        self.real = self.folder / f"attempt-{self.files}.log"
        link = self.folder / "new-link"
        link.symlink_to(self.real.name)
        out = self._create()
        link.replace(self.link)
        return out

    def _create(self) -> FileIO:
        out = self.real.open("ab", buffering=0)
        self._stamp(out.fileno())
        self.seen = False
        return out

    def _stamp(self, file: int | Path) -> None:
        self.stamps += 1
        os.utime(file, (self.stamps, self.stamps))

    def _line(self, size: int = 1) -> bytes:
        self.count += 1
        return b"record %d %s\n" % (self.count, b"%d," % self.count * size)

    def _put(self, out: FileIO, data: bytes) -> None:
        out.write(data)
        self._stamp(out.fileno())

    def _append(self, out: FileIO, size: int = 1) -> None:
        line = self._line(size)
        self.written.append(self.count)
        self._put(out, line)

    def _end_line(self) -> None:
        if self.torn:
            self._put(self.out, self.torn)
            self.torn = b""

    @rule(count=st.integers(1, 4), size=st.sampled_from([1, 9, 400]))
    def append(self, count: int, size: int) -> None:
        self._end_line()
        for _ in range(count):
            self._append(self.out, size)

    @precondition(lambda self: not self.torn)
    @rule(share=st.floats(0, 1), size=st.sampled_from([1, 30]))
    def tear_a_line(self, share: float, size: int) -> None:
        line = self._line(size)
        self.written.append(self.count)
        known = line.index(b",")  # texts that are alike so far can't be told apart, after a truncation
        at = known + int(share * (len(line) - 1 - known))
        self._put(self.out, line[:at])
        self.torn = line[at:]

    @rule(look=st.booleans(), begin=st.booleans())
    def rotate_by_rename(self, look: bool, begin: bool) -> None:
        """A line that is torn then is ended in the old file."""
        self.accidents += 1
        if self.rotated:
            self.rotated.close()
        self.rotated_was_seen = self.seen
        self.rotated, self.rotation, self.last_late = self.out, self.accidents, self.clock.now
        self.noticed = False
        self.real.rename(f"{self.real}.{self.accidents}")
        if look:
            self.look()
        self._end_line()
        self.out = self._create()
        if begin:
            self._append(self.out)

    @rule(look=st.booleans(), begin=st.booleans())
    def copy_and_truncate(self, look: bool, begin: bool) -> None:
        self._end_line()
        if not self.tail.caught_up:
            self.look()  # a text of which a few bytes were read is not known again
        self.accidents += 1
        copy = Path(f"{self.real}.copy{self.accidents}")
        copy.write_bytes(self.real.read_bytes())
        self._stamp(copy)
        if look:
            self.look()
        os.truncate(self.real, 0)
        self._stamp(self.real)
        if begin:
            self._append(self.out)

    @rule(begin=st.booleans())
    def delete_and_recreate(self, begin: bool) -> None:
        self._end_line()
        self.look()  # what is deleted unread is gone
        self.accidents += 1
        self.out.close()
        self.real.unlink()
        self.out = self._create()
        if begin:
            self._append(self.out)

    @rule(begin=st.integers(1, 3))
    def swap_the_link(self, begin: int) -> None:
        self._end_line()
        self.look()
        self.accidents += 1
        self.out.close()
        self.out = self._new_attempt()
        for _ in range(begin):
            self._append(self.out)
        self.look()  # what a link led to between two looks is not found

    @precondition(lambda self: self._is_late_line_promised())
    @rule()
    def write_a_late_line(self) -> None:
        """To the file that was rotated last."""
        assert self.rotated
        line = self._line()
        self.late.append(self.count)
        self._put(self.rotated, line)
        self.last_late = self.clock.now
        self._end_line()
        self.look()

    def _is_late_line_promised(self) -> bool:
        """For a file that was read under the log's own name, for a time, and for as many files as are kept open.

        Its line is the newest text of the folder: what came and went before the rotation was noticed is older than that
        by the times of their files, and is not looked for.
        """
        since = self.accidents - self.rotation
        return (
            self.rotated is not None
            and self.rotated_was_seen
            and (not since or (self.noticed and since < LATE_FILES))
            and self.clock.now < self.last_late + LATE_SECONDS / 2
        )

    # -- the reader ------------------------------------------------------------------------------

    @rule()
    def look(self) -> None:
        self._read(FULL_LOOK)
        holds_text = self.real.exists() and self.real.stat().st_size > 0
        self.seen |= holds_text
        self.noticed |= holds_text and self.accidents == self.rotation

    @rule(budget=st.sampled_from([1, 100, 5000]))
    def look_a_little(self, budget: int) -> None:
        self._take(budget)

    @rule(seconds=st.sampled_from([0.01, 0.3, 1.0, 20.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    def _read(self, budget: int) -> None:
        self._take(budget)
        while not self.tail.caught_up or (self.tail.retry_in is not None and not self.torn):
            if self.tail.retry_in is not None:
                self.clock.now += max(self.tail.retry_in, 0.001)  # less can be nothing to a float
            self._take(budget)

    def _take(self, budget: int) -> None:
        for piece in self.tail.read(budget):
            if isinstance(piece, Data):
                self.got += piece.data
            elif isinstance(piece, Cut):
                self.got += b"\n"
                self.cuts += 1

    # -- what must hold --------------------------------------------------------------------------

    def _numbers(self) -> list[int]:
        """The lines given. Raises where one is not as it was written."""
        found = []
        for line in self.got.split(b"\n")[:-1]:
            if line:
                word, number, rest = line.split(b" ")
                assert word == b"record", "4: nothing is invented"
                assert set(rest.split(b",")) == {number, b""}, "4: nothing is invented"
                found.append(int(number))
        return found

    def _unlate(self, numbers: list[int]) -> list[int]:
        late = set(self.late)
        return [number for number in numbers if number not in late]

    @invariant()
    def what_was_given_is_what_was_written_so_far(self) -> None:
        numbers = self._numbers()
        assert len(set(numbers)) == len(numbers), "1: once"
        given = self._unlate(numbers)
        assert given == self.written[: len(given)], "3: in order, none left out"
        assert self.cuts <= self.accidents, "7: no cut without a reason"


LogModel.TestCase.settings = settings(
    max_examples=80, stateful_step_count=30, deadline=None, derandomize=True, phases=PHASES
)
TestLogModel = LogModel.TestCase


def given(tail: Tailer) -> bytes:
    return b"".join(piece for piece in look(tail) if isinstance(piece, bytes))


def test_once(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    assert given(tail) == lines(0, 9)
    log.rename(f"{log}.1")
    append(log, lines(9, 12))
    assert given(tail) == lines(9, 12)
    Path(f"{log}.1").replace(log)  # the path leads back
    assert given(tail) == b""


def test_whole(tail: Tailer, log: Path) -> None:
    text = lines(0, 5)
    for at in range(0, len(text), 7):
        append(log, text[at : at + 7])
        assert given(tail) == text[at : at + 7]


def test_in_order(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 2))
    look(tail)
    for turn in (1, 2, 3):
        append(log, lines(turn * 10, turn * 10 + 2))
        log.rename(f"{log}.{turn}")
        append(log, lines(turn * 10 + 2, turn * 10 + 4))
    assert given(tail) == b"".join(lines(turn * 10, turn * 10 + 4) for turn in (1, 2, 3))


@pytest.mark.parametrize("budget", [1, 10, 1000])
def test_nothing_is_invented(tail: Tailer, log: Path, budget: int) -> None:
    append(log, lines(0, 9))
    got: list[Piece] = []
    while not tail.caught_up:
        got += tail.read(budget)
    assert merged(got) == [lines(0, 9)]


def test_copies_are_no_text(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    look(tail)
    append(log, lines(9, 12))
    Path(f"{log}.1").write_bytes(log.read_bytes())
    os.truncate(log, 0)
    append(log, lines(12, 13))
    assert given(tail) == lines(9, 13)


def test_late_lines(tail: Tailer, log: Path, clock: Clock) -> None:
    append(log, lines(0, 2))
    look(tail)
    log.rename(f"{log}.1")
    append(log, lines(2, 3)[:9])
    look(tail)
    append(Path(f"{log}.1"), lines(90, 91))
    clock.now += LATE_SECONDS / 2
    assert given(tail) == b"", "not inside a line"
    append(log, lines(2, 3)[9:])
    assert given(tail) == lines(2, 3)[9:] + lines(90, 91)


def test_a_cut_is_said_once(tail: Tailer, log: Path) -> None:
    append(log, lines(0, 9))
    assert look(tail) == [lines(0, 9)]
    log.rename(f"{log}.1")
    append(log, lines(9, 12))
    assert look(tail) == [Cut(Why.ROTATED), lines(9, 12)]
    append(log, lines(12, 13))
    assert look(tail) == [lines(12, 13)]
