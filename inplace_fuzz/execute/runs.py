"""One call of `Engine.run`: its tasks, what of them is still owed, and who is blamed when a worker dies.

Batches follow what was learned: a backend's `per_fork` caps how many programs share a fork, and programs that take long
are handed out in few, so that nothing is sent to a worker that it would only hand back.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from inplace_fuzz.core.backend import base_name
from inplace_fuzz.core.verdict import Kind, Verdict
from inplace_fuzz.execute.deaths import flaky
from inplace_fuzz.execute.environments import Site
from inplace_fuzz.execute.frames import REFERENCE, Place
from inplace_fuzz.execute.job import Entry, Item, Job, Target, Task

SLICE = 2.0  # seconds after which a worker hands back what is left of its batch
_FEW, _DRY = 8, 0.03  # a source that has nothing yet is waited for, until so many tasks or seconds


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


class Pace:
    """What is known of each backend: programs per fork, and seconds per program (a moving average)."""

    def __init__(self) -> None:
        self._per_fork: dict[str, int] = {}
        self._seconds: dict[str, float] = {}

    def learn(self, result: Result) -> None:
        name = result.target.backend
        known = self._seconds.get(name, result.seconds)
        self._seconds[name] = known + (result.seconds - known) * 0.1

    def learn_per_fork(self, wishes: dict[str, int]) -> None:
        self._per_fork.update(wishes)

    def seconds(self, item: Item) -> float:
        return sum(self._seconds.get(t.backend, 0.0) for t in item.targets)

    def per_fork(self, item: Item) -> int:
        return min((self._per_fork.get(base_name(t.backend), 1 << 30) for t in item.targets), default=1)


@dataclass(eq=False)
class Run:
    """See the top of this file. `site_of` says where a backend lives; each site has a queue of its own."""

    source: Iterator[Task | None]
    confirm: bool
    pace: Pace
    site_of: Callable[[str], Site]
    queues: dict[Site, deque[Item]] = field(default_factory=dict)
    events: deque[Result | Done] = field(default_factory=deque)
    pulled: int = 0
    open: int = 0  # tasks pulled and not yet done
    exhausted: bool = False
    closed: bool = False
    dry_since: float = 0.0

    @property
    def finished(self) -> bool:
        return self.exhausted and not self.open

    # ------------------------------------------------------------------------------------------------------ going out
    def fill(self, *, queued: int, ahead: int) -> None:
        """Pulls tasks until so many are queued, or so many are under way in all."""
        while not self.exhausted and self.queued < queued and self.open < ahead:
            try:
                task = next(self.source)
            except StopIteration:
                self.exhausted = True
                return
            if task is None:
                self.dry_since = self.dry_since or time.monotonic()
                return
            self.dry_since = 0.0
            entry = Entry.of(task, self.pulled)
            self.pulled += 1
            if not entry.owed:
                self.events.append(Done(task))
                continue
            self.open += 1
            for targets in self._by_site(entry.owed):
                self._queue(targets).append(Item(entry, targets))

    def _by_site(self, targets: Iterable[Target]) -> list[list[Target]]:
        """Targets that one worker can judge together: of one site, and each backend and lane once."""
        groups: dict[tuple[Site, int], list[Target]] = {}
        seen: Counter[tuple[Site, str, str]] = Counter()
        for target in targets:
            site = self.site_of(target.backend)
            here = (site, base_name(target.backend), str(target.lane))
            groups.setdefault((site, seen[here]), []).append(target)
            seen[here] += 1
        return list(groups.values())

    def _queue(self, targets: Sequence[Target]) -> deque[Item]:
        return self.queues.setdefault(self.site_of(targets[0].backend), deque())

    @property
    def queued(self) -> int:
        return sum(map(len, self.queues.values()))

    def sites(self) -> list[Site]:
        """Where work waits, first where the oldest task waits."""
        waiting = [site for site, queue in self.queues.items() if queue]
        return sorted(waiting, key=lambda site: self.queues[site][0].entry.number)

    def worth_a_fork(self, site: Site) -> bool:
        """A fork costs as much as a few cheap programs, so a trickle is gathered for a moment."""
        queue = self.queues[site]
        if not self.dry_since or self.exhausted or len(queue) >= _FEW:
            return bool(queue)
        return bool(queue) and time.monotonic() - self.dry_since > _DRY

    def take_batch(self, site: Site, most: int, idle: int) -> list[Item]:
        """Items for one worker in this site; what is to be confirmed goes alone."""
        queue = self.queues[site]
        size = min(most, -(-len(queue) // idle))
        items = [queue.popleft()]
        if items[0].first is not None:
            return items
        seconds = self.pace.seconds(items[0])
        size = min(size, self.pace.per_fork(items[0]))
        while len(items) < size and queue and queue[0].first is None and seconds < SLICE:
            size = min(size, self.pace.per_fork(queue[0]))
            seconds += self.pace.seconds(queue[0])
            items.append(queue.popleft())
        return items

    # ---------------------------------------------------------------------------------------------------- coming back
    def take(self, job: Job, message: dict[str, Any]) -> None:
        """One message of a worker at work on this run."""
        if "at" in message:
            number, index = message["at"]
            item = job.items[number]
            verdict = Verdict.from_json(message["verdict"])
            # Running out of memory is a death, whether the program survives to say so or not.
            died_again = verdict.kind is Kind.OUT_OF_MEMORY
            if item.first is not None and item.first.kind is not Kind.INVALID and not died_again:
                verdict = flaky(item.first, verdict)
            self.settle(item.entry, item.targets[index], verdict, message["seconds"])
        elif "done" in message:
            self.pace.learn_per_fork(message["per_fork"])

    def settle(self, entry: Entry, target: Target, verdict: Verdict, seconds: float) -> None:
        """The one place where a target gets its verdict; a second one for it is nobody's."""
        if target not in entry.owed:
            return
        entry.owed.remove(target)
        result = Result(entry.task, target, verdict, seconds)
        self.pace.learn(result)
        self.events.append(result)
        if not entry.owed:
            self.open -= 1
            self.events.append(Done(entry.task))

    def requeue(self, items: list[Item]) -> None:
        """Puts back, in front and in order, what a worker did not come to."""
        if not self.closed:
            for item in reversed(items):
                self._queue(item.targets).appendleft(item)

    def bury(self, job: Job, place: Place, verdict: Verdict) -> None:
        """Blames the death of a worker on the target that it was in, and queues all else that it was owed."""
        item = job.items[place.program]
        owed = [t for t in item.targets if t in item.entry.owed]
        if place.target == REFERENCE or place.target >= len(item.targets):
            # Eager itself died, so nothing can be said of any target.
            blamed = owed
            why = f"eager: {verdict}: {verdict.message}"
            verdict = Verdict(Kind.INVALID, signal=verdict.signal, stage=verdict.stage, message=why)
        else:
            # Where the target has had its verdict, the worker died on its way to the next one.
            here = item.targets[place.target]
            blamed = [here] if here in owed else owed[:1]
        rest = [i for i in job.left() if i.entry is not item.entry]
        others = [t for t in owed if t not in blamed]
        if others:
            rest.insert(0, Item(item.entry, others, item.first))
        # A death of eager that turns into one of a target is a new death, and confirmed as one.
        unconfirmed = item.first is None or (item.first.kind is Kind.INVALID and verdict.kind is not Kind.INVALID)
        if blamed and self.confirm and unconfirmed:
            rest.insert(0, Item(item.entry, blamed, verdict))
        else:
            for target in blamed:
                self.settle(item.entry, target, verdict, max(0.0, time.monotonic() - place.since))
        self.requeue(rest)
