"""What a terminal can send: bytes that are no text, reports that are none, and a key that still ends the program."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from terminal import Terminal
from textual import events
from textual.message import Message

from miles_tui.ui.terminal.input_driver import LONE_LOOKS, PASTE_LOOKS, Input

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_logs" / "gap-jump.log"
PROGRAM = [sys.executable, "-m", "miles_tui"]
LEAVES = b"q\x03\x1a\x10"  # keys that end the program, stop it, or open the palette, where Enter could do either


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock is a tenth of a second later: as a look without input is."""
    ticks = itertools.count()
    monkeypatch.setattr("textual._parser.get_time", lambda: next(ticks) / 10)


def taken(*pieces: bytes, looks: int = 0) -> list[Message]:
    """What the pieces say, and `looks` without input after them."""
    said = Input()
    out = [message for piece in pieces for message in said.take(piece)]
    for _ in range(looks):
        out += said.look()
    return out


def keys(*pieces: bytes, looks: int = 0) -> str:
    return "".join(m.character or f"<{m.key}>" for m in taken(*pieces, looks=looks) if isinstance(m, events.Key))


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((b"caf\xe9 q",), "café q"),  # Latin-1
        ((b"caf\xc3\xa9q",), "caféq"),
        ((b"caf\xc3", b"\xa9q"), "caféq"),  # a read ends within a character
        ((b"\xe6", b"\x97", b"\xa5q"), "日q"),
        ((b"\xe1q",), "áq"),  # Alt+a with 8-bit meta
        ((b"\x1b[M \xe9!q",), "q"),  # X10 mouse report, column 201
        ((b"\x1b[M \xc3\xa0q",), "q"),  # the same, whose numbers look like a character
        ((b"\xed\xa0\x80q",), "í\xa0\x80q"),  # half a surrogate pair
        ((b"\xff\xfe\x80q",), "ÿþ\x80q"),
    ],
)
def test_bytes_that_are_no_utf8_are_latin1(pieces: tuple[bytes, ...], expected: str) -> None:
    assert keys(*pieces) == expected


def test_the_beginning_of_a_character_alone_is_one_once_nothing_follows() -> None:
    assert keys(b"\xe9") == ""
    assert keys(b"\xe9", looks=LONE_LOOKS) == "é"
    said = Input()
    assert not list(said.take(b"\xc3"))
    assert not list(said.look())
    assert [m.character for m in said.take(b"\xa9") if isinstance(m, events.Key)] == ["é"]


ODD = (
    b"\x1b[1114112u", b"\x1b[99999999999999999999u", b"\x1b[97:65;1:3u", b"\x1b[1;1;1114112u", b"\x1b[0;0;0u",
    b"\x1b[;;u", b"\x1b[57358;-1u", b"\x1b[<0;99999999999;99999999999M", b"\x1b[<-1;-1;-1M", b"\x1b[<;;M",
    b"\x1b[48;0;0;0;0t\x1b[<0;1;1M", b"\x1b[48;1;1;0;0t\x1b[<0;1;1M", b"\x1b[99999;99999R", b"\x1b[I\x1b[O",
    b"\x1b[?2026;9$y", b"\x1b[200~\x00\xff\x1b\xe9\x1b[201~", b"\x1b[201~", b"\x1bP>|\xff\x1b\\",
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_report_leaves_the_keys_behind_it(odd: bytes) -> None:
    said = Input()
    list(said.take(odd))
    for _ in range(3):  # a sequence that never ends is over
        list(said.look())
    assert [m.key for m in said.take(b"q") if isinstance(m, events.Key)] == ["q"]


@pytest.mark.parametrize("odd", [b"\x1b[1114112u", b"\x1b[97:65;1:3u", b"\x1b[48;0;0;0;0t\x1b[<0;1;1M"])
def test_what_the_parser_fails_on_takes_no_key_with_it(odd: bytes) -> None:
    assert keys(b"a" + odd + b"q").endswith("q")


def test_a_paste_whose_end_was_lost_does_not_take_the_keys_for_ever() -> None:
    said = Input()
    assert not list(said.take(b"\x1b[200~some text"))
    pasted = [m for _ in range(PASTE_LOOKS) for m in said.look() if isinstance(m, events.Paste)]
    assert [m.text for m in pasted] == ["some text"]
    assert [m.key for m in said.take(b"q") if isinstance(m, events.Key)] == ["q"]


@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(ODD)), max_size=12), st.data())
@settings(deadline=None)
def test_any_bytes_cut_anywhere_raise_nothing(parts: list[bytes], data: st.DataObject) -> None:
    sent, said = b"".join(parts), Input()
    while sent:
        size = data.draw(st.integers(1, len(sent)))
        list(said.take(sent[:size]))
        sent = sent[size:]
    for _ in range(PASTE_LOOKS):
        list(said.look())
    assert [m.key for m in said.take(b"q") if isinstance(m, events.Key)][-1:] == ["q"]


