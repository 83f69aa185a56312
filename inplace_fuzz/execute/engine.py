"""The supervisor's engine: programs go in, verdicts come out, and no program can hurt what asks.

This process never imports torch and never runs a program. It keeps a few warm processes (`zygote.py`), each of which
forks a worker per batch (`worker.py`), and turns what becomes of the workers into results:

1. `run` pulls tasks lazily, never more than a few batches ahead, and hands them out in batches to idle processes.
2. A worker reports each verdict as it is found. When it ends well, what it handed back is queued again.
3. When it dies or has to be killed, the shared page says which program, target and stage it was in. That target is
   tried once more, alone, in a fresh worker; a second death is the verdict, no death makes it `flaky`. All else that
   the worker was owed is queued again, in front.
4. A death outside every program, or of the warm process itself, puts the warm process in doubt: it is replaced.

Each environment in which a backend lives (`environments.py`) has warm processes of its own, started when there is work
for it; at most `workers` of all of them are at work at a time. A task whose targets live in several environments is
judged in each, with eager run on the torch that is there.

Calls nest: a reducer may `run` candidates, or anyone `ask`, while the results of an outer `run` are being read. What is
asked last is served first, and results for the outer call wait in its own queue.
"""

from __future__ import annotations

import os
import selectors
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self

from inplace_fuzz.backends import UnknownBackend
from inplace_fuzz.core.backend import Unavailable, base_name, split_column
from inplace_fuzz.core.program import ProgramError
from inplace_fuzz.execute import environments, processes
from inplace_fuzz.execute.deaths import Ending, verdict_of
from inplace_fuzz.execute.directory import SessionDirectory
from inplace_fuzz.execute.environments import Site
from inplace_fuzz.execute.job import Job, Limits, Target, Task, judging_request
from inplace_fuzz.execute.link import GRACE_SECONDS, Link
from inplace_fuzz.execute.runs import SLICE, Done, Pace, Result, Run

__all__ = ["Done", "Engine", "EngineError", "Limits", "OperationFailed", "Result", "Target", "Task"]

_TICK = 0.05
_DRY_TICK = 0.002  # a source that has nothing yet does its own waiting
_ABSENCE = 5.0


class EngineError(RuntimeError):
    """The engine itself cannot work; the text says why and what to do."""


