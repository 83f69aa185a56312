"""Commands about the corpus: list, replay, update, add, readme."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from inplace_fuzz import corpus
from inplace_fuzz.api import as_program, available
from inplace_fuzz.backends import DEFAULT, names
from inplace_fuzz.backends.commandline import is_command
from inplace_fuzz.campaign.reduce import expectations
from inplace_fuzz.campaign.text import entry_comment
from inplace_fuzz.commands import targets
from inplace_fuzz.core import Lane, Program, base_name, lane_key, names_code
from inplace_fuzz.core.intake import typed_path
from inplace_fuzz.execute.engine import Engine, Target, Task
from inplace_fuzz.execute.environments import versions_of


def list_corpus(directory: Path) -> None:
    """One line per expectation: file, backend, lane, versions, verdict, status."""
    rows = [
        (entry.path.name, x.backend, x.lane, x.versions, x.verdict, x.status, x.note)
        for entry, x in corpus.table(directory)
    ]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(7)]
    for row in rows:
        click.echo("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())
    if not rows:
        click.echo(f"{directory} holds nothing yet; `inplace-fuzz run` finds some, `corpus add FILE` takes your own")


def _chosen(paths: Sequence[Path], directory: Path) -> list[Path]:
    return list(paths) if paths else corpus.files(directory)


def replay_files(
    named: Sequence[str], directory: Path, backends: Sequence[str] | None = None, *, trust: bool = False
) -> int:
    """Judges every expectation again. Returns 1 when one no longer holds, else 0."""
    chosen = named or [str(path) for path in corpus.files(directory)]
    broken = 0
    with Engine(workers=2) as engine:
        opened = [targets.entry(engine, target, trust=trust) for target in chosen]
        # All are looked at before any is run.
        programs = [as_program(e.parsed, str(e.path), engine, trust=trusted) for e, trusted in opened]
        asked = [list(_asked(entry, backends, trust=trusted)) for entry, trusted in opened]
        answer = available(engine, sorted({column for row in asked for _, column in row if column}))
        for (entry, _), program, columns in zip(opened, programs, asked, strict=True):
            broken += _replay(engine, entry, program, columns, answer)
    return 1 if broken else 0


def _asked(
    entry: corpus.Entry, backends: Sequence[str] | None, *, trust: bool
) -> Iterator[tuple[corpus.Expectation, str]]:
    """Each expectation with where it is replayed: in the columns asked for, else where a version it speaks of is.

    Nowhere, if it names no backend, or one as `module:ATTRIBUTE`: that is code, and takes trust or the user's own word.
    """
    for row in entry.expectations:
        if backends is not None:
            yield from ((row, column) for column in backends if base_name(column) == row.backend)
        elif not _may_load(row.backend, trust=trust):
            yield row, ""
        else:
            spoken_of = [column for column, version in versions_of(row.backend).items() if row.covers(version)]
            yield row, (*spoken_of, row.backend)[0]


def _may_load(backend: str, *, trust: bool) -> bool:
    return backend in names() or is_command(backend) or (trust and names_code(backend))


def _replay(
    engine: Engine,
    entry: corpus.Entry,
    program: Program,
    asked: Sequence[tuple[corpus.Expectation, str]],
    answer: dict[str, dict[str, object]],
) -> int:
    if not entry.expectations:
        click.echo(
            f"{entry.path}: no expectations; `inplace-fuzz corpus update {typed_path(entry.path)}` writes them down"
        )
        return 0
    wanted = {Target(column, Lane(x.lane)) for x, column in asked if "version" in answer.get(column, {})}
    verdicts = {r.target: r.verdict for r in engine.run([Task(program, tuple(wanted), 0)])} if wanted else {}
    broken = 0
    for x, column in asked:
        data = answer.get(column, {"unavailable": _why_not(x.backend)})
        verdict = verdicts.get(Target(column, Lane(x.lane)))
        head = f"{entry.path}  {lane_key(column or x.backend, x.lane)}"
        if verdict is None:
            click.echo(f"{head}  unavailable: {data.get('unavailable')}")
        elif not x.covers(str(data["version"])):
            click.echo(f"{head}  {verdict}  (recorded for {x.versions}; this is {data['version']})")
        elif corpus.holds(x, verdict):
            click.echo(f"{head}  {verdict}  as expected")
        else:
            broken += 1
            click.echo(f"{head}  expected {x.verdict}, got {verdict} {verdict.message}".rstrip())
            click.echo(f"    if that is right now: inplace-fuzz corpus update {typed_path(entry.path)}")
    return broken


def _why_not(backend: str) -> str:
    if names_code(backend):
        return "the file names code to be imported; --trust imports it"
    return "there is no such backend"


def _targets(engine: Engine, wanted: Iterable[str]) -> tuple[list[Target], dict[str, str]]:
    answer = available(engine, wanted)
    found = [Target(n, Lane(lane)) for n, d in answer.items() for lane in d.get("lanes", ())]
    return found, {n: d["version"] for n, d in answer.items() if "version" in d}


def update_files(paths: Sequence[Path], backends: Sequence[str] | None, directory: Path, *, trust: bool) -> None:
    entries = [corpus.read_entry(path, trust=trust) for path in _chosen(paths, directory)]
    with Engine(workers=2) as engine:
        programs = [as_program(entry.parsed, str(entry.path), engine, trust=trust) for entry in entries]
        for entry, program in zip(entries, programs, strict=True):
            there = [x.backend for x in entry.expectations if _may_load(x.backend, trust=trust)]
            wanted = backends or list(dict.fromkeys([*there, *DEFAULT]))
            rows_for, versions = _targets(engine, wanted)
            rows, _ = expectations(engine, program, rows_for, versions)
            current = corpus.Entry(entry.path, entry.title, entry.parsed, program, entry.expectations)
            corpus.write_atomically(entry.path, corpus.updated(current, rows))
            faults = sum(x.is_fault for x in rows)
            click.echo(f"{entry.path}: {len(rows)} expectations, {faults} faults")


def add_files(named: Sequence[str], title: str, backends: Sequence[str], directory: Path, *, trust: bool) -> int:
    """Saves each file with what every backend gives for it. Returns 1 when one could not be added, else 0."""
    from dataclasses import replace

    corpus.check_writable(directory)
    failed = 0
    with Engine(workers=2) as engine:
        opened = [targets.entry(engine, target, trust=trust) for target in named]
        programs = [
            replace(as_program(e.parsed, str(e.path), engine, trust=trusted), title=title or e.title)
            for e, trusted in opened
        ]
        wanted, versions = _targets(engine, backends)
        for target, program in zip(named, programs, strict=True):
            rows, verdicts = expectations(engine, program, wanted, versions)
            if not rows:
                message = next(iter(verdicts.values())).message if verdicts else "no backend can run"
                click.echo(f"{target}: not added: {message}", err=True)
                failed = 1
                continue
            fault = next(((t, v) for t, v in verdicts.items() if v.is_finding and v.differences), None)
            shown = entry_comment(fault[0].backend, fault[1]) if fault else ()
            saved = corpus.write_entry(directory, program, rows, shown)
            click.echo(f"{target} -> {saved}: {len(rows)} expectations, {sum(x.is_fault for x in rows)} faults")
    return failed


def write_readme(directory: Path) -> None:
    path = directory / "README.md"
    corpus.write_atomically(path, corpus.render_readme(directory))
    click.echo(f"wrote {path}")
