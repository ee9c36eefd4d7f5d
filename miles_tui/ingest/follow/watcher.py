"""Waiting until something may have changed. It says no more than that: the file is looked at anyway.

watchfiles' events are for speed. A look once a second is for truth: an event queue that overflows,
a folder deleted under its watch, and a container's log written from outside are all silent. Where
events can't come at all (`why_no_events`), the file is looked at five times a second.
"""

from __future__ import annotations

import os
import re
import select
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from miles_tui.ingest.files.away import is_away

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

# watchfiles' thread sleeps `step` between looks at its queue: 20 ms cost 0.17 % of a core and answer in
# about 30 ms; 10 ms cost 0.23 %, 50 ms cost 0.1 % and answer too late (100 ms at p99).
STEP_MS = 20
DEBOUNCE_MS = 40  # how long events are gathered in a busy folder; the default of 1600 answers after 850 ms
HEARTBEAT = 1.0
POLL = 0.2
FAR_SECONDS = (
    2.0  # between two looks at a log that is not on the screen: eight of them cost 0.1 % of a core, events 1.4 %
)
UNHEARD = 3  # looks in a row that found text without an event: events don't come here
FROM_AFAR = "now and then"
LINKS = 40  # as the kernel allows in one path

_REMOTE = re.compile(
    r"nfs\d?|lustre|fuse(?:blk|\..*)?|9p|cifs|smb\w*|ceph|gpfs|beegfs\w*|afs|ocfs2|gfs2?|glusterfs|pvfs2|orangefs"
    r"|virtiofs|vboxsf|prl_fs|drvfs|wekafs|panfs|davfs|sshfs"
)


class Woke(Enum):
    """Why a wait ended."""

    EVENT = "event"  # something was heard
    BEAT = "beat"  # the ordinary look
    RETRY = "retry"  # the look that was asked for
    STOP = "stop"


class Attention:
    """Whether somebody looks at the log. One thread sets `near`, that of the watch reads it.

    Far from the screen it is looked at every two seconds, without events: no thread of watchfiles wakes up for it.
    `began` is the other way round: when the look at the file that goes on now was begun (of the monotonic clock; None:
    there is none). A file system that hangs answers no look.
    """

    __slots__ = ("began", "near")

    def __init__(self, near: bool = True) -> None:
        self.near = near
        self.began: float | None = None

    def hangs(self, now: float, seconds: float) -> bool:
        """Whether a look has been going on for so long."""
        began = self.began
        return began is not None and now - began >= seconds


class Stop:
    """A flag that ends a wait at once. `set` may be called from a signal handler and from any thread.

    A `threading.Event` would not do: its `set` inside a handler can wait for a lock that the
    interrupted thread holds.
    """

    def __init__(self) -> None:
        self._set = False
        self.then: Callable[[], object] = lambda: None  # called with each `set`, perhaps in a signal handler
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def set(self) -> None:
        self._set = True
        with suppress(OSError):
            os.write(self._write, b"\0")
        self.then()

    def is_set(self) -> bool:
        return self._set

    def wait(self, seconds: float | None, fd: int | None = None) -> bool:
        """Wait until it is set, `fd` can be read or is closed, or the time is over; returns whether it is for `fd`."""
        poll = select.poll()
        poll.register(self._read, select.POLLIN)
        if fd is not None:
            poll.register(fd, select.POLLIN)
        ready = poll.poll(None if seconds is None else max(0, round(seconds * 1000)))
        return any(ready_fd == fd for ready_fd, _ in ready)

    def close(self) -> None:
        for fd in (self._read, self._write):
            with suppress(OSError):
                os.close(fd)
        self._read = self._write = -1


def folders_on_the_way(path: str) -> list[str]:
    """The folders in which a change of what `path` leads to can be heard.

    That of each symbolic link on the way (a swap is heard only there), and that of the file itself;
    where something is missing, the last folder that exists.
    """
    here, links = "/", 0
    todo = str(Path.cwd() / path).split("/")[::-1]
    folders: list[str] = []
    while todo:
        name = todo.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = os.path.dirname(here)  # noqa: PTH120
            continue
        at = f"{here.rstrip('/')}/{name}"
        try:
            target = os.readlink(at)  # noqa: PTH115
        except OSError as error:
            # No link. What gives no answer is as good as there: its file system may be one that sends no events.
            if not is_away(error) and not os.path.lexists(at):
                break
            here = at
            continue
        folders.append(here)
        links += 1
        if links > LINKS:
            break
        if target.startswith("/"):
            here = "/"
        todo.extend(target.split("/")[::-1])
    folders.append(here if os.path.isdir(here) else os.path.dirname(here))  # noqa: PTH112, PTH120
    return list(dict.fromkeys(folders))


