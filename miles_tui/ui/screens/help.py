"""The keys that work on the screen that help was called from, and what the signs mean."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import ActiveBinding
from textual.screen import Screen
from textual.widget import Widget

from miles_tui.core.text.cells import pad, wrap
from miles_tui.present.plot.sparkline import GLYPHS, Glyphs
from miles_tui.present.styled_text import Spans
from miles_tui.present.view_models import LIGHTS, NOT_JUDGED_LIGHT, SHAPES
from miles_tui.runs.session import Session
from miles_tui.ui.host import Host
from miles_tui.ui.screens.sub import SubScreen
from miles_tui.ui.widgets.listing import Listing

KEY = 17  # cells of the column of keys: x  Enter  space
KEY_NAMES = {
    "question_mark": "?", "space": "space", "escape": "Esc", "enter": "Enter", "up": "↑", "down": "↓", "left": "←",
    "right": "→", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End", "tab": "Tab", "plus": "+",
    "minus": "-", "shift+tab": "Shift+Tab", "equals_sign": "=",
}  # fmt: skip
NOTES = (
    "Rollouts are numbered from 0, as in the log; times are the log's own clock.",
    "mean 5 is the mean of the last five rollouts, change is how that mean moved over the last ten."
    " An arrow is a trend that a test finds (1 %), not a wiggle.",
    "A sparkline shows the whole run: a rollout a column, or as many as its title says (twenty at most, then the"
    " newest). A dot is their mean, the line the mean of five; the chart (Enter) has every single rollout.",
    "◆ is a marked row (v): Enter draws the marked ones on one chart, V forgets them.",
    "A range is a profile's, or that of this run's first ten rollouts: it says so. The latter is for orientation, no"
    " condition judges by it.",
)
STAYS = (
    "A signal that is to stay in its range (each that a profile has; gap, KL and clip fraction always) shows what is"
    " outside in another colour"
)


class HelpScreen(SubScreen):
    """Keys of the screen below, signs, and a few words. Nothing to choose: arrows scroll."""

    FOOTER = (("Esc", "back", 0), ("↑↓", "scroll", 1))
    passing = True

    def __init__(self, host: Host, session: Session, below: Screen[object]) -> None:
        super().__init__(host, session, "help")
        self._glyphs = GLYPHS[host.glyphs]
        self._keys = key_lines(below.active_bindings.values())

    def body(self) -> Widget:
        return Listing(cursor=False, id="body")

    def fill(self) -> None:
        width = self.size.width
        margin = 2 if width >= 76 else 0
        lines: list[Spans] = []
        for key, words in self._keys:
            lines += _help_entry("accent", key, words, width, margin, KEY)
        lines.append([])
        for shape, style, word in (*_signs(), *_signs_in_lines(self._glyphs)):
            lines += _help_entry(style, shape, word, width, margin, 4)
        lines.append([])
        for note in (*NOTES, _stays(self._glyphs)):
            lines += [[("text", " " * margin), ("dim", line)] for line in wrap(note, max(20, width - 2 * margin))]
        self.listing.put(lines)
        self._frame()

    def idle_keys(self) -> set[str]:
        body = self.listing
        return set() if body.at or body.below else {"↑↓"}


def key_lines(bindings: Iterable[ActiveBinding]) -> list[tuple[str, str]]:
    """(keys, what they do) of every action that has words, keys of one action together."""
    keys: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for active in bindings:
        binding = active.binding
        if not active.enabled or not binding.id or not active.tooltip:  # Textual's own have no id
            continue
        name = binding.key_display or KEY_NAMES.get(binding.key) or binding.key
        if name.startswith("ctrl+"):
            name = "Ctrl+" + name[5:].upper()
        keys.setdefault(binding.action, []).append(name)
        words.setdefault(binding.action, active.tooltip or binding.description)
    return [("  ".join(dict.fromkeys(keys[action])), words[action]) for action in keys]


def _signs() -> Iterable[tuple[str, str, str]]:
    for light in LIGHTS.values():
        why = "no condition reads it or has enough to judge by"
        word = f"no sign: {light.word}, {why}" if light is NOT_JUDGED_LIGHT else light.word
        yield light.letter, light.style, f"signal: {word}"
    for word, (shape, style) in SHAPES.items():
        if word not in ("alert", "warned"):
            yield shape, style, f"run: {word}"
    yield "▲", "critical", "run: alerts fire, a critical one among them"
    yield "△", "warning", "run: alerts fire, none is critical"


def _signs_in_lines(glyphs: Glyphs) -> Iterable[tuple[str, str, str]]:
    yield glyphs.above + glyphs.below, "spark.step", "line: a rollout is off the scale"
    yield glyphs.bad, "spark.bad", "line: a value is not finite"
    yield glyphs.paused, "spark.paused", "line: a pause touched the rollout"
    yield glyphs.parting, "spark.break", "line: the run was restarted here"


def _stays(glyphs: Glyphs) -> str:
    """How a sparkline shows the range: with a bar where one cell is a column, else with signs in the line."""
    up, down = glyphs.above, glyphs.below
    if not glyphs.joint:
        return f"{STAYS}; {up} {down} are also where the values leave the range, and the newest one outside it."
    return (
        f"{STAYS}. The first cell of its sparkline is a bar over the part of the line's height that is inside;"
        f" {up} or {down} there: the whole range lies above or below what is drawn."
    )


def _help_entry(style: str, key: str, words: str, width: int, margin: int, column: int) -> list[Spans]:
    lines = wrap(words, max(16, width - 2 * margin - column))
    first: Spans = [("text", " " * margin), (style, pad(key, column)), ("text", lines[0])]
    return [first, *([("text", " " * (margin + column) + line)] for line in lines[1:])]