# -- in a real terminal ------------------------------------------------------------------------------------------


def send(terminal: Terminal, data: bytes) -> None:
    """Write all of it, reading what comes back."""
    os.set_blocking(terminal.process.fd, False)
    deadline = time.monotonic() + 60
    while data and terminal.process.isalive():
        assert time.monotonic() < deadline, f"{len(data)} bytes are not read"
        terminal.drain(0.001, 0.01)
        with contextlib.suppress(BlockingIOError):
            data = data[os.write(terminal.process.fd, data[:1024]) :]
    os.set_blocking(terminal.process.fd, True)


def quit_by_keys(terminal: Terminal) -> int:
    """Esc and q, as often as there are screens and fields; the exit status."""
    deadline = time.monotonic() + 60
    while terminal.process.isalive() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            terminal.send("\x1b")
            terminal.drain(0.2, 0.4)
            terminal.send("q")
            terminal.drain(0.2, 0.4)
    return terminal.wait_end(1)


def noise(seed: int) -> bytes:
    """Random bytes between reports, keys that open screens, and pastes; none of it quits."""
    chance = random.Random(seed)
    numbers = (0, 1, 9, 97, 255, 55296, 57358, 1114112, 2**31, 10**20)

    def report() -> bytes:
        form = chance.choice((b"\x1b[%d;%d;%du", b"\x1b[%d:%d;%du", b"\x1b[<%d;%d;%dM", b"\x1b[48;%d;%d;%d;1t"))
        return form % tuple(chance.choice(numbers) for _ in range(3))

    def binary() -> bytes:
        return bytes(b for b in chance.randbytes(60) if b not in LEAVES)

    kinds = (report, binary, lambda: chance.choice(ODD), lambda: chance.choice((b"m", b"L", b"?", b"x", b"/", b"\r")),
             lambda: b"\x1b[200~" + binary() + b"\x1b[201~")  # fmt: skip
    return b"".join(chance.choice(kinds)() for _ in range(120))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_input_ends_the_dashboard_and_q_does(seed: int) -> None:
    with Terminal([*PROGRAM, str(SAMPLE)], 100, 30) as terminal:
        terminal.wait(lambda text: "quit" in text)
        send(terminal, noise(seed))
        assert quit_by_keys(terminal) == 0
        assert b"Traceback" not in terminal.raw


def test_bursts_that_open_and_close_screens_end_nothing() -> None:
    chance = random.Random(7)
    with Terminal([*PROGRAM, str(SAMPLE)], 100, 30) as terminal:
        terminal.wait(lambda text: "quit" in text)
        for _ in range(16):
            burst = (chance.choice("Txm?Lw") + chance.choice(("\x1b", "\x1b", "\r", "")) for _ in range(10))
            terminal.send("".join(burst))
            terminal.drain(0.02, 0.1)
        assert quit_by_keys(terminal) == 0
        assert b"Traceback" not in terminal.raw


def test_latin1_is_typed_into_a_search_and_q_quits_behind_a_dash(tmp_path: Path) -> None:
    command = f"cat {SAMPLE} | {sys.executable} -m miles_tui -"
    with Terminal(["sh", "-c", command], 100, 30) as terminal:
        terminal.wait(lambda text: "quit" in text and "rollout 47" in text)
        terminal.send("m")
        terminal.wait(lambda text: "Esc back" in text)
        terminal.send("/")
        send(terminal, b"caf\xe9s")
        terminal.wait(lambda text: "cafés" in text)
        assert quit_by_keys(terminal) == 0


def test_the_same_after_a_stop_and_a_return() -> None:
    script = f"set -m; {sys.executable} -m miles_tui {SAMPLE}; fg >/dev/null; echo status $?"
    with Terminal(["bash", "-c", script], 100, 30) as terminal:
        terminal.wait(lambda text: "quit" in text)
        send(terminal, b"\xe9\x1a")
        terminal.wait(lambda _: terminal.raw.count(b"\x1b[?1049h") == 2)
        terminal.wait(lambda text: "quit" in text)
        send(terminal, b"\xe9\xff\x1b[1114112u")
        terminal.send("q")
        terminal.wait(lambda text: "status 0" in text)


def test_a_huge_paste_without_brackets_is_read_no_faster_than_it_is_taken() -> None:
    """A key a byte: a paste of a megabyte could else wait as a million of messages."""
    with Terminal([*PROGRAM, str(SAMPLE)], 80, 24) as terminal:
        terminal.wait(lambda text: "quit" in text)
        send(terminal, b"j\xe9" * 4_000)  # twice what the kernel keeps
        terminal.send("q")
        assert terminal.wait_end(60) == 0