def file_system(folder: str, mounts: str | None = None) -> str:
    """The type of the file system that holds `folder`, "" where it can't be known (`mounts`: mountinfo's text)."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return ""
    best, kind = "", ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # of mounts over one another the last is seen
            best, kind = point, right.split(" ")[0]
    return kind


def is_remote(path: str) -> bool:
    """Whether what `path` leads to lies on a file system that others write to unheard."""
    return any(_REMOTE.fullmatch(file_system(folder)) for folder in folders_on_the_way(path))


def why_no_events(folders: list[str]) -> str:
    """Why changes in `folders` can't be heard, in a few words; "" when they can."""
    forced = os.environ.get("WATCHFILES_FORCE_POLLING", "")
    if forced and forced.lower() not in ("false", "disable", "disabled"):
        return "WATCHFILES_FORCE_POLLING is set"
    remote = next((kind for f in folders if _REMOTE.fullmatch(kind := file_system(f))), "")
    return f"{remote} sends no events" if remote else ""


class Watch:
    """Waits for changes of what `path` leads to. `how` says in a few words in which way.

    `polling`: True never uses events, False uses them even where they may not come, None decides.
    """

    def __init__(
        self, path: str, stop: Stop, *, polling: bool | None = None, attention: Attention | None = None
    ) -> None:
        self.how = ""
        self._attention = attention or Attention()
        self._path = path
        self._stop = stop
        self._polling = polling
        self._deaf = polling is True  # for good
        self._plan: list[tuple[str, int, int]] | None = None
        self._notify: RustNotify | None = None
        self._unheard = 0
        if polling:
            self._poll_because("")

    def arm(self) -> bool:
        """Listen at the right folders, whatever became of them; True if that changed, so that a look is due again."""
        if self._deaf:
            return False
        if not self._attention.near:
            self._leave()
            return False
        plan = []
        for folder in folders_on_the_way(self._path):
            with suppress(OSError):
                found = os.stat(folder)  # noqa: PTH116
                plan.append((folder, found.st_dev, found.st_ino))
        if plan == self._plan:
            return False
        self.close()
        self._plan = plan
        folders = [folder for folder, _, _ in plan]
        why = "" if self._polling is False else why_no_events(folders)
        if why:
            self._poll_because(why)
            return True
        try:
            # Imported here: 35 ms, most of it anyio, that a finished log should not cost.
            from watchfiles._rust_notify import RustNotify

            self._notify = RustNotify(folders, False, False, 0, False, False)
            self.how = "by events"
        except FileNotFoundError:
            self._plan = None  # a folder vanished meanwhile: looked at often until the next call sees what is there
            return False
        except BaseException as error:  # noqa: BLE001  # whatever it is (a panic of Rust is no Exception)
            self._do_without(error)
        return True

    def wait(self, retry_in: float | None = None) -> Woke:
        """Until something may have changed, the next look is due, or it is stopped."""
        if self._notify is not None and not self._attention.near:
            self._leave()
        beat = HEARTBEAT if self._notify else POLL if self._attention.near else FAR_SECONDS
        seconds = beat if retry_in is None else min(beat, retry_in)
        if self._notify is None or seconds * 1000 < STEP_MS:  # which watchfiles would round up to its step
            self._stop.wait(seconds)
            heard = False
        else:
            said: object = None
            try:
                said = self._notify.watch(DEBOUNCE_MS, STEP_MS, max(1, round(seconds * 1000)), self._stop)
            except BaseException as error:  # noqa: BLE001  # a name beside the log that is no UTF-8, for one
                self._do_without(error)
            if said == "signal":
                self._stop.set()  # a handler that raises: its exception is lost in watchfiles
            heard = isinstance(said, set)
        if self._stop.is_set():
            return Woke.STOP
        if heard:
            return Woke.EVENT
        return Woke.BEAT if seconds == beat else Woke.RETRY

    def learn(self, woke: Woke, found: bool) -> None:
        """Told what the look after a wait found: text that comes without events means that none come here."""
        if self._notify is None or not found:
            return
        self._unheard = self._unheard + 1 if woke is Woke.BEAT else 0 if woke is Woke.EVENT else self._unheard
        if self._unheard >= UNHEARD and self._polling is None:
            self._poll_because("its writes send no events")

    def _leave(self) -> None:
        """Nobody looks: no events until somebody does."""
        self.close()
        self._plan, self.how = None, FROM_AFAR

    def _do_without(self, error: BaseException) -> None:
        """The watcher failed: go on by `stat`, for good."""
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise error
        words = str(error)
        if "Too many open files" in words:
            self._poll_because("no inotify instance is left")
        elif "limit" in words and isinstance(error, OSError):
            self._poll_because("no inotify watch is left")
        elif isinstance(error, UnicodeError) or "decode" in words:
            self._poll_because("a name there is no UTF-8")
        else:
            self._poll_because("the folder can't be watched")

    def _poll_because(self, why: str) -> None:
        self.close()
        self._deaf = True
        self.how = f"every {POLL:g} s: {why}" if why else f"every {POLL:g} s"

    def close(self) -> None:
        notify, self._notify = self._notify, None
        if notify:
            with suppress(Exception):
                notify.close()
