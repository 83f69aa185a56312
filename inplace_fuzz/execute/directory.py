"""The temporary directory of one session, which goes away however the session ends.

Its `lock` file is held, shared, by the process that made it and by each warm process. A lock ends with its process,
even by SIGKILL, so a directory whose lock can be taken is nobody's: the last warm process of a killed session removes
it, and where there was none yet, the next session does.
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
        self._lock = os.open(self.path / "made", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        # It has its name only once it is held: another session would take it for abandoned.
        os.rename(self.path / "made", self.path / "lock")

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_abandoned() -> None:
    """Removes this user's session directories whose sessions were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if not path.is_symlink() and path.stat().st_uid == os.getuid():
                _remove_unlocked(path)


def hold(directory: Path) -> int:
    """Keeps a session's directory from being taken for abandoned, as long as the descriptor is open.

    OSError when the session is over and its directory gone.
    """
    lock = os.open(directory / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def let_go(directory: Path, lock: int) -> None:
    """Ends a `hold`, and removes the directory when nobody else holds it.

    The lock of a process that is being killed is let go a moment after its sockets.
    """
    os.close(lock)
    for _ in range(50):
        if not directory.is_dir() or _remove_unlocked(directory):
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
