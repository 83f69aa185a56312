"""How long it takes to shrink a program that kills its worker: forked workers beside fresh ones, in the same run.

    python -m benchmarks.deaths [--programs 3] [--seconds 240]

The backend is eager's own module, which dies of SIGSEGV at the first `x[...] = y`, so that only some of a reducer's
candidates die. The programs are the longest of the first `--drawn` that do. Each is shrunk twice by the campaign's own
reducer and engine with one worker: as it is, where a warm process forks the next worker after a death, and with a
process that starts and imports torch after each. The first warm process is started before the clock. Aim: at most 20
seconds each with forks.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from inplace_fuzz.campaign.reduce import reduce
from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.core import Kind, Lane, Program
from inplace_fuzz.execute.deaths import Ending
from inplace_fuzz.execute.engine import Engine, Limits, Target, Task
from inplace_fuzz.execute.job import Job
from inplace_fuzz.execute.link import Link
from inplace_fuzz.judge.bucket import bucket
from inplace_fuzz.shrink import operators, statements
from tests.e2e.hunting import drawn

BACKEND = "tests.planted.deaths:SEGFAULT_AT_SETITEM"
TARGET = Target(BACKEND, Lane.DIRECT)
SEED = 1


class Counting(Engine):
    """Forks, as engines do, and counts deaths."""

    deaths = 0

    def _bury(self, link: Link, job: Job, ending: Ending) -> None:
        self.deaths += 1
        super()._bury(link, job, ending)


class Fresh(Counting):
    """Lets no warm process outlive the death of its worker."""

    def _bury(self, link: Link, job: Job, ending: Ending) -> None:
        super()._bury(link, job, ending)
        if link.state == "idle":
            self._retire(link)


@dataclass(frozen=True)
class Shrinking:
    calls: int
    deaths: int
    seconds: float
    minimal: Program


def shrunk(kind: type[Counting], finding: Finding, most: float) -> Shrinking:
    mine = Finding(finding.backend, finding.lane, finding.bucket, finding.verdict, finding.program)
    with kind(workers=1, limits=Limits(seconds=10)) as engine:
        engine.versions([BACKEND])  # warm, as it is in a campaign
        started = time.perf_counter()
        done = reduce(engine, mine, TARGET, max_seconds=most)
        return Shrinking(done.candidates, engine.deaths, time.perf_counter() - started, mine.minimal or mine.program)


def findings(count: int, most: int) -> list[Finding]:
    """The longest programs that die, among the first that are drawn."""
    programs = list(itertools.islice(drawn(SEED), most))
    found = []
    with Counting(workers=1, limits=Limits(seconds=10)) as engine:
        for result in engine.run([Task(p, (TARGET,), k) for k, p in enumerate(programs)], confirm=False):
            if result.verdict.kind is Kind.CRASH:
                place = str(bucket(BACKEND, Lane.DIRECT, result.verdict))
                found.append(Finding(BACKEND, "direct", place, result.verdict, result.task.program))
    return sorted(found, key=lambda f: statements(f.program), reverse=True)[:count]


def size(program: Program) -> str:
    return f"{statements(program)}/{operators(program)}"


def rows(found: list[Finding], most: float) -> Iterator[list[Any]]:
    for finding in found:
        forked, fresh = (shrunk(kind, finding, most) for kind in (Counting, Fresh))
        yield [
            f"{size(finding.program)} -> {size(forked.minimal)}",
            *(x for s in (forked, fresh) for x in (s.calls, s.deaths, f"{s.seconds:.1f}")),
            f"{fresh.seconds / forked.seconds:.1f}" + ("" if fresh.seconds < most else " or more"),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=3)
    parser.add_argument("--drawn", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=240.0, help="for one shrinking at most")
    chosen = parser.parse_args()
    print("| statements/operators | forked: calls | deaths | seconds | fresh: calls | deaths | seconds | ratio |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for row in rows(findings(chosen.programs, chosen.drawn), chosen.seconds):
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
