"""What a run is fed with: bytes in their order and what happened to their file, items read elsewhere, and the time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from miles_tui.core.model.records import Item


class Why(StrEnum):
    """Why the bytes behind a `Cut` do not simply follow those before it."""

    ROTATED = "rotated"  # the file got another name, and a new one, which was written to next, its name
    TRUNCATED = "truncated"  # emptied or rewritten in place
    RECREATED = "recreated"  # deleted, or replaced by another file
    LINK_SWAPPED = "link swapped"  # a symbolic link on the way leads elsewhere now


@dataclass(slots=True, frozen=True)
class Data:
    """The next bytes of the log."""

    data: bytes


@dataclass(slots=True, frozen=True)
class Cut:
    """The file ended here, and another text begins."""

    why: Why

    @property
    def goes_on(self) -> bool:
        """Whether what was written next begins that text: a line torn here may have its rest there."""
        return self.why is Why.ROTATED


@dataclass(slots=True, frozen=True)
class Missing:
    """The path leads to no readable file (for now): `why` says it in a few plain words."""

    why: str


@dataclass(slots=True, frozen=True)
class Appeared:
    """What was missing is there."""


@dataclass(slots=True, frozen=True)
class Ended:
    """The input is over: a pipe was closed, or a finished file was read. Nothing comes after it.

    `wrong`: in a few words why that is not the whole text, where it isn't.
    """

    wrong: str = ""


@dataclass(slots=True, frozen=True)
class CaughtUp:
    """All that was written by now has been fed: nobody waits for the rest of what stands there."""


@dataclass(slots=True, frozen=True)
class Items:
    """The next items of the log, read by somebody else: a second process, or whoever looked for the launch alone."""

    items: Sequence[Item]


@dataclass(slots=True, frozen=True)
class Elapsed:
    """Nothing came, and it is as late as the caller says."""


Piece = Data | Cut | Missing | Appeared | Ended  # what following gives
RunInput = Piece | CaughtUp | Items | Elapsed
