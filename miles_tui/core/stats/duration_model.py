"""How the rollout time depends on the answer length in this run, and what is left when the length is taken out.

    log(seconds) = level + log(1 + share * (length / typical - 1)) + e,    e[i] = rho * e[i-1] + noise

`share` is the part of the time that grows with the length, 0 to 1: the rest is fixed. The rest e is autocorrelated
(a warm machine stays warm), so the law is fitted to quasi-differences (Cochrane and Orcutt, JASA 44, 1949), with
clipped residuals and with weak priors on `share` and `rho`: ten rollouts alone can't tell them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub, truediv

from miles_tui.core.stats.robust import (
    clip,
    deviation,
    dot,
    median,
    middle_of,
    pulled_in,
    squares_around,
    sum_of_squares,
)


@dataclass(slots=True, frozen=True)
class TimeNorm:
    """The law as a profile knows it; `noise` is the standard deviation of the noise in log(seconds)."""

    typical: float  # tokens
    level: float  # log(seconds) at the typical length
    share: float
    rho: float
    noise: float
    count: float  # rollouts behind it
    whose: str


@dataclass(slots=True)
class Fit:
    """The law in force. `share_sd` is the uncertainty of `share`, `noise` that of one quasi-difference."""

    typical: float
    level: float = 0.0
    share: float = 0.8
    share_sd: float = 0.25
    rho: float = 0.6
    noise: float = 0.0

    def explained(self, length: float) -> float:
        """log(seconds) that the length explains, without the level."""
        part = 1.0 + self.share * (length / self.typical - 1.0)
        return math.log(LEAST_PART if part < LEAST_PART else part)

    def lean(self, length: float) -> float:
        """The derivative of `explained` by `share`."""
        x = length / self.typical - 1.0
        return x / max(1.0 + self.share * x, LEAST_PART)


LEAST_SHARE, SHARE_SD = (
    0.8,
    0.3,
)  # decoding dominates a rollout; the fixed part is prefill, waking up, the reward function
RHO, RHO_WEIGHT = 0.7, 12.0  # a guess too high only makes the test slower, one too low makes it cry wolf
CAUTION = 0.9  # deviations of its own error by which `rho` is taken too high
LEAST_PART = 0.05  # of the typical time: the shortest answers still take this long
LEAST_NOISE = 0.004  # of log(seconds): below half a per cent a person does not care


def fit_law(points: Sequence[tuple[float, float]], start: Fit | None, norm: TimeNorm | None) -> Fit:
    """The law of (length, seconds) points, oldest first, neighbours in time; it begins from `start`, an earlier one."""
    return fit_logs([length for length, _ in points], [math.log(seconds) for _, seconds in points], start, norm)


def fit_logs(lengths: Sequence[float], logs: Sequence[float], start: Fit | None, norm: TimeNorm | None) -> Fit:
    """`fit` of lengths and the logarithms of their seconds.

    Two Gauss-Newton steps from the start are enough: the law is nearly linear in `share`. O(points): 100 µs for 80.
    """
    typical = norm.typical if norm else median(lengths)
    share0, share_sd, weight = LEAST_SHARE, SHARE_SD, 0.0
    now = Fit(typical, share=start.share if start else LEAST_SHARE, rho=start.rho if start else RHO)
    if norm:
        now.share, now.rho, weight = norm.share if start is None else now.share, norm.rho, norm.count
        share0, share_sd = norm.share, 0.05
    over = [length / typical - 1.0 for length in lengths]
    steps = 2 if start is not None else 3
    for step in range(1, steps + 1):
        _improve(now, over, logs, (share0, share_sd), norm, weight, last=step == steps)
    return now


def _improve(
    now: Fit,
    over: Sequence[float],  # how far each length is above the typical one, as a share of it
    logs: Sequence[float],
    believed: tuple[float, float],  # the prior of the share: center and deviation
    norm: TimeNorm | None,
    weight: float,
    last: bool,
) -> None:
    """One Gauss-Newton step: a new level, share and `rho`, and after the `last` one their noise."""
    share, rho, (share0, share_sd) = now.share, now.rho, believed
    parts = [1.0 + share * x for x in over]
    if 1.0 + share * min(over) < LEAST_PART:
        parts = [max(part, LEAST_PART) for part in parts]
    rest = list(map(sub, logs, map(math.log, parts)))
    lean = list(map(truediv, over, parts))
    middle = middle_of(ordered := sorted(rest))
    # quasi-differences of the rest and of its derivative; those of the middle itself are `usual`
    one = 1.0 - rho
    usual = one * middle
    diff, turn = _quasi(rest, rho), _quasi(lean, rho)
    noise = max(deviation(steps := sorted(diff), usual), LEAST_NOISE)
    held = pulled_in(diff, steps, usual - 2.5 * noise, usual + 2.5 * noise)
    # level shift m and share shift s by least squares, with a prior on the share
    n, turned, turns = len(held), sum(turn), sum_of_squares(turn)
    total, both = sum(held) - n * usual, dot(turn, held) - usual * turned
    a11 = n * one * one + 1e-9
    a12 = one * turned
    a22 = turns + (noise / share_sd) ** 2
    b1 = one * total
    b2 = both + (noise / share_sd) ** 2 * (share0 - share)
    if norm:  # the profile's level counts as `weight` rollouts
        a11 += weight * one * one
        b1 += weight * one * one * (norm.level - middle)
    det = a11 * a22 - a12 * a12
    m, s = (b1 * a22 - b2 * a12) / det, (b2 * a11 - b1 * a12) / det
    now.share = clip(share + s, 0.0, 1.0)
    now.level = middle + m
    if last:
        now.share_sd = noise * math.sqrt(a11 / det)
        m *= one
        # the squares of held - usual - m - s * turn, multiplied out
        left = squares_around(usual, held) + m * (n * m - 2 * total) + s * (s * turns - 2 * both + 2 * m * turned)
        now.noise = _noise(left, n, norm)
    _correlate(now, rest, ordered, norm, weight)


def _quasi(values: list[float], rho: float) -> list[float]:
    """What of each value is not `rho` times the one before it."""
    return [b - rho * a for a, b in zip(values, values[1:], strict=False)]  # noqa: RUF007  (pairs cost a quarter more)


def _noise(left: float, count: int, norm: TimeNorm | None) -> float:
    """The deviation of what is left of `count` quasi-differences, `left` their sum of squares; two degrees of freedom
    went into level and share."""
    freedom = max(count - 2, 1)
    if norm:
        left, freedom = left + norm.count * norm.noise**2, freedom + int(norm.count)
    return math.sqrt(max(left / freedom, LEAST_NOISE * LEAST_NOISE))


def _correlate(now: Fit, rests: list[float], ordered: list[float], norm: TimeNorm | None, weight: float) -> None:
    """Work `rho` out again: lag-1 autocorrelation of the clipped rest, its small-sample bias added back
    (Marriott and Pope, Biometrika 41, 1954: E = rho - (1 + 3 rho) / n), shrunk towards the prior.
    `ordered` are the same `rests`, in the order of their size."""
    level = now.level
    reach = 2.5 * max(deviation(ordered, level), LEAST_NOISE)
    held = pulled_in(rests, ordered, level - reach, level + reach)
    below = squares_around(level, held)
    if below <= 0:
        return
    n = len(held)
    # the sum of the products of neighbours, by the squares of their differences: a third of the cost
    ends = (held[0] - level) ** 2 + (held[-1] - level) ** 2
    raw = (below - (ends + math.dist(held[1:], held[:-1]) ** 2) / 2) / below
    raw += (1 + 3 * max(raw, 0.0)) / n
    prior, count = (norm.rho, weight) if norm else (RHO, RHO_WEIGHT)
    rho = clip((n * raw + count * prior) / (n + count), 0.0, 0.95)
    now.rho = min(rho + CAUTION * math.sqrt((1.0 - rho * rho) / (n + count)), 0.95)


class TimeLaw:
    """The law over a run: rollouts in, the rest after the length out. Warm-up and pauses are left to the caller."""

    KEPT = 96  # rollouts
    ASKED = 3  # rollouts after which the run is asked whether the profile is of its machine
    MOST_HELD = 12  # newest rollouts that the fit never sees: a slow fault must not become the law

    def __init__(self, least: int, hold: int, norm: TimeNorm | None):
        self.least, self.hold, self.norm = least, hold, norm
        self.lengths: list[float] = []  # of the newest `KEPT` rollouts, and the logarithms of their seconds
        self.logs: list[float] = []
        self.fit: Fit | None = None
        if norm:
            self.fit = Fit(norm.typical, norm.level, norm.share, 0.05, norm.rho, norm.noise)
        self._due = 0

    @property
    def source(self) -> str:
        """Where the law comes from: see `Evidence.source`."""
        return f"profile {self.norm.whose}" if self.norm else "run"

    def add(self, length: float, seconds: float) -> None:
        """Take a rollout in and refit when it is time: every rollout at first, every tenth later."""
        self.lengths.append(length)
        self.logs.append(math.log(seconds))
        if len(self.logs) > self.KEPT:
            del self.lengths[0], self.logs[0]
        if self.norm and len(self.logs) == self.ASKED and self._contradicts(self.norm):
            self.norm = self.fit = None  # another machine: its own rollouts say more
            self._due = 0
        self._due -= 1
        if self._due > 0:
            return
        size = len(self.logs)
        old = size - min(max(size // 4, self.hold), self.MOST_HELD)
        if old < (12 if self.norm else self.least):
            return
        self._due = 1 if size < 32 else 4 if size < 64 else 10  # a fit of 80 rollouts costs 100 µs
        self.fit = fit_logs(self.lengths[:old], self.logs[:old], self.fit, self.norm)

    def _contradicts(self, norm: TimeNorm) -> bool:
        """Whether the run begins further from the profile than its rests swing by themselves (a few count as one:
        neighbours are alike, and a fault that grows from here on must not look like another machine)."""
        rests = self.rests()
        usual = norm.noise / math.sqrt(1.0 - norm.rho * norm.rho)
        return abs(sum(rests) / len(rests)) > 3.5 * usual

    def rest(self, length: float, seconds: float) -> float:
        """log(seconds) beyond what level and length explain; 0.05 is 5 % slower."""
        assert self.fit is not None
        return math.log(seconds) - self.fit.explained(length) - self.fit.level

    def rests(self) -> list[float]:
        """`rest` of all rollouts that are kept, oldest first."""
        fit = self.fit
        assert fit is not None
        return [log - fit.explained(length) - fit.level for length, log in zip(self.lengths, self.logs, strict=True)]

    def forget_last(self, count: int) -> None:
        """Take the newest rollouts out again: they belong to a fault."""
        keep = max(len(self.logs) - count, 0)
        del self.lengths[keep:], self.logs[keep:]

    def rebase(self) -> None:
        """Begin anew, without the profile."""
        self.lengths.clear()
        self.logs.clear()
        self.norm = self.fit = None
        self._due = 0
