"""Commands about the corpus: list, replay, update, add, readme."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from inplace_fuzz import corpus
from inplace_fuzz.api import available, load_program
from inplace_fuzz.backends import DEFAULT, names
from inplace_fuzz.campaign.reduce import expectations
from inplace_fuzz.campaign.text import entry_comment
from inplace_fuzz.core import Lane, base_name, lane_key
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


def _is_backend(name: str) -> bool:
    return ":" in name or name in names()


def _chosen(paths: Sequence[Path], directory: Path) -> list[Path]:
    return list(paths) if paths else corpus.files(directory)


def replay_files(paths: Sequence[Path], directory: Path, backends: Sequence[str] | None = None) -> int:
    """Judges every expectation again. Returns 1 when one no longer holds, else 0."""
    entries = [corpus.read_entry(path) for path in _chosen(paths, directory)]
    rows = [x for e in entries for x in e.expectations]
    wanted = sorted({column for x in rows for column in _columns(x, backends)})
    broken = 0
    with Engine(workers=2) as engine:
        answer = available(engine, wanted)
        for entry in entries:
            broken += _replay(engine, entry, answer, backends)
    return 1 if broken else 0


def _columns(row: corpus.Expectation, backends: Sequence[str] | None) -> list[str]:
    """Where an expectation is replayed: in the columns asked for, else where a version that it speaks of is."""
    if not _is_backend(row.backend):
        return []
    if backends is not None:
        return [column for column in backends if base_name(column) == row.backend]
    spoken_of = [column for column, version in versions_of(row.backend).items() if row.covers(version)]
    return [*spoken_of, row.backend][:1]


def _replay(
    engine: Engine, entry: corpus.Entry, answer: dict[str, dict[str, object]], backends: Sequence[str] | None
) -> int:
    program = entry.program or load_program(entry.path, engine)
    if not entry.expectations:
        click.echo(f"{entry.path}: no expectations; `inplace-fuzz corpus update {entry.path}` writes them down")
        return 0
    asked = [(x, column) for x in entry.expectations for column in _columns(x, backends)]
    asked += [(x, x.backend) for x in entry.expectations if not _is_backend(x.backend)]
    targets = {Target(column, Lane(x.lane)) for x, column in asked if "version" in answer.get(column, {})}
    verdicts = {r.target: r.verdict for r in engine.run([Task(program, tuple(targets), 0)])} if targets else {}
    broken = 0
    for x, column in asked:
        data = answer.get(column, {"unavailable": "there is no such backend"})
        verdict = verdicts.get(Target(column, Lane(x.lane)))
        head = f"{entry.path}  {lane_key(column, x.lane)}"
        if verdict is None:
            click.echo(f"{head}  unavailable: {data.get('unavailable')}")
        elif not x.covers(str(data["version"])):
            click.echo(f"{head}  {verdict}  (recorded for {x.versions}; this is {data['version']})")
        elif corpus.holds(x, verdict):
            click.echo(f"{head}  {verdict}  as expected")
        else:
            broken += 1
            click.echo(f"{head}  expected {x.verdict}, got {verdict} {verdict.message}".rstrip())
            click.echo(f"    if that is right now: inplace-fuzz corpus update {entry.path}")
    return broken


def _targets(engine: Engine, wanted: Iterable[str]) -> tuple[list[Target], dict[str, str]]:
    answer = available(engine, wanted)
    targets = [Target(n, Lane(lane)) for n, d in answer.items() for lane in d.get("lanes", ())]
    return targets, {n: d["version"] for n, d in answer.items() if "version" in d}


def update_files(paths: Sequence[Path], backends: Sequence[str] | None, directory: Path) -> None:
    entries = [corpus.read_entry(path) for path in _chosen(paths, directory)]
    with Engine(workers=2) as engine:
        for entry in entries:
            there = [x.backend for x in entry.expectations if _is_backend(x.backend)]
            wanted = backends or list(dict.fromkeys([*there, *DEFAULT]))
            targets, versions = _targets(engine, wanted)
            program = load_program(entry.path, engine)
            rows, _ = expectations(engine, program, targets, versions)
            current = corpus.Entry(entry.path, entry.title, entry.parsed, program, entry.expectations)
            corpus.write_atomically(entry.path, corpus.updated(current, rows))
            faults = sum(x.is_fault for x in rows)
            click.echo(f"{entry.path}: {len(rows)} expectations, {faults} faults")


def add_files(paths: Sequence[Path], title: str, backends: Sequence[str], directory: Path) -> int:
    """Saves each file with what every backend gives for it. Returns 1 when one could not be added, else 0."""
    from dataclasses import replace

    corpus.check_writable(directory)
    failed = 0
    with Engine(workers=2) as engine:
        targets, versions = _targets(engine, backends)
        for path in paths:
            program = replace(load_program(path, engine), title=title or corpus.read_entry(path).title)
            rows, verdicts = expectations(engine, program, targets, versions)
            if not rows:
                message = next(iter(verdicts.values())).message if verdicts else "no backend can run"
                click.echo(f"{path}: not added: {message}", err=True)
                failed = 1
                continue
            fault = next(((t, v) for t, v in verdicts.items() if v.is_finding and v.differences), None)
            shown = entry_comment(fault[0].backend, fault[1]) if fault else ()
            saved = corpus.write_entry(directory, program, rows, shown)
            click.echo(f"{path} -> {saved}: {len(rows)} expectations, {sum(x.is_fault for x in rows)} faults")
    return failed


def write_readme(directory: Path) -> None:
    path = directory / "README.md"
    corpus.write_atomically(path, corpus.render_readme(directory))
    click.echo(f"wrote {path}")
