"""A profile: what is normal in one setup. Learning one is `calibration`, its text `config.profile_file`."""

from __future__ import annotations

import math
import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.ranges import Learning, Range
from miles_tui.core.model.signals import BY_NAME
from miles_tui.core.stats.baseline import Norm
from miles_tui.core.stats.duration_model import TimeNorm
from miles_tui.core.text.sanitize import plain
from miles_tui.errors import nearest

Trend = Literal["rises", "falls", "flat"]


class SignalProfile(BaseModel):
    """One signal over healthy runs. The first two fields are its range; the others are what the rules judge by."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    low: float = Field(description="the smallest value of a single rollout")
    high: float = Field(description="the largest value of a single rollout")
    mean5_low: float | None = Field(None, description="the smallest mean of five rollouts")
    mean5_high: float | None = Field(None, description="the largest mean of five rollouts")
    swing: float | None = Field(None, ge=0, description="the largest step from one rollout to the next")
    trend: Trend | None = Field(None, description="over a whole run: rises, falls or flat")
    level: float | None = Field(None, description="the usual value (of the gradient norm: the geometric mean)")
    noise: float | None = Field(
        None,
        ge=0,
        description="one standard deviation of a rollout around its curve (gradient norm: of the natural logarithm)",
    )
    weight: float = Field(
        0.0, ge=0, description="how many rollouts of a new run the level counts for; fewer where the runs differed"
    )
    start: float | None = Field(None, description="the mean of the first five rollouts")
    start_weight: float = Field(0.0, ge=0, description="how many rollouts of a new run the start counts for")


class TimeProfile(BaseModel):
    """How the rollout time follows the answer length."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    length: float = Field(gt=0, description="the typical answer length, in tokens")
    seconds: float = Field(gt=0, description="the rollout time at that length, in seconds")
    share: float = Field(ge=0, le=1, description="the part of that time that grows with the length; the rest is fixed")
    carry: float = Field(ge=0, lt=1, description="the part of a slow rollout's excess that the next one still has")
    noise: float = Field(
        gt=0, description="one standard deviation of what is new in each rollout, as a share of the time"
    )
    weight: float = Field(ge=0, description="how many rollouts of a new run this counts for")


class Profile(BaseModel):
    """What is normal in one setup, where that is known from, and what the person said about it.

    Its texts are one line each, and nothing in them acts on a terminal, whatever stood in the file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, description="the name that alerts and ranges show")
    about: str = Field("", description="what the setup is, in a person's words")
    warning: str = Field("", description="shown whenever the profile is used")
    logs: list[str] = Field(default_factory=list, description="the logs that it was learned from")
    rollouts: int = Field(0, ge=0, description="how many rollouts they had")
    switched_off: list[str] = Field(
        default_factory=list, description="conditions that are not judged (miles-tui explain lists them)"
    )
    pause: str | None = Field(
        None,
        description="a regular expression: a log line that matches marks the rollout under way as touched by a pause",
    )
    arguments: dict[str, str] = Field(
        default_factory=dict, description="the runs' printed arguments that decide what is normal"
    )
    signals: dict[str, SignalProfile] = Field(default_factory=dict, description="a table for each signal")
    time: TimeProfile | None = Field(None, description="how the rollout time follows the answer length")

    @field_validator("name", "about", "warning")
    @classmethod
    def _one_line(cls, value: str) -> str:
        return plain(value)

    @field_validator("logs")
    @classmethod
    def _lines(cls, value: list[str]) -> list[str]:
        return list(map(plain, value))

    @field_validator("arguments")
    @classmethod
    def _pairs(cls, value: dict[str, str]) -> dict[str, str]:
        return {plain(name): plain(text) for name, text in value.items()}

    @field_validator("signals")
    @classmethod
    def _known_signals(cls, value: dict[str, SignalProfile]) -> dict[str, SignalProfile]:
        for name, signal in value.items():
            if name not in BY_NAME:
                raise ValueError(f'"{name}" is no signal{nearest(name, BY_NAME)}')
            if signal.low > signal.high:
                raise ValueError(f'"{name}": low is above high')
        return value

    @field_validator("switched_off")
    @classmethod
    def _known_conditions(cls, value: list[str]) -> list[str]:
        for name in value:
            if name not in CONDITIONS:
                raise ValueError(f'"{name}" is no condition{nearest(name, CONDITIONS)}')
        return value

    @field_validator("pause")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                re.compile(value.encode())
            except re.error as error:
                raise ValueError(f"no regular expression: {error}") from None
        return value

    @property
    def pause_pattern(self) -> re.Pattern[bytes] | None:
        """`pause`, ready to be matched with the bytes of a log line."""
        return re.compile(self.pause.encode()) if self.pause else None

    @property
    def origin(self) -> str:
        """`ranges of 96 rollouts from 2 runs`."""
        runs = len(self.logs)
        return f"ranges of {self.rollouts} rollouts from {runs} run{'s' if runs != 1 else ''}"

    def ranges(self) -> dict[str, Range]:
        """The range of single rollouts, by signal."""
        return {name: Range(s.low, s.high, self.name) for name, s in self.signals.items()}

    def norm(self, signal: str) -> Norm | None:
        """A flat signal's level and noise, in the unit of its rule (the logarithm, for the gradient norm)."""
        known = self.signals.get(signal)
        if known is None or known.level is None or known.noise is None or known.weight < 3:
            return None
        level = known.level
        if signal == "gradient norm":
            if level <= 0:
                return None
            level = math.log(level)
        return Norm(level, known.noise, known.weight, self.name)

    def start_of(self, signal: str) -> Norm | None:
        """Where a signal that learning moves begins, with its noise."""
        known = self.signals.get(signal)
        if known is None or known.start is None or known.noise is None or known.start_weight < 3:
            return None
        return Norm(known.start, known.noise, known.start_weight, self.name)

    def time_norm(self) -> TimeNorm | None:
        """The law of the rollout time."""
        t = self.time
        if t is None or t.weight < 3:
            return None
        return TimeNorm(t.length, math.log(t.seconds), t.share, t.carry, t.noise, t.weight, self.name)

    def differences(self, arguments: dict[str, str]) -> list[str]:
        """A run's arguments that differ from the profile's (`lr: 1e-06 there, 5e-06 here`), of those that both have."""
        return [
            f"{name}: {value} there, {arguments[name]} here"
            for name, value in self.arguments.items()
            if name in arguments and arguments[name] != value
        ]


__all__ = ["Learning", "Profile", "Range", "SignalProfile", "TimeProfile"]
