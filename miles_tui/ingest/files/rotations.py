"""Which files beside a log are its rotations: one rule for what is followed, for `--rotated` and for a folder.

A name decides where it is the log's own with something behind it (`train.log.1`, `train.log-20261015.gz`,
`train.log.bak`, `train.log~`). `train.1.log`, `train-2.log` and `train-2026-10-15.log` may be rotations of `train.log`
or runs of their own: seeds, attempts. Then the text decides (`continues`): a rotation ends where the log goes on.
A copy of a part, packed or made before the part grew, is no part.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from miles_tui.ingest.files.away import UnlessAway, is_away
from miles_tui.ingest.files.fingerprint import copies_among, unpacked_text
from miles_tui.ingest.files.gzip_file import is_packed
from miles_tui.ingest.files.open_file import PlainFile


class Kin(IntEnum):
    """Whether a file is a rotation (or a copy) of a log, as far as its name tells."""

    NONE = 0
    MAYBE = 1
    ROTATION = 2


METRIC = re.compile(rb"(?:step|rollout|perf|eval|multi_turn|passrate) \d+: ?\{\s*\\?['\"][^'\"\n]{0,80}/")
END_BYTES = (1 << 16, 1 << 22)  # bytes at an end of a file in which a metric line is looked for: few, then more
ORDER_SLACK = 5.0  # seconds by which the lines of several writers may be out of order
COUNTING_KINDS = ("rollout", "perf", "step")  # lines whose numbers go up by one, over a whole run

# What else lies beside a log under its name: other streams of the same job, locks, half copies.
_OTHER_WORDS = re.compile(
    r"err|stderr|out|stdout|json|jsonl|csv|txt|pid|lock|lck|sw[a-p]|tmp|temp|part|partial|idx|offset|pos|state"
    r"|tgz|zip|xz|zst|bz2|md5|sha256|html|png|svg",
    re.IGNORECASE,
)
_MARK = r"(?:\d[\dTZ:_.+-]*|old|bak|prev|previous|last|orig|backup)"
_BEHIND = re.compile(rf"[-._~]{_MARK}~?|~", re.IGNORECASE)
_WITHIN = re.compile(rf"[-._~]?{_MARK}~?", re.IGNORECASE)
_OF_A_LOG = re.compile(rf"(.+\.(?:log|out|err|txt))(?:[-._~]{_MARK}~?|~)", re.IGNORECASE)
_ROTATION_STAMP = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")


def rotation_mark(name: str, of: str) -> tuple[Kin, str]:
    """Whether a file called `name` may be a rotation of the log called `of`, and what its name has more."""
    plain = name.removesuffix(".gz")
    if name == of:
        return Kin.NONE, ""
    if plain == of:
        return Kin.ROTATION, ""
    if plain.startswith(of):
        mark = plain[len(of) :]
        if mark[0] not in "-._~" or _OTHER_WORDS.fullmatch(mark.rsplit(".", 1)[-1]):
            return Kin.NONE, ""
        return (Kin.ROTATION if base_of(name) == of else Kin.MAYBE), mark
    stem, dot, ending = of.rpartition(".")
    if not stem or not plain.startswith(stem) or not plain.endswith(dot + ending):
        return Kin.NONE, ""
    mark = plain[len(stem) : -len(dot + ending)]
    if mark[:1].isdigit() and stem[-1].isdigit():
        return Kin.NONE, ""  # run-10.log beside run-1.log
    return (Kin.MAYBE, mark) if _WITHIN.fullmatch(mark) else (Kin.NONE, "")


def is_rotation(name: str, of: str) -> bool:
    """Whether a file called `name` may be a rotation (or a copy) of the log called `of`: its text tells the rest."""
    return rotation_mark(name, of)[0] is not Kin.NONE


def is_ambiguous(name: str, of: str) -> bool:
    """Whether that name may as well be that of another run: `train-2.log` beside `train.log`."""
    return not name.startswith(of)


def base_of(name: str) -> str:
    """The log that a file called `name` is surely a rotation of; `name` itself (unpacked) where of none."""
    plain = name.removesuffix(".gz")
    found = _OF_A_LOG.fullmatch(plain)
    return found[1] if found else plain


def grouped(files: Sequence[Path]) -> list[list[Path]]:
    """The files, those that are the parts of one run together, oldest first, without copies."""
    groups: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(files):
        groups.setdefault(path.with_name(base_of(path.name)), []).append(path)
    alone: dict[Path, dict[str, Path]] = {}  # in each folder: those that may belong to another one
    for key, parts in groups.items():
        if len(parts) == 1:
            alone.setdefault(key.parent, {})[parts[0].name] = key
    for live in [live for live, parts in groups.items() if live in parts]:
        if live not in groups:
            continue
        here, stem = alone.get(live.parent, {}), live.name.rpartition(".")[0] or live.name
        maybe = [live.with_name(name) for name in here if name.startswith(stem) and is_rotation(name, live.name)]
        joining = _that_go_on(maybe, groups[live])
        groups[live] += joining
        for path in joining:
            del groups[here.pop(path.name)]
        if joining:
            here.pop(live.name, None)
    return [_parts(live, parts) for live, parts in groups.items()]


def with_rotations(parts: Sequence[Path]) -> list[Path]:
    """The parts of a run, and those that lie beside the last of them, oldest first, without copies."""
    live = parts[-1]
    try:
        beside = [path for path in live.parent.iterdir() if is_rotation(path.name, live.name) and _is_file(path)]
    except OSError as error:
        if is_away(error):
            raise
        return list(parts)
    sure = [path for path in beside if rotation_mark(path.name, live.name)[0] is Kin.ROTATION]
    known = list(dict.fromkeys([*parts, *sure]))
    maybe = [path for path in beside if path not in known]
    return _parts(live, [*known, *_that_go_on(maybe, known)])


def _is_file(path: Path) -> bool:
    with UnlessAway():
        return stat.S_ISREG(path.stat().st_mode)
    return False


def _parts(live: Path, parts: list[Path]) -> list[Path]:
    if len(parts) < 2:
        return parts
    with ExitStack() as closing:
        files = {}
        for part in sorted(parts, key=lambda part: part != live):  # which is no copy, whatever the others hold
            with UnlessAway():
                files[closing.enter_context(PlainFile(str(part)))] = part
        copies = {files[copy] for copy in copies_among(list(files))}
    return [part for part in _oldest_first(live, parts) if part not in copies]


def _oldest_first(live: Path, parts: list[Path]) -> list[Path]:
    """By the time of each one's first metric line, else by the names' numbers; the log itself is last.

    Other lines' times don't count: another clock tells the launch, and samples quote dates.

    `.2` is older than `.1`, a date is older than a later date.
    """

    def by_number(path: Path) -> tuple[bool, float]:
        digits = re.sub(r"\D", "", rotation_mark(path.name, live.name)[1])
        number = float(digits or 0)
        return (path == live, number if len(digits) >= 6 else -number)

    stamps = {path: _first_stamp(path) for path in parts}
    known = all(stamps.values()) and len(set(stamps.values())) == len(parts)
    by_stamp: Callable[[Path], tuple[bool, bytes]] = lambda path: (path == live, stamps[path])  # noqa: E731
    return sorted(parts, key=by_stamp) if known else sorted(parts, key=by_number)


def _first_stamp(path: Path) -> bytes:
    """The time stamp of the first metric line near the beginning, as text; b"" without one."""
    with UnlessAway(), PlainFile(str(path)) as file:
        text = next(unpacked_text(file), b"")[: END_BYTES[0]]
        metric = METRIC.search(text)
        if metric:
            found = _ROTATION_STAMP.findall(text, text.rfind(b"\n", 0, metric.start()) + 1, metric.start())
            return found[-1].replace(b"T", b" ") if found else b""  # the logger's own stands nearest
    return b""


# -- one run or several ------------------------------------------------------------------------


@dataclass(slots=True)
class End:
    """What the metric lines nearest to one end of a file say: the number of each kind, and the time."""

    numbers: dict[str, int] = field(default_factory=dict)
    time: float | None = None


def _that_go_on(maybe: list[Path], parts: list[Path]) -> list[Path]:
    """Those files that one of the parts, or another file that does, is the continuation of."""
    if not maybe:
        return []
    starts = [_of(first_metrics, part) for part in parts]
    joining: list[Path] = []
    ends = {path: _of(last_metrics, path) for path in maybe}
    while found := next((path for path, end in ends.items() if any(continues(end, start) for start in starts)), None):
        del ends[found]
        joining.append(found)
        starts.append(_of(first_metrics, found))
    return joining


def _of(metrics: Callable[[PlainFile], End], path: Path) -> End:
    try:
        with PlainFile(str(path)) as file:
            return metrics(file)
    except OSError as error:
        if is_away(error):
            raise
        return End()


def continues(end: End, start: End) -> bool:
    """Whether a text that begins with `start` goes on where one that ends with `end` ended.

    The numbers of rollouts and updates go on by one (a rollout's lines may be torn apart: then some are equal),
    and the times don't go back. Another run begins at 0, another attempt at its checkpoint. A text without a metric
    line goes on from none.
    """
    steps = [
        start.numbers[kind] - end.numbers[kind]
        for kind in COUNTING_KINDS
        if kind in start.numbers and kind in end.numbers
    ]
    in_time = end.time is None or start.time is None or start.time >= end.time - ORDER_SLACK
    return in_time and 1 in steps and all(step in (0, 1) for step in steps)


def lies_between(file: PlainFile, before: PlainFile | None, after: PlainFile | None) -> bool:
    """Whether a text with an ambiguous name may have been written after `before` and before `after`.

    The times of their metric lines tell, where there are none their numbers. Another run that is logged at the same
    time began before the one ended, or ends after the other began.
    """
    first, last = first_metrics(file), last_metrics(file)
    seams = [(last_metrics(before), first)] if before else []
    seams += [(last, first_metrics(after))] if after else []
    for end, start in seams:
        if end.time is not None and start.time is not None:
            if start.time < end.time - ORDER_SLACK:
                return False
        elif end.numbers and start.numbers and not continues(end, start):
            return False
    return True


def first_metrics(file: PlainFile) -> End:
    """The numbers and the time of the first metric lines in a file."""
    text = b""
    for more in unpacked_text(file):
        text += more
        end = _read_end(text.split(b"\n")) if len(text) >= END_BYTES[0] else End()
        if end.numbers or len(text) >= END_BYTES[1]:
            return end
    return _read_end(text.split(b"\n"))


def last_metrics(file: PlainFile) -> End:
    """The numbers and the time of the last metric lines in a file. A packed one is unpacked whole: 300 MB/s."""
    if is_packed(file):
        text = b""
        for more in unpacked_text(file):
            text = (text + more)[-END_BYTES[1] :]
        return _read_end(text.split(b"\n")[::-1])
    size = file.stat().st_size
    end = End()
    for most in END_BYTES:
        lines = file.peek(most, max(0, size - most)).split(b"\n")
        end = end if end.numbers else _read_end(lines[:0:-1] if size > most else lines[::-1])
    return end


def _read_end(lines: list[bytes]) -> End:
    """Of the lines nearest to an end, that end first."""
    from miles_tui.core.parsing.metric_line import records_in

    end = End()
    for line in lines:
        if b"{" not in line:
            continue
        for record in records_in(line).records:
            if record.kind in COUNTING_KINDS:
                end.numbers.setdefault(record.kind, record.number)
                end.time = record.time if end.time is None else end.time
        if len(end.numbers) == len(COUNTING_KINDS):
            break
    return end
