"""The command about the pass alone: sweep."""

from __future__ import annotations

import time
from pathlib import Path

import click

from inplace_fuzz.campaign.sweep import SweepConfig, sweep
from inplace_fuzz.campaign.sweep_state import SweepState
from inplace_fuzz.campaign.sweep_text import finding_text, pair_lines, progress_line, surprises, table_lines

_EVERY = 10.0  # seconds between two lines of progress


def run_sweep(
    *,
    programs: int,
    seconds: float | None,
    mix: str,
    seed: int,
    workers: int,
    chunk: int,
    state: Path,
    rewrite: str,
    table: bool,
    pairs: bool,
    findings: bool,
) -> int:
    """1 where a program disagrees that has not been seen to agree since, or a pair came up that is held impossible."""
    only_look = table or pairs or findings
    if not only_look:
        if ":" not in rewrite:
            raise click.BadParameter(f"write module:function, for example {rewrite}:rewrite_graph", param_hint="--pass")
        config = SweepConfig(programs, state, mix, workers, chunk, seed, seconds, rewrite)
        try:
            sweep(config, _Progress(mix, programs))
        except KeyboardInterrupt:
            click.echo("interrupted; the same command goes on from here")
    with SweepState(state, read_only=only_look) as store:
        if findings:
            click.echo("\n\n".join(map(finding_text, store.findings())) or "nothing has disagreed")
        else:
            click.echo("\n".join(pair_lines(store, mix) if pairs else table_lines(store)))
        return int(
            any(not f.mended for f in store.findings()) or any(next(surprises(store, m), "") for m in store.mixes())
        )


class _Progress:
    """A line now and then."""

    def __init__(self, mix: str, programs: int) -> None:
        self._mix, self._programs = mix, programs
        self._spoken = 0.0

    def __call__(self, state: SweepState) -> None:
        if time.monotonic() - self._spoken > _EVERY:
            self._spoken = time.monotonic()
            click.echo(progress_line(state, self._mix, self._programs))
