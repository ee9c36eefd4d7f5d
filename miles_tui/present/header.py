"""The header's lines: is it alive, is it healthy, how far is it. Nothing in it ticks. Pure."""

from __future__ import annotations

from typing import NamedTuple

from miles_tui.core.run.snapshot import RunSnapshot
from miles_tui.core.text.cells import cells, clock, duration, fit_path, wrap
from miles_tui.present.layout import LEAST_HEIGHT, LEAST_WIDTH
from miles_tui.present.styled_text import Part, Spans, StyledSpan, between, fitted, packed, width_of
from miles_tui.present.view_models import SHAPES

FROZEN: StyledSpan = ("watch", "view paused")
Words = tuple[str, str, str]
STOPPED = ("stalled", "crashed")  # such a run has no end in sight
LEAST_PHASE = 60.0  # seconds: clock times are minutes


class Surroundings(NamedTuple):
    """What the header says besides the run: the log's name, and notes such as `waiting for x.log to appear`.

    `frozen` says that the view is paused: that is never left out. `urgent` notes come before everything but the
    verdict (what stands in brackets in them may be left out), `notes` after it, and `elsewhere`, what other runs want
    to be known, gives way to this run's facts.
    `age` says how old the newest record is where that is more than usual, `zone` names the log's zone where it is not
    the terminal's, `bar` is what is generated of how many. `today` is a time of today in the log's own clock
    (see `core.text.clock`). Where the first line is the only one: `more` says that the table goes on, `said`
    answers a key, `run` names the run among several; the name of one alone is there if it has room.
    `settings` says what is wrong with them, from the longest way to the shortest.
    """

    name: str = ""
    urgent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    age: str = ""
    zone: str = ""
    bar: tuple[int, int] | None = None
    more: str = ""
    said: str = ""
    frozen: bool = False
    elsewhere: tuple[str, ...] = ()
    run: str = ""
    today: float | None = None
    settings: Words = ("", "", "")


def heading(run: RunSnapshot, around: Surroundings, width: int, lines: int, margin: int) -> list[Spans]:
    """`lines` (1 or 2) lines of at most `width` cells."""
    room = width - 2 * margin
    edge: Spans = [("text", " " * margin)] if margin else []
    if lines == 1:
        if around.said:
            return [edge + _answer(run, around, room)]
        alone = [] if around.run else _name(around.name, room)
        return [edge + between(packed(_one_line(run, around, room), room), alone, room)]
    name = _name(around.name, room)
    first = packed(_first_line(run, around), room - width_of(name) - 2 if name else room)
    second = _second_line(run, around, room, named=bool(name))
    return [edge + between(first, name, room), edge + second]


def sentence(run: RunSnapshot, width: int, height: int) -> list[Spans]:
    """What stands on a screen too small for anything else: the verdict, how far, and what is needed."""
    first = packed([Part(0, verdict(run)), Part(1, rollout_spans(run, short=True))], width, gap=" ")
    return [first, *too_small(width, height - 1)]


def too_small(width: int, height: int) -> list[Spans]:
    """What a screen needs that has no room for anything."""
    need = wrap(f"too small for miles-tui: it needs {LEAST_WIDTH}x{LEAST_HEIGHT}", width)
    return [[("text", line)] for line in need[: max(0, height)]]


def verdict(run: RunSnapshot) -> Spans:
    """Shape and word."""
    shape, style = SHAPES[run.kind]
    return [(style, f"{shape} {run.verdict}")]


def rollout_spans(run: RunSnapshot, *, short: bool = False) -> Spans:
    """`rollout 31 of 48`; numbers as the log has them, from 0."""
    if run.rollout is None:
        return []
    if short:
        of = f"/{run.planned}" if run.planned else ""
        return [("bright", f"{run.rollout}{of}")]
    total: Spans = [("dim", " of "), ("text", str(run.planned))] if run.planned else []
    return [("dim", "rollout "), ("bright", str(run.rollout)), *total]