class OperationFailed(RuntimeError):
    """An operation raised, or its worker died. `kind` is the exception's type name, or the verdict of the death."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class Engine:
    """A pool of isolated workers, used as a context manager. See the top of this file."""

    def __init__(
        self,
        *,
        workers: int = 2,
        python: str = sys.executable,
        limits: Limits | None = None,
        batch: int = 128,
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
        self._runs: list[Run] = []
        self._pace = Pace()
        self._asked: deque[Job] = deque()
        self._home = Site(python)
        self._sites: dict[str, Site] = {}  # of each backend that was asked for
        self._cold: set[tuple[Site, str]] = set()  # what broke a warm process; workers import it themselves
        self._numbers = iter(range(1, 1 << 62))
        self._failed_starts: Counter[Site] = Counter()
        self._stillborn = 0
        self._ticked = 0.0
        self._back = 0.0
        self._oom_kills = processes.oom_kills()
        self._directory: SessionDirectory | None = None

    # ------------------------------------------------------------------------------------------------ life and death
    def __enter__(self) -> Self:
        self._directory = SessionDirectory()
        processes.hold_subreaper()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
            self._directory.remove()
            self._directory = None
            processes.release_subreaper()

    # ----------------------------------------------------------------------------------------------------- the calls
    def run(self, tasks: Iterable[Task | None], *, confirm: bool = True) -> Iterator[Result]:
        """Judges tasks and yields one Result for each target of each, as they come, in no order.

        A `None` among the tasks means "nothing yet": the engine goes on with what it has and asks again. With
        `confirm=False` a death or a mismatch is believed at once, which is what a reducer wants of its candidates.
        """
        for event in self.events(tasks, confirm=confirm):
            if isinstance(event, Result):
                yield event

    def events(self, tasks: Iterable[Task | None], *, confirm: bool = True) -> Iterator[Result | Done]:
        """What `run` yields, and a Done after the last Result of each task."""
        self._check_open()
        run = Run(iter(tasks), confirm, self._pace, self.site)
        self._runs.append(run)
        try:
            while True:
                self._advance(run)
                while run.events:
                    yield run.events.popleft()
                if run.finished and not run.events:
                    return
        finally:
            run.closed = True
            self._runs.remove(run)
            self._cancel(run)

    def site(self, column: str) -> Site:
        """Where a backend, as it is asked for, runs. Raises EngineError where it is to be had in no environment."""
        if column not in self._sites:
            try:
                self._sites[column] = environments.site(column, self.python)
            except Unavailable as error:
                raise EngineError(str(error)) from None
            except UnknownBackend:
                self._sites[column] = self._home  # its worker says so
        return self._sites[column]

    def versions(self, columns: Iterable[str]) -> dict[str, dict[str, Any]]:
        """For each backend its version, channels and lanes, or `unavailable` with the reason, whatever environments."""
        answer: dict[str, dict[str, Any]] = {}
        asked: dict[Site, list[str]] = {}
        wanted = list(dict.fromkeys(columns))
        for column in wanted:
            try:
                asked.setdefault(self.site(column), []).append(column)
            except EngineError as error:
                answer[column] = {"unavailable": str(error)}
        for site, here in asked.items():
            try:
                said = self.ask("versions", {"backends": [base_name(c) for c in here]}, site=site)
            except EngineError as error:
                if not site.name:
                    raise
                said = {base_name(c): {"unavailable": str(error)} for c in here}
            answer.update({c: _as_asked(c, said[base_name(c)], site) for c in here})
        return {column: answer[column] for column in wanted}

    def ask(
        self, op: str, payload: dict[str, Any], *, seconds: float | None = None, site: Site | None = None
    ) -> dict[str, Any]:
        """Runs one operation of `operations.py` in a worker and returns its answer.

        Where its worker dies, it is run once more, in a fresh one. Raises ProgramError when the program file is at
        fault, OperationFailed for anything else.
        """
        for _, answer in self.answers(op, [payload], seconds=seconds, site=site):
            if not isinstance(answer, OperationFailed):
                return answer
            if answer.kind == "ProgramError":
                raise ProgramError(answer.message)
            raise answer
        raise AssertionError("an operation without an answer")

    def answers(
        self, op: str, payloads: Iterable[dict[str, Any]], *, seconds: float | None = None, site: Site | None = None
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any] | OperationFailed]]:
        """Runs one operation for each payload, as many at a time as there are workers, and yields the payload and its
        answer as they come, in no order. Payloads are pulled when a worker is free for one.
        """
        site = site or self._home
        self._check_open()
        limits = replace(self.limits, seconds=seconds or max(self.limits.seconds, 120.0))
        waiting: dict[int, tuple[Job, dict[str, Any]]] = {}
        heard: deque[tuple[int, dict[str, Any]]] = deque()
        source = iter(payloads)
        more = True

        def order(payload: dict[str, Any], *, confirms: bool) -> None:
            number = next(self._numbers)
            request = {"op": op, "payload": payload}
            job = Job(number, [], limits, request, partial(_hear_answer, heard, number), site=site, confirms=confirms)
            waiting[number] = job, payload
            self._asked.append(job)

        try:
            while more or waiting:
                while more and len(waiting) < self._workers:
                    payload = next(source, None)
                    if payload is None:
                        more = False
                        break
                    order(payload, confirms=False)
                while waiting and not heard:
                    self._advance(None)
                while heard:
                    number, message = heard.popleft()
                    if number not in waiting:
                        continue
                    job, payload = waiting.pop(number)
                    if message.get("again") and not job.confirms:
                        order(payload, confirms=True)
                    else:
                        yield payload, message["result"] if "result" in message else OperationFailed(*message["failed"])
        finally:
            for job, _ in waiting.values():
                if job in self._asked:
                    self._asked.remove(job)
                job.stop("cancelled")

    # ------------------------------------------------------------------------------------------------- the event loop
    def _check_open(self) -> None:
        if self._directory is None:
            raise EngineError("this engine is closed; use `with Engine() as engine:`")

    def _advance(self, run: Run | None) -> None:
        """Hands out what can be handed out, then waits for news, briefly."""
        self._staff()
        self._dispatch(run)
        if run is not None and (run.events or run.finished):
            return
        dry = run is not None and run.dry_since and not run.exhausted
        for key, _ in self._selector.select(_DRY_TICK if dry else _TICK):
            key.data()
        now = time.monotonic()
        if now - self._ticked > _ABSENCE:
            # The caller was elsewhere. Workers may have waited for us to read, so their time starts again.
            self._back = now
        if now - self._ticked > _TICK / 2:
            self._ticked = now
            self._look_at_clocks(now)

    def _free(self) -> int:
        """How many more processes may work: those that are starting are at work too."""
        return self._workers - sum(link.state != "idle" for link in self._links)

    def _idle(self, site: Site) -> Link | None:
        return next((link for link in self._links if link.state == "idle" and link.site == site), None)

    def _staff(self) -> None:
        """Starts warm processes, up to as many as there are workers, where work waits and none is idle."""
        for job in self._asked:
            self._start_in(job.site, 1)
        for run in reversed(self._runs):
            for site in run.sites():
                self._start_in(site, min(self._workers, len(run.queues[site])))

    def _start_in(self, site: Site, most: int) -> None:
        while self._free() > 0 and self._idle(site) is None:
            if sum(link.site == site for link in self._links) >= most:
                return
            assert self._directory is not None
            self._make_room(site)
            name = f"{next(self._numbers)}"
            extra = {**(self.environment or {}), **site.variables()}
            link = Link(site, self._directory.path / name, f"{self._session}.{name}", extra)
            self._links.append(link)
            self._selector.register(link.control, selectors.EVENT_READ, lambda link=link: self._hear(link))

    def _make_room(self, site: Site) -> None:
        """An idle process holds its torch in memory: at most one for each site, and two for each worker."""
        sites = {link.site for link in self._links} | {site}
        if len(self._links) < 2 * self._workers + len(sites):
            return
        counts = Counter(link.site for link in self._links)
        spare = [link for link in self._links if link.state == "idle" and counts[link.site] > 1]
        if spare:
            self._retire(spare[0])

    def _dispatch(self, run: Run | None) -> None:
        """Gives work to idle processes, that of the innermost call first."""
        for job in list(self._asked):
            link = self._idle(job.site)
            if link is not None and self._free() > 0:
                self._asked.remove(job)
                payload = job.request["payload"]
                self._hand(link, job, payload.get("backends", ()), payload.get("modules", ()))
        if run is not None:
            run.fill(queued=self._batch, ahead=self._batch * self._workers * 2)
        for candidate in reversed(self._runs):
            for site in candidate.sites():
                while candidate.worth_a_fork(site) and self._free() > 0 and (link := self._idle(site)) is not None:
                    idle = sum(k.state == "idle" and k.site == site for k in self._links)
                    items = candidate.take_batch(site, self._batch, min(idle, self._free()))
                    job = Job(
                        next(self._numbers),
                        items,
                        self.limits,
                        judging_request(items, SLICE, confirm=candidate.confirm),
                        _nobody,
                        owner=candidate,
                        site=site,
                    )
                    job.on_message = partial(candidate.take, job)
                    self._hand(link, job, {t.backend for i in items for t in i.targets})

    def _hand(self, link: Link, job: Job, backends: Iterable[str], modules: Sequence[str] = ()) -> None:
        wanted = {base_name(b) for b in (*backends, *self.extra_backends) if b != "eager"}
        cold = {name for site, name in self._cold if site == link.site}
        try:
            link.hand(job, warm=sorted(wanted - cold - link.warm), modules=modules)
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
            self._failed_starts[link.site] = 0
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
        if link.state == "idle" and link.worn():
            self._retire(link)

    def _bury(self, link: Link, job: Job, ending: Ending) -> None:
        """Says what a worker's death was, to the run or the asker that it worked for."""
        killed = processes.oom_kills()
        by_kernel, self._oom_kills = killed > self._oom_kills, killed
        place = job.blamed()
        limits = job.limits
        verdict = verdict_of(
            ending,
            place.stage if place else "",
            seconds=limits.seconds,
            memory_bytes=limits.memory_bytes,
            kernel_killed=by_kernel,
        )
        run = job.owner
        if not isinstance(run, Run):
            again = job.reason != "deadline"  # what hangs is not waited for twice
            job.on_message({"failed": [str(verdict), verdict.message], "again": again})
        elif place is None:
            run.requeue(job.left())
            self._doubt(link, ending)
        else:
            self._stillborn = 0
            run.bury(job, place, verdict)

    def _requeue(self, job: Job) -> None:
        if isinstance(job.owner, Run):
            job.owner.requeue(job.left())

    def _requeue_unstarted(self, job: Job) -> None:
        self._release(job)
        if job.owner is None:
            self._asked.appendleft(job)
        else:
            self._requeue(job)

    def _doubt(self, link: Link, ending: Ending) -> None:
        """A worker died outside every program: the warm process may be at fault, or the limits too tight."""
        self._count_stillborn(ending.tail.strip()[-500:] or f"signal {ending.signal}, exit status {ending.exit_code}")
        if link.state == "idle":
            self._retire(link)

    def _count_stillborn(self, how: str) -> None:
        self._stillborn += 1
        if self._stillborn > self._workers + 1:
            raise EngineError(f"workers die before they begin ({how}); raise Limits(memory_bytes=...)")

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
        said = (link.log().splitlines() or ["it said nothing"])[-1]
        link.destroy()
        if starting:
            self._failed_starts[link.site] += 1
            if self._failed_starts[link.site] > self._workers:
                todo = "`inplace-fuzz env doctor` looks closer" if link.site.name else "install torch for it"
                raise EngineError(f"{link.site.name or self.python} cannot start a worker ({said}); {todo}")
        if job is None:
            return
        if link.warming:
            self._cold.add((link.site, link.warming))
        if job.reason == "cancelled":
            self._release(job)
            return
        if not job.started:
            self._requeue_unstarted(job)
            if not link.warming:
                self._count_stillborn("the process that starts workers died")
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
                if link.overdue(now):
                    self._lose(link)
            elif job.stopped:
                if now - job.stopped > GRACE_SECONDS:
                    self._lose(link)
            elif job.reason:
                self._stop(job)
            elif job.overdue(now, self._back):
                job.stop("deadline")
                self._stop(job)
            elif now - job.started > 0.5:
                self._weigh(job)

    def _weigh(self, job: Job) -> None:
        """Children of a worker have address spaces of their own, so the whole family is weighed too."""
        used = processes.family_resident(job.pid)
        if used > job.limits.memory_bytes + (512 << 20):
            job.stop("memory", f"{used >> 20} MiB resident")
            self._stop(job)

    def _stop(self, job: Job) -> None:
        job.stopped = time.monotonic()
        for link in self._links:
            if link.job is job:
                link.kill_worker()

    def _cancel(self, run: Run) -> None:
        """Ends what a closed `run` still has at work."""
        for link in self._links:
            if link.job is not None and link.job.owner is run:
                link.job.stop("cancelled")
                if link.job.started:
                    self._stop(link.job)


def _as_asked(column: str, data: dict[str, Any], site: Site) -> dict[str, Any]:
    """What an environment says of a backend, unless it holds another version than its name says."""
    version = split_column(column)[1]
    has = str(data.get("version", "")).rpartition(" ")[2]
    if not version or not has or environments.same_version(version, has):
        return data
    where = f"the environment {site.name}" if site.name else "this environment"
    return {"unavailable": f"{where} holds {data['version']}; `inplace-fuzz env doctor` looks closer"}


def _hear_answer(heard: deque[tuple[int, dict[str, Any]]], number: int, message: dict[str, Any]) -> None:
    if "end" not in message:
        heard.append((number, message))


def _nobody(message: dict[str, Any]) -> None:
    raise AssertionError(f"a message before anyone listens: {message}")
