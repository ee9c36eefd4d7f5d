"""How the cost of something grows with its input, whatever the machine and whatever else runs on it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time

ROUNDS = 6
LEAST = 1e-3  # seconds: below it a clock's own steps are measured


def grows_less(work: Callable[[int], object], size: int, times: int = 4, most: float = 0.0) -> bool:
    """Whether `work(times * size)` takes less than `most` times as long as `work(size)`, in CPU time.

    `most` is halfway between a line (`times`) and a square (`times` squared) if it is not given. A neighbour on the
    machine makes single measurements longer, never shorter: so the least of both sizes counts, the small one before and
    behind the large one, and more rounds are made as long as the answer is no. A square stays one in every round.
    """
    most = most or times**1.5
    small, large = _seconds(work, size), float("inf")
    for _ in range(ROUNDS):
        # one large measurement is enough for a yes: noise makes it only longer, which speaks for a no
        large = min(large, _seconds(work, times * size))
        small = min(small, _seconds(work, size))
        if large < most * max(small, LEAST):
            return True
    return False


def _seconds(work: Callable[[int], object], size: int) -> float:
    was_on = gc.isenabled()
    gc.disable()  # it goes through what the other tests of this process hold
    try:
        begin = process_time()
        work(size)
        return process_time() - begin
    finally:
        if was_on:
            gc.enable()
