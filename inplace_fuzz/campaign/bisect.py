"""Which release of a compiler brought a fault in: a search over the releases that the index lists.

    1. the newest release, or the one given as bad, must have the fault;
    2. from there back in growing steps, until a release does not have it: old releases are the hardest to install;
    3. then by halves between the two. A release that cannot be installed, or on whose torch eager cannot run the
       program, says nothing: its neighbour is asked instead.

Each release is judged in an environment of its own, which is made for that and removed again. What was learnt is in a
file after every step, so a search that was broken off goes on where it was.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from inplace_fuzz import corpus
from inplace_fuzz.backends import requirements
from inplace_fuzz.core import Kind, Lane, Program, Verdict, lane_key
from inplace_fuzz.corpus import Entry, Expectation, write_atomically
from inplace_fuzz.execute import install
from inplace_fuzz.execute.engine import Engine, EngineError, Target, Task
from inplace_fuzz.execute.environments import EnvironmentsError, find, here, same_version

Say = Callable[[str], None]


class BisectError(RuntimeError):
    """There is nothing to search; the message says what to do."""


@dataclass(frozen=True)
class Tried:
    """What a release gives for the program. `bad` is None where nothing can be said, and `verdict` then says why."""

    bad: bool | None
    verdict: str
    message: str = ""
    torch: str = ""


@dataclass(frozen=True)
class Boundary:
    """Between two releases. `good` is empty where every release that could be asked has the fault."""

    good: str
    bad: str
    between: tuple[str, ...]  # releases that say nothing


def search(releases: Sequence[str], ask: Callable[[str], Tried], *, good: str = "", bad: str = "") -> Boundary:
    """The first bad release of these, given oldest first. Raises BisectError where the bad end has no fault."""
    silent: set[int] = set()

    def nearest(low: int, high: int, wanted: int) -> int | None:
        """The release between two others, as near to the wanted one as can be, that says something."""
        for k in sorted(range(low + 1, high), key=lambda k: (abs(k - wanted), -k)):
            if k not in silent and ask(releases[k]).bad is not None:
                return k
            silent.add(k)
        return None

    last = len(releases) - 1
    high = releases.index(bad) if bad else nearest(-1, last + 1, last)
    if high is None:
        raise BisectError("no release can be asked; the lines above say why")
    if not ask(releases[high]).bad:
        raise BisectError(
            f"{releases[high]} does not have the fault, but gives {ask(releases[high]).verdict}; "
            "name a release that has it with --bad"
        )
    low = releases.index(good) if good else -1
    if good and ask(good).bad is not False:
        raise BisectError(f"{good} gives {ask(good).verdict}, so it is no good end; leave --good out, or name another")
    step = 1
    while low < 0:
        k = nearest(-1, high, high - step)
        if k is None:
            return Boundary("", releases[high], ())
        if ask(releases[k]).bad:
            high, step = k, step * 2
        else:
            low = k
    while (k := nearest(low, high, (low + high) // 2)) is not None:
        low, high = (low, k) if ask(releases[k]).bad else (k, high)
    return Boundary(releases[low], releases[high], tuple(releases[low + 1 : high]))


class Bisect:
    """One program, backend and lane; `state` is the file of what was learnt."""

    def __init__(
        self, entry: Entry, program: Program, backend: str, lane: Lane, *, state: Path, torch: str = "", say: Say
    ) -> None:
        needs = requirements(backend)
        if needs is None:
            raise BisectError(f"the adapter of {backend} has no REQUIREMENTS, so there are no releases of it to search")
        self.entry, self.program = entry, program
        self.backend, self.lane = backend, lane
        self.distribution = needs.distribution
        self.state = state
        self.torch = torch
        self.say = say
        row = next((x for x in entry.expectations if x.key == lane_key(backend, lane) and x.is_fault), None)
        self.fault = Verdict.parse(row.verdict) if row else None
        self.tried: dict[str, Tried] = {}

    def run(self, *, good: str = "", bad: str = "") -> Boundary:
        """Searches, and writes what it finds into the entry. Raises BisectError."""
        try:
            releases = install.releases(self.distribution)
        except EnvironmentsError as error:
            raise BisectError(str(error)) from None
        for wanted in (good, bad):
            if wanted and wanted not in releases:
                raise BisectError(f"the index has no {self.distribution} {wanted}; it has {', '.join(releases)}")
        self.say(f"{self.distribution}: {len(releases)} releases from {releases[0]} to {releases[-1]}\n")
        self._resume()
        boundary = search(releases, self._ask, good=good, bad=bad)
        write_atomically(self.entry.path, corpus.updated(*self._rows(releases)))
        return boundary

    # ------------------------------------------------------------------------------------------------- one release
    def _ask(self, release: str) -> Tried:
        if release not in self.tried:
            started = time.monotonic()
            self.say(f"{release}\n")
            tried = self._judge(release)
            self.tried[release] = tried
            word = {True: "bad", False: "good", None: "says nothing"}[tried.bad]
            on = f", torch {tried.torch}" if tried.torch and self.distribution != "torch" else ""
            self.say(f"    {word}: {tried.verdict} ({time.monotonic() - started:.0f} s{on})\n")
            self._keep()
        return self.tried[release]

    def _judge(self, release: str) -> Tried:
        column = f"{self.backend}@{release}"
        there = find(column) is not None or same_version(here(self.distribution), release)
        try:
            made = None if there else install.create(self.backend, release, torch=self.torch, say=self.say)
        except EnvironmentsError as error:
            return Tried(None, str(error))
        try:
            return self._verdict(column)
        except EngineError as error:
            return Tried(None, str(error))
        finally:
            if made is not None:
                install.remove(made.path)

    def _verdict(self, column: str) -> Tried:
        environment = find(column)
        torch = (environment.torch if environment else here("torch")).partition("+")[0]
        with Engine(workers=1) as engine:
            data = engine.versions([column])[column]
            if "unavailable" in data:
                return Tried(None, data["unavailable"], torch=torch)
            if self.lane not in data["lanes"]:
                raise BisectError(f"{self.backend} has no {self.lane} lane; it has {', '.join(data['lanes'])}")
            (result,) = engine.run([Task(self.program, (Target(column, self.lane),), 0)])
        verdict = result.verdict
        if verdict.kind is Kind.INVALID:
            return Tried(None, f"eager cannot run the program there: {verdict.message}", torch=torch)
        if verdict.stage == "import" and not (self.fault and self.fault.stage == "import"):
            return Tried(None, f"it cannot be imported: {verdict.message}", torch=torch)
        if self.fault is None and verdict.is_finding:
            self.fault = verdict  # the program has no table: what the bad end gives is the fault
        return Tried(self._is_fault(verdict), str(verdict), verdict.message, torch)

    def _is_fault(self, verdict: Verdict) -> bool:
        """Whether it is the fault that is searched for: messages are worded anew from release to release."""
        if self.fault is None:
            return False
        return str(verdict) == str(self.fault) or verdict.kind is self.fault.kind is Kind.MISMATCH

    # ---------------------------------------------------------------------------------------------- what was learnt
    def _resume(self) -> None:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            data = json.loads(self.state.read_text(encoding="utf-8"))
            if data["program"] == self.program.digest and data["torch"] == self.torch:
                self.tried = {release: Tried(**tried) for release, tried in data["tried"].items()}
                self.fault = Verdict.parse(data["fault"]) if data["fault"] and not self.fault else self.fault
                self.say(f"going on where {self.state} ends: {len(self.tried)} releases are known\n")

    def _keep(self) -> None:
        """What says nothing is asked again next time: the index may have been away."""
        kept = {release: asdict(tried) for release, tried in self.tried.items() if tried.bad is not None}
        fault = str(self.fault) if self.fault else ""
        data = {"program": self.program.digest, "torch": self.torch, "fault": fault, "tried": kept}
        write_atomically(self.state, json.dumps(data, indent=1) + "\n")

    # -------------------------------------------------------------------------------------------------- the table
    def _rows(self, releases: Sequence[str]) -> tuple[Entry, list[Expectation]]:
        """The entry without the rows that the new ones take in, and those: one for each stretch of equal verdicts."""
        known = [(release, self.tried[release]) for release in releases if release in self.tried]
        asked = [(release, tried) for release, tried in known if tried.bad is not None]
        stretches: list[list[tuple[str, Tried]]] = []
        for release, tried in asked:
            if stretches and stretches[-1][-1][1].verdict == tried.verdict:
                stretches[-1].append((release, tried))
            else:
                stretches.append([(release, tried)])
        key = lane_key(self.backend, self.lane)
        old = [x for x in self.entry.expectations if x.key == key]
        rows = []
        for stretch in stretches:
            first, last, tried = stretch[0][0], stretch[-1][0], stretch[-1][1]
            span = first if first == last else f">={first},<={last}"
            verdict = Verdict.parse(tried.verdict)
            rows.append(
                Expectation(
                    self.backend,
                    str(self.lane),
                    f"{self.distribution} {span}",
                    tried.verdict,
                    "known" if verdict.is_finding else "",
                    next((x.note for x in old if x.verdict == tried.verdict), ""),
                    tried.message,
                )
            )
        taken = {x for x in old if any(r.covers(x.versions) and r.verdict == x.verdict for r in rows)}
        rest = tuple(x for x in self.entry.expectations if x not in taken)
        return replace(self.entry, expectations=rest), rows
