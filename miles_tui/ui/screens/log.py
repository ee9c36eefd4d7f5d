"""The log itself: its newest lines as they come, or the lines around a rollout, read from the file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from miles_tui.core.parsing.tail_buffer import LogEntry, entries_of
from miles_tui.core.run.change import Change
from miles_tui.core.text.cells import clock, wrap
from miles_tui.errors import MilesTuiError
from miles_tui.ingest.history.context_lines import ContextLines, find_place
from miles_tui.present.footer import Keys
from miles_tui.present.log_rows import LogBook
from miles_tui.present.log_view import LEVELS, marked, whole_text
from miles_tui.present.styled_text import Part, Spans
from miles_tui.runs.aside import aside
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.typed import CURSOR, edited
from miles_tui.ui.widgets.lines import Lines
from miles_tui.ui.widgets.logview import LogView

EVERY = 0.5  # seconds between two paints while lines come
SEARCH_KEYS = (("Enter", "search", 0), ("Esc", "leave", 1))
LEAST_WORDS, WORDS = 3, 8  # lines for the whole text of the chosen line
LEAST_WHOLE = 12  # lines of a screen that has room for it


class Words(Lines):
    """The chosen line in full."""

    def ground_of(self, y: int) -> str:
        del y
        return "raised"


class LogScreen(SubScreen):
    """The end of the log over a bounded ring, engine noise folded away. Subclasses show other lines."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # At once, before the next key is sent anywhere: what follows it in one burst is text.
        Binding("slash", "search", "Search", id="log.search", key_display="/", priority=True,
                tooltip="Search in the lines shown"),
        Binding("n", "hit(1)", "Next", id="log.next", show=False, tooltip="The next match below"),
        Binding("N", "hit(-1)", "Match above", id="log.before", show=False, tooltip="The next match above"),
        Binding("f", "follow", "Follow", id="log.follow", tooltip="Follow the newest line, or stay here"),
        Binding("w", "level", "Level", id="log.level",
                tooltip="On this screen the level: all, warnings and errors, errors, records"),
        Binding("p", "role", "Process", id="log.role",
                tooltip="The lines of one process, of the next, of none, of all"),
        Binding("u", "noise", "Unfold", id="log.noise", tooltip="Show the engines' newest noise, or fold it away"),
        Binding("enter", "whole", "Whole line", id="log.whole", show=False, tooltip="The chosen line in full, below"),
        Binding("escape,q", "back", "Back", id="log.back", tooltip="Back; first out of the search"),
    ]  # fmt: skip
    FOOTER: ClassVar[Keys] = (
              ("Esc", "back", 0), ("/", "search", 1), ("f", "follow", 2), ("w", "level", 3), ("p", "process", 4),
              ("u", "unfold", 5), ("n N", "match", 6), ("Enter", "whole line", 7))  # fmt: skip
    DEFAULT_CSS = """
    LogScreen #title { margin-bottom: 0; }
    LogScreen #words { display: none; height: 8; background: $raised; }
    """

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session, "log")
        self.book = LogBook()
        self._typed: str | None = None  # what is being typed to search for
        self._whole = False
        self._shown = -1  # bytes of the ring that the book knows
        self._painted = 0.0
        self._waiting = False

    # -- building ----------------------------------------------------------------------------------

    def body(self) -> Widget:
        return LogView(self.book, id="body")

    def compose(self) -> ComposeResult:
        *most, keys = super().compose()
        yield from most
        yield Words(id="words")
        yield keys

    @property
    def view(self) -> LogView:
        return self.query_one("#body", LogView)

    def on_mount(self) -> None:
        self.session.watcher = self._came

    def on_unmount(self) -> None:
        if self.session.watcher == self._came:
            self.session.watcher = None

    # -- data --------------------------------------------------------------------------------------

    def entries(self) -> Sequence[LogEntry]:
        """All lines there are now."""
        self.session.ring.settle()
        return tuple(self.session.ring.entries)

    def grew(self, change: Change) -> None:
        if change.header or change.alerts:
            self._frame()

    def fill(self) -> None:
        self._take()
        self._show()

    def _came(self) -> None:
        """Bytes came: they are shown now, or a little later when much comes."""
        if self._waiting or not self.is_mounted or self.app.screen is not self:
            return
        self._waiting = True
        self.set_timer(max(0.01, self._painted + EVERY - time.monotonic()), self._late)

    def _late(self) -> None:
        self._waiting = False
        self._take()
        self._show()

    def _take(self) -> None:
        added = self.session.ring.added
        if added != self._shown:
            self._shown = added
            self.book.update(self.entries())

    def _show(self) -> None:
        if not self.is_mounted:
            return
        self._painted = time.monotonic()
        self.view.show_all()
        self._show_words()
        self.retitle(self._state())

    def _state(self) -> list[Part]:
        """The second line: where one is, and what is left out."""
        book = self.book
        parts = [Part(0, [("bright", self._place())])]
        if self._typed is not None:
            return [Part(0, [("accent", "/"), ("bright", self._typed), ("accent", CURSOR)])]
        if book.found:
            hits = book.hits()
            at = hits.index(book.at) + 1 if book.at in hits else 0
            where = f" {at} of {len(hits)}" if at else f" {len(hits)} matches" if hits else " not found"
            parts.append(Part(1, [("accent", f"/{book.found}"), ("text", where)]))
        if book.level != LEVELS[0]:
            parts.append(Part(2, [("watch", f"only {book.level}")]))
        if book.role:
            parts.append(Part(3, [("watch", f"only {book.role}")]))
        if not book.items:
            return [*parts, Part(1, [("dim", self._why_empty())])]
        if day := self._day():
            parts.append(Part(2, [("dim", "of "), ("text", day)]))
        if book.follow:
            parts.append(Part(4, [("dim", "following")]))
        else:
            parts.append(Part(4, [("dim", f"line {book.at + 1} of {len(book.items)}")]))
            if book.newer:
                parts.append(Part(3, [("accent", f"{book.newer} newer ↓")]))
        if book.noise:
            parts.append(Part(5, [("dim", "noise shown")]))
        return parts

    def footer(self) -> Keys:
        return SEARCH_KEYS if self._typed is not None else super().footer()

    def idle_keys(self) -> set[str]:
        book = self.book
        works = {
            "n N": bool(book.hits()), "u": book.noise or book.folded, "p": bool(book.items or book.role),
            "Enter": bool(book.items) and self.size.height >= LEAST_WHOLE,
        }  # fmt: skip
        return {key for key, does in works.items() if not does}

    def _day(self) -> str:
        """The chosen line's day, "" where it is today's or not told: the lines have no room for it."""
        item, today = self.book.chosen, self.host.navigation.today_of(self.session)
        time = item.row.time if item is not None else None
        return "" if time is None else clock(time, today=today).rpartition(" ")[0]

    def _place(self) -> str:
        return "log"

    def _why_empty(self) -> str:
        return f"no such line is kept ({self.book.filtered})" if self.book.filtered else "no line yet"

    def _show_words(self) -> None:
        words = self.query_one("#words", Words)
        item = self.book.chosen
        shown = self._whole and item is not None and self.size.height >= LEAST_WHOLE
        words.display = shown
        if not shown or item is None:
            return
        text = whole_text(item.entry) if not item.noise else item.row.text
        found, wrapped = self.book.found, wrap(text, max(20, self.size.width - 4))
        lines: list[Spans] = [marked(f"  {line}", found, "text") for line in wrapped]
        height = min(max(LEAST_WORDS, len(lines)), WORDS, self.size.height // 3)
        if len(lines) > height:
            hit = next((i for i, line in enumerate(wrapped) if found and found in line.lower()), 0)
            first = max(0, min(hit - 1, len(lines) - height + 1)) if hit >= height - 1 else 0
            left = len(lines) - height + 1
            lines = [*lines[first : first + height - 1], [("dim", f"  and {left} lines more")]]
        words.styles.height = height
        words.show(lines)

    # -- keys --------------------------------------------------------------------------------------

    def on_log_view_moved(self) -> None:
        self._said = ""
        self._show()

    def on_key(self, event: events.Key | events.Paste) -> None:
        """While a search is typed, letters are text and no commands."""
        if self._typed is None:
            return
        key = event.key if isinstance(event, events.Key) else ""
        text = edited(self._typed, event)
        if key == "enter":
            self._search(self._typed)
        elif text is None and key != "escape":
            return
        # Backspace where nothing is left leaves, as Esc does.
        self._typed = text if self._typed or key != "backspace" else None
        event.stop()
        event.prevent_default()
        self._show()

    on_paste = on_key

    def _search(self, text: str) -> None:
        self._said = ""
        if not text:
            self.book.found = ""
        elif not self.book.search(text):
            self._said = self.book.why_not()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While one types, `/` is a character as others are and waits for its turn among them."""
        del parameters
        return action != "search" or self._typed is None

    def action_search(self) -> None:
        self._typed = ""
        self._show()

    def action_hit(self, by: int) -> None:
        if not self.book.found:
            self.say("/ searches")
        elif not self.book.next_hit(by):
            self.say(self.book.why_not())
        self._show()

    def action_follow(self) -> None:
        if self.book.follow:
            self.book.choose(self.book.at)
        else:
            self.book.end()
        self._show()

    def action_level(self) -> None:
        self.book.filter(level=LEVELS[(LEVELS.index(self.book.level) + 1) % len(LEVELS)])
        self._show()

    def action_role(self) -> None:
        roles = ["", *self.book.roles]
        at = roles.index(self.book.role) if self.book.role in roles else 0
        self.book.filter(role=roles[(at + 1) % len(roles)])
        self._show()

    def action_noise(self) -> None:
        self.book.filter(noise=not self.book.noise)
        self._show()

    def action_whole(self) -> None:
        self._whole = not self._whole
        self._show()

    def action_back(self) -> None:
        if self.book.found:
            self.book.found, self._said = "", ""
            self._show()
        else:
            self.app.pop_screen()


class PlaceScreen(LogScreen):
    """The lines around a rollout's record, found in the file; where it can't be found, in the lines that are kept."""

    FOOTER = tuple(key for key in LogScreen.FOOTER if key[0] != "f")

    def __init__(
        self, host: Host, session: Session, parts: Sequence[Path], rollout: int, time: float | None = None
    ) -> None:
        super().__init__(host, session)
        self.book = LogBook(follow=False)
        self.rollout = rollout
        self._parts, self._time = parts, time
        self._entries: Sequence[LogEntry] = ()
        self._looking = True

    def on_mount(self) -> None:
        self.run_worker(self._find(), name="find the place")

    def on_unmount(self) -> None:
        """Nothing was watched."""

    async def _find(self) -> None:
        place: ContextLines | None = None
        try:
            if self._parts:
                place = await aside(find_place, self._parts, self.rollout, self._time)
        except MilesTuiError as error:
            self._said = str(error)
        self._looking = False
        if place is not None:
            before = tuple(entries_of(place.text[: place.at]))
            self._entries = tuple(entries_of(place.text))
            self._mark(len(before))
        else:
            self._from_ring()
        self.book.update(self._entries)
        self.book.choose(self._at)
        if self.is_mounted:
            self.view.centre()
            self._show()

    _at = 0

    def _mark(self, at: int) -> None:
        self._at = min(at, max(0, len(self._entries) - 1))
        self.view.mark = self._entries[self._at].number if self._entries else None

    def _from_ring(self) -> None:
        """A pipe, a packed file: what is kept of its end may have it."""
        self.session.ring.settle()
        kept = tuple(self.session.ring.entries)
        wanted = {f"rollout {self.rollout}", f"perf {self.rollout}"}
        book = LogBook(follow=False)
        book.update(kept)
        at = max((i for i, item in enumerate(book.items) if item.row.short in wanted), default=-1)
        if at >= 0:
            self._entries = kept
            self._mark(at)
        elif not self._said:
            self._said = f"no line of rollout {self.rollout} is left in the log"

    def entries(self) -> Sequence[LogEntry]:
        return self._entries

    def _take(self) -> None:
        """The lines stay as they were found."""

    def _place(self) -> str:
        return f"log around rollout {self.rollout}"

    def _why_empty(self) -> str:
        return "looking for it" if self._looking else self._said or super()._why_empty()

    def action_follow(self) -> None:
        self.say("L shows the newest lines, and follows")
