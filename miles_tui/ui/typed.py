"""What keys do to a line that is typed on a screen.

No widget has the keys meanwhile: the screen takes them in their order, also those of one burst. A stock Input is sent
all of a burst, does its deleting keys and Enter as actions behind the letters, and blinks at 2.5 KB/s.
"""

from __future__ import annotations

from textual import events

MOST_CHARACTERS = 200
CURSOR = "▏"


def edited(text: str, event: events.Key | events.Paste) -> str | None:
    """The text after a key or a paste, which is one line here; None for a key that does not write."""
    if isinstance(event, events.Paste):
        return (text + "".join(c for c in event.text if c.isprintable()))[:MOST_CHARACTERS]
    if event.key in ("backspace", "ctrl+h"):
        return text[:-1]
    if event.key == "ctrl+w":
        return text.rstrip().rpartition(" ")[0]
    if event.key == "ctrl+u":
        return ""
    return (text + event.character)[:MOST_CHARACTERS] if event.is_printable and event.character else None
