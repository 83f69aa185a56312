"""The supervisor's end of drawing: programs arrive as a stream from a process that may die of what it draws.

Drawing executes each statement on real tensors, and eager can crash like any compiler, so it happens in a forked
worker of a warm process of its own, beside the workers that judge. The pipe between them is the bound: a drawer that is
ahead waits in `write`, and holds no more than a pipe's worth of programs.

A seed is a promise: the same seed, count and mix give the same programs. They are drawn in stretches, each in a fresh
worker (so that memory stays flat) from a seed derived from the first. When a drawer dies, its death is recorded with
the statement that it was in, and drawing goes on with the next stretch's seed.
"""

from __future__ import annotations

import hashlib
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from inplace_fuzz.core.program import Program
from inplace_fuzz.execute.deaths import Ending, verdict_of
from inplace_fuzz.execute.directory import SessionDirectory
from inplace_fuzz.execute.environments import Site
from inplace_fuzz.execute.job import Job, Limits
from inplace_fuzz.execute.link import GRACE_SECONDS, Link

if TYPE_CHECKING:
    from inplace_fuzz.execute.engine import Engine

STRETCH = 5000
GENERATOR = "inplace_fuzz.generate:draw_many"
_TICK = 0.25
_FRUITLESS = 5  # deaths in a row without a program between them, after which drawing is not going to work


class DrawingFailed(RuntimeError):
    """Nothing can be drawn; the text says what the drawer said."""


@dataclass(frozen=True)
class DrawerDied:
    """A drawer's death: the seed of its stretch, how many programs that gave, and the statement it ran, if known."""

    seed: int
    drawn: int
    how: str
    statement: str = ""


