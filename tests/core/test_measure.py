"""The measure of the tests of linear work tells a line from a square, on any machine."""

from __future__ import annotations

from costs import grows_less


def additions(count: int) -> None:
    total = 0
    for n in range(count):
        total += n


def test_a_line_is_told_from_a_square() -> None:
    assert grows_less(additions, 50_000)
    assert not grows_less(lambda n: additions(n * n // 250), 2_500)
    assert not grows_less(lambda n: additions(n**2 // 2_000), 12_000)


def test_next_to_no_time_is_no_square() -> None:
    assert grows_less(lambda _: None, 10)
