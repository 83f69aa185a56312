"""The supervisor's engine: programs go in, verdicts come out, and no program can hurt what asks.

This process never imports torch and never runs a program. It keeps a few warm processes (`zygote.py`), each of which
forks a worker per batch (`worker.py`), and turns what becomes of the workers into results:

1. `run` pulls tasks lazily, never more than a few batches ahead, and hands them out in batches to idle processes.
2. A worker reports each verdict as it is found. When it ends well, what it handed back is queued again.
3. When it dies or has to be killed, the shared page says which program, target and stage it was in. That target is tried
   once more, alone, in a fresh worker; a second death is the verdict, no death makes it `flaky`. All else that the worker
   was owed is queued again, in front.
4. A death outside every program, or of the warm process itself, puts the warm process in doubt: it is replaced.

Calls nest: a reducer may `run` candidates, or anyone `ask`, while the results of an outer `run` are being read. What is
asked last is served first, and results for the outer call wait in its own queue.
"""

from __future__ import annotations

import os
import selectors
import shutil
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from inplace_fuzz.core.program import ProgramError
from inplace_fuzz.core.verdict import Kind, Verdict
from inplace_fuzz.execute import processes
from inplace_fuzz.execute.deaths import Ending, flaky, verdict_of
from inplace_fuzz.execute.frames import REFERENCE
from inplace_fuzz.execute.job import Entry, Item, Job, Limits, Target, Task, judging_request
from inplace_fuzz.execute.link import Link

__all__ = ["Done", "Engine", "EngineError", "Limits", "OperationFailed", "Result", "Target", "Task"]

_TICK = 0.05
_START_SECONDS = 180.0  # a cold `import torch` from a slow disk, or a compiler's first import
_GRACE = 3.0  # between the order to kill a worker and giving up on its warm process
_SLICE = 2.0  # seconds after which a worker hands back what is left of its batch
_FEW, _DRY = 8, 0.03  # a source that has nothing yet is waited for, until so many tasks or seconds


class EngineError(RuntimeError):
    """The engine itself cannot work; the text says why and what to do."""


