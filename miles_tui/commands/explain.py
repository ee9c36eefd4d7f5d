"""`miles-tui explain`: a condition or a metric in plain words."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from miles_tui.commands.arguments import parser
from miles_tui.config.paths import PACKAGE
from miles_tui.core.alerting.conditions import ALL, CONDITIONS, INHIBITED_BY
from miles_tui.core.alerting.conditions.base import Condition
from miles_tui.core.model.glossary import Meaning, all_meanings, meaning_of, members
from miles_tui.core.model.signals import BY_LOG_NAME, BY_NAME
from miles_tui.core.text.sanitize import harmless_name
from miles_tui.core.text.words import listed
from miles_tui.errors import UsageError, meant
from miles_tui.stdio import say

WIDTH = 88
NAME = 42  # cells of the list's names
MOST_SUGGESTED = 4  # names that a message suggests
FIGURES = PACKAGE / "_bench" / "alerts.json"  # written by tests/alert_figures.py


def run(argv: Sequence[str]) -> int:
    """Print what the names stand for, or the list of all; exit status 2 for an unknown name."""
    p = parser("explain", "A condition or a metric in plain words; without a name, the list of all.")
    help = "gap-jump, train/pg_loss, gap; or a part of the list: train, 'perf/*'"
    p.add_argument("names", nargs="*", metavar="CONDITION|METRIC", help=help)
    a = p.parse_args(argv)
    say(explained(a.names) if a.names else overview())
    return 0


def overview() -> str:
    """All conditions and all metrics that are known, families of metrics as one, a line each."""
    lines = [
        "Conditions:",
        *_list_of(_conditions()),
        "",
        "Metrics (* is any text, {a,b} is a or b):",
        *_list_of(_metrics()),
    ]
    return "\n".join([*lines, "", "miles-tui explain NAME tells more of one, miles-tui explain 'perf/*' lists a part."])


def explained(names: Sequence[str]) -> str:
    """Conditions, signals and metrics by name; parts of the list by pattern or group (`train/*`, `train`).

    A name of several words needs no quotes. Raises UsageError, with the nearest names, for one that is none of these.
    """
    whole = " ".join(names)
    found = _one(whole)
    if found is not None:
        return found
    return "\n\n".join(_one(name) or _unknown(name) for name in (names if len(names) > 1 else [whole]))


def _one(name: str) -> str | None:
    """What a name or pattern stands for; None for one that is not known."""
    if name in CONDITIONS:
        return _condition(CONDITIONS[name])
    log_name = BY_NAME[name].log_names[0] if name in BY_NAME else name
    meaning = next((m for m in all_meanings() if m.log_name == name), None) or meaning_of(log_name)
    part = _part(name) if meaning is None or "*" in name else []
    if meaning is not None and len(part) < 2:
        return _metric(meaning, log_name)
    return "\n".join(_list_of(part)) or None


def _unknown(name: str) -> str:
    near, more = _near(name)
    hint = f"did you mean {listed(near, 'or')}?" if near else "miles-tui explain alone lists them"
    if more:
        hint += f" There are more: miles-tui explain {shlex.quote(f'*{name}*')}"
    raise UsageError(f"{harmless_name(name or '(nothing)')} is neither a condition nor a metric that is known: {hint}")


def _near(name: str) -> tuple[list[str], bool]:
    """The names that may be meant: those that hold the word, else the one most like it, else those that speak of it.

    True: there are more that hold it.
    """
    word, known = name.lower(), [member for m in all_meanings() for member in members(m.log_name)]
    names = {each.lower(): each for each in (*BY_NAME, *CONDITIONS, *known)}
    holding = [each for low, each in names.items() if word and word in low]
    like = [names[near] for near in [meant(word, names)] if near]
    said = {c.id: c.title for c in ALL} | {m.log_name: m.meaning for m in all_meanings()}
    speaking = [each for each, text in said.items() if word and word in text.lower()]
    return (holding or like or speaking)[:MOST_SUGGESTED], len(holding) > MOST_SUGGESTED


def _conditions() -> list[tuple[str, str]]:
    return [(c.id, f"{c.severity:9} {c.title}") for c in ALL]


def _metrics() -> list[tuple[str, str]]:
    return [(m.log_name, m.said) for m in all_meanings()]


def _part(pattern: str) -> list[tuple[str, str]]:
    """The entries of the list that fit a pattern, or are in a group of names (`train`, `rollout/zero_std/`)."""
    low = pattern.lower()
    glob = low if "*" in low else low.rstrip("/") + "/*"
    return [e for e in (*_conditions(), *_metrics()) if any(fnmatchcase(name.lower(), glob) for name in members(e[0]))]


def _list_of(entries: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each entry; a long name has one of its own."""
    return [
        f"  {name:{NAME}} {text}" if len(name) <= NAME else f"  {name}\n  {'':{NAME}} {text}" for name, text in entries
    ]


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
    by = INHIBITED_BY.get(condition, ())
    back = [name for name, silencers in INHIBITED_BY.items() if condition in silencers]
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
    lines = [harmless_name(name), f"  meaning  {m.meaning}"]
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
