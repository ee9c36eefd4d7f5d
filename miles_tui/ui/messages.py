"""What happened, said by workers in the past tense; handlers own the state."""

from __future__ import annotations

from textual.message import Message


class Grew(Message):
    """The log said something. Carries nothing: what changed waits in the session, merged."""

    def can_replace(self, message: Message) -> bool:
        """One of them in the queue is enough."""
        return isinstance(message, Grew)
