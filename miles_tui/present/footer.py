"""The last line of a screen: the keys that work, or what one did. Pure."""

from __future__ import annotations

from miles_tui.present.styled_text import Part, Spans, between, fitted, packed, width_of

Keys = tuple[tuple[str, str, int], ...]
"""Key, word, rank: in the order in which they stand; the lowest rank is left out last."""


def footer_line(keys: Keys, width: int, said: str = "", more: Spans | None = None) -> Spans:
    """As many keys as fit, or what one did (`said`); `more` at the other end."""
    more = more or []
    room = width - width_of(more) - 2 if more else width
    parts = [Part(rank, [("accent", key), ("dim", f" {word}")]) for key, word, rank in keys]
    line = fitted([("accent", said)], room) if said else packed(parts, room, gap="  ")
    return between(line, more, width)
