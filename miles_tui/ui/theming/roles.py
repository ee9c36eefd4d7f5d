"""What a theme colours: the roles of the screen, its grounds, and the attributes that a role may have."""

from __future__ import annotations

# Each role and the role whose look it has where a theme does not name it. None: a theme must name it.
ROLES: dict[str, str | None] = {
    "text": None,
    "bright": None,
    "dim": None,
    "accent": None,
    "ok": None,
    "watch": None,
    "learn": None,
    "notice": None,
    "warning": None,
    "critical": None,
    "spark.mean": "accent",
    "spark.step": "dim",
    "spark.out": "watch",
    "spark.bad": "critical",
    "spark.paused": "dim",
    "spark.dead": "dim",
    "spark.break": "dim",
    "spark.range": "dim",
    "chart.mean": "accent",
    "chart.raw": "text",
    "chart.band": "dim",
    "chart.mark": "critical",
    "chart.cursor": "bright",
    "chart.axis": "dim",
    "chart.reference": "dim",
    "chart.second": "notice",
    "chart.third": "watch",
}
GROUNDS = ("ground", "raised", "chosen")
ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")
