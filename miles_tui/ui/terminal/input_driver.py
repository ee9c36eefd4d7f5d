"""Textual's driver for terminals, with an input that no byte can end.

Textual decodes input as strict UTF-8 and trusts every report to be well-formed; its thread ends with the first that
is not, and the program with it. Latin-1 terminals, 8-bit meta keys, X10 mouse reports and a pasted binary are not.
"""

from __future__ import annotations

import codecs
import os
import re
import select
from collections.abc import Iterator

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

READ = 4096  # bytes
LOOK_SECONDS = 0.1  # how often the end is looked for, and an escape key that stands alone: as in Textual
LONE_LOOKS = 5  # looks without input after which the beginning of a character is a character of its own
PASTE_LOOKS = 50  # and after which a paste whose end was lost is over: it would take every key
MOST_WAITING = 256  # messages that wait for the app before more input is read: a paste of a megabyte is a million keys
MOST_CELLS = 10_000  # a terminal's width or height that a report may tell
# An X10 mouse report's last three bytes are numbers, no text; Textual takes nothing from these.
_X10 = re.compile(rb"\x1b\[M[\x20-\xff]{3}")


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("miles-tui-latin-1", _as_latin1)


class Input:
    """What a terminal sends, as Textual's messages: any bytes, cut anywhere. Never raises.

    UTF-8; a byte that is none is Latin-1's character. A report that Textual's parser fails on says nothing, and what
    comes behind it is read as ever.
    """

    def __init__(self, *, debug: bool = False) -> None:
        self._debug = debug
        self._decoder = codecs.getincrementaldecoder("utf-8")("miles-tui-latin-1")
        self._parser = XTermParser(debug)
        self._quiet = 0  # looks without input

    def take(self, data: bytes) -> Iterator[Message]:
        """What these bytes say, with those before them."""
        self._quiet = 0
        yield from self._parse(self._decoder.decode(_X10.sub(b"", data)))

    def look(self) -> Iterator[Message]:
        """Nothing came for `LOOK_SECONDS`: what an end of input decides is decided, an escape key for one."""
        self._quiet += 1
        try:
            yield from self._parser.tick()
        except Exception:  # noqa: BLE001  (as below)
            self._begin_anew()
        if self._quiet == LONE_LOOKS:
            yield from self._parse(self._decoder.decode(b"", final=True))
        elif self._quiet == PASTE_LOOKS:
            yield from self._parse(BRACKETED_PASTE_END)  # says nothing where no paste is open

    def _parse(self, text: str) -> Iterator[Message]:
        for character in text:  # one at a time: with those behind it, a failure would lose keys
            try:
                said = list(self._parser.feed(character))
            except Exception:  # noqa: BLE001  (a terminal's odd report, whatever it is, is no reason to end)
                self._begin_anew()
            else:
                yield from said

    def _begin_anew(self) -> None:
        """A parser that failed is over; one that goes on knows what the terminal told it about itself."""
        failed, self._parser = self._parser, XTermParser(self._debug)
        for known in ("mouse_pixels", "terminal_size", "terminal_pixel_size"):
            setattr(self._parser, known, getattr(failed, known))


class SturdyDriver(LinuxDriver):
    """`LinuxDriver` that reads through `Input`, no faster than the app takes it."""

    def run_input_thread(self) -> None:
        """Read until the driver's input is switched off; what is then left unread is thrown away by it."""
        said = Input(debug=self._debug)
        while not self.exit_event.is_set():
            if self._app.message_queue_size > MOST_WAITING:
                self.exit_event.wait(LOOK_SECONDS / 10)
                continue
            ready, _, _ = select.select([self.fileno], [], [], LOOK_SECONDS)
            for message in said.take(self._read()) if ready else said.look():
                self.process_message(message)

    def process_message(self, message: Message) -> None:
        """Hand a message on, but no size that no terminal has."""
        if isinstance(message, events.Resize) and not all(0 < side <= MOST_CELLS for side in message.size):
            return
        super().process_message(message)

    def _read(self) -> bytes:
        """What there is; of a terminal that was closed nothing, after a while: `TerminalSession` leaves then."""
        try:
            data = os.read(self.fileno, READ)
        except OSError:
            data = b""
        if not data:
            self.exit_event.wait(LOOK_SECONDS)
        return data
