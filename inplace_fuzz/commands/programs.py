"""Commands about one program: show, rewrite, check, shrink, backends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from inplace_fuzz import corpus
from inplace_fuzz.api import Checked, available, check, load_program, read_text
from inplace_fuzz.backends import DEFAULT, check_name
from inplace_fuzz.campaign.reduce import expectations, reduce
from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.campaign.text import entry_comment, entry_title, finding_lines, program_lines
from inplace_fuzz.core import Kind, Lane, Program, ProgramError, default_spec, parse
from inplace_fuzz.core.text import is_exact, render_inputs
from inplace_fuzz.execute.engine import Engine, Target
from inplace_fuzz.judge.bucket import bucket


def show_program(path: Path, route: str) -> None:
    with Engine(workers=1) as engine:
        program = load_program(path, engine)
        _print_graphs(engine, program, route)


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


def module_program(engine: Engine, target: str, inputs: Sequence[str]) -> Program:
    """`FILE.py:Class` as a Program, with the inputs given, or the file's own `inputs()`. Raises ProgramError."""
    file, _, name = target.rpartition(":") if ":" in target else (target, "", "M")
    path = Path(file)
    if not path.is_file():
        raise ProgramError(f"there is no file {file}; write FILE.py:Class, for example model.py:Net")
    text = read_text(path)
    renamed = engine.ask("rename", {"text": text, "class": name, "name": file})["text"]
    if not inputs:
        if "def inputs(" not in text:
            raise ProgramError(
                f'{file} has no inputs(); add one that returns the tuple of arguments, or pass --input "f32[4,3]"'
            )
        return Program.from_json(engine.ask("describe", {"text": renamed, "name": file}, seconds=30.0)["program"])
    specs = tuple(default_spec(t, start=1 + 100 * k) for k, t in enumerate(inputs))
    parsed = parse(_without_inputs(renamed) + "\n\n" + render_inputs(specs), name=file)
    program = parsed.program((specs,))
    return Program(program.source, program.calls, exact=is_exact(program))


def _without_inputs(text: str) -> str:
    import ast

    tree = ast.parse(text)
    lines = text.splitlines()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("inputs"):
            for k in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[k] = ""
    return "\n".join(lines)


def rewrite_module(target: str, inputs: Sequence[str], route: str) -> None:
    with Engine(workers=1) as engine:
        _print_graphs(engine, module_program(engine, target, inputs), route)


def check_module(target: str, inputs: Sequence[str], backends: Sequence[str], lanes: Sequence[Lane]) -> int:
    """Prints one line per backend and lane, and a block for each that differs. Returns the exit status."""
    with Engine(workers=2) as engine:
        program = module_program(engine, target, inputs)
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
    return 1 if any(r.verdict and r.verdict.is_finding for r in ran) else 0


def print_checked(results: Sequence[Checked]) -> None:
    width = max(len(r.backend) for r in results)
    for r in results:
        if r.verdict is None:
            click.echo(f"{r.backend.ljust(width)}  unavailable: {r.unavailable}")
        else:
            said = f"  {r.verdict.message}" if r.verdict.message and not r.verdict.is_finding else ""
            click.echo(f"{r.backend.ljust(width)}  {r.lane.ljust(9)}  {r.version.ljust(24)}  {r.verdict}{said}")


def shrink_program(path: Path, backend: str | None, lane: str, seconds: float, directory: Path) -> None:
    corpus.check_writable(directory)
    entry = corpus.read_entry(path)
    fault = next((e for e in entry.expectations if e.is_fault), None)
    if backend is None and fault is None:
        raise ProgramError(f"{path} records no known fault; say whose fault to keep, for example --backend tvm")
    if backend is None and fault is not None:
        backend, lane = fault.backend, fault.lane
    assert backend is not None
    check_name(backend)
    target = Target(backend, Lane(lane))
    with Engine(workers=2) as engine:
        program = load_program(path, engine)
        results = check(program, backends=[backend], lanes=[Lane(lane)], engine=engine)
        checked = results[0] if results else None
        if checked is None or checked.verdict is None:
            why = checked.unavailable if checked else f"it has no {lane} lane"
            raise ProgramError(f"{backend} cannot be asked: {why}")
        if not checked.verdict.is_finding:
            raise ProgramError(f"{backend}/{lane} gives {checked.verdict} for {path}: there is no fault to keep")
        place = str(bucket(backend, lane, checked.verdict))
        finding = Finding(backend, lane, place, checked.verdict, program)
        shrunk = reduce(engine, finding, target, max_seconds=seconds)
        if finding.minimal is None or finding.minimal_verdict is None:
            raise ProgramError(f"{checked.verdict} came once and not again: it is not stable enough to shrink")
        answer = available(engine, DEFAULT if backend in DEFAULT else (*DEFAULT, backend))
        targets = [Target(n, Lane(item)) for n, d in answer.items() for item in d.get("lanes", ())]
        versions = {n: d["version"] for n, d in answer.items() if "version" in d}
        rows, _ = expectations(engine, finding.minimal, targets, versions)
    verdict = finding.minimal_verdict
    titled = replace(finding.minimal, title=entry_title(finding.minimal, backend, verdict))
    saved = corpus.write_entry(directory, titled, rows, entry_comment(backend, verdict))
    click.echo(
        "\n".join(
            finding_lines(finding.minimal, backend, lane, checked.version, verdict, original=program, path=str(saved))
        )
    )
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
