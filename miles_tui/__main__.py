"""The program as a process of its own: `miles-tui`, `python -m miles_tui`.

An interrupt ends it without a word from here on. KeyboardInterrupt would be a traceback while modules load and while
the interpreter ends, and one that nobody can catch where it meets a callback.
"""

import os
import signal
import sys


def _leave(number: int, _: object) -> None:
    os._exit(128 + number)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored (`nohup`, `&`)
    signal.signal(signal.SIGINT, _leave)


def program() -> int:
    """The exit status of the command line."""
    from miles_tui.cli.main import program as run  # not before an interrupt is met

    return run()


if __name__ == "__main__":
    sys.exit(program())
