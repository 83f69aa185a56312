"""The worker: a fork of the warm process that judges one batch, reports as it goes, and exits.

What keeps a program's damage here: it is a session of its own and has its own copy of memory, with limits on address
space, file size and core dumps, in a directory of its own that its parent removes, with nothing open but `/dev/null`, a
pipe for its output and the report pipe. It dies with its parent. Before each stage it writes into the shared page where
it is, so that whatever ends it is blamed on the right program, target and stage.

One batch, one fork, but not for ever: after `slice` seconds it hands back what is left, so that a batch of slow
programs is shared out again, and a backend may ask for few programs per fork (`per_fork`).
"""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import Kind, Lane, Verdict
from inplace_fuzz.execute import frames, processes
from inplace_fuzz.execute.deaths import without_memory
from inplace_fuzz.execute.drawer import draw

EAGER = ("eager", "direct")
Key = tuple[str, str]
FAILED_TO_START = 3
NO_VERDICT = "the judge gave no verdict; report this as a bug of inplace-fuzz"


def run(parent: int, fds: tuple[int, int, int], directory: str, limits: dict[str, int]) -> NoReturn:
    """Never returns. `fds` are the job (a memory file), the report pipe and the output pipe."""
    job_fd, report_fd, output_fd = fds
    try:
        _settle(parent, output_fd, directory, limits)
        page, job = _read_job(job_fd)
        _Worker(report_fd, page, bytes.fromhex(job["nonce"])).work(job)
    except BaseException as error:  # noqa: BLE001 - nothing of a forked child may run into its parent's code
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace")[:500])
        os._exit(FAILED_TO_START)
    os._exit(0)


