"""The supervisor's end of one warm process: starting it, handing it jobs, and making an end of it and all below it.

A link is `starting`, `idle`, `busy` or `dead`. Whatever a program does to its warm process (kill it, stop it, start
children that outlive it), `destroy` leaves nothing: it kills the process, everything that descends from it, and
everything that carries its session's marker.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from inplace_fuzz.execute import processes
from inplace_fuzz.execute.environment import worker_environment
from inplace_fuzz.execute.environments import Site
from inplace_fuzz.execute.job import Job

START_SECONDS = 180.0  # a cold `import torch` from a slow disk
WARM_SECONDS = 120.0  # a compiler's first import
GRACE_SECONDS = 2.0  # between the order to kill a worker and giving up on its warm process
_GROWTH = 256 << 20
_CACHE_BYTES = 512 << 20
_LOOK_EVERY = 50  # jobs
_PACKET = 1 << 16


class Link:
    def __init__(self, site: Site, directory: Path, session: str, extra: Mapping[str, str] | None) -> None:
        """Starts a warm process, which says `ready` when it is. `directory` must not exist yet; it is its own."""
        directory.mkdir(mode=0o700)
        self.site = site
        self.directory = directory
        self.session = session
        self.state = "starting"
        self.job: Job | None = None
        self.warming = ""
        self.since = time.monotonic()
        self.resident = 0
        self.first_resident = 0
        self.warm: set[str] = set()
        self._jobs = 0
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = ours
        self._log = directory.with_suffix(".log")
        home = directory / "home"
        home.mkdir(mode=0o700)
        try:
            with self._log.open("wb") as log:
                command = [site.python, "-P", "-m", "inplace_fuzz.execute.zygote"]
                self.process = subprocess.Popen(  # noqa: S603 - our own module, in the interpreter that was asked for
                    [*command, str(theirs.fileno()), str(directory), str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=directory,
                    env=worker_environment(session, str(home), extra),
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()

    def log(self) -> str:
        """The end of what the warm process itself has printed; it explains a failure to start."""
        try:
            return self._log.read_text(errors="replace")[-2000:].strip()
        except OSError:
            return ""

    def hand(self, job: Job, *, warm: Sequence[str] = (), modules: Sequence[str] = ()) -> None:
        """Gives an idle process a job, and what to import before it forks; OSError when it is dead."""
        fds = job.open()
        try:
            message = {"fork": job.number, "warm": list(warm), "modules": list(modules), "limits": asdict(job.limits)}
            socket.send_fds(self.control, [json.dumps(message).encode()], fds)
        finally:
            for fd in fds:
                os.close(fd)
        self.state, self.job, self.since = "busy", job, time.monotonic()
        self.warm.update(warm)

    def hear(self) -> dict[str, Any] | None:
        """One message of the warm process; None when it is gone."""
        try:
            data = self.control.recv(_PACKET)
        except OSError:
            return None
        if not data:
            return None
        message: dict[str, Any] = json.loads(data)
        if "resident" in message:
            self.resident = message["resident"]
        return message

    def kill_worker(self) -> None:
        """Asks for the end of the current worker; `exited` follows."""
        if self.job is not None:
            try:
                self.control.send(json.dumps({"kill": self.job.number}).encode(), socket.MSG_DONTWAIT)
            except OSError:
                return  # the process is gone or stuck, and `destroy` is what follows

    def overdue(self, now: float) -> bool:
        """Whether it has been starting, or importing something, for too long."""
        return self.state != "idle" and now - self.since > (WARM_SECONDS if self.warming else START_SECONDS)

    def worn(self) -> bool:
        """Whether a fresh process is better: this one has grown, or its compilers' caches have filled the disk."""
        self._jobs += 1
        if self.resident > self.first_resident * 1.5 + _GROWTH:
            return True
        return self._jobs % _LOOK_EVERY == 0 and _bytes_below(self.directory / "home") > _CACHE_BYTES

    def dismiss(self) -> None:
        """Lets the process end by itself: it kills its worker, removes its directory and exits."""
        with contextlib.suppress(OSError):
            self.control.send(b'{"leave": true}', socket.MSG_DONTWAIT)
        self.control.close()

    def destroy(self, patience: float = 0.0) -> int:
        """Ends the process and all that it has started. Returns its exit status as subprocess gives it."""
        # While it imports it cannot hear that it is dismissed, and has no worker to end.
        deaf = self.state == "starting" or bool(self.warming)
        self.state = "dead"
        self.control.close()
        if patience > 0 and not deaf:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
        below: list[int] = []
        if self.process.poll() is None:
            # Stopped first, so that it starts nothing while those below it are counted.
            processes.kill(self.process.pid, signal.SIGSTOP)
            below = processes.descendants(self.process.pid)
        for pid in below:
            processes.kill(pid)
        self.process.kill()
        status = self.process.wait()
        sweep(self.session)
        shutil.rmtree(self.directory, ignore_errors=True)
        self._log.unlink(missing_ok=True)
        return status


def sweep(session: str) -> None:
    """Kills whatever still carries the marker, and reaps what has become this process's child."""
    for _ in range(10):
        left = processes.marked(session)
        for pid in left:
            processes.kill(pid)
        for pid in left:
            processes.reap(pid)
        if not left:
            return
        time.sleep(0.005)


def _bytes_below(directory: Path) -> int:
    total = 0
    for root, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(root, name)).st_size
    return total
