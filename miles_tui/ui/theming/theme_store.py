"""The themes that there are: the first one fast, all of them when a person asks for another."""

from __future__ import annotations

import os

from miles_tui.config.paths import bundled_themes, themes_dir
from miles_tui.errors import BadSetting, nearest
from miles_tui.files import is_missing, named
from miles_tui.ui.theming.theme import Theme, load_theme, load_themes


class Looks:
    """Bundled themes and the person's own, which beat bundled ones of the same name."""

    def __init__(self) -> None:
        self._all: dict[str, Theme] | None = None
        self.failed: list[str] = []
        self._known = self._seen = _stamps()

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

    def edited(self) -> bool:
        """Whether the person's files are not those that were read, and stay so since the last time this was asked.

        An editor that writes in pieces is waited for. 10 us without a file of one's own, 6 us more for each.
        """
        before, self._seen = self._seen, _stamps()
        return self._seen == before and self._seen != self._known

    def again(self, worn: Theme) -> tuple[Theme, list[str]]:
        """Read all again: what the theme in use looks like, and what is wrong. A wrong one stays as it is."""
        self._known = self._seen
        self._all, before, self.failed = None, self.failed, []
        themes, failed = self.all(), self.failed
        self.failed = [*before, *failed]
        broken = any(message.startswith(f"{themes_dir() / worn.name}.toml:") for message in failed)
        if broken or worn.name not in themes:
            themes[worn.name] = worn
        return themes[worn.name], failed

    def after(self, name: str) -> Theme:
        """The next theme in the list."""
        names = list(self.all())
        at = names.index(name) if name in names else -1
        return self.all()[names[(at + 1) % len(names)]]


def _stamps() -> dict[str, tuple[int, int, int]]:
    """When each of the person's files was written, how long it is, and which file it is."""
    try:
        with os.scandir(themes_dir()) as found:
            files = [(entry.name, entry.stat()) for entry in found if entry.name.endswith(".toml")]
    except OSError:  # no folder, or a file that went while it was looked at: as if there were none
        return {}
    return {name: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for name, stat in files}


__all__ = ["BadSetting", "Looks"]
