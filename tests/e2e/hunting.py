"""Looks for a planted fault as a campaign does: draw, judge, and shrink the first finding inside its bucket.

A finding counts as the planted fault's own only where the right pass or backend agrees with eager on the very same
program, so that what TorchScript itself gets wrong is never taken for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from inplace_fuzz.backends import load
from inplace_fuzz.core import Kind, Program, Verdict
from inplace_fuzz.execute.evaluate import evaluate
from inplace_fuzz.generate import draw_many
from inplace_fuzz.judge.bucket import bucket
from inplace_fuzz.shrink import Shrunk, operators, shrink, statements
from tests.planted.table import Fault, mix

MOST_PROGRAMS = 3000
MOST_SHRINKS = 6
MOST_STATEMENTS, MOST_OPERATORS = 3, 6
_BLOCK = 50


@dataclass(frozen=True)
class Hunted:
    """What was found, after how many programs, and what is left of it."""

    fault: Fault
    seed: int
    programs: int
    seconds: float
    found: Program
    verdict: Verdict
    shrunk: Shrunk

    @property
    def minimal(self) -> Program:
        return self.shrunk.program

    @property
    def size(self) -> tuple[int, int]:
        return statements(self.minimal), operators(self.minimal)

    @property
    def is_small(self) -> bool:
        return self.size[0] <= MOST_STATEMENTS and self.size[1] <= MOST_OPERATORS

    def __str__(self) -> str:
        return f"{self.fault.name}: {self.verdict}, {self.size} from this program:\n{self.minimal.source}"


def judged(program: Program, fault: Fault, name: str = "") -> Verdict:
    """The verdict of the fault, or of the backend `name` in the lane of the fault, in this process."""
    backend = load(name or fault.loads)
    seen: list[Verdict] = []
    evaluate(
        program,
        [(backend, fault.lane)],
        enter=lambda where, stage: None,
        emit=lambda where, verdict: seen.append(verdict),
    )
    return seen[-1]


def place(fault: Fault, verdict: Verdict) -> str:
    return str(bucket(fault.loads, fault.lane, verdict))


def right_agrees(program: Program, fault: Fault) -> bool:
    return judged(program, fault, fault.right).kind is Kind.AGREE


@lru_cache(maxsize=256)
def _block(seed: int, number: int, features: tuple[str, ...], count: int) -> tuple[Program, ...]:
    programs: list[Program] = []
    draw_many(seed * 10_000 + number, count, programs.append, features=mix(features))
    return tuple(programs)


def forget() -> None:
    """Draws anew from now on, so that the time to find something includes it."""
    _block.cache_clear()


def drawn(seed: int, features: tuple[str, ...] = (), *, most: int = MOST_PROGRAMS) -> Iterator[Program]:
    """The programs of a seed, in order; kept, because every fault asks for the same ones."""
    for number in range(most // _BLOCK):
        yield from (p for p in _block(seed, number, features, _BLOCK) if _ends(p))


def _ends(program: Program) -> bool:
    """Whether it is sure to end: this process has no deadline, and a `while` whose step is taken away has no end."""
    return "while " not in program.source


def find(fault: Fault, seed: int, *, most: int = MOST_PROGRAMS) -> Iterator[tuple[int, Program, Verdict]]:
    """The programs that show the fault by a mismatch, each with how many were drawn until then."""
    for count, program in enumerate(drawn(seed, fault.features, most=most), 1):
        verdict = judged(program, fault)
        if str(verdict.kind) == fault.kind and right_agrees(program, fault):
            yield count, program, verdict


def reduced(fault: Fault, program: Program, verdict: Verdict, *, seconds: float = 60.0) -> Shrunk:
    """The smallest program with the same verdict, on which the right one still agrees."""

    def keeps(candidates: Sequence[Program]) -> Sequence[bool]:
        return [shows(candidate, fault, place(fault, verdict)) for candidate in candidates]

    return shrink(program, keeps, max_seconds=seconds)


def shows(program: Program, fault: Fault, where: str) -> bool:
    verdict = judged(program, fault)
    return verdict.is_finding and place(fault, verdict) == where and right_agrees(program, fault)


def hunt(fault: Fault, seed: int) -> Hunted:
    """Finds the fault and shrinks it. Raises AssertionError where no program of the seed shows it.

    A campaign shrinks several findings of a bucket, and some buckets have no small program: where the first finding
    stays large, the next ones are shrunk too. The counts are those of the first finding.
    """
    started = time.process_time()
    first: Hunted | None = None
    best: Hunted | None = None
    for tries, (programs, program, verdict) in enumerate(find(fault, seed), 1):
        seconds = time.process_time() - started
        shrunk = reduced(fault, program, verdict)
        if first is None:
            first = best = Hunted(fault, seed, programs, seconds, program, verdict, shrunk)
        assert best is not None
        here = replace(first, verdict=verdict, shrunk=shrunk)
        best = min(best, here, key=lambda h: h.size)
        if tries == MOST_SHRINKS or best.is_small:
            return best
    if best is None:
        raise AssertionError(f"{fault.name} was not found in {MOST_PROGRAMS} programs of seed {seed}")
    return best
