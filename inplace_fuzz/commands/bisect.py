"""The command that searches a compiler's releases for the first one that has a fault."""

from __future__ import annotations

from pathlib import Path

import click

from inplace_fuzz import corpus
from inplace_fuzz.api import load_program
from inplace_fuzz.campaign.bisect import Bisect, BisectError
from inplace_fuzz.core import Lane, ProgramError, base_name, lane_key


def bisect_file(path: Path, backend: str | None, lane: str, good: str, bad: str, torch: str, state: Path) -> None:
    entry = corpus.read_entry(path)
    fault = next((x for x in entry.expectations if x.is_fault), None)
    if backend is None:
        if fault is None:
            raise ProgramError(
                f"{path} records no known fault; say whose fault to search for, for example --backend tvm"
            )
        backend, lane = fault.backend, fault.lane
    if base_name(backend) != backend:
        raise BisectError(f"name the backend alone, --backend {base_name(backend)}; its versions are what is searched")
    program = entry.program or load_program(path)
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
