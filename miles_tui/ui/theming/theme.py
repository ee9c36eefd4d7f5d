"""Themes: what each role of the screen looks like, read from `themes/*.toml`.

    a name in `ROLES` -> `Theme.style(name)` -> a Rich style        (rows, sparklines, charts)
                      -> `Theme.textual()`   -> a Textual theme     (CSS: `$critical-ink`, `$dim-ink`, ...)

A file is checked by a pydantic model (`theme_file`), which imports in 90 ms; a bundled theme that the
screen opens with is read without it (`load_theme`), as the tests have checked every bundled file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.style import Style

from miles_tui.config.toml_file import parsed, read_toml_text, toml_files
from miles_tui.errors import BadSetting
from miles_tui.ui.theming.roles import GROUNDS, ROLES

if TYPE_CHECKING:
    from textual.theme import Theme as TextualTheme

DEFAULT_DARK, DEFAULT_LIGHT, SIXTEEN, MONOCHROME = "dark", "light", "sixteen", "monochrome"


@dataclass(slots=True)
class Theme:
    """A checked theme. `inks` holds every role as written in the file: attributes, then a colour.

    A colour is `#rrggbb`, or `ansi_red` and the like: the terminal's own sixteen, `ansi_default` its usual one.
    """

    name: str
    title: str
    dark: bool
    inks: dict[str, str]
    grounds: dict[str, str]
    _styles: dict[str, Style] = field(default_factory=dict, repr=False, compare=False)

    @property
    def ansi(self) -> bool:
        """Are its colours the terminal's own? Then Textual must not turn them into RGB."""
        return self.grounds["ground"].startswith("ansi_")

    def style(self, name: str) -> Style:
        """The Rich style of a role, without a background; `name on chosen` has the ground of that name behind it.

        An unknown role looks like `text`: a screen newer than a theme stays readable.
        """
        found = self._styles.get(name)
        if found is None:
            role, _, ground = name.partition(" on ")
            attributes, colour = split_ink(self.inks.get(role, self.inks["text"]))
            words = [*attributes, _rich(colour), *(("on", _rich(self.grounds[ground])) if ground else ())]
            found = self._styles[name] = Style.parse(" ".join(words))
        return found

    def colour(self, name: str) -> str:
        """The bare colour of a role or ground, as the file has it."""
        return self.grounds[name] if name in self.grounds else split_ink(self.inks[name])[1]

    def variables(self) -> dict[str, str]:
        """CSS variables: `$ok-ink` (colour) and `$ok-look` (text-style) for each role, `$ground`, `$raised`, `$chosen`.

        A dot in a role's name is a hyphen: `$spark-mean-ink`. `DEFAULT_VARIABLES` has the same names.
        """
        out = dict(self.grounds)
        for role, ink in self.inks.items():
            attributes, colour = split_ink(ink)
            out[f"{role.replace('.', '-')}-ink"] = colour
            out[f"{role.replace('.', '-')}-look"] = " ".join(attributes) or "none"
        return out

    def textual(self) -> TextualTheme:
        """The same as a Textual theme, for `App.register_theme`; its name begins with `mt-`."""
        from textual.theme import Theme as TextualTheme  # here: `status` and tests read themes without Textual

        colour = self.colour
        return TextualTheme(
            name=f"mt-{self.name}",
            primary=colour("accent"),
            secondary=colour("notice"),
            accent=colour("accent"),
            warning=colour("warning"),
            error=colour("critical"),
            success=colour("ok"),
            foreground=colour("text"),
            background=colour("ground"),
            surface=colour("ground"),
            panel=colour("raised"),
            boost=colour("chosen"),
            dark=self.dark,
            ansi=self.ansi,
            variables=self._stock() | self.variables(),
        )

    def _stock(self) -> dict[str, str]:
        """Variables of Textual's own widgets."""
        colour = self.colour
        stock = {
            "border": colour("dim"),
            "border-blurred": colour("dim"),
            "block-cursor-background": colour("chosen"),
            "block-cursor-foreground": colour("bright"),
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": colour("raised"),
            "block-cursor-blurred-foreground": colour("text"),
            "footer-background": colour("raised"),
            "footer-foreground": colour("text"),
            "footer-key-foreground": colour("accent"),
            "footer-description-foreground": colour("dim"),
            "footer-description-background": colour("raised"),
            "footer-item-background": colour("raised"),
            "scrollbar": colour("dim"),
            "scrollbar-hover": colour("accent"),
            "scrollbar-active": colour("accent"),
            "scrollbar-background": colour("ground"),
            "scrollbar-background-hover": colour("ground"),
            "scrollbar-background-active": colour("ground"),
            "scrollbar-corner-color": colour("ground"),
            "input-selection-background": colour("chosen"),
        }
        if self.ansi:  # Textual derives these from RGB colours only, and ends with "undefined variable" without them
            stock |= {"ansi-background": colour("ground"), "ansi-foreground": colour("text")}
            for place in ("input-selection", "screen-selection", "input-cursor"):
                stock |= {f"{place}-background": colour("text"), f"{place}-foreground": colour("ground")}
        return stock


