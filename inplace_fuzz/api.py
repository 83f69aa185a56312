"""The Python API over isolated workers: `check`, `show_difference`, and files as programs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inplace_fuzz import backends as registry
from inplace_fuzz.campaign.text import finding_lines
from inplace_fuzz.core import Lane, ParsedFile, Program, ProgramError, Verdict, parse
from inplace_fuzz.core.intake import read_file, shown_path
from inplace_fuzz.core.vetting import vet, vet_calls
from inplace_fuzz.execute.engine import Engine, Limits, OperationFailed, Target, Task

DESCRIBE_SECONDS = 30.0  # for a file to be imported and its inputs made


@dataclass(frozen=True)
class Checked:
    """One backend and lane's verdict on a program, or `unavailable` with the reason why it cannot run here."""

    backend: str
    lane: str
    version: str
    verdict: Verdict | None
    unavailable: str = ""


def available(engine: Engine, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """For each backend its version, channels and lanes, or `unavailable` with the reason. Raises UnknownBackend."""
    wanted = list(names)
    for name in wanted:
        registry.check_name(name)
    return engine.versions(wanted)


def check(
    program: Program,
    *,
    backends: Sequence[str] = registry.DEFAULT,
    lanes: Sequence[Lane] = tuple(Lane),
    engine: Engine | None = None,
    limits: Limits | None = None,
) -> list[Checked]:
    """Runs one program through backends and lanes, each in an isolated process, and compares with eager.

    Raises UnknownBackend for a name that is none. A program that eager cannot run gets `invalid` everywhere. A command,
    `cmd:…`, is known to engines that are made after it has been named once.
    """
    backends = [registry.resolve(name) for name in backends]
    if engine is None:
        with Engine(workers=2, limits=limits) as own:
            return check(program, backends=backends, lanes=lanes, engine=own)
    answer = available(engine, backends)
    targets = [
        Target(name, Lane(lane)) for name in backends for lane in answer[name].get("lanes", ()) if Lane(lane) in lanes
    ]
    verdicts = {r.target: r.verdict for r in engine.run([Task(program, tuple(targets), 0)])} if targets else {}
    checked = [Checked(t.backend, str(t.lane), answer[t.backend]["version"], verdicts[t]) for t in targets]
    checked += [Checked(n, "", "", None, answer[n]["unavailable"]) for n in backends if "unavailable" in answer[n]]
    return checked


def load_program(path: Path, engine: Engine | None = None, *, trust: bool = False) -> Program:
    """A program file as a Program; where its inputs must be computed, a worker computes them.

    Without `trust`, only a file that keeps to the allowlist of `core.vetting` is run at all. Raises ProgramError,
    saying what to change in the file, and OSError where it cannot be read.
    """
    name = shown_path(path)
    return as_program(parse(read_file(path, trust=trust), name=name, trust=trust), name, engine, trust=trust)


def as_program(parsed: ParsedFile, name: str, engine: Engine | None = None, *, trust: bool = False) -> Program:
    """What `load_program` makes of a file that has been taken apart already."""
    if not trust:
        vet_entry(parsed, name)
    if parsed.calls is not None:
        program = parsed.program()
    elif engine is None:
        with Engine(workers=1) as own:
            return as_program(parsed, name, own, trust=trust)
    else:
        payload = {"text": parsed.text, "name": name, "trust": trust}
        try:
            program = Program.from_json(engine.ask("describe", payload, seconds=DESCRIBE_SECONDS)["program"])
        except OperationFailed as error:
            how = error.kind.partition("(")[0].replace("_", " ")
            raise ProgramError(f"running {name} to make its inputs ended in a {how}: {error.message}") from None
    if not trust:
        vet_calls(program.calls, name=name)
    return program


def vet_entry(parsed: ParsedFile, name: str) -> None:
    """Raises ProgramError unless the file keeps to the allowlist of `core.vetting`."""
    vet(parsed.text, name=name)
    vet(parsed.runs, name=name)  # what runs is cut out of the text, and is looked at for itself


def show_difference(module: type, *inputs: Callable[[], Any], backend: str, lane: str = "direct") -> None:
    """Runs the program file that defines `module` through one backend and prints where it parts from eager.

    What corpus files call at their end. `inputs` are there for the reader: the file's own functions are used. Python
    runs the file already, so it is trusted.
    """
    del inputs
    path = Path(inspect.getsourcefile(module) or sys.argv[0])
    with Engine(workers=1) as engine:
        program = load_program(path, engine, trust=True)
        for result in check(program, backends=[backend], lanes=[Lane(lane)], engine=engine):
            if result.verdict is None:
                print(f"{backend}: unavailable: {result.unavailable}")  # noqa: T201  printing is its work
            elif result.verdict.is_finding:
                print("\n".join(finding_lines(program, backend, lane, result.version, result.verdict)))  # noqa: T201
            else:
                print(f"{backend} {result.version} {lane}: {result.verdict} {result.verdict.message}".rstrip())  # noqa: T201
