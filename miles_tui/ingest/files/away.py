"""A file system that gives no answer now: NFS whose server is away, a dropped sshfs, a disk with errors.

That says nothing of the file: not that it is gone, nor that it is shorter. Whoever meets it changes nothing, and looks
again later.
"""

from __future__ import annotations

import errno
from types import TracebackType

DISK = "disk"  # the name of threads that ask a file system, and may hang in it

# What a file system answers; all else (EIO, ESTALE, ETIMEDOUT, ENOTCONN, EMFILE, ...) is about itself, or about us.
ANSWERS = frozenset({
    None, 0, errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR,
    errno.EINVAL, errno.ENXIO, errno.EOPNOTSUPP, errno.ENOSYS, errno.ESPIPE,
})  # fmt: skip


def is_away(error: OSError) -> bool:
    """Whether the file could not be asked, for now."""
    return error.errno not in ANSWERS


class UnlessAway:
    """Let an OSError that is an answer pass: the file is not there, or not ours to read. The others are raised."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        return isinstance(error, OSError) and not is_away(error)