@dataclass(slots=True)
class Loaded:
    """Themes by name, in the order in which a person meets them, and one message a file that failed."""

    themes: dict[str, Theme] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def split_ink(ink: str) -> tuple[tuple[str, ...], str]:
    """(attributes, colour) of `bold underline #ff0000`."""
    *attributes, colour = ink.split()
    return tuple(attributes), colour


def complete(name: str, raw: dict[str, Any]) -> Theme:
    """A theme from a table that is known to be right; roles that it leaves out look like their stand-in."""
    flat: dict[str, str] = {}
    for key, value in raw.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{inner}": ink for inner, ink in value.items() if ink is not None})
        elif value is not None:
            flat[key] = value
    inks = {role: flat.get(role) or flat[other or role] for role, other in ROLES.items()}
    return Theme(name, raw.get("title") or name, raw["dark"], inks, {ground: flat[ground] for ground in GROUNDS})


def load_theme(path: Path) -> Theme:
    """A bundled file, unchecked and fast (2 ms, no pydantic). Raises `BadSetting` where it is no theme at all."""
    try:
        return complete(path.stem, _read_theme(path))
    except (KeyError, AttributeError) as error:
        raise BadSetting(f"{path}: the theme has no {error}") from error


def load_themes(folders: Iterable[Path]) -> Loaded:
    """All themes of these folders, checked; a later folder's theme takes the place of an earlier one's of that name.

    A missing folder is an empty one. A file that fails costs itself only: what was loaded under its name stays.
    """
    from miles_tui.ui.theming.theme_file import checked_theme  # pydantic: 90 ms

    loaded = Loaded()
    for folder in folders:
        for path in toml_files(folder, loaded.failed):
            try:
                loaded.themes[path.stem] = complete(path.stem, checked_theme(path, _read_theme(path)))
            except BadSetting as error:
                loaded.failed.append(str(error))
    first = (DEFAULT_DARK, DEFAULT_LIGHT)
    names = sorted(loaded.themes, key=lambda n: (first.index(n) if n in first else len(first), n))
    loaded.themes = {name: loaded.themes[name] for name in names}
    return loaded


def usual_theme(*, colours: int, no_color: bool = False, dark: bool = True) -> str:
    """The name of the theme for a terminal that was told nothing.

    `colours` is how many it shows (0 or 2: none, 16, 256, 2**24); `no_color` that a person wants none.
    """
    if no_color or colours < 8:
        return MONOCHROME
    if colours < 256:
        return SIXTEEN
    return DEFAULT_DARK if dark else DEFAULT_LIGHT


def _read_theme(path: Path) -> dict[str, Any]:
    try:
        return parsed(read_toml_text(path), str(path))
    except FileNotFoundError:
        raise BadSetting(f"{path}: can't be read: it does not exist") from None


def _rich(colour: str) -> str:
    """Rich's name of a colour: it calls `ansi_bright_red` `bright_red`."""
    return colour.removeprefix("ansi_")


def _plain_variables() -> dict[str, str]:
    plain = {
        "ground": "#12151b", "raised": "#191d25", "chosen": "#262d39", "dark": True, "title": "plain",
    }  # fmt: skip
    inks = {role: "#d5dae3" for role, other in ROLES.items() if other is None}
    return complete("plain", plain | inks).variables()


DEFAULT_VARIABLES: dict[str, str] = _plain_variables()
"""For `App.get_theme_variable_defaults()`: without them a foreign theme ends the app with "undefined variable"."""
