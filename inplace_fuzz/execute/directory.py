"""The temporary directory of one session, which goes away however the session ends.

Its `lock` file is held by the process that made it. The lock ends with that process, even by SIGKILL, so a directory
whose lock can be taken is nobody's, and the next session removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

from inplace_fuzz.execute.processes import MARKER

PREFIX = "inplace-fuzz-"


class InsideWorker(RuntimeError):
    """Workers do not start workers: a module that runs a campaign when it is imported would do so without end."""


class SessionDirectory:
    def __init__(self) -> None:
        if MARKER in os.environ:
            raise InsideWorker(
                "this process is a worker already; put what starts an engine under `if __name__ == '__main__':`"
            )
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self._lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_abandoned() -> None:
    """Removes this user's session directories whose sessions were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if not path.is_symlink() and path.stat().st_uid == os.getuid():
                _remove_unlocked(path)


def remove_if_last(directory: Path) -> None:
    """For a warm process that outlives its session: removes the session's directory when nothing else is in it.

    The lock of a process that is being killed is let go a moment after its sockets.
    """
    for _ in range(50):
        if not directory.is_dir() or set(os.listdir(directory)) > {"lock"}:
            return
        if _remove_unlocked(directory):
            return
        time.sleep(0.01)


def _remove_unlocked(path: Path) -> bool:
    """Removes a session directory unless its session lives."""
    try:
        lock = os.open(path / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
