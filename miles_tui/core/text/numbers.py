"""Numbers as a person reads them: few digits, one width, never cut in the middle.

Plain notation from 0.0001 to 99,999, `2.9e9` beyond. Trailing zeros stay (`0.810`), so that a
column of one signal keeps its width and its decimal point, and fewer cells change on the wire.
"""

from __future__ import annotations

import math

PLAIN_FROM = 1e-4  # 0.00063 is still read at a glance, 0.000063 is counted with a finger
PLAIN_BELOW = 1e5  # five digits without separators are still one word
NOT_FINITE_WORDS = {"nan": "nan", "inf": "inf", "-inf": "-inf"}


def number(value: float, digits: int = 3, width: int | None = None) -> str:
    """`value` with `digits` significant digits; NaN and infinities as `nan`, `inf`, `-inf`.

    Whole digits are never rounded away below 100,000 (`12345`, not `12300`), a whole number has no
    decimals, 0 is `0`. With `width` it is set flush right in exactly that many cells (see `fit`).
    """
    if width is not None:
        return fit_number(value, width, digits).rjust(width)
    if not math.isfinite(value):
        return NOT_FINITE_WORDS[str(float(value))]
    if value == 0:
        return "0"
    # Rounding first: 99,999.6 is 1.00e5, and 0.00009999 with 2 digits is 0.00010.
    size = abs(float(f"{value:.{max(digits, 1) - 1}e}"))
    if size >= PLAIN_FROM and round(abs(value)) < PLAIN_BELOW:
        if float(value).is_integer():
            return str(int(value))
        decimals = max(0, digits - 1 - math.floor(math.log10(size)))
        return f"{value:.{decimals}f}"
    return _power(value, digits)


def fit_number(value: float, width: int, digits: int = 3) -> str:
    """The most exact form of `number` with at most `digits` digits and `width` cells.

    At each count of digits plain notation is tried before powers; a width that holds no honest form gives `#` signs.
    """
    for count in range(digits, 0, -1):
        plain = number(value, count)
        if len(plain) <= width:
            return plain
        if math.isfinite(value) and value != 0 and len(power := _power(value, count)) <= width:
            return power
    return "#" * width


def signed(value: float, digits: int = 2, width: int | None = None) -> str:
    """A change: always with its sign (`+0.031`, `-12`), `0` where there is none."""
    text = number(value, digits)
    if value > 0:
        text = "+" + text
    if width is None:
        return text
    if len(text) > width:
        text = fit_number(value, width - 1, digits)
        text = "+" + text if value > 0 and not text.startswith("#") else text
    return text.rjust(width)


def _power(value: float, digits: int) -> str:
    """`2.9e9`, `6.3e-5`: no plus, no zeros in the exponent."""
    mantissa, exponent = f"{value:.{max(digits, 1) - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"
