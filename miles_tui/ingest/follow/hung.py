"""How a process ends while one of its threads hangs in a file system."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress

from miles_tui.ingest.files.away import DISK

CLONE_FILES = 0x400
SECONDS = 2  # more than this process takes from there to its end
STACK = 1 << 16


def end_if_hanging(status: int) -> None:
    """End at once with this status where such a thread is left; else return. All output was flushed before."""
    if any(thread.name == DISK for thread in threading.enumerate()):
        _keep_files_open()
        os._exit(status)


def _keep_files_open() -> None:
    """See that our end closes no file: FUSE asks its server at each close, and lets nobody die meanwhile.

    A process that shares our table of descriptors, and sleeps until we are gone, closes them in our place. Whoever
    reads our output must not wait for it. Linux alone.
    """
    with suppress(OSError, AttributeError, ImportError):
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        import ctypes

        libc = ctypes.CDLL(None)
        stack = ctypes.create_string_buffer(STACK)
        top = (ctypes.addressof(stack) + STACK) & ~0xF
        sleep = ctypes.cast(libc.sleep, ctypes.c_void_p)  # no Python runs there: its locks belong to other threads
        if sys.platform == "linux":
            libc.clone(sleep, ctypes.c_void_p(top), CLONE_FILES | signal.SIGCHLD, ctypes.c_void_p(SECONDS))
