"""The words and signs of a run's state that are the same wherever a run is spoken of."""

from __future__ import annotations

# What a verdict looks like, by `RunSnapshot.kind`: one sign, one meaning.
VERDICT_SIGNS: dict[str, str] = {
    "healthy": "●",
    "finished": "✓",
    "learning": "○",
    "waiting": "○",
    "watching": "◐",
    "not judged": "○",
    "stalled": "■",
    "crashed": "✖",
    "alert": "▲",
    "warned": "△",
}


def how_far(rollout: int | None, planned: int | None) -> str:
    """How far a run is: `31/48`, `31` where the end is unknown, a dash before the first rollout."""
    return "–" if rollout is None else f"{rollout}/{planned}" if planned else str(rollout)


def since_words(raised: int | None) -> str:
    """Since when an alert fires: `since rollout 23`."""
    return "before the first rollout" if raised is None else f"since rollout {raised}"