class Drawing:
    """An iterator of programs. With `wait`, it gives None when none came in so many seconds, instead of blocking."""

    def __init__(
        self,
        seed: int,
        count: int | None,
        *,
        mix: str | None = None,
        python: str = sys.executable,
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        wait: float | None = None,
        on_death: Callable[[DrawerDied], None] | None = None,
        generator: str = GENERATOR,
    ) -> None:
        self.seed = seed
        self.deaths: list[DrawerDied] = []
        self._left = count
        self._mix = mix
        self._wait = wait
        self._on_death = on_death
        self._generator = generator
        self._limits = limits or Limits()
        self._python = python
        self._environment = environment
        self._stretch = 0
        self._drawn = 0  # in this stretch
        self._fruitless = 0
        self._failed_starts = 0
        self._starts = 0
        self._heard = 0.0
        self._failed = ""
        self._ready: deque[dict[str, Any]] = deque()
        self._job: Job | None = None
        self._link: Link | None = None
        self._directory: SessionDirectory | None = SessionDirectory()

    # ------------------------------------------------------------------------------------------------------ iterating
    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Program | None:
        """The next program; None when `wait` is over."""
        deadline = None if self._wait is None else time.monotonic() + self._wait
        while True:
            if self._ready:
                return Program.from_json(self._ready.popleft())
            if self._left == 0 or self._directory is None:
                self.close()
                raise StopIteration
            patience = _TICK if deadline is None else min(_TICK, deadline - time.monotonic())
            if patience <= 0:
                return None
            self._advance(patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_directory", None) is not None:
            self.close()

    def close(self) -> None:
        """Ends the drawer and removes its files. Safe to call twice."""
        if self._directory is None:
            return
        try:
            if self._job is not None:
                self._job.close()
            if self._link is not None:
                self._link.dismiss()
                self._link.destroy(1.0)
        finally:
            self._job = self._link = None
            self._directory.remove()
            self._directory = None

    # ------------------------------------------------------------------------------------------------ one step of it
    def _advance(self, patience: float) -> None:
        """Listens once, with nothing ready to be handed out."""
        link = self._link or self._start()
        if link.state == "idle":
            self._begin(link)
        job = self._job
        pipes = [fd for fd in (job.report, job.output) if fd >= 0] if job else []
        ready = select.select([link.control.fileno(), *pipes], (), (), patience)[0]
        if job is not None and job.report in ready:
            job.read_report()
        if job is not None and job.output in ready:
            job.read_output()
        if link.control.fileno() in ready:
            self._hear(link)
        if self._link is link and not self._ready:
            self._look_at_clock(link)

    def _start(self) -> Link:
        assert self._directory is not None
        self._starts += 1
        directory = self._directory.path / f"drawer{self._starts}"
        session = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._link = Link(Site(self._python), directory, session, self._environment)
        return self._link

    def _begin(self, link: Link) -> None:
        count = STRETCH if self._left is None else min(STRETCH, self._left)
        request = {"seed": self.stretch_seed, "count": count, "mix": self._mix, "generator": self._generator}
        self._drawn = 0
        self._job = Job(self._stretch + 1, [], self._limits, {"draw": request}, self._take, owner=self)
        try:
            link.hand(self._job, modules=[self._generator.partition(":")[0]])
        except OSError:
            self._lose(link)

    @property
    def stretch_seed(self) -> int:
        """The first stretch has the caller's seed itself; later ones are derived, so that seeds 1 and 2 never meet."""
        if self._stretch == 0:
            return self.seed
        return int.from_bytes(hashlib.sha256(f"{self.seed}/{self._stretch}".encode()).digest()[:6])

    def _take(self, message: dict[str, Any]) -> None:
        self._heard = time.monotonic()
        if "failed" in message:
            self._failed = ": ".join(message["failed"])
        elif "program" in message and self._left != 0:
            self._ready.append(message["program"])
            self._drawn += 1
            self._fruitless = 0
            if self._left is not None:
                self._left -= 1

    def _hear(self, link: Link) -> None:
        message = link.hear()
        job = self._job
        if message is None:
            self._lose(link)
        elif "ready" in message:
            link.state = "idle"
            self._failed_starts = 0
        elif "warming" in message:
            link.warming, link.since = message["warming"], time.monotonic()
        elif "forked" in message and job is not None:
            link.warming = ""
            job.pid = message["pid"]
            job.started = self._heard = time.monotonic()
        elif "exited" in message and job is not None:
            link.state, link.job = "idle", None
            self._finish(job, message)

    def _finish(self, job: Job, message: dict[str, Any]) -> None:
        """The end of a stretch, or of a drawer."""
        job.read_report()
        job.read_output()
        ending = Ending.from_message(message, reason=job.reason, detail=job.detail, tail=job.tail)
        statement = job.statement()
        job.close()
        self._job = None
        if not job.ended_well or job.reason or ending.signal or ending.exit_code:
            self._bury(ending, statement)
        self._stretch += 1

    def _bury(self, ending: Ending, statement: str) -> None:
        limits = self._limits
        verdict = verdict_of(ending, "drawing", seconds=limits.seconds, memory_bytes=limits.memory_bytes)
        how = self._failed or f"{verdict}: {verdict.message}"
        self._failed = ""
        death = DrawerDied(self.stretch_seed, self._drawn, how, statement)
        self.deaths.append(death)
        if self._on_death is not None:
            self._on_death(death)
        self._fruitless += not self._drawn
        if self._fruitless >= _FRUITLESS:
            self.close()
            raise DrawingFailed(f"drawing failed {_FRUITLESS} times in a row before the first program: {how}")

    def _lose(self, link: Link) -> None:
        """The warm process is gone: its worker's death is told like any other, and a new one starts when needed."""
        job, self._link = self._job, None
        log = link.log()
        starting = link.state == "starting" or bool(link.warming)
        link.destroy()
        if starting:
            self._failed_starts += 1
        if self._failed_starts > 1:
            self.close()
            said = (log.splitlines() or ["it said nothing"])[-1]
            raise DrawingFailed(f"{self._python} cannot draw ({said}); install torch and inplace-fuzz for it")
        if job is not None and job.started:
            job.stop("parent")
            self._finish(job, {"exit": 0, "signal": signal.SIGKILL, "peak": 0})
        elif job is not None:
            job.close()
            self._job = None

    def _look_at_clock(self, link: Link) -> None:
        """A drawer that is ahead waits for us, so only silence that we have listened to counts."""
        now = time.monotonic()
        job = self._job
        if job is None or not job.started:
            if link.overdue(now):
                self._lose(link)
        elif job.stopped:
            if now - job.stopped > GRACE_SECONDS:
                self._lose(link)
        elif job.reason or now - self._heard > self._limits.seconds:
            job.stop("deadline")
            job.stopped = now
            link.kill_worker()


def draw(
    where: Engine | str,
    seed: int,
    count: int | None,
    *,
    mix: str | None = None,
    wait: float | None = None,
    on_death: Callable[[DrawerDied], None] | None = None,
    generator: str = GENERATOR,
) -> Drawing:
    """Draws programs in a process of its own, with an engine's interpreter and environment, or with the given one.

    Iterate over it, and close it (it is a context manager too). `on_death` hears of each DrawerDied as it happens.
    """
    python, environment = (where, None) if isinstance(where, str) else (where.python, where.environment)
    return Drawing(
        seed,
        count,
        mix=mix,
        python=python,
        environment=environment,
        wait=wait,
        on_death=on_death,
        generator=generator,
    )
