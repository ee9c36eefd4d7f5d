"""Themes: every bundled file loads, can be read, and its states differ for every eye; a wrong file is one message."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from rich.style import Style
from textual.app import App, ComposeResult
from textual.widgets import Footer, Static

from miles_tui.config.paths import bundled_themes
from miles_tui.errors import BadSetting
from miles_tui.present.plot.sparkline import Frame, spark
from miles_tui.ui.theming.roles import GROUNDS, ROLES
from miles_tui.ui.theming.theme import (
    DEFAULT_VARIABLES,
    Theme,
    load_theme,
    load_themes,
    split_ink,
    usual_theme,
)

BUNDLED = load_themes([bundled_themes()])
STATES = ("ok", "watch", "warning", "critical", "notice", "learn")
LADDER = ("ok", "watch", "warning", "critical")  # neighbours in meaning: these must not be taken for one another

# The sixteen colours as two common terminals have them: xterm, and the VGA palette of the Linux console.
NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
PALETTES = {
    "xterm": ("000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5",
              "7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"),
    "vga": ("000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa",
            "555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff"),
}  # fmt: skip

# Colour-vision deficiencies at full strength, on linear RGB: Machado, Oliveira and Fernandes (2009).
EYES = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
Triple = tuple[float, float, float]


def linear(colour: str, palette: str = "xterm") -> Triple:
    """A colour of a theme file as linear RGB."""
    if colour.startswith("ansi_"):
        name = colour.removeprefix("ansi_")
        shades = PALETTES[palette][name.startswith("bright_")].split()
        colour = "#" + shades[NAMES.index(name.removeprefix("bright_"))]
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return red, green, blue


def contrast(one: Triple, other: Triple) -> float:
    """WCAG 2's contrast ratio."""
    low, high = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(colour: Triple, eye: str) -> Triple:
    """The colour as an eye sees it, as CIE L*a*b* (D65)."""
    r, g, b = (min(1.0, max(0.0, sum(m * c for m, c in zip(row, colour, strict=True)))) for row in EYES[eye])
    x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(one: Triple, other: Triple) -> float:
    """CIEDE2000, after Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - math.sqrt(chroma**7 / (chroma**7 + 25**7)))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    dl, dc, dh = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    hue = (h1 + h2) / 2 if abs(h1 - h2) <= 180 else (h1 + h2 + (360 if h1 + h2 < 360 else -360)) / 2
    hue = hue if c1 * c2 else h1 + h2
    cos = [math.cos(math.radians(v)) for v in (hue - 30, 2 * hue, 3 * hue + 6, 4 * hue - 63)]
    t = 1 - 0.17 * cos[0] + 0.24 * cos[1] + 0.32 * cos[2] - 0.20 * cos[3]
    sl = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    bend = math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    twist = -2 * math.sqrt(c**7 / (c**7 + 25**7)) * bend
    return math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + twist * dc / sc * dh / sh)


def test_the_measure_is_the_published_one() -> None:
    for one, other, expected in (  # from the test data of Sharma, Wu and Dalal
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ):
        assert difference(one, other) == pytest.approx(expected, abs=1e-4)
    assert contrast(linear("#000000"), linear("#ffffff")) == pytest.approx(21)


def coloured() -> list[tuple[Theme, str]]:
    """Every theme with colours, and the palettes that they can mean."""
    themes = [theme for theme in BUNDLED.themes.values() if "ansi_default" not in theme.grounds.values()]
    return [(theme, palette) for theme in themes for palette in (PALETTES if theme.ansi else ("xterm",))]


COLOURED = pytest.mark.parametrize(("theme", "palette"), coloured(), ids=lambda v: getattr(v, "name", v))
EVERY = pytest.mark.parametrize("theme", BUNDLED.themes.values(), ids=lambda theme: theme.name)


def test_every_bundled_file_loads() -> None:
    assert BUNDLED.failed == []
    files = {path.stem for path in bundled_themes().glob("*.toml")}
    assert set(BUNDLED.themes) == files
    assert len(files) >= 8
    assert sum(not theme.dark for theme in BUNDLED.themes.values()) >= 2
    assert next(iter(BUNDLED.themes)) == "dark"


@EVERY
def test_the_fast_way_reads_the_same(theme: Theme) -> None:
    assert load_theme(bundled_themes() / f"{theme.name}.toml") == theme


@COLOURED
def test_text_can_be_read_on_every_ground(theme: Theme, palette: str) -> None:
    least = 7.0 if theme.name.startswith("high-contrast") else 4.5
    for role, ground in itertools.product(theme.inks, GROUNDS):
        ratio = contrast(linear(theme.colour(role), palette), linear(theme.grounds[ground], palette))
        assert ratio >= (4.5 if ground == "chosen" else least), f"{role} on {ground}"


@COLOURED
@pytest.mark.parametrize("eye", EYES)
def test_states_differ_for_every_eye(theme: Theme, palette: str, eye: str) -> None:
    least = 12.0 if theme.name.startswith("colour-blind") else 6.5 if theme.ansi else 8.0
    for one, other in itertools.combinations(STATES, 2):
        between = difference(*(seen(linear(theme.colour(state), palette), eye) for state in (one, other)))
        needed = least if one in LADDER and other in LADDER else 0.75 * least
        assert between >= needed, f"{one} and {other} look the same"


def test_without_colour_states_differ_by_attribute() -> None:
    theme = BUNDLED.themes["monochrome"]
    assert {split_ink(ink)[1] for ink in theme.inks.values()} == {"ansi_default"}
    looks = {split_ink(theme.inks[state])[0] for state in ("ok", "watch", "warning", "critical")}
    assert len(looks) == 4


@EVERY
def test_a_style_for_every_role_and_ground(theme: Theme) -> None:
    for role in ROLES:
        assert isinstance(theme.style(role), Style)
        assert theme.style(role).bgcolor is None
        assert theme.style(f"{role} on chosen").bgcolor is not None
    assert theme.style("no such role") == theme.style("text")


def test_every_style_of_a_sparkline_is_a_role() -> None:
    assert {f"spark.{name}" for name in ("mean", "step", "out", "bad", "paused", "dead", "break", "range")} <= set(
        ROLES
    )
    assert all(style in ROLES for style, _ in spark([], Frame(width=4)))


@EVERY
async def test_an_app_shows_it_and_a_foreign_theme_too(theme: Theme) -> None:
    class Shown(App[None]):
        CSS = """
        Static { color: $critical-ink; background: $ground; text-style: $critical-look; }
        Static.chosen { background: $chosen; color: $spark-mean-ink; }
        """

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return DEFAULT_VARIABLES

        def compose(self) -> ComposeResult:
            yield Static("reward", id="row")
            yield Footer()

    app = Shown()
    async with app.run_test() as pilot:
        app.register_theme(theme.textual())
        app.theme = f"mt-{theme.name}"
        await pilot.pause()
        row = app.query_one("#row").rich_style
        if not theme.ansi:
            assert row.color is not None
            assert row.color.triplet is not None
            assert row.color.triplet.hex == theme.colour("critical")
        app.theme = "nord"  # has none of our variables
        await pilot.pause()
        assert app.query_one("#row").is_mounted


def test_defaults_name_every_variable() -> None:
    for theme in BUNDLED.themes.values():
        assert set(theme.variables()) == set(DEFAULT_VARIABLES)


GOOD = (bundled_themes() / "dark.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("accent =", "acent ="), "acent: no such key; did you mean accent?"),
        (("accent =", "# accent ="), "accent: this key is missing"),
        (('accent = "#6cb6ff"', 'accent = "blue"'), "accent: 'blue' is no colour"),
        (('accent = "#6cb6ff"', 'accent = "loud #6cb6ff"'), "accent: 'loud' is no attribute"),
        (('accent = "#6cb6ff"', 'accent = ""'), "accent: it is empty"),
        (("dark = true", 'dark = "yes"'), "dark: it should be a valid boolean"),
        (("dark = true", "dark = "), "not a TOML file"),
        (("critical =", "[spark]\nmeen = '#ffffff'\n[chart]\nraw ="), "spark.meen: no such key; did you mean mean?"),
    ],
)
def test_a_wrong_file_is_one_message_and_costs_itself_only(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    assert change[0] in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(*change), encoding="utf-8")
    loaded = load_themes([bundled_themes(), tmp_path, tmp_path / "missing"])
    assert len(loaded.themes) == len(BUNDLED.themes)
    (message,) = loaded.failed
    assert str(path) in message
    assert said in message
    assert "\n" not in message


def test_a_file_that_is_no_text_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe\x00")
    assert "no UTF-8" in load_themes([tmp_path]).failed[0]
    with pytest.raises(BadSetting, match="can't be read"):
        load_theme(tmp_path / "other.toml")
    (tmp_path / "mine.toml").write_text("dark = true")
    with pytest.raises(BadSetting, match=r"mine\.toml: the theme has no 'text'"):
        load_theme(tmp_path / "mine.toml")


def test_the_persons_own_theme_beats_a_bundled_one(tmp_path: Path) -> None:
    (tmp_path / "dark.toml").write_text(GOOD.replace("#6cb6ff", "#abcdef"), encoding="utf-8")
    assert load_themes([bundled_themes(), tmp_path]).themes["dark"].colour("accent") == "#abcdef"
    assert load_themes([bundled_themes(), tmp_path]).themes["dark"].colour("spark.mean") == "#abcdef"


def test_the_theme_that_fits_a_terminal() -> None:
    assert usual_theme(colours=2**24) == usual_theme(colours=256) == "dark"
    assert usual_theme(colours=256, dark=False) == "light"
    assert usual_theme(colours=16) == "sixteen"
    assert usual_theme(colours=0) == usual_theme(colours=2**24, no_color=True) == "monochrome"
