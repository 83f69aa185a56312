"""Which program goes to which backend next.

Backends differ a thousandfold in cost. Each group (one backend with its lanes) gets its share of the workers' time; the
cheapest gets every program first, the others the newest that they have not had. With a fixed number of programs every
group gets every program, in order, so that a seed means the same run everywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from inplace_fuzz.core import Program
from inplace_fuzz.execute.engine import Target, Task

_AHEAD = 4  # tasks of a slow group in flight


@dataclass
class Group:
    """One backend with its lanes, the share of time it should have, and what it has used."""

    targets: tuple[Target, ...]
    weight: float = 1.0
    used: float = 0.0
    inflight: int = 0
    finished: int = 0
    position: int = 0  # index of the next program that it has not had

    @property
    def name(self) -> str:
        return self.targets[0].backend

    @property
    def load(self) -> float:
        """Seconds used and promised, per unit of weight."""
        average = self.used / self.finished if self.finished else 0.05
        return (self.used + self.inflight * average) / self.weight


@dataclass
class Schedule:
    """Pairs programs with groups. `sharing` means by time; otherwise every group gets every program."""

    groups: list[Group]
    source: Iterator[Program | None]
    sharing: bool = True
    programs: deque[Program] = field(default_factory=deque)
    first: int = 0  # index of programs[0]
    drawn: int = 0
    exhausted: bool = False
    stopped: bool = False
    _keys: int = 0
    _owner: dict[int, Group] = field(default_factory=dict)

    def tasks(self) -> Iterator[Task | None]:
        """Tasks as long as there are any; None means that nothing is ready yet."""
        while not self.stopped:
            task = self._next()
            if task is None and self.exhausted:
                return
            yield task

    def done(self, task: Task) -> None:
        group = self._owner.pop(task.key)
        group.inflight -= 1
        group.finished += 1

    def charge(self, task: Task, seconds: float) -> None:
        self._owner[task.key].used += seconds

    def _next(self) -> Task | None:
        for group in sorted(self.groups, key=lambda g: g.load):
            if self.sharing and group is not self.groups[0] and group.inflight >= _AHEAD:
                continue
            if group.position < self.drawn or self._draw():
                return self._give(group)
        return None

    def _give(self, group: Group) -> Task:
        if self.sharing and group is not self.groups[0]:
            group.position = self.drawn - 1  # skips what it could not keep up with
        program = self.programs[group.position - self.first]
        group.position += 1
        self._keys += 1
        group.inflight += 1
        task = Task(program, group.targets, self._keys)
        self._owner[task.key] = group
        self._forget()
        return task

    def _draw(self) -> bool:
        if self.exhausted:
            return False
        try:
            program = next(self.source)
        except StopIteration:
            self.exhausted = True
            return False
        if program is None:
            return False
        self.programs.append(program)
        self.drawn += 1
        return True

    def _forget(self) -> None:
        """Lets go of the programs that no group will be given any more."""
        needed = self.groups[0].position if self.sharing else min(g.position for g in self.groups)
        while self.first < min(needed, self.drawn - 1):
            self.programs.popleft()
            self.first += 1
