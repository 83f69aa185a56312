"""Commands about one program: show, rewrite, check, shrink, backends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from inplace_fuzz import corpus
from inplace_fuzz.api import Checked, as_program, available, check
from inplace_fuzz.backends import DEFAULT, check_name
from inplace_fuzz.campaign.reduce import expectations, reduce
from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.campaign.text import entry_comment, entry_title, finding_lines, program_lines
from inplace_fuzz.commands import targets
from inplace_fuzz.core import Kind, Lane, Program, ProgramError, base_name
from inplace_fuzz.execute.engine import Engine, Target
from inplace_fuzz.judge.bucket import bucket


def show_program(target: str, inputs: Sequence[str], route: str, *, trust: bool) -> None:
    """Prints the program and its graphs before and after the pass."""
    with Engine(workers=1) as engine:
        _print_graphs(engine, targets.program(engine, target, inputs, trust=trust), route)


def _print_graphs(engine: Engine, program: Program, route: str) -> None:
    answer = engine.ask("graphs", {"program": program.to_json(), "route": route})
    click.echo("\n".join(program_lines(program)))
    click.echo(f"\nbefore ({route})\n{answer['before'].rstrip()}")
    if answer["refused"]:
        click.echo(f"\nafter: the pass refuses: {answer['refused']}")
        return
    click.echo(f"\nafter\n{answer['after'].rstrip()}")
    writes = ", ".join(answer["writes"]) or "nothing but the write-backs to mutated inputs and buffers, if any"
    click.echo(f"\nwrites that are left: {writes}")


def check_module(
    target: str, inputs: Sequence[str], backends: Sequence[str], lanes: Sequence[Lane], *, trust: bool
) -> int:
    """Prints one line per backend and lane, and a block for each that differs. Returns the exit status.

    What was wrong once and then right is shown like the rest, but is nothing that a test may fail on.
    """
    with Engine(workers=2) as engine:
        program = targets.program(engine, target, inputs, trust=trust)
        results = check(program, backends=backends, lanes=lanes, engine=engine)
    invalid = next((r.verdict for r in results if r.verdict and r.verdict.kind is Kind.INVALID), None)
    if invalid is not None:
        raise ProgramError(f"eager itself cannot run this program: {invalid.message}")
    ran = [r for r in results if r.verdict is not None]
    if not ran:
        reasons = "; ".join(f"{r.backend}: {r.unavailable}" for r in results)
        raise ProgramError(f"nothing was checked ({reasons or 'no such lane'}); see inplace-fuzz backends")
    print_checked(results)
    for r in ran:
        if r.verdict is not None and r.verdict.is_finding:
            click.echo("\n" + "\n".join(finding_lines(program, r.backend, r.lane, r.version, r.verdict)))
    return 1 if any(r.verdict and r.verdict.is_finding and r.verdict.kind is not Kind.FLAKY for r in ran) else 0


def print_checked(results: Sequence[Checked]) -> None:
    width = max(len(r.backend) for r in results)
    for r in results:
        if r.verdict is None:
            click.echo(f"{r.backend.ljust(width)}  unavailable: {r.unavailable}")
        else:
            said = f"  {r.verdict.message}" if r.verdict.message and not r.verdict.is_finding else ""
            click.echo(f"{r.backend.ljust(width)}  {r.lane.ljust(9)}  {r.version.ljust(24)}  {r.verdict}{said}")


def shrink_program(named: str, backend: str | None, lane: str, seconds: float, directory: Path, *, trust: bool) -> None:
    """Shrinks a program inside its fault's bucket, and saves what is left."""
    corpus.check_writable(directory)
    if backend is not None:
        check_name(backend)
    with Engine(workers=2) as engine:
        entry, trusted = targets.entry(engine, named, trust=trust)
        if backend is None:
            backend, lane = corpus.known_fault(entry, trust=trusted)
            check_name(backend)
        target = Target(backend, Lane(lane))
        program = as_program(entry.parsed, named, engine, trust=trusted)
        results = check(program, backends=[backend], lanes=[Lane(lane)], engine=engine)
        checked = results[0] if results else None
        if checked is None or checked.verdict is None:
            why = checked.unavailable if checked else f"it has no {lane} lane"
            raise ProgramError(f"{backend} cannot be asked: {why}")
        if not checked.verdict.is_finding:
            raise ProgramError(f"{backend}/{lane} gives {checked.verdict} for {named}: there is no fault to keep")
        place = str(bucket(backend, lane, checked.verdict))
        finding = Finding(backend, lane, place, checked.verdict, program)
        shrunk = reduce(engine, finding, target, max_seconds=seconds)
        if finding.minimal is None or finding.minimal_verdict is None:
            raise ProgramError(f"{checked.verdict} came once and not again: it is not stable enough to shrink")
        answer = available(engine, DEFAULT if backend in DEFAULT else (*DEFAULT, backend))
        everywhere = [Target(n, Lane(item)) for n, d in answer.items() for item in d.get("lanes", ())]
        versions = {n: d["version"] for n, d in answer.items() if "version" in d}
        rows, _ = expectations(engine, finding.minimal, everywhere, versions)
    verdict = finding.minimal_verdict
    cures = next((r.cures for r in rows if (r.backend, r.lane) == (base_name(backend), lane)), ())
    titled = replace(finding.minimal, title=entry_title(finding.minimal, backend, verdict))
    saved = corpus.write_entry(directory, titled, rows, entry_comment(backend, verdict))
    lines = finding_lines(
        finding.minimal, backend, lane, checked.version, verdict, original=program, cures=cures, path=str(saved)
    )
    click.echo("\n".join(lines))
    click.echo(f"    tried     {shrunk.candidates} candidates in {shrunk.seconds:.1f} s")


def print_backends(names: Sequence[str]) -> None:
    with Engine(workers=1) as engine:
        answer = available(engine, names)
        sites = {name: engine.site(name).name for name in names if "version" in answer[name]}
    width = max(map(len, names))
    for name in names:
        data = answer[name]
        if "unavailable" in data:
            click.echo(f"{name.ljust(width)}  unavailable: {data['unavailable']}")
            continue
        default = "  (default)" if name in DEFAULT else ""
        where = f"  (in the environment {sites[name]})" if sites[name] else ""
        click.echo(f"{name.ljust(width)}  {data['version']}{default}{where}")
        click.echo(f"{' ' * width}  lanes     {', '.join(data['lanes'])}")
        click.echo(f"{' ' * width}  channels  {', '.join(data['channels'])}")
