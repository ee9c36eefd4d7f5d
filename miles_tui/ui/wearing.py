"""A theme file that is edited while the program runs is worn at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from miles_tui.locations import themes_dir

if TYPE_CHECKING:
    from miles_tui.ui.app import MilesApp

MIRROR_SECONDS = 1.0  # between two looks at the files: 0.3 ms with the timer, 0.03 % of a core


def look_again(app: MilesApp) -> None:
    """Wear the theme in use as its file is now. A wrong file is one message, and what is worn stays."""
    if not app.looks.edited():
        return
    from miles_tui.ui.screens.themes import ThemeScreen  # here: a start pays for no screen that it does not show

    look, failed = app.looks.again(app.look)
    folder = f"{themes_dir().parent}{os.sep}"
    app.tell(*(text.removeprefix(folder) for text in failed))  # a line has no room for both: the end says what is wrong
    if look != app.look:
        app.use_look(look)
        app.refresh_css(animate=False)  # a theme of the same name: Textual sees no change by itself
    if isinstance(app.screen, ThemeScreen):
        app.screen.list_again()
