"""Commands about campaigns: run, report, merge."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import click

from inplace_fuzz.campaign.run import Campaign, Config
from inplace_fuzz.campaign.store import Store
from inplace_fuzz.commands.options import parse_shard
from inplace_fuzz.core import Lane


def run_campaign(
    *,
    seconds: float | None,
    examples: int | None,
    seed: int | None,
    backends: tuple[str, ...],
    lanes: tuple[str, ...],
    corpus: Path,
    store: Path,
    report: Path | None,
    workers: int,
    mix: str | None,
    shard: str,
    baseline: tuple[str, ...],
    no_save: bool,
) -> None:
    from inplace_fuzz.report.live import choose

    try:
        part = parse_shard(shard)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--shard") from None
    config = Config(
        seconds=seconds if seconds or examples else 60.0,
        examples=examples,
        seed=random.randrange(1 << 32) if seed is None else seed,
        backends=backends,
        lanes=tuple(Lane(lane) for lane in lanes) or tuple(Lane),
        corpus=corpus,
        store=store,
        workers=workers,
        mix=mix,
        shard=part,
        baseline=baseline,
        save_entries=not no_save,
    )
    listener = choose(sys.stdout)
    progress = Campaign(config, listener).run()
    finish = getattr(listener, "finish", None)
    if finish is not None:
        finish(progress)
    if report is not None:
        write_report_files(store, report, corpus)


def write_report_files(store: Path, out: Path, corpus: Path) -> None:
    from inplace_fuzz.report import write_report

    written = write_report(store, out, corpus=corpus)
    for path in written.paths:
        click.echo(f"wrote {path}")


def merge_stores(sources: tuple[Path, ...], store: Path) -> None:
    with Store(store) as target:
        for source in sources:
            click.echo(f"{source}: {target.merge(source)} findings merged into {store}")
