"""`miles-tui explain`: a condition or a metric in plain words."""

from __future__ import annotations

import difflib
import textwrap

from miles_tui.core.conditions import ALL, CONDITIONS
from miles_tui.core.conditions.base import Condition
from miles_tui.core.glossary import MEANINGS, Meaning, meaning_of
from miles_tui.core.signals import BY_NAME
from miles_tui.errors import UsageError

WIDTH = 88


def overview() -> str:
    """All conditions and all metrics that the manual names, a line each."""
    lines = ["Conditions:"] + [f"  {c.id:22} {c.severity:9} {c.title}" for c in ALL]
    lines += ["", "Metrics:"] + [f"  {m.log_name:38} {m.meaning}" for m in MEANINGS.values()]
    return "\n".join([*lines, "", "miles-tui explain NAME tells more of one."])


def explained(name: str) -> str:
    """One condition, signal or metric. Raises UsageError with the nearest name when it is none."""
    if name in CONDITIONS:
        return _condition(CONDITIONS[name])
    signal = BY_NAME.get(name)
    meaning = meaning_of(signal.log_names[0] if signal else name)
    if meaning is not None:
        return _metric(meaning, signal.log_names[0] if signal else name)
    near = difflib.get_close_matches(name, [*CONDITIONS, *MEANINGS, *BY_NAME], 1)
    hint = f"did you mean {near[0]}?" if near else "miles-tui explain alone lists them"
    raise UsageError(f"{name} is neither a condition nor a metric that the manual names: {hint}")


def _condition(c: Condition) -> str:
    signals = f" It reads: {', '.join(c.signals)}." if c.signals else ""
    parts = [
        f"{c.id} ({c.severity}): {c.title}",
        _block("Rule", c.rule + signals),
        _block("Likely cause", c.likely_cause),
        _block("First check", c.first_check),
    ]
    return "\n\n".join(parts)


def _metric(m: Meaning, name: str) -> str:
    lines = [name, f"  meaning  {m.meaning}"]
    for label, text in (("unit", m.unit), ("healthy", m.healthy), ("manual", m.manual)):
        if text:
            lines.append(f"  {label:8} {text}")
    if m.manual:
        lines.append("  The manual's range holds for its own setup; miles-tui calibrate learns yours.")
    return "\n".join(lines)


def _block(label: str, text: str) -> str:
    return f"{label}\n" + textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ")
