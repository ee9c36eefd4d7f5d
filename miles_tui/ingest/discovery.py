"""Which logs an argument means: a file, a folder's runs, the rotations of one run, the newest log here.

Whether a file is a Miles log is told from its name and its first and last 64 KiB.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from os import PathLike
from pathlib import Path

from miles_tui.core.parsing.diagnose import diagnose, is_binary
from miles_tui.errors import UnreadableLog
from miles_tui.files import is_dir
from miles_tui.ingest.files.away import is_away
from miles_tui.ingest.files.gzip_file import GZIP_MAGIC, Gunzip
from miles_tui.ingest.files.log_file import STDIN, Log, is_stream
from miles_tui.ingest.files.open_file import FileKey, PlainFile, unreadable
from miles_tui.ingest.files.rotations import METRIC, grouped, with_rotations

__all__ = ["Log", "age_seconds", "find_logs", "here", "newest_log", "runs_in", "sample", "why_empty"]

Told = dict[Path, tuple[FileKey, int, bool]]  # of each file: which it was, when it was written to, whether it is a log

SAMPLE = 64 * 1024
NO_CAUSE = "no line with a Miles metric was found"
DEPTH = 3  # folders below the one given that are searched when it holds no log itself
ENTRIES = 5000  # names looked at in all
FILES = 300  # newest logs taken
LOOKED_INTO = 2500  # newest files, of which the most may be no logs: 0.1 ms each

_LAUNCHED = re.compile(
    rb"\((?:MegatronTrainRayActor|FSDPTrainRayActor|Rollout(?:Manager|Executor|Controller))[\w]*[ )]"
    rb"|  rollout_batch_size \.{4,}|Running entrypoint for job|(?:Timer \w+ (?:start|end \())"
)
_NO_LOG = re.compile(
    r".*\.(?:py|sh|md|rst|json|ya?ml|toml|cfg|ini|csv|tsv|html?|pt|pth|bin|safetensors|npy|npz|pkl|parquet|arrow|so|o"
    r"|png|jpe?g|gif|svg|pdf|zip|tar|tgz|whl|wandb|lock|pid|swp|ipynb|c|h|cc|cpp|cu|rs|go|js|ts|css)"
    r"|events\.out\.tfevents\..*",
    re.IGNORECASE,
)
# Ray keeps each worker's own output beside the job's log, which has all of it.
_RAY_PART = re.compile(r"worker-.*\.(?:out|err)|python-core-.*|(?:raylet|gcs_server|dashboard|monitor|log_monitor).*")
_MAGIC = (
    (b"\x7fELF", "a program"),
    (b"PK\x03\x04", "a zip archive or a checkpoint"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x93NUMPY", "a numpy array"),
    (b"SQLite format 3", "a database"),
    (b":W&B", "a W&B data file: give the printed log"),
    (b"\xfd7zXZ", "packed with xz: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first"),
    (b"BZh", "packed with bzip2: unpack it first"),
    (b"\x04\x22\x4d\x18", "packed with lz4: unpack it first"),
    (b"\x1f\x9d", "packed with compress: unpack it first"),
)


def find_logs(
    given: Sequence[str | PathLike[str]],
    *,
    must_exist: bool = True,
    rotations: bool = False,
    patient: bool = False,
    told: Told | None = None,
) -> list[Log]:
    """The logs that the arguments mean, in their order: a folder stands for its runs, rotations of one run are one.

    `rotations` adds those that lie beside a file. Without `must_exist` a file that isn't there yet is
    taken as it is. Raises UnreadableLog: a file that is missing, forbidden or binary, a folder without a log; with
    `patient` such an argument is left out. `told` as in `runs_in`.
    """
    files: dict[Path, str] = {}
    logs: list[Log] = []
    order: dict[Path, int] = {}
    for item in given:
        path = Path(item)
        order.setdefault(path, len(order))
        if str(path) == STDIN:
            logs.append(Log(path, STDIN))
            continue
        try:
            if is_dir(path):
                logs.extend(runs_in(path, told))
            else:
                _check(path, must_exist)
                files[path] = os.fspath(item)
        except UnreadableLog:
            if not patient:
                raise
    try:
        groups = [with_rotations(parts) if rotations else parts for parts in grouped(list(files))]
    except OSError as error:
        raise unreadable(error.filename or next(iter(files)), error) from None
    logs.extend(Log(parts[-1], files.get(parts[-1], str(parts[-1])), tuple(parts[:-1])) for parts in groups)
    return sorted(logs, key=lambda log: min(_argument_order(part, order) for part in log.parts))


def _argument_order(part: Path, order: dict[Path, int]) -> int:
    """Where in the arguments the file, or the folder that it was found in, stands."""
    return min((order[path] for path in (part, *part.parents) if path in order), default=len(order))


def newest_log(folder: str | PathLike[str]) -> Path:
    """The Miles log in `folder` that was written to last. Raises UnreadableLog when there is none."""
    return runs_in(folder)[0].path


def runs_in(folder: str | PathLike[str], told: Told | None = None) -> list[Log]:
    """The Miles runs in a folder, the one written to last first; folders below only where it holds none itself.

    `told` is what earlier looks found: a file is looked into again only where it may be another one by now. Raises
    UnreadableLog when there is none.
    """
    top, away = Path(folder), list[OSError]()
    told = {} if told is None else told
    try:
        levels = _levels(top)
        for files in levels:
            logs = list(islice((path for path in _newest(files) if _is_miles(path, told, away)), FILES))
            jobs = [path for path in logs if not _RAY_PART.fullmatch(path.name)] or logs
            if jobs:
                runs = [Log(parts[-1], str(parts[-1]), tuple(parts[:-1])) for parts in grouped(jobs)]
                return sorted(runs, key=lambda log: _written(log.path), reverse=True)
        if away:
            raise away[0]
    except OSError as error:
        raise unreadable(top, error) from None
    raise UnreadableLog(f"{'this folder' if top in (Path(), here()) else top} holds no Miles log")


def here() -> Path:
    """The folder that we are in; where it was deleted meanwhile, an empty one."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def age_seconds(log: str | PathLike[str], now: float) -> float | None:
    """How long ago the log was written to, `now` being the time of the clock; None where that can't be known."""
    written = _written(Path(log))
    return max(0.0, now - written) if written else None


