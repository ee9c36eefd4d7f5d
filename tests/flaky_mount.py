"""A program that reads a folder through a file system of its own, which fails when it is told to (Linux, as root).

    python flaky_mount.py FOLDER PROGRAM [ARGUMENT...]      `MOUNT` in the arguments is where FOLDER's files appear

Words on standard input, a line each: `ok`; `fail ERRNO`, every call then fails; `hang`, none returns; `anew`, it is
unmounted and mounted again; `stop`, the program is interrupted, and its exit status is ours. What it prints is printed.
Ends with `NOT_HERE` where nothing can be mounted. The mount is in a name space of its own and ends with this process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

NOT_HERE = 77
OPEN, INIT = 14, 26
UNANSWERED = (2, 36, 42)  # two ways to forget a node, and an interrupt
NEW_NAMES, PRIVATE, DETACH, DIRECT = 0x20000, (1 << 18) | (1 << 14), 2, 1


def attributes(path: Path, node: int) -> bytes:
    st = path.lstat()
    times = (int(st.st_atime), int(st.st_mtime), int(st.st_ctime), 0, st.st_mtime_ns % 10**9, 0)
    numbers = (st.st_mode, st.st_nlink, st.st_uid, st.st_gid, 0, 4096, 0)
    return struct.pack("<6Q10I", node, st.st_size, 0, *times, *numbers)


class Mount:
    def __init__(self, folder: Path, place: Path) -> None:
        self.folder, self.place, self.word = folder, place, "ok"
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.check(self.libc.unshare(NEW_NAMES))
        self.check(self.libc.mount(None, b"/", None, PRIVATE, None))
        self.mount()

    def check(self, failed: int) -> None:
        if failed:
            raise OSError(ctypes.get_errno(), "no mount")

    def mount(self) -> None:
        self.nodes, self.paths = {self.folder: 1}, {1: self.folder}
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0".encode()
        self.check(self.libc.mount(b"flaky", os.fsencode(self.place), b"fuse.flaky", 0, options))

    def unmount(self) -> None:
        os.close(self.fd)
        self.check(self.libc.umount2(os.fsencode(self.place), DETACH))

    def node(self, path: Path) -> int:
        node = self.nodes.setdefault(path, len(self.nodes) + 1)
        self.paths[node] = path
        return node

    def serve(self) -> None:
        data = os.read(self.fd, 1 << 18)
        _, call, unique, node = struct.unpack_from("<IIQQ", data)
        if call in UNANSWERED:
            return
        try:
            if self.word.startswith("fail") and call != INIT:
                raise OSError(int(self.word.split()[1]), "")
            error, answer = 0, self.answer(call, node, data[40:])
        except OSError as raised:
            error, answer = raised.errno or errno.EIO, b""
        os.write(self.fd, struct.pack("<IiQ", 16 + len(answer), -error, unique) + answer)

    def answer(self, call: int, node: int, body: bytes) -> bytes:
        path = self.paths.get(node, self.folder)
        match call:
            case 26:  # INIT
                _, minor, ahead, _ = struct.unpack_from("<IIII", body)
                return struct.pack("<IIIIHHIIHHI7I", 7, min(minor, 31), ahead, 0, 16, 16, 65536, 1, 0, 0, 0, *[0] * 7)
            case 1:  # LOOKUP
                found = path / os.fsdecode(body.split(b"\0")[0])
                found.lstat()
                return struct.pack("<4Q2I", self.node(found), 0, 0, 0, 0, 0) + attributes(found, self.node(found))
            case 3:  # GETATTR
                return struct.pack("<QII", 0, 0, 0) + attributes(path, node)
            case 14 | 27:  # OPEN, OPENDIR
                return struct.pack("<QII", 0, DIRECT if call == OPEN else 0, 0)
            case 15:  # READ
                _, offset, size = struct.unpack_from("<QQI", body)
                return path.read_bytes()[offset : offset + size]
            case 28:  # READDIR
                _, offset, size = struct.unpack_from("<QQI", body)
                return self.names(path, offset)[:size]  # there are few
            case 18 | 25 | 29:  # RELEASE, FLUSH, RELEASEDIR
                return b""
        raise OSError(errno.ENOSYS, "")

    def names(self, path: Path, offset: int) -> bytes:
        out = b""
        for at, found in enumerate(sorted(path.iterdir())[offset:], offset + 1):
            raw = os.fsencode(found.name)
            entry = struct.pack("<QQII", self.node(found), at, len(raw), 0) + raw
            out += entry + b"\0" * (-len(entry) % 8)
        return out


def heed(mount: Mount, word: str, program: subprocess.Popen[bytes]) -> None:
    if word == "anew":
        mount.unmount()
        mount.mount()
        mount.word = "ok"
    elif word == "stop":
        program.send_signal(signal.SIGINT)
    else:
        mount.word = word


def main(folder: str, *argv: str) -> int:
    with tempfile.TemporaryDirectory() as place:
        try:
            mount = Mount(Path(folder), Path(place))
        except (OSError, AttributeError):
            return NOT_HERE
        program = subprocess.Popen([part.replace("MOUNT", place) for part in argv])
        try:
            while program.poll() is None:
                asked = [0] if mount.word == "hang" else [0, mount.fd]
                ready = select.select(asked, [], [], 0.05)[0]
                if mount.fd in ready:
                    mount.serve()
                if 0 in ready:
                    for word in os.read(0, 1 << 10).decode().splitlines() or ["stop"]:
                        heed(mount, word, program)
        finally:
            mount.unmount()
        return program.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
