"""The same hunt through the campaign's own engine and reducer, for what would take this process with it."""

from __future__ import annotations

import itertools

from inplace_fuzz.campaign.reduce import reduce
from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.core import Kind, Program, Verdict
from inplace_fuzz.execute.engine import Engine
from inplace_fuzz.execute.job import Limits, Target, Task
from inplace_fuzz.shrink import operators, rank, statements
from tests.e2e.hunting import MOST_OPERATORS, MOST_STATEMENTS, drawn, place
from tests.planted.table import Fault

# Little memory: on a busy machine, touching much of it takes longer than the deadline.
LIMITS = Limits(seconds=2.0, memory_bytes=1 << 28, output_bytes=1 << 20)
VERDICT_OF_DEATH = {
    "segfault": "crash(SIGSEGV)",
    "abort": "crash(SIGABRT)",
    "exit": "crash(exit 0)",
    "hang": "timeout(run)",
    "memory": "out_of_memory(run)",
    "daemon": "error(run)",
    "output": "error(run)",
    "garbage": "error(run)",
}


def found_by(engine: Engine, fault: Fault, seed: int, *, most: int = 400, at_least: int = 1) -> list[Finding]:
    """The first findings that are the fault's own, the simplest program first, as a campaign shrinks them."""
    target, right = Target(fault.loads, fault.lane), Target(fault.right, fault.lane)
    found: list[Finding] = []
    programs = drawn(seed, fault.features, most=most)
    for chunk in iter(lambda: list(itertools.islice(programs, 16)), []):
        verdicts: dict[tuple[int, Target], Verdict] = {
            (r.task.key, r.target): r.verdict
            for r in engine.run([Task(p, (target, right), k) for k, p in enumerate(chunk)])
        }
        for k, program in enumerate(chunk):
            verdict = verdicts[k, target]
            if verdict.is_finding and verdicts[k, right].kind is Kind.AGREE:
                found.append(Finding(fault.loads, str(fault.lane), place(fault, verdict), verdict, program))
        if len(found) >= at_least:
            return sorted(found, key=lambda f: rank(f.program))
    raise AssertionError(f"{fault.name} was not found in {most} programs of seed {seed}")


def shrunk_by(engine: Engine, fault: Fault, finding: Finding, *, seconds: float) -> Program:
    reduce(engine, finding, Target(fault.loads, fault.lane), max_seconds=seconds)
    minimal = finding.minimal
    assert minimal is not None
    assert finding.minimal_verdict is not None
    assert finding.minimal_verdict.kind is finding.verdict.kind
    assert statements(minimal) <= MOST_STATEMENTS, minimal.source
    assert operators(minimal) <= MOST_OPERATORS, minimal.source
    (again,) = engine.run([Task(minimal, (Target(fault.right, fault.lane),), 0)])
    assert again.verdict.kind is Kind.AGREE, minimal.source
    return minimal


def death_of(engine: Engine, fault: Fault, seed: int) -> Finding:
    """What kills a worker kills it with every program, so the simplest of a few is enough to begin with."""
    few = sorted(itertools.islice(drawn(seed), 30), key=rank)[:2]
    target, right = Target(fault.loads, fault.lane), Target(fault.right, fault.lane)
    verdicts = {
        (r.task.key, r.target): r.verdict for r in engine.run([Task(p, (target, right), k) for k, p in enumerate(few)])
    }
    assert {verdicts[k, right].kind for k in range(len(few))} == {Kind.AGREE}
    verdict = verdicts[0, target]
    return Finding(fault.loads, str(fault.lane), place(fault, verdict), verdict, few[0])
