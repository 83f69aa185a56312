"""The command that searches a compiler's releases for the first one that has a fault."""

from __future__ import annotations

from pathlib import Path

import click

from inplace_fuzz import corpus
from inplace_fuzz.api import as_program
from inplace_fuzz.campaign.bisect import Bisect, BisectError
from inplace_fuzz.core import Lane, base_name, lane_key


def bisect_file(
    path: Path, backend: str | None, lane: str, good: str, bad: str, torch: str, state: Path, *, trust: bool
) -> None:
    entry = corpus.read_entry(path, trust=trust)
    if backend is None:
        backend, lane = corpus.known_fault(entry, trust=trust)
    if base_name(backend) != backend:
        raise BisectError(f"name the backend alone, --backend {base_name(backend)}; its versions are what is searched")
    program = as_program(entry.parsed, str(path), trust=trust)
    name = f"{path.stem}-{lane_key(backend, lane)}.json".replace("/", "-").replace(":", ".")
    search = Bisect(
        entry,
        program,
        backend,
        Lane(lane),
        state=state / name,
        torch=torch,
        say=lambda text: click.echo(text, nl=False),
    )
    boundary = search.run(good=good, bad=bad)
    first = f"{search.distribution} {boundary.bad}"
    if boundary.good:
        gives = search.tried[boundary.good].verdict
        click.echo(f"first bad: {first}; {boundary.good} gives {gives}")
        if boundary.between:
            click.echo(f"nothing can be said of {', '.join(boundary.between)} between them")
    else:
        click.echo(f"{first} is the oldest release that can be asked, and has the fault")
    click.echo(f"wrote {path}")
