"""What the terminal can show, and which of our descriptors lead to it.

The terminal is not asked anything for this: no reply can end up in the input.
"""

from __future__ import annotations

import _thread
import asyncio
import os
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from miles_tui.errors import UsageError

HANG_UP_SECONDS = 2.0  # a terminal that takes nothing any more can block the last write for ever
# Writes that wait for the terminal before paints (three writes each) and titles are left out. Textual blocks at 30;
# to open the screen takes fourteen at once, and so does to leave it.
PAINT_WAITING, TITLE_WAITING = 16, 24
# What leaves the screen, the mouse, pasting and the keyboard as they were.
_LEAVE = b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?7h\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l\x1b[0m"
# Terminals whose fonts have block elements at best; braille there is a row of empty boxes.
POOR = ("linux", "dumb", "vt100", "vt102", "vt220", "ansi", "cons25", "unknown")


def is_utf8(env: Mapping[str, str]) -> bool:
    """Whether the locale promises UTF-8.

    Python itself sets LC_CTYPE=C.UTF-8 where the locale is "C" or not set (PEP 538), so that alone
    promises nothing. Without any locale a terminal of today is taken to know UTF-8, but not in tmux:
    tmux then writes `_` for every such character.
    """
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = env.get(name, "")
        if not value or (name == "LC_CTYPE" and value in ("C.UTF-8", "C.utf8")):
            continue
        return "UTF8" in value.upper().replace("-", "")
    return "TMUX" not in env


def glyphs_for(env: Mapping[str, str]) -> str:
    """`braille`, `blocks` or `ascii`: the finest glyphs that can be trusted to be seen."""
    if not is_utf8(env) or env.get("TERM", "dumb") in POOR:
        return "ascii"
    return "braille"


def is_dark(env: Mapping[str, str]) -> bool:
    """Whether the terminal's ground is dark, as far as it says so (COLORFGBG: `15;0`); dark where it does not."""
    ground = env.get("COLORFGBG", "").rpartition(";")[2]
    return ground not in ("7", "15")


def switch_mouse(driver: object, on: bool) -> None:
    """Take the mouse or leave it while an app runs, for which Textual has no public way; nothing for other drivers."""
    if not hasattr(driver, "_mouse"):
        return
    driver._mouse = True  # both ways are closed to a driver that was started without the mouse
    getattr(driver, "_enable_mouse_support" if on else "_disable_mouse_support", lambda: None)()
    driver._mouse = on


@contextmanager
def own_terminal() -> Iterator[int]:
    """Keys from the terminal and the screen on it, wherever descriptors 0 and 2 lead; gives the old 0 for a log.

    Textual reads keys from 0 and draws on 2. A log piped in (`-`) takes 0, `2>errors` takes 2, and a 0 that is at
    its end (`< /dev/null`) would be read again and again at the price of a whole core.
    """
    saved = {fd: os.dup(fd) for fd in (0, 2)}
    try:
        if not os.isatty(0):
            _reopen(0, os.O_RDONLY)
        if not os.isatty(2):
            _reopen(2, os.O_WRONLY)
        # Where Python found one closed it has no stream for it, and Textual's thread would die of that.
        if sys.__stdin__ is None:
            vars(sys)["__stdin__"] = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        if sys.__stderr__ is None:
            vars(sys)["__stderr__"] = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        yield saved[0]
    finally:
        for fd, before in saved.items():
            os.dup2(before, fd)
            os.close(before)


def _reopen(fd: int, mode: int) -> None:
    try:
        terminal = os.open("/dev/tty", mode)
    except OSError:
        raise UsageError("the dashboard needs a terminal: use miles-tui check") from None
    os.dup2(terminal, fd)
    os.close(terminal)


def is_behind(driver: object, waiting: int = PAINT_WAITING) -> bool:
    """Whether the terminal does not take what is written: a frozen SSH line, a pane in copy mode, a writer that died.

    Textual has no public way to ask; False for other drivers.
    """
    writer = getattr(driver, "_writer_thread", None)
    return writer is not None and (writer._queue.qsize() > waiting or not writer.is_alive())


def is_gone(driver: object) -> bool:
    """Whether the terminal was closed and no signal said so: it is not our controlling one (`setsid`, containers).

    Textual's reader of keys would take its end for no key, again and again, at the price of a whole core.
    """
    writer = getattr(driver, "_writer_thread", None)
    if writer is None:
        return False
    keys = select.poll()
    keys.register(getattr(driver, "fileno", 0), 0)  # a hang up is told without asking
    return not writer.is_alive() or any(event & select.POLLHUP for _, event in keys.poll(0))


def end_on_signals(end: Callable[[int], None], give_up: Callable[[int], None]) -> None:
    """On SIGTERM, SIGHUP and SIGINT call `end` in the event loop, and `give_up` in a thread if that took too long.

    Not by the loop's own handlers: they run only where the loop does, and not while it waits for a terminal that
    takes nothing. Python's run while a lock is waited for, too. The thread is started without `threading`, of whose
    locks the interrupted code may hold one.
    """
    loop = asyncio.get_running_loop()
    told: set[int] = set()

    def watch(number: int) -> None:
        time.sleep(HANG_UP_SECONDS)
        give_up(number)

    def handle(number: int, _: object) -> None:
        if not told:
            _thread.start_new_thread(watch, (number,))
        told.add(number)
        with suppress(RuntimeError):  # the loop is closed: we are ending
            loop.call_soon_threadsafe(end, number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, handle)


def give_back(driver: object) -> None:
    """Leave the terminal as it was found as far as that goes without waiting for it. For a thread that ends us."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})  # in the background it would stop us
    with suppress(OSError, termios.error):
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        if (before := getattr(driver, "attrs_before", None)) is not None:
            termios.tcsetattr(terminal, termios.TCSANOW, before)
        os.write(terminal, _LEAVE)
