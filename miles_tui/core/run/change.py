"""What differs in a run since it was looked at last: whoever paints takes anew only that."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Change:
    """What a feed changed: signals by name, and whether alerts, header or other metrics did."""

    signals: set[str] = field(default_factory=set)
    metrics: bool = False
    alerts: bool = False
    header: bool = False

    def __bool__(self) -> bool:
        return bool(self.signals or self.metrics or self.alerts or self.header)

    def merge(self, other: Change) -> None:
        """What another feed changed, too."""
        self.signals |= other.signals
        self.metrics |= other.metrics
        self.alerts |= other.alerts
        self.header |= other.header