def _name(name: str, room: int) -> Spans:
    size = min(cells(name), room // 3)
    return [("dim", fit_path(name, size))] if size >= 8 or size == cells(name) else []


def _answer(run: RunSnapshot, around: Surroundings, room: int) -> Spans:
    """What a key did, for its seconds in the place of all but the verdict's sign, and that the view is paused."""
    shape, style = SHAPES[run.kind]
    signs: Spans = [(style, f"{shape} "), *([FROZEN, ("text", ": ")] if around.frozen else [])]
    return [*signs, *fitted([("accent", around.said)], room - width_of(signs))]


def _one_line(run: RunSnapshot, around: Surroundings, room: int) -> list[Part]:
    """The parts of a header of one line: the first line's, and what the second would say before all else."""
    facts = _first_line(run, around)
    leading = [part for part in facts if part.rank <= 1]
    parts = [*leading, *([Part(0, [FROZEN])] if around.frozen else [])]
    parts += [_urgent(2, note) for note in around.urgent]
    parts += _settings(around.settings[1:], 2)
    if around.more:
        short: Spans = [("text", around.more.removesuffix(" rows").removesuffix(" row"))]
        parts.append(Part(2, [("text", around.more)], short))
    if around.run:
        parts.append(Part(4, _name(around.run, room)))
    return [*parts, *_others(around, 3), *facts[len(leading) :]]


def _urgent(rank: int, note: str) -> Part:
    return Part(rank, [("watch", note)], [("watch", note.partition(" (")[0])])


def _settings(words: tuple[str, ...], rank: int) -> list[Part]:
    return [Part(rank, [("watch", words[0])], [("watch", words[1])])] if words[0] else []


def _others(around: Surroundings, rank: int) -> list[Part]:
    """What other runs want to be known: each, or where that is too long how many."""
    count = len(around.elsewhere)
    short = f"{count} other run{'s' if count > 1 else ''}: alerts"
    return [Part(rank, [("watch", ", ".join(around.elsewhere))], [("watch", short)])] if count else []


def _first_line(run: RunSnapshot, around: Surroundings) -> list[Part]:
    parts = [Part(0, verdict(run))]
    if run.rollout is not None:
        parts.append(Part(1, rollout_spans(run), rollout_spans(run, short=True)))
    phase, begun = run.phase.name if not run.ended else "" if run.ended == run.verdict else run.ended, run.phase.since
    if phase:
        since: Spans = [("dim", " since "), _time_span(begun, run, around)] if begun is not None else []
        label: Spans = [("dim", "phase ")] if begun is not None else []
        short = "generating" if phase == "rollout" else phase  # `rollout 31   rollout` says it twice
        named = phase if label else short
        parts.append(Part(5, [*label, ("text", named), *since], [("text", short)]))
        if around.bar is not None:
            done, total = around.bar
            parts.append(
                Part(6, [("dim", "generated "), ("text", f"{done} of {total}")], [("text", f"{done}/{total}")])
            )
        until = _until(run)
        if until is not None and run.verdict not in STOPPED:
            parts.append(Part(7, [("dim", "usually until "), _time_span(until, run, around)], []))
    return parts


def _second_line(run: RunSnapshot, around: Surroundings, room: int, *, named: bool) -> Spans:
    parts = [Part(0, [FROZEN])] if around.frozen else []
    parts += [_urgent(rank, note) for rank, note in enumerate(around.urgent, 1)]
    parts += _settings(around.settings, 3)
    if run.last is not None:
        last = _time_span(run.last, run, around)
        old: Spans = [("watch", f", {around.age}")] if around.age else []
        parts.append(Part(4, [("dim", "last line "), last, *old], [("dim", "last "), last, *old]))
    if run.last is not None and run.left is not None and not run.ended and run.verdict not in STOPPED:
        ends = _time_span(run.last + run.left, run, around)
        parts.append(Part(5, [("dim", "ends about "), ends], [("dim", "ends "), ends]))
    if run.usual is not None:
        parts.append(Part(8, [("dim", f"every {duration(run.usual)}")]))
    if run.attempt > 1:
        parts.append(Part(6, [("text", f"attempt {run.attempt}")]))
    if run.profile:
        profile: Spans = [("dim", f"profile {run.profile}")]
        parts.append(Part(10, [*profile, ("watch", " of another setup")] if run.misfit else profile, profile))
    if around.zone:
        parts.append(Part(7, [("watch", f"times in {around.zone}")]))
    if run.rebased_at is not None:
        parts.append(Part(7, [("text", f"new baseline since rollout {run.rebased_at + 1}")]))
    if off := len(run.off):
        parts.append(Part(8, [("text", f"{off} condition{'s' if off > 1 else ''} off")]))
    if updates := run.updates_per_rollout:
        parts.append(Part(12, [("dim", f"{updates} update{'s' if updates > 1 else ''} a rollout")], []))
    parts += [Part(7, [("dim", note)]) for note in around.notes]
    parts += _others(around, 9)
    if not named:
        parts.append(Part(11, [("dim", around.name)]))
    return packed(parts, room, gap=" · ") if parts else fitted([("dim", "")], room)


def _until(run: RunSnapshot) -> float | None:
    """When the phase usually ends; a phase that is over within a minute or so says nothing by the clock."""
    since, end = run.phase.since, run.phase.until
    return end if since is not None and end is not None and end - since >= LEAST_PHASE else None


def _time_span(seconds: float | None, run: RunSnapshot, around: Surroundings) -> StyledSpan:
    """With its date where that is not today's, or where today is not told not the newest record's."""
    today = run.last if around.today is None else around.today
    return ("text", clock(seconds, today=today) if seconds is not None else "")
