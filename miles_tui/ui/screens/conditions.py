"""The conditions: what each says now, its rule in words, and a key to switch it off or on."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from miles_tui.core.alerting.conditions import CONDITIONS
from miles_tui.core.alerting.conditions.base import State
from miles_tui.core.run.snapshot import ConditionSnapshot
from miles_tui.core.text.cells import pad, wrap
from miles_tui.present.styled_text import Spans
from miles_tui.present.view_models import LIGHTS, Light
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.messages import Grew
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.widgets.lines import Lines

OFF_LIGHT = Light("x", "off", "dim")
QUESTION = "x again: {} off; its alert is silent until it is on again"
RULE_LINES = 6  # lines for the rule of the chosen condition


class ConditionsScreen(SubScreen):
    """A line a condition; below it the chosen one in words."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x,enter,space", "switch", "Off/on", id="condition.switch", tooltip="Switch the condition off or on"),
    ]
    FOOTER = (("x", "off/on", 1), ("Esc", "back", 0), ("↑↓", "select", 2))
    DEFAULT_CSS = """
    ConditionsScreen #words { height: 6; margin-top: 1; }
    """

    def __init__(self, host: Host, session: Session, condition: str | None) -> None:
        super().__init__(host, session, "conditions")
        self._ids = list(CONDITIONS)
        self._at = self._ids.index(condition) if condition in self._ids else 0
        self._asked = ""  # the condition that the key before this one asked to switch off
        self._question = ""  # the same, for the next key

    def compose(self) -> ComposeResult:
        *most, keys = super().compose()
        yield from most
        yield Lines(id="words")
        yield keys

    def on_mount(self) -> None:
        self.listing.at = self._at

    def fill(self) -> None:
        listing, width, height = self.listing, self.size.width, self.size.height
        self.query_one("#words").display = height >= 20
        run = self.session.snapshot
        open_ = {alert.condition for alert in run.alerts if alert.open}
        widest = max(map(len, self._ids))
        lines: list[Spans] = []
        for name in self._ids:
            said = run.conditions[name]
            light = _light(said, held=said.held_by if name not in open_ else "")
            count = f" {said.count} of {said.of}" if said.of else ""
            role = "dim" if said.state is State.OFF else "text"
            lines.append([(light.style, f"  {light.letter} "), (role, pad(name, widest)),
                          (light.style, f"  {light.word}{count}")])  # fmt: skip
        listing.put(lines)
        words = CONDITIONS[self._ids[min(listing.at, len(self._ids) - 1)]]
        rule = f"{words.title} ({words.severity.value}). {words.rule}"
        shown = wrap(rule, max(20, width - 4))[:RULE_LINES]
        self.query_one("#words", Lines).show([[("dim", f"  {line}")] for line in shown])

    def on_listing_moved(self) -> None:
        self.fill()

    def on_listing_picked(self) -> None:
        self.action_switch()

    def key_pressed(self) -> None:
        """A key, before its action: a question is answered by the very next key or forgotten."""
        shown = self._said == QUESTION.format(self._question)
        self._asked, self._question = self._question if shown else "", ""
        if shown:
            self._unsay(self._said)

    def action_switch(self) -> None:
        """Off becomes on, anything else off. It asks first where that takes an open alert away."""
        name = self._ids[self.listing.at]
        on = name in self.session.snapshot.off
        if not on and self._asked != name and any(a.open and a.condition == name for a in self.session.snapshot.alerts):
            self._question = name
            self.say(QUESTION.format(name))
            return
        (self.session.monitor.enable if on else self.session.monitor.disable)(name)
        self.session.touch()
        self.app.post_message(Grew())
        self.fill()
        self.say(f"{name} is {'on' if on else 'off'}")


def _light(said: ConditionSnapshot, held: str) -> Light:
    """The state of a condition, in the words and signs of a signal's."""
    if said.off:
        return OFF_LIGHT
    if said.state is State.OFF:
        return OFF_LIGHT._replace(word="nothing to judge by" if said.idle else "does not apply")
    if said.state is not State.FIRING:
        return LIGHTS[said.state]
    if held:
        return LIGHTS["held back"]._replace(word=f"held back by {held}")
    return LIGHTS[said.severity or CONDITIONS[said.id].severity]