def sample(log: str | PathLike[str]) -> bytes:
    """The first and the last 64 KiB of a log's text. Raises OSError; b"" for what is read only once."""
    name = os.fspath(log)
    if name == STDIN or is_stream(name):
        return b""
    with PlainFile(name) as file:
        head = file.peek(SAMPLE)
        if head.startswith(GZIP_MAGIC):
            return next(Gunzip().feed(head), b"")
        size = file.stat().st_size
        return head + file.peek(SAMPLE, max(SAMPLE, size - SAMPLE))


def why_empty(log: str | PathLike[str], text: bytes = b"") -> str:
    """Why a log has no Miles metric, as far as it can be told: one plain sentence.

    It is told from a file's beginning and end, of a pipe from `text`, its beginning as it came.
    """
    try:
        return diagnose(sample(log) or text) or NO_CAUSE
    except OSError:
        return NO_CAUSE


def _levels(top: Path) -> Iterator[list[Path]]:
    """The files that may be logs: those in the folder, then those one level below, and so on."""
    left, folders = ENTRIES, [top]
    for depth in range(DEPTH + 1):
        files: list[Path] = []
        below: list[Path] = []
        for folder in folders:
            try:
                entries = list(os.scandir(folder))[:left]
            except OSError:
                if not depth:
                    raise
                continue
            left -= len(entries)
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                with suppress(OSError):  # one that can't be looked at hides no other
                    if entry.is_dir(follow_symlinks=False):
                        below.append(Path(entry.path))
                    elif not _NO_LOG.fullmatch(entry.name):
                        files.append(Path(entry.path))
        yield files
        folders = sorted(below)


def _newest(files: Iterable[Path]) -> Iterator[Path]:
    """The newest files, each once, whatever links lead to it; workers' own output comes last."""
    seen: set[str] = set()
    by_age = heapq.nlargest(LOOKED_INTO, files, key=lambda path: (not _RAY_PART.fullmatch(path.name), _written(path)))
    for path in by_age:
        real = os.path.realpath(path)  # train.log, and the attempt that it is a link to
        if real not in seen:
            seen.add(real)
            yield path


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _is_miles(path: Path, told: Told, away: list[OSError]) -> bool:
    """False where it can't be read; into `away` goes why, where it may be one."""
    try:
        found = path.stat()
        before = told.get(path)
        key = (found.st_dev, found.st_ino)
        if before is not None and before[0] == key and (before[2] or before[1] == found.st_mtime_ns):
            return before[2]
        text = sample(path)
    except OSError as error:
        away += [error] if is_away(error) else []
        return False
    miles = bool(METRIC.search(text) or _LAUNCHED.search(text))
    told[path] = (key, found.st_mtime_ns, miles)
    return miles


def _check(path: Path, must_exist: bool) -> None:
    """Raises UnreadableLog for a file that is missing, forbidden or binary."""
    try:
        text = sample(path)
    except FileNotFoundError:
        if must_exist:
            raise UnreadableLog(f"{path} does not exist") from None
        return
    except OSError as error:
        if is_stream(str(path)):
            return
        raise unreadable(path, error) from None
    what = binary(text)
    if what:
        raise UnreadableLog(f"{path} is no text, it is {what}")


def binary(text: bytes) -> str:
    """What kind of binary file begins (and ends) like that, in a few words; "" for text."""
    for magic, what in _MAGIC:
        if text.startswith(magic):
            return what
    if b"brain.Event:" in text[:64]:
        return "a TensorBoard event file: give the printed log"
    return "a binary file" if is_binary(text) and not METRIC.search(text) else ""
