"""The screens of the dashboard, and how each is reached: for every test that looks at all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

GAP = {23: ("gap-jump", "gap 0.0409, mean of the last three 0.0383; level 0.0150 ± 0.000297 (this run so far)")}
TALKS = {
    30: ("reward-down-length-up", "reward 0.645 (mean of five), 0.713 before; answer length 631, 544 before"),
    31: ("cut-share-high", "25 % of the answers are cut in the mean of five, 17 % were 12 rollouts ago"),
}


@dataclass(frozen=True)
class Way:
    """How a screen is reached: its log, what its judge raises, keys; other runs beside it."""

    log: str = "gap-jump.log"
    raises: dict[int, tuple[str, str]] = field(default_factory=lambda: GAP)
    keys: tuple[str, ...] = ()
    others: tuple[tuple[str, dict[int, tuple[str, str]]], ...] = ()
    listed: bool = False


WAYS = {
    "main": Way(),
    "main-two-alerts": Way("talks-longer.log", TALKS),
    "main-calm": Way("plain-seed1.log", {}),
    "main-crashed": Way("crash.log", {}),
    "chart": Way(keys=("j", "j", "j", "enter", "left", "left")),
    "chart-two": Way("talks-longer.log", TALKS, ("v", "j", "enter")),
    "metrics": Way(keys=("m", "down")),
    "metrics-filtered": Way(keys=("m", "slash", "k", "l")),
    "time": Way(keys=("w",)),
    "log": Way("crash.log", {}, ("L",)),
    "log-line": Way("crash.log", {}, ("L", "w", "k", "k", "k", "enter")),
    "conditions": Way(keys=("x",)),
    "help": Way(keys=("question_mark",)),
    "themes": Way(keys=("T",)),
    "runs": Way(others=(("talks-longer.log", TALKS), ("plain-seed1.log", {})), listed=True),
}
