"""What supervisor and workers need to know of Linux processes. Standard library only: it runs in foreign environments.

What makes clean-up safe: a worker's children cannot leave it. Every warm process is a *child subreaper*, so whatever a
program starts, however often it forks and calls `setsid`, has the warm process as its parent once its own parents are
gone; `wait` saying "no children" is then proof that nothing is left. The supervisor is a subreaper as well, for the
case that the warm process itself is killed, and recognises strays by the marker that each process of a session carries
in its environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path

MARKER = "INPLACE_FUZZ_SESSION"
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_MOST_ROUNDS = 100  # of killing what keeps coming
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(number: int, parent: int) -> None:
    """Asks for signal `number` when the parent dies, and sends it where that has happened already."""
    _libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        signal.raise_signal(number)


def set_subreaper(on: bool) -> None:
    """Makes this process the parent of its orphaned descendants, or no longer."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


_holders = 0
_before = ctypes.c_int(0)


def hold_subreaper() -> None:
    """A subreaper until as many `release_subreaper` calls; engines in one process share it."""
    global _holders
    if _holders == 0:
        _libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(_before), 0, 0, 0)
        set_subreaper(True)
    _holders += 1


def release_subreaper() -> None:
    """Goes back to what this process was before the first `hold_subreaper`."""
    global _holders
    _holders -= 1
    if _holders == 0:
        set_subreaper(bool(_before.value))


def _stat(pid: int) -> tuple[str, int, int] | None:
    """State letter, parent and session of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1]), int(fields[3])


def _all_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(parent: int) -> list[int]:
    """The living children of a process; zombies do not count."""
    found = []
    for pid in _all_processes():
        stat = _stat(pid)
        if stat and stat[1] == parent and stat[0] != "Z":
            found.append(pid)
    return found


def descendants(root: int) -> list[int]:
    """Every living process below `root`, nearest first."""
    below: dict[int, list[int]] = {}
    for pid in _all_processes():
        stat = _stat(pid)
        if stat and stat[0] != "Z":
            below.setdefault(stat[1], []).append(pid)
    found: list[int] = []
    row = [root]
    while row:
        row = [pid for parent in row for pid in below.get(parent, ())]
        found += row
    return found


def family_resident(root: int) -> int:
    """Resident bytes of a process and everything below it, without looking at every process there is."""
    total, row = 0, [root]
    while row:
        total += sum(resident(pid) for pid in row)
        row = [child for pid in row for child in _children_listed(pid)]
    return total


def _children_listed(pid: int) -> list[int]:
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # gone, or a kernel without this list
        return []


def has_children() -> bool:
    """Whether this process has any child at all, dead or alive; one system call."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def escaped() -> list[int]:
    """Children of this process that live in a session of their own, as a daemon does."""
    if not has_children():
        return []
    here = os.getsid(0)
    return [pid for pid in children(os.getpid()) if (stat := _stat(pid)) and stat[2] != here]


def kill_escaped(strays: list[int]) -> None:
    """Kills these processes, all below them, and whatever of theirs this process inherits as they die."""
    for _ in range(_MOST_ROUNDS):
        for pid in strays:
            for below in descendants(pid):
                kill(below)
            kill(pid)
        for pid in strays:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        # One that died by itself while it was being looked at has left its children here.
        strays = escaped()
        if not strays:
            return


def ticks() -> int:
    """The present in ticks of the kernel's clock, as `started` counts them."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def started(pid: int) -> int:
    """When a process was started (proc(5), field 22 of stat); -1 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return -1


def describe(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        command = ""
    return command[:120] or "a process"


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def kill_group(pid: int) -> None:
    """Kills a process and the group that it leads. The caller has not reaped it, so the number is still its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    kill(pid)


def reap_all(keep: frozenset[int] = frozenset()) -> int:
    """Kills and reaps every child of this process but those in `keep`. Returns how many were still alive."""
    killed = 0
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return killed
        living = [pid for pid in children(os.getpid()) if pid not in keep]
        if not living:
            return killed
        killed += len(living)
        for pid in living:
            kill(pid)
        for pid in living:
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                continue


def marked(session: str) -> list[int]:
    """Living processes, other than this one, that carry the session's marker in their environment."""
    wanted = f"{MARKER}={session}".encode()
    found = []
    for pid in _all_processes():
        if pid == os.getpid():
            continue
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if wanted in environment.split(b"\0"):
            stat = _stat(pid)
            if stat and stat[0] != "Z":
                found.append(pid)
    return found


def resident(pid: int) -> int:
    """Resident bytes of one process; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def address_space(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory since it started."""
    try:
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    except OSError:
        return 0
    return 0


def reap(pid: int) -> None:
    """Takes the exit status of a killed stray that has become a child of this process, if it has."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
