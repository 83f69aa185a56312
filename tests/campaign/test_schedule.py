"""Who gets which program next."""

from __future__ import annotations

from collections import Counter, defaultdict

from inplace_fuzz.campaign.schedule import Group, Schedule
from inplace_fuzz.core import Lane, Program
from inplace_fuzz.execute.engine import Target, Task

PROGRAMS = [Program(f"# {k}", ()) for k in range(1000)]


def groups(**weights: float) -> list[Group]:
    return [Group((Target(name, Lane.DIRECT),), weight) for name, weight in weights.items()]


def run(
    schedule: Schedule, cost: dict[str, float], *, inflight: int = 8, steps: int = 100_000
) -> dict[str, list[Program]]:
    """Plays an engine that keeps a few tasks in flight."""
    given: dict[str, list[Program]] = defaultdict(list)
    waiting: list[Task] = []
    tasks = schedule.tasks()
    for _ in range(steps):
        if len(waiting) < inflight:
            try:
                task = next(tasks)
            except StopIteration:
                break
            if task is not None:
                waiting.append(task)
                given[task.targets[0].backend].append(task.program)
                continue
        if waiting:
            task = waiting.pop(0)
            schedule.charge(task, cost[task.targets[0].backend])
            schedule.done(task)
    return given


def test_with_a_number_of_programs_every_backend_gets_every_program_in_order() -> None:
    given = run(Schedule(groups(fast=1, slow=1), iter(PROGRAMS[:50]), sharing=False), {"fast": 0.01, "slow": 1.0})
    assert given["fast"] == PROGRAMS[:50]
    assert given["slow"] == PROGRAMS[:50]


def test_with_a_time_each_backend_gets_its_share_of_it() -> None:
    cost = {"fast": 0.01, "slow": 1.0, "heavy": 1.0}
    given = run(Schedule(groups(fast=1, slow=1, heavy=3), iter(PROGRAMS)), cost)
    used = {name: len(programs) * cost[name] for name, programs in given.items()}
    assert given["fast"] == PROGRAMS, "the cheapest backend gets every program"
    assert 2 < used["heavy"] / used["slow"] < 4.5


def test_a_slow_backend_gets_no_program_twice_and_recent_ones() -> None:
    given = run(Schedule(groups(fast=1, slow=1), iter(PROGRAMS)), {"fast": 0.01, "slow": 1.0})
    counts = Counter(id(p) for p in given["slow"])
    assert max(counts.values()) == 1


def test_programs_are_let_go_of() -> None:
    schedule = Schedule(groups(fast=1, slow=1), iter(PROGRAMS))
    run(schedule, {"fast": 0.01, "slow": 1.0})
    assert len(schedule.programs) < 20


def test_a_source_that_has_nothing_yet_is_asked_again() -> None:
    schedule = Schedule(groups(fast=1), iter([None, PROGRAMS[0], None, PROGRAMS[1]]))
    assert run(schedule, {"fast": 0.01})["fast"] == PROGRAMS[:2]
