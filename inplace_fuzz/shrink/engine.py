"""The search: passes in order, in batches, to a fixed point.

    current := the program
    repeat over PASSES until all of them, in a row, have nothing that is kept:
        take candidates of the pass that are smaller than current, a batch at a time
        where some of a batch are kept: current := the smallest of these, and the pass goes on from there

What decides is `keeps`: whether a candidate still runs in eager and still shows the same fault. Every program that is
returned has been accepted by it, and every step goes down in `rank`, so the search ends.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inplace_fuzz.core import Program
from inplace_fuzz.shrink.doubts import doubts
from inplace_fuzz.shrink.edit import sound
from inplace_fuzz.shrink.measure import rank
from inplace_fuzz.shrink.names import tidy
from inplace_fuzz.shrink.passes import PASSES, Reducer

Keeps = Callable[[Sequence[Program]], Sequence[bool]]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What shrinking came to. `finished` says that no pass had anything left to try.

    `helped` names the passes that made it smaller, with how often. `program` is the one that was passed in where
    `keeps` did not accept even that.
    """

    program: Program
    candidates: int
    accepted: int
    seconds: float
    helped: tuple[tuple[str, int], ...]
    finished: bool


def shrink(
    program: Program,
    keeps: Keeps,
    *,
    max_seconds: float = 60.0,
    max_candidates: int = 1000,
    batch: int = 16,
    first_batch: int = 4,
    progress: Callable[[Program, int], None] | None = None,
    passes: Sequence[Reducer] = PASSES,
) -> Shrunk:
    """The simplest program that `keeps` accepts and that the passes reach from this one.

    `keeps` judges a batch of candidates, at most `batch`, and answers for each in order. It is asked about the program
    itself first. Batches begin with `first_batch` candidates and double while nothing is kept. `progress` is told the
    best program and the number of candidates judged, after each batch. Ctrl-C and the limits end the search early,
    with the best program so far.
    """
    search = _Search(program, keeps, time.monotonic() + max_seconds, max_candidates, (first_batch, batch), progress)
    started = time.monotonic()
    finished = False
    with contextlib.suppress(KeyboardInterrupt, _Spent):
        finished = search.run(passes)
    return Shrunk(
        search.current,
        search.judged,
        sum(search.helped.values()),
        time.monotonic() - started,
        tuple(search.helped.most_common()),
        finished,
    )


class _Spent(Exception):
    """A limit was reached."""


class _Search:
    def __init__(
        self,
        program: Program,
        keeps: Keeps,
        deadline: float,
        max_candidates: int,
        batches: tuple[int, int],
        progress: Callable[[Program, int], None] | None,
    ) -> None:
        self.current = program
        self.rank = rank(program)
        self.keeps = keeps
        self.deadline = deadline
        self.left = max_candidates
        self.batch = max(1, batches[1])
        self.first_batch = max(1, min(batches))
        self.progress = progress
        self.doubts = doubts(program)
        self.seen: set[str] = set()
        self.judged = 0
        self.helped: Counter[str] = Counter()
        self.rename: Callable[[Program], Program] = tidy

    def run(self, passes: Sequence[Reducer]) -> bool:
        """Runs the passes until none of them helps. Says whether that point was reached."""
        if not self._start():
            return False
        quiet = 0
        for reducer in itertools.cycle(passes):
            quiet = 0 if self._run_pass(reducer) else quiet + 1
            if quiet >= len(passes):
                return True
        return True

    def _start(self) -> bool:
        """Judges the program and its canonically named form. Where that one is kept, candidates are named so too."""
        renamed = tidy(self.current)
        group = [self.current] if renamed.source == self.current.source else [self.current, renamed]
        kept = self._judge(group)
        if not kept or kept[0] is not self.current:
            return False
        if len(group) == 2:
            if len(kept) == 2:
                self._accept(renamed, "canonical_names")
            else:
                self.rename = _as_it_is
        return True

    def _run_pass(self, reducer: Reducer) -> bool:
        """Runs one pass until it has nothing left that is kept. Says whether it helped."""
        helped, skip = False, 0
        while True:
            start, best = self._first_kept(reducer, skip)
            if best is None:
                return helped
            # Candidates before this batch were tried on a bigger program; the next round of passes tries them again.
            helped, skip = True, start
            self._accept(best, reducer.__name__)

    def _first_kept(self, reducer: Reducer, skip: int) -> tuple[int, Program | None]:
        """The smallest kept candidate of the first batch that has one, and where in the pass that batch began.

        Batches grow: where the first few candidates are likely to be kept, judging many at once is waste.
        """
        stream = self._worth_judging(reducer, skip)
        length = self.first_batch
        while group := list(itertools.islice(stream, length)):
            kept = self._judge([candidate for _, candidate in group])
            if kept:
                return group[0][0], min(kept, key=rank)
            length = min(2 * length, self.batch)
        return skip, None

    def _worth_judging(self, reducer: Reducer, skip: int) -> Iterator[tuple[int, Program]]:
        """The pass's candidates, numbered, without those that are unsound, undefined, no smaller, or judged before."""
        batched: set[str] = set()
        for position, candidate in enumerate(reducer(self.current)):
            if position < skip or not sound(candidate):
                continue
            named = self.rename(candidate)
            if named.digest in self.seen or named.digest in batched or rank(named) >= self.rank:
                continue
            if doubts(named) > self.doubts:
                continue
            batched.add(named.digest)
            yield position, named

    def _judge(self, group: list[Program]) -> list[Program]:
        """Those of a batch that are kept. Raises _Spent where no time or no candidates are left."""
        group = group[: self.left]
        if not group or time.monotonic() > self.deadline:
            raise _Spent
        verdicts = self.keeps(group)
        if len(verdicts) != len(group):
            raise ValueError(f"keeps answered {len(verdicts)} times for {len(group)} candidates; answer once for each")
        self.seen |= {candidate.digest for candidate in group}
        self.judged += len(group)
        self.left -= len(group)
        kept = [candidate for candidate, verdict in zip(group, verdicts, strict=True) if verdict]
        if self.progress is not None:
            self.progress(min([self.current, *kept], key=rank), self.judged)
        return kept

    def _accept(self, program: Program, reason: str) -> None:
        self.current = program
        self.rank = rank(program)
        self.helped[reason] += 1


def _as_it_is(program: Program) -> Program:
    return program
