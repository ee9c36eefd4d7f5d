"""A recorded log in the pieces in which it grew."""

from __future__ import annotations

import re


def rollouts(text: bytes) -> list[bytes]:
    """A log in blocks that end with a rollout's last line; the first has the launch too, the last what follows."""
    blocks, waiting = [], b""
    for line in text.splitlines(keepends=True):
        waiting += line
        if re.search(rb"perf \d+: .*perf/train_time", line):
            blocks.append(waiting)
            waiting = b""
    return [*blocks, waiting]
