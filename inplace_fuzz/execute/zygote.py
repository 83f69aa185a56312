"""The warm process: imports torch and compilers once, then forks a worker for each batch.

What makes forking safe: this process stays single-threaded (every thread pool is told to be one wide), never runs a
program itself, and forks with its heap frozen, so that workers share its pages. A worker therefore always starts from
the same clean state, and costs milliseconds instead of the seconds that `import torch` takes.

It is run as `python -m inplace_fuzz.execute.zygote FD DIRECTORY PARENT`, in the interpreter of whichever environment
the backends live in, and obeys one-packet JSON messages on the socket FD:

    {"fork": job, "warm": [backend...], "modules": [name...], "limits": {...}} with three descriptors
        ->  {"warming": name} for each import, {"forked": job, "pid": n}, {"exited": job, "exit": n, "signal": n, ...}
    {"kill": job}
        ->  the same {"exited": ...}, soon

    {"leave": true}
        ->  nothing more: the worker is killed, the directory removed, and this process ends

The end of that socket is the end of the supervisor, and does the same, and removes the session's own directory too.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from inplace_fuzz.execute import processes, worker
from inplace_fuzz.execute.directory import hold, let_go

_PACKET = 1 << 16


class _SupervisorGone(Exception):
    """The other end of the socket is closed, or has said that this process is not needed any more."""


class Zygote:
    def __init__(self, control: socket.socket, directory: str, supervisor: int, lock: int) -> None:
        self._control = control
        self._lock = lock
        self._directory = directory
        self._supervisor = supervisor
        self._warm: set[str] = set()
        self._helpers: frozenset[int] = frozenset()
        self._ending = False
        self._dismissed = False

    def serve(self) -> None:
        """Forks workers until the supervisor goes away."""
        _warm_torch()
        # From here on this process only waits, and sees the end of its socket. SIGCONT wakes it where a program has
        # stopped it; it does no harm when a mere thread of the supervisor ends, which sends the same signal.
        signal.signal(signal.SIGCONT, self._look_for_supervisor)
        try:
            processes.die_with_parent(signal.SIGCONT, self._supervisor)
            self._freeze()
            self._tell({"ready": True, "resident": processes.resident(os.getpid())})
            while True:
                message, fds = self._hear()
                if "fork" in message:
                    self._fork(message, fds)
        except _SupervisorGone:
            self._ending = True
            processes.reap_all()
        finally:
            # The end of the socket and the signal both say it; the second must not interrupt the tidying.
            signal.signal(signal.SIGCONT, signal.SIG_IGN)
            _remove(self._directory)
            if not self._dismissed:
                let_go(Path(self._directory).parent, self._lock)

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            self._control.send(json.dumps(message).encode())
        except OSError:
            raise _SupervisorGone from None

    def _hear(self) -> tuple[dict[str, Any], list[int]]:
        while not select.select([self._control], [], [], 5.0)[0]:
            if os.getppid() != self._supervisor:
                raise _SupervisorGone
        try:
            data, fds, _, _ = socket.recv_fds(self._control, _PACKET, 3)
        except OSError:
            raise _SupervisorGone from None
        if not data:
            raise _SupervisorGone
        message: dict[str, Any] = json.loads(data)
        if "leave" in message:
            self._dismissed = True
            raise _SupervisorGone
        return message, fds

    def _look_for_supervisor(self, _number: int, _frame: FrameType | None) -> None:
        if os.getppid() != self._supervisor and not self._ending:
            self._ending = True  # once: the clean-up that follows is not to be interrupted
            raise _SupervisorGone

    def _fork(self, message: dict[str, Any], fds: list[int]) -> None:
        for name in message["warm"]:
            self._once(name, _warm_backend)
        for name in message["modules"]:
            self._once(name, importlib.import_module)
        directory = f"{self._directory}/job"
        os.mkdir(directory, 0o700)
        mine = os.getpid()
        pid = os.fork()
        if pid == 0:
            # In the child: `run` never returns.
            os.close(self._control.fileno())
            os.close(self._lock)
            worker.run(mine, (fds[0], fds[1], fds[2]), directory, message["limits"])
        for fd in fds:
            os.close(fd)
        try:
            self._tell({"forked": message["fork"], "pid": pid})
            self._wait(pid, message["fork"])
        except _SupervisorGone:
            processes.kill_group(pid)
            raise
        _, status, usage = os.wait4(pid, 0)
        strays = processes.reap_all(self._helpers)
        shutil.rmtree(directory, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        self._tell({
            "exited": message["fork"],
            "exit": max(code, 0),
            "signal": max(-code, 0),
            "peak": usage.ru_maxrss * 1024,
            "strays": strays,
            "resident": processes.resident(mine),
        })  # fmt: skip

    def _wait(self, pid: int, job: int) -> None:
        """Returns when the worker has ended, and lets the supervisor end it."""
        gone = os.pidfd_open(pid)
        try:
            while True:
                ready = select.select([gone, self._control.fileno()], (), (), 5.0)[0]
                if gone in ready:
                    return
                if ready:
                    message, _ = self._hear()
                    if message.get("kill") == job:
                        processes.kill_group(pid)
                elif os.getppid() != self._supervisor:
                    raise _SupervisorGone
        finally:
            os.close(gone)

    def _once(self, name: str, warm: Callable[[str], object]) -> None:
        """Imports something here, once, so that no worker has to. What fails will fail again in the worker."""
        if name in self._warm:
            return
        self._tell({"warming": name})
        self._warm.add(name)
        try:
            warm(name)
        except Exception as error:  # noqa: BLE001 - the worker meets it again, and reports it where it belongs
            print(f"warming {name}: {worker.first_line(error)}", file=sys.stderr)  # noqa: T201 - the session's log
        self._freeze()

    def _freeze(self) -> None:
        """Takes the warm heap out of the collector's sight, so that workers neither scan it nor copy it."""
        self._helpers = frozenset(processes.children(os.getpid())) if processes.has_children() else frozenset()
        gc.collect()
        gc.freeze()


