"""`miles-tui explain`: a condition or a metric in plain words."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from miles_tui.core.conditions import ALL, CONDITIONS
from miles_tui.core.conditions.base import Condition
from miles_tui.core.glossary import MEANINGS, Meaning, meaning_of
from miles_tui.core.judge import SILENCED_BY
from miles_tui.core.signals import BY_LOG_NAME, BY_NAME
from miles_tui.core.words import listed
from miles_tui.errors import UsageError, meant

WIDTH = 88
MOST = 4  # names that a message suggests
FIGURES = Path(__file__).resolve().parent / "_bench" / "alerts.json"  # written by tests/alert_figures.py


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
    near = _near(name)
    hint = f"did you mean {listed(near, 'or')}?" if near else "miles-tui explain alone lists them"
    raise UsageError(f"{name} is neither a condition nor a metric that the manual names: {hint}")


def _near(name: str) -> list[str]:
    """The names that may be meant: those that hold the word, else the one most like it, else those that speak of it."""
    word = name.lower()
    names = {known.lower(): known for known in (*BY_NAME, *CONDITIONS, *MEANINGS)}
    holding = [known for low, known in names.items() if word in low]
    like = [names[near] for near in [meant(word, names)] if near]
    said = {c.id: c.title for c in ALL} | {m.log_name: m.meaning for m in MEANINGS.values()}
    return (holding or like or [known for known, text in said.items() if word in text.lower()])[:MOST]


def _condition(c: Condition) -> str:
    signals = f" It reads: {', '.join(c.signals)}." if c.signals else ""
    trusted = _trusted(c.id)
    parts = [
        f"{c.id} ({c.severity}): {c.title}",
        _block("Rule", c.rule + signals),
        *([_block("Beside others", held)] if (held := _held(c.id)) else []),
        *([_block("Why it is trusted", trusted)] if trusted else []),
        _block("Likely cause", c.likely_cause),
        _block("First check", c.first_check),
    ]
    return "\n\n".join(parts)


def _held(condition: str) -> str:
    """Which conditions hold this one back, and which it holds back; "" where there is none of either."""
    by = SILENCED_BY.get(condition, ())
    back = [name for name, silencers in SILENCED_BY.items() if condition in silencers]
    said = [f"Held back while {listed(by, 'or')} has an open alert, from which it would only follow."] if by else []
    return " ".join(
        [*said, *([f"An open alert of it holds back {listed(back)}, which would only follow."] if back else [])]
    )


def _trusted(condition: str) -> str:
    """The alert bench's figures for a condition; "" for one that the bench does not simulate."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    own, calibrated = figures["own"], figures["calibrated"]
    delay = own["median_delay_over_limit"].get(condition)
    if delay is None:
        return ""
    worst = own["worst_delay_over_limit"][condition]
    own_delay = calibrated["median_delay_over_limit"][condition]
    alarms, own_alarms = (f["false_alarms_per_1000_steps"] for f in (own, calibrated))
    return (
        f"On simulated runs of five setups all rules together raise {alarms} false alarms in 1,000 rollouts "
        f"({own_alarms} with ranges of one's own) and miss {own['missed']} of {own['expected']} faults. "
        f"This one takes {delay} times as long as a detector that already knew the fault would (at worst {worst}; "
        f"{own_delay} with ranges of one's own). Printed by {figures['command']}."
    )


def _metric(m: Meaning, name: str) -> str:
    lines = [name, f"  meaning  {m.meaning}"]
    for label, text in (("unit", m.unit), ("healthy", m.healthy), ("manual", m.manual)):
        if text:
            lines.append(f"  {label:8} {text}")
    if name in BY_LOG_NAME:
        by = [c.id for c in ALL if BY_LOG_NAME[name].name in c.about]
        lines.append(f"  judged   by {listed(by) or 'no condition of its own'}; with a profile by out-of-range too")
    if m.manual:
        lines.append("  The manual's range holds for its own setup; miles-tui calibrate learns yours.")
    return "\n".join(lines)


def _block(label: str, text: str) -> str:
    return f"{label}\n" + textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ")
