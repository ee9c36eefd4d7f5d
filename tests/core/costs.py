"""How the cost of something grows with its input, whatever the machine."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time


def growth(work: Callable[[int], object], size: int, times: int = 2) -> float:
    """How many times longer `work(times * size)` takes than `work(size)`: `times` if linear, its square if quadratic.

    The least of several runs each; what takes no time at all grows by nothing.
    """
    small, large = (min(_seconds(work, n) for _ in range(4)) for n in (size, times * size))
    return large / max(small, 1e-3)


def _seconds(work: Callable[[int], object], size: int) -> float:
    begin = process_time()
    work(size)
    return process_time() - begin