class OperationFailed(RuntimeError):
    """An operation raised, or its worker died. `kind` is the exception's type name, or the verdict of the death."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


@dataclass(frozen=True)
class Result:
    """One verdict. `seconds` is what the target took in the worker (eager's own run counts with the first)."""

    task: Task
    target: Target
    verdict: Verdict
    seconds: float


@dataclass(frozen=True)
class Done:
    """Every target of this task has had its Result."""

    task: Task


@dataclass(eq=False)
class _Run:
    """One call of `run` that has not ended."""

    source: Iterator[Task | None]
    confirm: bool
    queue: deque[Item] = field(default_factory=deque)
    events: deque[Result | Done] = field(default_factory=deque)
    open: int = 0  # tasks pulled and not yet done
    exhausted: bool = False
    dry_since: float = 0.0


class Engine:
    """A pool of isolated workers, used as a context manager. See the top of this file."""

    def __init__(
        self,
        *,
        workers: int = 2,
        python: str = sys.executable,
        limits: Limits | None = None,
        batch: int = 32,
        extra_backends: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.python = python
        self.limits = limits or Limits()
        self.extra_backends = extra_backends
        self.environment = environment
        self._workers = max(1, workers)
        self._batch = max(1, batch)
        self._session = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._selector = selectors.DefaultSelector()
        self._links: list[Link] = []
        self._runs: list[_Run] = []
        self._asked: deque[Job] = deque()
        self._cold: set[str] = set()  # backends that broke a warm process; workers import them themselves
        self._numbers = iter(range(1, 1 << 62))
        self._failed_starts = 0
        self._stillborn = 0
        self._ticked = 0.0
        self._oom_kills = processes.oom_kills()
        self._directory: Path | None = None
        self._was_subreaper = False

    # ------------------------------------------------------------------------------------------------ life and death
    def __enter__(self) -> Self:
        self._was_subreaper = processes.set_subreaper(True)
        self._directory = Path(tempfile.mkdtemp(prefix=f"inplace-fuzz-{os.getpid()}-"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends every process of this engine and removes its files. Safe to call twice."""
        if self._directory is None:
            return
        try:
            for link in self._links:
                self._forget(link)
                if link.job is not None:
                    self._release(link.job)
                link.dismiss()
        finally:
            deadline = time.monotonic() + 2.0
            for link in self._links:
                link.destroy(max(0.05, deadline - time.monotonic()))
            self._links.clear()
            self._selector.close()
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
            processes.set_subreaper(self._was_subreaper)

    # ----------------------------------------------------------------------------------------------------- the calls
    def run(self, tasks: Iterable[Task | None], *, confirm: bool = True) -> Iterator[Result]:
        """Judges tasks and yields one Result for each target of each, as they come, in no order.

        A `None` among the tasks means "nothing yet": the engine goes on with what it has and asks again. With
        `confirm=False` a death is believed at once, which is what a reducer wants of its candidates.
        """
        for event in self.events(tasks, confirm=confirm):
            if isinstance(event, Result):
                yield event

    def events(self, tasks: Iterable[Task | None], *, confirm: bool = True) -> Iterator[Result | Done]:
        """What `run` yields, and a Done after the last Result of each task."""
        self._check_open()
        run = _Run(iter(tasks), confirm)
        self._runs.append(run)
        try:
            while True:
                self._advance(run)
                while run.events:
                    yield run.events.popleft()
                if run.exhausted and not run.open and not run.events:
                    return
        finally:
            self._runs.remove(run)
            self._cancel(run)

    def ask(self, op: str, payload: dict[str, Any], *, seconds: float | None = None) -> dict[str, Any]:
        """Runs one operation of `operations.py` in a worker and returns its answer.

        Raises ProgramError when the program file is at fault, OperationFailed for anything else.
        """
        self._check_open()
        limits = Limits(seconds or max(self.limits.seconds, 120.0), self.limits.memory_bytes, self.limits.output_bytes)
        job = Job(next(self._numbers), [], limits, {"op": op, "payload": payload}, _no_verdict, owner=None)
        self._asked.append(job)
        try:
            while job.answer is None:
                self._advance(None)
        except BaseException:
            if job in self._asked:
                self._asked.remove(job)
            job.stop("cancelled")
            raise
        if "result" in job.answer:
            result: dict[str, Any] = job.answer["result"]
            return result
        kind, message = job.answer["failed"]
        if kind == "ProgramError":
            raise ProgramError(message)
        raise OperationFailed(kind, message)

    # ------------------------------------------------------------------------------------------------- the event loop
    def _check_open(self) -> None:
        if self._directory is None:
            raise EngineError("this engine is closed; use `with Engine() as engine:`")

    def _advance(self, run: _Run | None) -> None:
        """Hands out what can be handed out, then waits for news, briefly."""
        self._staff()
        waits = self._dispatch(run)
        if run is not None and (run.events or (run.exhausted and not run.open)):
            return
        for key, _ in self._selector.select(0.0 if waits else _TICK):
            key.data()
        now = time.monotonic()
        if now - self._ticked > _TICK / 2:
            self._ticked = now
            self._look_at_clocks(now)

    def _staff(self) -> None:
        """Keeps as many warm processes as there are workers."""
        while len(self._links) < self._workers:
            assert self._directory is not None
            name = f"{next(self._numbers)}"
            link = Link(self.python, self._directory / name, f"{self._session}.{name}", self.environment)
            self._links.append(link)
            self._selector.register(link.control, selectors.EVENT_READ, lambda link=link: self._hear(link))

    def _dispatch(self, run: _Run | None) -> bool:
        """Gives work to idle processes. True when a source has more to give at once, so that waiting would waste time."""
        idle = [link for link in self._links if link.state == "idle"]
        while idle and self._asked:
            job = self._asked.popleft()
            self._hand(idle.pop(), job, job.request["payload"].get("backends", ()))
        if run is not None:
            self._fill(run, ahead=self._batch * self._workers * 2)
        for candidate in reversed(self._runs):
            while idle and candidate.queue and self._worth_it(candidate):
                items = self._take_batch(candidate, len(idle))
                job = self._judging(candidate, items)
                self._hand(idle.pop(), job, sorted({t.backend for i in items for t in i.targets}))
        return bool(idle) and run is not None and not run.exhausted and not run.dry_since

    def _fill(self, run: _Run, ahead: int) -> None:
        while not run.exhausted and len(run.queue) < self._batch and run.open < ahead:
            try:
                task = next(run.source)
            except StopIteration:
                run.exhausted = True
                return
            if task is None:
                run.dry_since = run.dry_since or time.monotonic()
                return
            run.dry_since = 0.0
            entry = Entry.of(task)
            if not entry.owed:
                run.events.append(Done(task))
                continue
            run.open += 1
            run.queue.append(Item(entry, list(entry.owed)))

    def _worth_it(self, run: _Run) -> bool:
        """A fork costs as much as a few cheap programs, so a trickle is gathered for a moment."""
        return not run.dry_since or len(run.queue) >= _FEW or time.monotonic() - run.dry_since > _DRY

    def _take_batch(self, run: _Run, idle: int) -> list[Item]:
        if run.queue[0].first is not None:
            return [run.queue.popleft()]
        size = min(self._batch, -(-len(run.queue) // idle))
        items = [run.queue.popleft()]
        while len(items) < size and run.queue and run.queue[0].first is None:
            items.append(run.queue.popleft())
        return items

    def _judging(self, run: _Run, items: list[Item]) -> Job:
        def on_verdict(item: Item, target: Target, verdict: Verdict, seconds: float) -> None:
            if item.first is not None and run.confirm and item.first.kind is not Kind.INVALID:
                verdict = flaky(item.first, verdict)
            self._settle(run, item.entry, target, verdict, seconds)

        return Job(next(self._numbers), items, self.limits, judging_request(items, _SLICE), on_verdict, owner=run)

    def _settle(self, run: _Run, entry: Entry, target: Target, verdict: Verdict, seconds: float) -> None:
        """The one place where a target gets its verdict; a second one for it is nobody's."""
        if target not in entry.owed:
            return
        entry.owed.remove(target)
        run.events.append(Result(entry.task, target, verdict, seconds))
        if not entry.owed:
            run.open -= 1
            run.events.append(Done(entry.task))

    def _hand(self, link: Link, job: Job, backends: Iterable[str]) -> None:
        wanted = {b for b in (*backends, *self.extra_backends) if b != "eager"}
        try:
            link.hand(job, sorted(wanted - self._cold - link.warm))
        except OSError:
            self._lose(link)
            self._requeue_unstarted(job)
            return
        self._selector.register(job.report, selectors.EVENT_READ, lambda: self._read(job, job.report, job.read_report))
        self._selector.register(job.output, selectors.EVENT_READ, lambda: self._read(job, job.output, job.read_output))

    def _read(self, job: Job, fd: int, read: Callable[[], bool]) -> None:
        if fd >= 0 and not read():
            self._selector.unregister(fd)
        if job.reason and not job.stopped:
            self._stop(job)

    # ------------------------------------------------------------------------------------------- what becomes of them
    def _hear(self, link: Link) -> None:
        message = link.hear()
        if message is None:
            self._lose(link)
        elif "ready" in message:
            link.state, link.first_resident = "idle", link.resident
            self._failed_starts = 0
        elif "warming" in message:
            link.warming, link.since = message["warming"], time.monotonic()
        elif "forked" in message:
            if link.warming:
                link.warming, link.first_resident = "", 0
            if link.job is not None:
                link.job.pid, link.job.started = message["pid"], time.monotonic()
                if link.job.reason:
                    self._stop(link.job)
        elif "exited" in message and link.job is not None:
            job, link.job, link.state = link.job, None, "idle"
            link.first_resident = link.first_resident or link.resident
            self._finish(link, job, message)

    def _finish(self, link: Link, job: Job, message: dict[str, Any]) -> None:
        job.read_report()
        job.read_output()
        ending = Ending.from_message(message, reason=job.reason, detail=job.detail, tail=job.tail)
        try:
            if job.ended_well and not job.reason and not ending.signal and not ending.exit_code:
                self._stillborn = 0
                self._requeue(job)
            elif job.reason != "cancelled":
                self._bury(link, job, ending)
        finally:
            self._release(job)
        if link.state == "idle" and link.grown(1.5, 256 << 20):
            self._retire(link)

    def _bury(self, link: Link, job: Job, ending: Ending) -> None:
        """Blames a death on the target that the worker was in, and queues the rest again."""
        killed = processes.oom_kills()
        by_kernel, self._oom_kills = killed > self._oom_kills, killed
        place = job.place()
        stage = place.stage if place else ""
        limits = job.limits
        verdict = verdict_of(
            ending, stage, seconds=limits.seconds, memory_bytes=limits.memory_bytes, kernel_killed=by_kernel
        )
        run = job.owner
        if not isinstance(run, _Run):
            job.answer = job.answer or {"failed": [str(verdict), verdict.message]}
            return
        if place is None:
            self._requeue(job)
            self._doubt(link, ending)
            return
        self._stillborn = 0
        item = job.items[place.program]
        owed = [t for t in item.targets if t in item.entry.owed]
        if place.target == REFERENCE or place.target >= len(item.targets):
            # Eager itself died, so nothing can be said of any target.
            blamed = owed
            verdict = Verdict(Kind.INVALID, signal=verdict.signal, stage=verdict.stage, message=f"eager: {verdict}: {verdict.message}")
        else:
            # A worker that died after reporting this target and before the next began: blame what came next, if anything.
            blamed = [t for t in [item.targets[place.target]] if t in owed] or owed[:1]
        rest = [i for i in job.left() if i.entry is not item.entry]
        others = [t for t in owed if t not in blamed]
        if others:
            rest.insert(0, Item(item.entry, others, item.first))
        # A death of eager that turns into one of a target is a new death, and confirmed as one.
        unconfirmed = item.first is None or (item.first.kind is Kind.INVALID and verdict.kind is not Kind.INVALID)
        if blamed and run.confirm and unconfirmed:
            rest.insert(0, Item(item.entry, blamed, verdict))
        else:
            for target in blamed:
                self._settle(run, item.entry, target, verdict, max(0.0, time.monotonic() - place.since))
        if run in self._runs:
            run.queue.extendleft(reversed(rest))

    def _requeue(self, job: Job) -> None:
        run = job.owner
        if isinstance(run, _Run) and run in self._runs:
            run.queue.extendleft(reversed(job.left()))

    def _requeue_unstarted(self, job: Job) -> None:
        job.close()
        if job.owner is None:
            self._asked.appendleft(job)
        else:
            self._requeue(job)

    def _doubt(self, link: Link, ending: Ending) -> None:
        """A worker died outside every program: the warm process may be at fault, or the limits too tight to start in."""
        self._stillborn += 1
        if self._stillborn > 2 * self._workers + 1:
            said = ending.tail.strip()[-500:] or f"signal {ending.signal}, exit status {ending.exit_code}"
            raise EngineError(f"workers die before they begin ({said}); raise Limits(memory_bytes=...) or run with another python")
        if link.state == "idle":
            self._retire(link)

    def _retire(self, link: Link) -> None:
        """Replaces an idle warm process by a fresh one."""
        self._forget(link)
        self._links.remove(link)
        link.dismiss()
        link.destroy(1.0)

    def _lose(self, link: Link) -> None:
        """A warm process has died, or has to: its worker's death is told like any other."""
        starting, job, link.job = link.state == "starting", link.job, None
        if link not in self._links:
            return
        self._forget(link)
        self._links.remove(link)
        status = link.destroy()
        if starting:
            self._failed_starts += 1
            if self._failed_starts > self._workers:
                said = link.log().splitlines() or [f"exit status {status}"]
                raise EngineError(f"{self.python} cannot start a worker ({said[-1]}); install torch and inplace-fuzz for it")
        if job is None:
            return
        if link.warming:
            self._cold.add(link.warming)
        if job.reason == "cancelled":
            self._release(job)
            return
        if not job.started:
            self._release(job)
            self._requeue_unstarted(job)
            return
        job.stop("parent")
        self._finish(link, job, {"exit": 0, "signal": 9, "peak": 0})

    def _forget(self, link: Link) -> None:
        """Stops listening to a warm process that is about to go."""
        if link.control in self._selector.get_map():
            self._selector.unregister(link.control)

    def _release(self, job: Job) -> None:
        """Closes a job's pipes, in the selector too."""
        for fd in (job.report, job.output):
            if fd in self._selector.get_map():
                self._selector.unregister(fd)
        job.close()

    # --------------------------------------------------------------------------------------------------- stopping them
    def _look_at_clocks(self, now: float) -> None:
        for link in list(self._links):
            job = link.job
            if job is None or not job.started:
                if link.state != "idle" and now - link.since > _START_SECONDS:
                    self._lose(link)
            elif job.stopped:
                if now - job.stopped > _GRACE:
                    self._lose(link)
            elif job.reason:
                self._stop(job)
            elif job.overdue(now):
                job.stop("deadline")
                self._stop(job)
            elif now - job.started > 0.5:
                self._weigh(job)

    def _weigh(self, job: Job) -> None:
        """Children of a worker have address spaces of their own, so the whole family is weighed too."""
        used = sum(processes.resident(pid) for pid in (job.pid, *processes.descendants(job.pid)))
        if used > job.limits.memory_bytes + (512 << 20):
            job.stop("memory", f"{used >> 20} MiB resident")
            self._stop(job)

    def _stop(self, job: Job) -> None:
        job.stopped = time.monotonic()
        for link in self._links:
            if link.job is job:
                link.kill_worker()

    def _cancel(self, run: _Run) -> None:
        """Ends what a closed `run` still has at work."""
        for link in self._links:
            if link.job is not None and link.job.owner is run:
                link.job.stop("cancelled")
                if link.job.started:
                    self._stop(link.job)


def _no_verdict(item: Item, target: Target, verdict: Verdict, seconds: float) -> None:
    raise AssertionError("an operation gives no verdicts")
