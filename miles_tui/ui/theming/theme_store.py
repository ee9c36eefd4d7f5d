"""The themes that there are: the first one fast, all of them when a person asks for another."""

from __future__ import annotations

from miles_tui.config.paths import bundled_themes, themes_dir
from miles_tui.errors import nearest
from miles_tui.files import is_missing, named
from miles_tui.ui.theming.theme import Theme, load_theme, load_themes


class Looks:
    """Bundled themes and the person's own, which beat bundled ones of the same name."""

    def __init__(self) -> None:
        self._all: dict[str, Theme] | None = None
        self.failed: list[str] = []

    def first(self, name: str | None, usual: str) -> Theme:
        """The theme to open with. One that is asked for and wrong or unknown is one message, and the usual one.

        A bundled one is read alone and fast, where the person has none of that name.
        """
        wanted = name or usual
        bundled = {path.stem: path for path in named(bundled_themes(), ".toml")}
        if wanted in bundled and is_missing(themes_dir() / f"{wanted}.toml"):
            return load_theme(bundled[wanted])
        themes = self.all()
        if name is not None and name not in themes:
            self.failed.append(f"there is no theme {name}{nearest(name, themes)}")
        return themes.get(wanted) or load_theme(bundled[usual])

    def all(self) -> dict[str, Theme]:
        """All themes by name."""
        if self._all is None:
            loaded = load_themes([bundled_themes(), themes_dir()])
            self._all = loaded.themes
            self.failed += loaded.failed
        return self._all

    def after(self, name: str) -> Theme:
        """The next theme in the list."""
        names = list(self.all())
        at = names.index(name) if name in names else -1
        return self.all()[names[(at + 1) % len(names)]]
