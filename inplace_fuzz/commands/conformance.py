"""The conformance command: which rows on which cases, a heartbeat, and the table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from inplace_fuzz.api import available
from inplace_fuzz.conformance import CASES, FAMILIES
from inplace_fuzz.conformance.score import OURS, PEERS, Row, backend_rows, chosen, score
from inplace_fuzz.conformance.table import rendered
from inplace_fuzz.core import Lane, ProgramError, render
from inplace_fuzz.execute.engine import Engine

_HEARTBEAT = 15.0


def run_conformance(
    *, backends: Sequence[str], lanes: Sequence[str], families: Sequence[str], cases: Sequence[str], peers: bool,
    form: str, workers: int,
) -> None:  # fmt: skip
    """Prints the score. Without backends, that of this package's own pass."""
    known = {case.name for case in CASES}
    for name in cases:
        if name not in known:
            near = [n for n in sorted(known) if name in n]
            hint = (
                f"; did you mean {', '.join(near[:3])}?" if near else "; `conformance --save DIRECTORY` writes them all"
            )
            raise ProgramError(f"there is no case {name!r}{hint}")
    with Engine(workers=workers) as engine:
        versions, rows = _rows(engine, backends, tuple(Lane(lane) for lane in lanes) or tuple(Lane), peers)
        scores = score(engine, chosen(families, cases), rows, told=_Heartbeat())
    click.echo(rendered(scores, versions, form))


def _rows(
    engine: Engine, backends: Sequence[str], lanes: Sequence[Lane], peers: bool
) -> tuple[list[str], list[Row]]:  # fmt: skip
    rows = list(OURS) if peers or not backends else []
    rows += PEERS if peers else ()
    answer = available(engine, (*backends, "torchscript"))
    missing = [f"{name}: {answer[name]['unavailable']}" for name in backends if "unavailable" in answer[name]]
    if missing:
        raise ProgramError(f"nothing can be scored of {'; '.join(missing)}")
    found = backend_rows({name: answer[name]["lanes"] for name in backends}, lanes)
    if backends and not found:
        raise ProgramError(f"none of {', '.join(backends)} has such a lane; see inplace-fuzz backends")
    return list(dict.fromkeys(d["version"] for d in answer.values())), [*rows, *found]


class _Heartbeat:
    """A line on the error output now and then: the whole suite takes minutes."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        if time.monotonic() - self._last >= _HEARTBEAT:
            self._last = time.monotonic()
            click.echo(f"{done} of {of} verdicts", err=True)


def save_cases(directory: Path, families: Sequence[str]) -> None:
    """Writes every case as a program file, which all commands take and which needs nothing but torch."""
    for family in families or FAMILIES:
        folder = directory / family
        folder.mkdir(parents=True, exist_ok=True)
        for case in FAMILIES[family]:
            (folder / f"{case.name}.py").write_text(render(case.program))
        click.echo(f"{folder}: {len(FAMILIES[family])} cases")
