"""A process that has the headless commands' modules loaded, and forks itself for each run of one that it is asked for.

`python fork_server.py SOCKET`: the number of its end of a pair of sockets that keep messages apart. A message is JSON,
`{"argv": [...], "cwd": ..., "env": {...}}`, with the three descriptors that become the run's own; the answers are the
run's process id and, once it has ended, its exit status as `subprocess` counts it. A start costs 0.02 s of a processor
instead of 0.15. Only the interpreter's own start is left out: `commands.run` asks for a real one where that counts.
"""

from __future__ import annotations

import json
import os
import pkgutil
import socket
import sys
import time
from importlib import import_module

import miles_tui


def load() -> None:
    """All that a headless command can need."""
    for package in ("commands", "config", "core", "ingest", "present", "runs"):
        for module in pkgutil.walk_packages(import_module(f"miles_tui.{package}").__path__, f"miles_tui.{package}."):
            import_module(module.name)


def serve(asked: socket.socket) -> int:
    """The exit status of a run, in its own process; 0 in this one, once nobody asks any more."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(asked, 1 << 18, 3)
        if not message:
            return 0
        child = os.fork()
        if not child:
            asked.close()
            return command(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        asked.send(b"%d" % child)
        asked.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def command(given: dict[str, object], descriptors: list[int]) -> int:
    """What `python -m miles_tui ARGV` does, from where its modules are loaded on."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    assert isinstance(given["argv"], list)
    assert isinstance(given["env"], dict)
    os.environ.clear()
    os.environ.update(given["env"])
    time.tzset()
    os.chdir(str(given["cwd"]))
    from miles_tui import __main__ as program  # here: it changes what an interrupt does

    sys.argv = [program.__file__, *given["argv"]]
    return program.program()


if __name__ == "__main__":
    assert miles_tui.__file__
    load()
    sys.exit(serve(socket.socket(fileno=int(sys.argv[1]))))