def _warm_backend(name: str) -> None:
    from inplace_fuzz.execute.warmth import warm_backend

    warm_backend(name)


_FIRST = """import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[0] = 1
        return x + 1
"""


def _warm_torch() -> None:
    """Imports torch and everything that judging needs, and uses it once: first uses are what costs in a fork."""
    import torch

    torch.set_num_threads(1)
    for module in ("inplace_fuzz.backends", "inplace_fuzz.execute.operations"):
        importlib.import_module(module)
    from inplace_fuzz.core.program import Program
    from inplace_fuzz.core.spec import TensorSpec
    from inplace_fuzz.execute.evaluate import evaluate

    program = Program(_FIRST, ((TensorSpec((2,), "float32", (1.0, 2.0)),),))
    evaluate(program, [], enter=_ignore, emit=_ignore)


def _remove(directory: str) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    Path(f"{directory}.log").unlink(missing_ok=True)


def _ignore(key: tuple[str, str], news: object) -> None:
    """Nobody waits for what the warm-up finds."""


def main() -> None:
    fd, directory, supervisor = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    try:
        lock = hold(Path(directory).parent)
    except OSError:
        return  # the session ended before this process had begun, and took the directory along

    def tidy(number: int, frame: FrameType | None) -> None:
        """The supervisor died while this process was starting or importing, and could not see it."""
        del number, frame
        _remove(directory)
        let_go(Path(directory).parent, lock)
        os._exit(0)

    signal.signal(signal.SIGTERM, tidy)
    processes.die_with_parent(signal.SIGTERM, supervisor)
    processes.set_subreaper(True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Zygote(socket.socket(fileno=fd), directory, supervisor, lock).serve()
    os._exit(0)  # everything is tidied, and taking torch apart takes longer than anyone wants to wait


if __name__ == "__main__":
    main()
