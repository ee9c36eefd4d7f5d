"""The form of a theme file, checked: what a person may write, and what each key is for.

Copy a file from `themes/` into the themes folder of your configuration, change it, and choose it with `t`.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from miles_tui.errors import BadSetting
from miles_tui.ui.theming.roles import ATTRIBUTES

TERMINAL_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
ANSI = ("ansi_default", *(f"ansi_{n}" for n in TERMINAL_COLOURS), *(f"ansi_bright_{n}" for n in TERMINAL_COLOURS))
HEX = re.compile(r"#[0-9a-fA-F]{6}")


def _colour(text: str) -> str:
    if HEX.fullmatch(text) or text in ANSI:
        return text
    near = difflib.get_close_matches(text if text.startswith("ansi_") else f"ansi_{text}", ANSI, 1)
    hint = f", perhaps {near[0]}" if near else ""
    raise ValueError(f"{text!r} is no colour: write #rrggbb or one of the terminal's own, such as ansi_red{hint}")


def _ink(text: str) -> str:
    words = text.split()
    if not words:
        raise ValueError("it is empty: write attributes, if any, then a colour: bold #ff8800")
    for word in words[:-1]:
        if word not in ATTRIBUTES:
            raise ValueError(f"{word!r} is no attribute: {', '.join(ATTRIBUTES)} may stand before the colour")
    _colour(words[-1])
    return " ".join(words)


Colour = Annotated[str, AfterValidator(_colour)]
"""`#rrggbb`, or a colour of the terminal: `ansi_default`, `ansi_red`, `ansi_bright_red` and so on."""

Ink = Annotated[str, AfterValidator(_ink)]
"""Attributes and a colour: `bold #ff8800`, `reverse ansi_default`."""


class Table(BaseModel):
    """Unknown keys are refused: a key that is misspelt must not be a colour that silently stays as it was."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SparkTable(Table):
    """`[spark]`: the sparkline of a row. What is left out looks as said."""

    mean: Ink | None = Field(default=None, description="the five-step mean, and the cells it goes through; as accent")
    step: Ink | None = Field(default=None, description="single rollouts where there is no mean yet; as dim")
    out: Ink | None = Field(default=None, description="a rollout outside the range; as watch")
    bad: Ink | None = Field(default=None, description="NaN and infinities; as critical")
    paused: Ink | None = Field(default=None, description="a rollout that a pause touched; as dim")
    dead: Ink | None = Field(default=None, description="what a restart overtook; as dim")
    break_: Ink | None = Field(default=None, alias="break", description="the line between two attempts; as dim")
    range: Ink | None = Field(default=None, description="the ticks at the edges of the range; as dim")


class ChartTable(Table):
    """`[chart]`: the chart of one signal. What is left out looks as said."""

    mean: Ink | None = Field(default=None, description="the five-step mean; as accent")
    raw: Ink | None = Field(default=None, description="single rollouts; as text")
    band: Ink | None = Field(default=None, description="the edges of the range; as dim")
    mark: Ink | None = Field(default=None, description="where an alert was raised; as critical")
    cursor: Ink | None = Field(default=None, description="the cursor that reads values; as bright")
    axis: Ink | None = Field(default=None, description="axes and their numbers; as dim")
    reference: Ink | None = Field(default=None, description="other runs behind this one; as dim")
    second: Ink | None = Field(default=None, description="a second signal on the same axis; as notice")
    third: Ink | None = Field(default=None, description="a third one; as watch")


class ThemeFile(Table):
    """A theme. States (`ok` to `critical`) must differ in lightness too: see the tests of the bundled ones."""

    title: str = Field(default="", description="what the list of themes shows; the file's name without it")
    dark: bool = Field(description="is the ground dark? decides shades that Textual derives")
    ground: Colour = Field(description="behind everything")
    raised: Colour = Field(description="behind header, footer and what lies over the screen")
    chosen: Colour = Field(description="behind the selected row")
    text: Ink = Field(description="ordinary text")
    bright: Ink = Field(description="last values, and what must be read first")
    dim: Ink = Field(description="labels, units, ranges, resolved alerts; still readable")
    accent: Ink = Field(description="the one accent: the five-step mean, keys in the footer")
    ok: Ink = Field(description="state: all is well")
    watch: Ink = Field(description="state: towards an alert, or recovering from one")
    learn: Ink = Field(description="state: no baseline yet, no claim")
    notice: Ink = Field(description="alert of the lowest severity")
    warning: Ink = Field(description="alert of the middle severity")
    critical: Ink = Field(description="alert of the highest severity")
    spark: SparkTable = Field(default_factory=SparkTable, description="the sparkline of a row")
    chart: ChartTable = Field(default_factory=ChartTable, description="the chart of one signal")


def checked_theme(path: Path, raw: dict[str, Any]) -> dict[str, Any]:
    """The file's table with every key checked. Raises `BadSetting`: the file, one wrong key, what is wrong."""
    try:
        return ThemeFile.model_validate(raw).model_dump(by_alias=True)
    except ValidationError as error:
        # A misspelt key first: that the right one is missing follows from it.
        first = sorted(error.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")[0]
        key = ".".join(str(part) for part in first["loc"])
        others = error.error_count() - 1
        more = f" (and {others} more)" if others else ""
        raise BadSetting(f"{path}: {key}: {_said(first['type'], first['msg'], first['loc'])}{more}") from error


def _said(kind: str, message: str, location: tuple[int | str, ...]) -> str:
    if kind == "missing":
        return "this key is missing"
    if kind == "extra_forbidden":
        tables: dict[str, type[Table]] = {"spark": SparkTable, "chart": ChartTable}
        table = tables[str(location[0])] if len(location) > 1 else ThemeFile
        known = [field.alias or name for name, field in table.model_fields.items()]
        near = difflib.get_close_matches(str(location[-1]), known, 1)
        return f"no such key; did you mean {near[0]}?" if near else f"no such key; there are {', '.join(known)}"
    return message.removeprefix("Value error, ").replace("Input should be", "it should be")
