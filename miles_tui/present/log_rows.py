"""Which lines of a log are shown, and where the person is in them: filters, search, following. Pure.

A row is made of an entry when it is wanted: the visible ones always, all of them only for a filter or a search.
"""

from __future__ import annotations

from collections.abc import Iterable

from miles_tui.core.parsing.tail_buffer import Fold, LogEntry, LogLine
from miles_tui.present.log_view import LEVELS, NO_PROCESS, Row, folds, matches, passes, raw_part, row_of, unfolded


class LogRow:
    """An entry and its row, once somebody wanted it."""

    __slots__ = ("_count", "_opened", "_part", "_row", "entry", "noise")

    def __init__(self, entry: LogEntry, noise: Row | None = None) -> None:
        self.entry = entry
        self.noise = noise is not None  # a line of a fold that is unfolded
        self._row = noise
        self._count = 0
        self._opened: tuple[int, list[LogRow]] = (0, [])
        self._part = ("", "")

    @property
    def row(self) -> Row:
        """The row; a fold's is made anew while it grows."""
        count = self.entry.count if isinstance(self.entry, Fold) else 0
        if self._row is None or (count != self._count and not self.noise):
            self._row, self._count = row_of(self.entry), count
        return self._row

    def part(self, found: str) -> str:
        """The piece of the line around a searched text (lower case) that the row does not have; "" if there is none."""
        if not found or self.noise or not isinstance(self.entry, LogLine) or matches(self.row, found):
            return ""
        if self._part[0] != found:
            self._part = (found, raw_part(self.entry, found))
        return self._part[1]

    def has(self, found: str) -> bool:
        """Whether the row or the line behind it has the searched text (lower case)."""
        return matches(self.row, found) or bool(self.part(found))

    def opened(self) -> list[LogRow]:
        """The item, and behind it the noise that it folds."""
        if not isinstance(self.entry, Fold):
            return [self]
        if self._opened[0] != self.entry.count:
            self._opened = (self.entry.count, [LogRow(self.entry, row) for row in unfolded(self.entry)])
        return [self, *self._opened[1]]


class LogBook:
    """The lines that pass the filters, one of them chosen; while `follow` it is the newest one."""

    def __init__(self, *, follow: bool = True) -> None:
        self.items: list[LogRow] = []
        self.at = 0
        self.follow = follow
        self.level = LEVELS[0]
        self.role = ""
        self.noise = False  # are folds opened?
        self.found = ""  # what is searched for, lower case
        self.newer = 0  # lines that came since the person stopped following
        self._all: list[LogRow] = []

    @property
    def chosen(self) -> LogRow | None:
        """The line under the cursor."""
        return self.items[self.at] if self.at < len(self.items) else None

    @property
    def roles(self) -> list[str]:
        """The processes that print, in the order of their first line; behind them what no process signs."""
        said = dict.fromkeys(i.row.role or NO_PROCESS for i in self._all if i.row.level != "fold")
        return sorted(said, key=lambda role: role == NO_PROCESS)

    @property
    def folded(self) -> bool:
        """Whether noise was folded away."""
        return any(isinstance(item.entry, Fold) for item in self._all)

    @property
    def filtered(self) -> str:
        """Which filters leave lines out, and the key of each; "" where none does."""
        level = "w: all levels" if self.level != LEVELS[0] else ""
        role = "p: other processes" if self.role else ""
        return ", ".join(filter(None, (level, role)))

    def why_not(self) -> str:
        """Why the searched text is not in sight, and the key that may change it."""
        if self.filtered and any(item.has(self.found) for item in self._all):
            return f"{self.found} is in lines that are filtered out ({self.filtered})"
        if not self.noise and any(isinstance(i.entry, Fold) and folds(i.entry, self.found) for i in self._all):
            return f"{self.found} is in folded lines: u unfolds"
        return f"{self.found} is not in the lines shown"

    def update(self, entries: Iterable[LogEntry]) -> None:
        """The ring's entries of now: those that are known already keep their rows."""
        known = {item.entry.number: item for item in self._all}
        last = self.items[-1].entry.number if self.items else 0
        self._all = [known.get(entry.number) or LogRow(entry) for entry in entries]
        self._arrange()
        new = next((i for i, item in enumerate(reversed(self.items)) if item.entry.number <= last), 0)
        self.newer = 0 if self.follow else self.newer + new

    def choose(self, at: int) -> None:
        """Move the cursor; the last line follows only when asked for (`end`)."""
        self.at = max(0, min(at, len(self.items) - 1))
        self.follow = False

    def end(self) -> None:
        """To the newest line, and with the ones to come."""
        self.follow, self.newer = True, 0
        self.at = max(0, len(self.items) - 1)

    def filter(self, *, level: str | None = None, role: str | None = None, noise: bool | None = None) -> None:
        """Change what is shown; the cursor stays at its line or goes to the next one that is shown."""
        self.level = self.level if level is None else level
        self.role = self.role if role is None else role
        self.noise = self.noise if noise is None else noise
        self._arrange()

    def search(self, text: str) -> bool:
        """Look for a text, in either case: the cursor goes to the newest match up to here, else to the first one."""
        self.found = text.lower()
        hits = self.hits()
        if not hits:
            return False
        self.choose(max((hit for hit in hits if hit <= self.at), default=hits[0]))
        return True

    def next_hit(self, by: int) -> bool:
        """To the next match downwards (1) or upwards (-1), around the ends."""
        hits = self.hits()
        if not hits:
            return False
        if by > 0:
            self.choose(next((hit for hit in hits if hit > self.at), hits[0]))
        else:
            self.choose(next((hit for hit in reversed(hits) if hit < self.at), hits[-1]))
        return True

    def hits(self) -> list[int]:
        """Where the matches are."""
        return [i for i, item in enumerate(self.items) if item.has(self.found)] if self.found else []

    def _arrange(self) -> None:
        chosen = self.chosen
        wanted = self._all
        if self.noise:
            wanted = [part for item in self._all for part in item.opened()]
        if self.level != LEVELS[0] or self.role:
            wanted = [item for item in wanted if passes(item.row, self.level, self.role)]
        self.items = wanted
        if self.follow:
            self.at = max(0, len(wanted) - 1)
        elif chosen is not None and not (self.at < len(wanted) and wanted[self.at] is chosen):
            number = chosen.entry.number
            at = next((i for i, item in enumerate(wanted) if item.entry.number >= number), len(wanted) - 1)
            self.at = max(0, at)
