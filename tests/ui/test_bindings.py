"""Every key does what its words say, is in help where it works, and in the command palette."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from bound import CASES, Seen
from textual.binding import Binding
from textual.command import CommandInput
from textual.dom import DOMNode
from ways import WAYS

import miles_tui.ui
from miles_tui.core.text.ascii import to_ascii
from miles_tui.ui.app import MilesApp
from miles_tui.ui.screens.help import HelpScreen, key_lines
from miles_tui.ui.widgets.lines import Lines

Opened = Callable[..., Any]
# Textual's own, that do nothing here: text is selected by the terminal, and no screen has more to move between.
UNSAID = {"app.focus_next", "app.focus_previous", "screen.copy_text", "screen.minimize"}


def declared() -> Iterator[tuple[type[DOMNode], Binding]]:
    """Every binding of every class of the screen."""
    known: set[type] = set()
    for module in pkgutil.walk_packages(miles_tui.ui.__path__, "miles_tui.ui."):
        for cls in vars(import_module(module.name)).values():
            if isinstance(cls, type) and issubclass(cls, DOMNode) and cls.__module__.startswith("miles_tui"):
                known.add(cls)
    for cls in sorted(known, key=lambda cls: cls.__name__):
        for binding in vars(cls).get("BINDINGS", ()):
            assert isinstance(binding, Binding), f"{cls.__name__}: {binding}"
            yield cls, binding


BINDINGS = list(declared())
KEYS = [(b.id or "", key) for _, b in BINDINGS for key in b.key.split(",")]
PLACES: dict[str, list[tuple[str, str]]] = {}  # the keys that are pressed at the same place
for id_, key in KEYS:
    if id_ in CASES:
        case = CASES[id_]
        place = f"{case.way.log} {len(case.way.others)} {case.size[0]} {case.there}"
        PLACES.setdefault(place, []).append((id_, key))


def test_every_binding_has_an_id_a_word_and_a_sentence() -> None:
    assert len(BINDINGS) > 60
    for cls, binding in BINDINGS:
        assert binding.id and binding.description and binding.tooltip, (cls.__name__, binding.key)  # noqa: PT018
    ids = [binding.id for _, binding in BINDINGS]
    assert len(ids) == len(set(ids)), "one id means one thing"


def test_every_binding_has_a_case() -> None:
    assert {binding.id for _, binding in BINDINGS} == set(CASES)


@pytest.mark.parametrize("place", PLACES)
async def test_a_key_does_what_it_says(shown: Opened, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setattr(MilesApp, "suspended", False, raising=False)  # a real one is in `test_live`
    monkeypatch.setattr(MilesApp, "action_suspend_process", lambda app: setattr(app, "suspended", True))
    keys = [*PLACES[place]]
    while keys:
        first = CASES[keys[0][0]]
        async with shown(first.way, first.size) as screen:
            if first.there:
                await screen.press(*first.there.split(" "))
            state, key = screen.state(), ""
            while keys and await screen.is_again(state, key):
                id_, key = keys.pop(0)
                await does_what_it_says(screen, id_, key)


async def does_what_it_says(screen: Any, id_: str, key: str) -> None:
    before, effect = screen.text, CASES[id_].effect
    screen.app._paper._rows = [[("?", ("", "", ""))]]
    screen.app._clipboard, screen.app.suspended = "", False
    assert not effect(Seen(before, before, screen.app)), f"{id_}: what its key shall do is so before"
    await screen.pilot.press(key)
    await screen.pilot.pause()
    if screen.app._exit:
        assert effect(Seen(before, "", screen.app)), f"{id_}: {key}"
        return
    try:
        await screen.wait(lambda text: effect(Seen(before, text, screen.app)))
    except AssertionError as failed:
        raise AssertionError(f"{id_}: {key} does not do what it says: {failed}") from None


@pytest.mark.parametrize("name", list(WAYS))
async def test_the_palette_the_footer_and_help_have_what_works_here(shown: Opened, name: str) -> None:
    async with shown(name, (120, 36)) as screen:
        palette_has_every_action(screen)
        every_key_of_the_footer_works(screen, typed=name == "metrics-filtered")
        await help_shows_exactly_what_works(screen)


async def help_shows_exactly_what_works(screen: Any) -> None:
    active = list(screen.app.screen.active_bindings.values())
    works = {a.tooltip for a in active if a.enabled and a.binding.id}
    assert {a.binding.action for a in active if not a.binding.id} <= UNSAID
    if isinstance(screen.app.screen, HelpScreen):
        return
    screen.app.action_help()
    await screen.wait(lambda _: isinstance(screen.app.screen, HelpScreen))
    await screen.pilot.resize_terminal(240, 120)
    text = await screen.wait(lambda text: "too small" not in text and len(text.splitlines()) == 120)
    said = {line.strip() for line in text.splitlines()}
    assert {b.tooltip for _, b in BINDINGS if any(line.endswith(f"  {b.tooltip}") for line in said)} == works
    for keys, words in key_lines(active):
        line = next(line for line in said if line.endswith(f"  {words}"))
        assert line.startswith(f"{keys}  "), "keys of one action stand together, none is cut"


def palette_has_every_action(screen: Any) -> None:
    here = screen.app.screen
    active = [a for a in here.active_bindings.values() if a.enabled and a.binding.id]
    commands = list(screen.app.get_system_commands(here))
    assert {c.help for c in commands} == {a.tooltip for a in active}
    assert len(commands) == len({(a.node, a.binding.action) for a in active}), "each once"
    for command in commands:
        action, node = command.callback.args
        target, method, _ = screen.app._parse_action(action, node)
        assert hasattr(target, f"action_{method}"), action


def every_key_of_the_footer_works(screen: Any, *, typed: bool) -> None:
    names = {"Esc": "escape", "Enter": "enter", "?": "question_mark", "/": "slash", "+": "plus", "-": "minus",
             "↑": "up", "↓": "down", "←": "left", "→": "right",
             "{": "left_curly_bracket", "}": "right_curly_bracket"}  # fmt: skip
    here = screen.app.screen
    footer = here.query_one("#keys", Lines).lines[0]
    keys = [text for style, text in footer if style == "accent"]
    assert keys
    if typed:
        assert keys == ["Enter", "Esc", "↑↓"], "while one types, letters are no keys"
        return
    for key in keys:
        single = [key] if key in names or key.isalnum() or key == "space" else key.replace(" ", "")
        for one in single:
            assert names.get(one, one) in here.active_bindings, f"{one} of {key}"


async def test_an_action_of_the_palette_is_done_where_its_key_is_bound(shown: Opened) -> None:
    async with shown("chart") as screen:
        await screen.press("ctrl+p")
        await screen.press(*"Log scale")
        await screen.wait(lambda text: "Logarithmic scale" in text)
        await screen.press("enter")
        await screen.wait(lambda text: "log scale" in text.splitlines()[1] and "read" in text.splitlines()[-1])


async def test_the_palette_can_be_read_without_utf_8(shown: Opened) -> None:
    async with shown("main", glyphs="ascii") as screen:
        await screen.press("ctrl+p")
        text = await screen.wait(lambda text: "From the signals to the alerts" in text)
        assert not {char for char in text if not char.isascii() and to_ascii(char).startswith("?")}
        assert not screen.app.screen.query_one(CommandInput).cursor_blink


async def test_while_one_types_the_footer_has_the_keys_for_that(shown: Opened) -> None:
    async with shown("log") as screen:
        usual = screen.text.splitlines()[-1]
        assert "Enter search  Esc leave" in await screen.press("slash", "s")
        assert (await screen.press("escape")).splitlines()[-1] == usual
    async with shown("metrics") as screen:
        usual = screen.text.splitlines()[-1]
        assert "Enter keep  Esc clear" in await screen.press("slash", "k")
        assert (await screen.press("enter")).splitlines()[-1] == usual
