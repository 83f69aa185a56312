"""Whether a suite leaves anything behind: processes of any session, or files in the temporary directory."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from inplace_fuzz.execute.processes import MARKER


def our_processes() -> dict[int, str]:
    """Every living process that carries the marker of a session, or that this process has started or inherited."""
    found = {}
    mine = {p.pid for p in psutil.Process().children(recursive=True)}
    for process in psutil.process_iter():
        try:
            if process.status() == psutil.STATUS_ZOMBIE and process.pid not in mine:
                continue
            if process.pid in mine or MARKER in process.environ():
                found[process.pid] = f"{process.status()} {' '.join(process.cmdline())[:150]}"
        except psutil.Error:
            continue
    found.pop(os.getpid(), None)
    return found


def our_files() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("inplace-fuzz-*"))


@contextmanager
def no_leftovers(*, patience: float = 3.0) -> Iterator[None]:
    """Fails when the block leaves a process or a file that was not there before.

    Another suite may run beside this one, so only what carries this process's number, or descends from it, counts.
    """
    processes, files = set(our_processes()), our_files()
    yield
    deadline = time.monotonic() + patience
    while True:
        new = {pid: what for pid, what in our_processes().items() if pid not in processes and _is_mine(pid)}
        left = {f for f in our_files() - files if f.name.startswith(f"inplace-fuzz-{os.getpid()}-")}
        if not new and not left:
            return
        if time.monotonic() > deadline:
            raise AssertionError(f"left behind: processes {new or 'none'}, files {sorted(map(str, left)) or 'none'}")
        time.sleep(0.05)


def _is_mine(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        if any(p.pid == os.getpid() for p in process.parents()):
            return True
        return process.environ().get(MARKER, "").startswith(f"{os.getpid()}-")
    except psutil.Error:
        return False