def _settle(parent: int, output_fd: int, directory: str, limits: dict[str, int]) -> None:
    os.setsid()
    processes.die_with_parent(signal.SIGKILL, parent)
    processes.set_subreaper(True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        signal.signal(number, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(null)
    os.close(output_fd)
    _limit(resource.RLIMIT_AS, processes.address_space(os.getpid()) + limits["memory_bytes"])
    _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _limit(resource.RLIMIT_CORE, 0)
    try:
        # Where the machine itself runs out of memory, the kernel should take this process and not the supervisor.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM, errno.ENOENT, errno.EROFS}:
            raise
    os.chdir(directory)
    os.environ["TMPDIR"] = tempfile.tempdir = directory


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


def _read_job(fd: int) -> tuple[mmap.mmap, dict[str, Any]]:
    """The shared page and the job behind it; the descriptor is closed, so that nothing else can write there."""
    page = mmap.mmap(fd, frames.PAGE_BYTES)
    size = os.fstat(fd).st_size - frames.PAGE_BYTES
    data = os.pread(fd, size, frames.PAGE_BYTES)
    os.close(fd)
    job: dict[str, Any] = json.loads(data)
    return page, job


class _Worker:
    def __init__(self, report_fd: int, page: mmap.mmap, nonce: bytes) -> None:
        # High and close-on-exec: out of the way of loops over small descriptors, and of every process started here.
        self._fd = fcntl.fcntl(report_fd, fcntl.F_DUPFD_CLOEXEC, 200)
        os.close(report_fd)
        self._page = page
        self._nonce = nonce
        self._since = time.monotonic()
        self._stage = ""

    def _send(self, message: dict[str, Any]) -> None:
        frames.write_all(self._fd, frames.encode(self._nonce, message))

    def work(self, job: dict[str, Any]) -> None:
        if "op" in job:
            self._operate(job["op"], job["payload"])
        elif "draw" in job:
            if not draw(job["draw"], self._send, self._page):
                return
        else:
            self._judge_all(job)
        self._send({"end": True})

    def _operate(self, name: str, payload: dict[str, Any]) -> None:
        from inplace_fuzz.execute.operations import OPERATIONS

        self._place(0, 0, name)
        try:
            self._send({"result": OPERATIONS[name](payload)})
        except Exception as error:  # noqa: BLE001 - every failure of an operation is the asker's to hear
            self._send({"failed": [type(error).__name__, str(error)]})

    def _judge_all(self, job: dict[str, Any]) -> None:
        started = time.monotonic()
        for number, item in enumerate(job["tasks"]):
            targets = [(backend, lane) for backend, lane in item["targets"]]
            self._since = time.monotonic()
            self._place(number, frames.REFERENCE, "import")
            program = Program.from_json(item["program"])
            per_fork = self._judge(number, program, targets, confirm=job["confirm"])
            self._send({"done": number, "per_fork": per_fork})
            if number + 1 >= min(per_fork.values(), default=1 << 30) or time.monotonic() - started > job["slice"]:
                return

    def _judge(self, number: int, program: Program, keys: list[Key], *, confirm: bool) -> dict[str, int]:
        """Judges one program on its targets. Returns how many programs in one fork each backend wants, if it says."""
        from inplace_fuzz.execute.evaluate import evaluate

        began, born = time.monotonic(), processes.ticks()
        waiting = list(keys)
        here: Key = EAGER
        asked: dict[Key, Key] = {}  # what a backend calls itself -> the name by which it was asked for

        def enter(key: Key, stage: str) -> None:
            nonlocal here
            if key != here:
                self._since = time.monotonic()
                here = key
            key = asked.get(key, key)
            self._place(number, keys.index(key) if key in keys and key != EAGER else frames.REFERENCE, stage)

        def emit(key: Key, verdict: Verdict) -> None:
            nonlocal began, born
            key = asked.get(key, key)
            if key not in waiting:  # eager's own verdict is always given, and not always asked for
                return
            waiting.remove(key)
            now = time.monotonic()
            verdict = _blame_for_strays(without_memory(verdict), born)
            at = [number, keys.index(key)]
            self._send({"at": at, "verdict": verdict.to_json(), "seconds": round(now - began, 6)})
            began, born = now, processes.ticks()

        self._since = time.monotonic()
        self._place(number, frames.REFERENCE, "run")
        loaded, per_fork = self._load(number, keys, emit)
        asked.update({(backend.name, str(lane)): key for key, (backend, lane) in loaded.items()})
        while waiting:
            before = len(waiting)
            here = EAGER
            try:
                left = [t for k, t in loaded.items() if k in waiting]
                evaluate(program, left, enter=enter, emit=emit, confirm=confirm)
            except BaseException as error:  # noqa: BLE001 - SystemExit and its like are the program's doing
                _blame_for_raising(error, asked.get(here, here), self._stage, waiting, emit)
            if len(waiting) == before:
                for key in list(waiting):
                    emit(key, Verdict(Kind.ERROR, stage="run", message=NO_VERDICT))
        return per_fork

    def _load(
        self, number: int, keys: list[Key], emit: Callable[[Key, Verdict], None]
    ) -> tuple[dict[Key, tuple[Any, Lane]], dict[str, int]]:
        from inplace_fuzz.backends import load

        loaded: dict[Key, tuple[Any, Lane]] = {}
        per_fork: dict[str, int] = {}
        for index, (name, lane) in enumerate(keys):
            if (name, lane) == EAGER:
                continue
            try:
                self._place(number, index, "import")
                backend = load(name)
                loaded[name, lane] = (backend, Lane(lane))
            except Exception as error:  # noqa: BLE001 - an adapter that cannot be loaded is a finding about it
                emit((name, lane), Verdict(Kind.ERROR, stage="import", message=first_line(error)))
                continue
            if hasattr(backend, "per_fork"):
                per_fork[name] = max(1, int(backend.per_fork))
        return loaded, per_fork

    def _place(self, program: int, target: int, stage: str) -> None:
        self._stage = stage
        frames.write_place(self._page, frames.Place(program, target, stage, self._since))


def _blame_for_raising(
    error: BaseException, here: Key, stage: str, waiting: Sequence[Key], emit: Callable[[Key, Verdict], None]
) -> None:
    """`evaluate` lets nothing out that is an Exception of the program's; SystemExit and its like do come out."""
    if here in waiting and here != EAGER:
        emit(here, Verdict(Kind.ERROR, stage=stage, message=first_line(error)))
        return
    for key in list(waiting):
        emit(key, Verdict(Kind.INVALID, message=f"eager: {first_line(error)}"))


def _blame_for_strays(verdict: Verdict, began: int) -> Verdict:
    """Kills processes that a program has left in sessions of their own; leaving one turns agreement into an error.

    Helpers that a compiler keeps in the worker's own session are its business, and die with the worker. A process that
    is older than this run, which `began` at so many ticks of the kernel's clock, was started by an earlier one.
    """
    strays = processes.escaped()
    if not strays:
        return verdict
    blamed = [processes.describe(pid) for pid in strays if processes.started(pid) >= began]
    processes.kill_escaped(strays)
    if not blamed or verdict.kind not in {Kind.AGREE, Kind.REFUSED}:
        return verdict
    return Verdict(Kind.ERROR, stage="run", message=f"left a process running in a session of its own: {blamed[0]}")


def first_line(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"[:300]
