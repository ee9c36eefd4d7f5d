"""The command palette, for every terminal: no emoji before its field, and a cursor that does not blink."""

from __future__ import annotations

from textual.command import CommandInput, CommandPalette


class Palette(CommandPalette):
    """Textual's own, quiet: a blinking cursor sends bytes for as long as it stands open."""

    DEFAULT_CSS = """
    Palette SearchIcon { display: none; }
    """

    def on_mount(self) -> None:
        self.query_one(CommandInput).cursor_blink = False
