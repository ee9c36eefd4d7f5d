"""A line of the screen as runs of text with the name of a style each. Pure: a theme knows the colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from miles_tui.core.text.cells import cells, fit_text

StyledSpan = tuple[str, str]  # style name, text
Spans = list[StyledSpan]


def width_of(spans: Iterable[StyledSpan]) -> int:
    """Cells of a line."""
    return sum(cells(text) for _, text in spans)


def plain_text(spans: Iterable[StyledSpan]) -> str:
    """The line without its styles."""
    return "".join(text for _, text in spans)


def pointed(spans: Sequence[StyledSpan]) -> Spans:
    """The line with a pointer in the first place that is free: which line is chosen, without colours."""
    out = list(spans)
    for i, (_, text) in enumerate(out):
        free = len(text) - len(text.lstrip(" "))
        if free:
            out[i : i + 1] = [("text", text[: free - 1]), ("accent", "▸"), (out[i][0], text[free:])]
            break
    return out


def fitted(spans: Sequence[StyledSpan], width: int) -> Spans:
    """At most `width` cells: what is too long ends in an ellipsis, what comes behind is left out."""
    out: Spans = []
    room = width
    for style, text in spans:
        size = cells(text)
        if size > room:
            if room > 0:
                out.append((style, fit_text(text, room)))
            return out
        out.append((style, text))
        room -= size
    return out


def between(left: Sequence[StyledSpan], right: Sequence[StyledSpan], width: int, gap: int = 2) -> Spans:
    """`left` and `right` at the two ends of a line; where both don't fit, the right one goes."""
    used = width_of(left)
    room = width - used - width_of(right)
    if room < gap:
        return fitted(left, width)
    return [*left, ("text", " " * room), *right]


class Part(NamedTuple):
    """A piece of a line that may be said shorter, or left out: the lowest `rank` goes last."""

    rank: int
    long: Spans
    short: Spans | None = None


def packed(parts: Sequence[Part], width: int, gap: str = "   ") -> Spans:
    """The parts in their order, as many and as long as fit; whole words only, never a part cut in two."""
    chosen: dict[int, Spans] = {i: part.long for i, part in enumerate(parts)}
    by_rank = sorted(range(len(parts)), key=lambda i: -parts[i].rank)

    def fits() -> bool:
        shown = [spans for spans in chosen.values() if spans]
        return sum(map(width_of, shown)) + cells(gap) * max(0, len(shown) - 1) <= width

    for shorten in (True, False):
        for i in by_rank:
            if fits():
                break
            short = parts[i].short
            if shorten and short is not None:
                chosen[i] = short
            elif not shorten and parts[i].rank > 0:
                chosen[i] = []
    out: Spans = []
    for spans in chosen.values():
        if spans:
            out += [("text", gap), *spans] if out else spans
    return fitted(out, width)
