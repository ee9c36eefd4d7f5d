"""Screens on top of the main one: the verdict stays in sight, Esc or q leads back."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from miles_tui.core.run.change import Change
from miles_tui.present.footer import Keys, footer_line
from miles_tui.present.header import Surroundings, heading, sentence
from miles_tui.present.layout import LEAST_HEIGHT, LEAST_WIDTH, margin_of
from miles_tui.present.styled_text import Part, Spans, packed
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.screens.base import OurScreen
from miles_tui.ui.widgets.lines import Lines
from miles_tui.ui.widgets.listing import Listing

BACK_KEYS: list[BindingType] = [
    Binding("escape,q", "app.pop_screen", "Back", id="screen.back", tooltip="Back to the run"),
]


class SubScreen(OurScreen):
    """A head of one line, a body, a footer of keys. `FOOTER` has the keys that it tells of."""

    BINDINGS: ClassVar[list[BindingType]] = BACK_KEYS
    FOOTER: ClassVar[Keys] = (("Esc", "back", 0),)
    DEFAULT_CSS = """
    SubScreen { layout: vertical; overflow: hidden; background: $ground; color: $text-ink; }
    SubScreen:ansi { background: $ground; color: $text-ink; }  /* Textual's own rule for 16 colours is as near */
    SubScreen Lines { background: $ground; }
    SubScreen #title { margin-bottom: 1; }
    SubScreen #body { height: 1fr; }
    """

    def __init__(self, host: Host, session: Session, title: str) -> None:
        super().__init__(host, session)
        self._title = [Part(0, [("bright", title)])]

    def body(self) -> Widget:
        """What stands between head and footer, with the id `body`: a list, where a screen has nothing else."""
        return Listing(id="body")

    @property
    def listing(self) -> Listing:
        """The list between head and footer."""
        return self.query_one("#body", Listing)

    def fill(self) -> None:
        """Put the content into the body; called when the size or the run changed."""

    def compose(self) -> ComposeResult:
        yield Lines(id="head")
        yield Lines(id="title")
        yield self.body()
        yield Lines(id="keys")

    @property
    def too_small(self) -> bool:
        """Whether a plain sentence is all that fits."""
        return self.size.width < LEAST_WIDTH or self.size.height < LEAST_HEIGHT

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#head").styles.height = event.size.height if self.too_small else 1  # the rest is below then
        self.query_one("#title").styles.margin = (0, 0, 1 if event.size.height >= 16 else 0, 0)
        self._frame()
        self.fill()
        self.call_after_refresh(self.fill)  # the margin above changed what the body has

    def on_screen_resume(self) -> None:
        """Seen again, as after help."""
        self._frame()
        self.fill()

    def grew(self, change: Change) -> None:
        """The run changed."""
        if change.header or change.alerts:
            self._frame()
        self.fill()

    def turn_to(self, session: Session) -> None:
        """Show another run."""
        self.session = session

    def retitle(self, title: list[Part]) -> None:
        """Change the second line."""
        self._title = title
        self._frame()

    def footer(self) -> Keys:
        """The keys that work at this moment."""
        idle = self.idle_keys()
        return tuple(entry for entry in self.FOOTER if entry[0] not in idle)

    def idle_keys(self) -> set[str]:
        """Keys of `FOOTER` that would do nothing at this moment."""
        return set()

    def _frame(self) -> None:
        width = self.size.width
        if self.too_small:
            self.query_one("#head", Lines).show(sentence(self.session.snapshot, width, self.size.height))
            return
        margin = margin_of(width)
        edge: Spans = [("text", " " * margin)]
        name = self.session.name
        navigation = self.host.navigation
        around = Surroundings(name, run=name if navigation.place else "", today=navigation.today_of(self.session))
        self.query_one("#head", Lines).show(heading(self.session.snapshot, around, width, 1, margin))
        self.query_one("#title", Lines).show([edge + packed(self._title, width - 2 * margin)])
        self.query_one("#keys", Lines).show([edge + footer_line(self.footer(), width - 2 * margin, self._said)])
