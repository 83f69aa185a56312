"""The store as pandas frames: everything that a report says is computed from these four.

runs       one row per run: id, started, ended, seed, config, programs, explore_seconds, shrink_seconds
versions   run × backend: version, or why it is unavailable, and the channels it promises
tallies    run × backend × lane × verdict: programs, worker seconds, and `kind`, the verdict without its details
findings   one row per kept finding: run, at (seconds after its run began), and the Finding itself
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from inplace_fuzz.backends import BUILTIN
from inplace_fuzz.campaign.store import Store, StoreError
from inplace_fuzz.core import Lane, base_name

Frame: TypeAlias = Any  # pandas has no types of its own

_RUNS = ("id", "started", "ended", "seed", "config", "programs", "explore_seconds", "shrink_seconds")
_VERSIONS = ("run", "backend", "version", "unavailable", "channels")
_TALLIES = ("run", "backend", "lane", "verdict", "programs", "seconds")
_FINDINGS = ("run", "id", "at")
_REFUSALS = ("run", "backend", "lane", "verdict", "message", "programs")


@dataclass(frozen=True)
class Frames:
    """See the top of this file."""

    runs: Frame
    versions: Frame
    tallies: Frame
    findings: Frame
    refusals: Frame


def read_frames(store_path: Path, runs: Sequence[int] | None = None) -> Frames:
    """Reads a store's runs, all of them by default. Raises StoreError, also where no such run is in it."""
    with Store(store_path, read_only=True) as store:
        have = pd.DataFrame(store.rows("SELECT * FROM run ORDER BY id"), columns=list(_RUNS))
        wanted = set(have["id"]) if runs is None else set(runs)
        missing = sorted(wanted - set(have["id"]))
        if missing or have.empty:
            said = f"no run {', '.join(map(str, missing))}" if missing else "no run at all"
            there = ", ".join(map(str, have["id"])) or "none"
            raise StoreError(f"{store_path} holds {said} (runs there: {there}); run `inplace-fuzz run` first")
        chosen = have[have["id"].isin(wanted)].reset_index(drop=True)
        versions = _of_runs(store, "version", _VERSIONS, wanted)
        tallies = _of_runs(store, "tally", _TALLIES, wanted)
        findings = _of_runs(store, "finding", _FINDINGS, wanted)
        refusals = _of_runs(store, "refusal", _REFUSALS, wanted)
        objects = {f.id: f for f in store.findings()}
    tallies["kind"] = tallies["verdict"].str.partition("(")[0] if len(tallies) else ""
    tallies = _in_order(tallies)
    started = dict(zip(chosen["id"], chosen["started"], strict=True))
    findings["at"] = [at - started[run] for run, at in zip(findings["run"], findings["at"], strict=True)]
    findings["finding"] = [objects[id_] for id_ in findings["id"]]
    return Frames(chosen, versions, tallies, findings, refusals)


def _of_runs(store: Store, table: str, columns: Sequence[str], wanted: set[int]) -> Frame:
    rows = store.rows(f"SELECT {', '.join(columns)} FROM {table}")  # noqa: S608 - names from the constants above
    frame = pd.DataFrame(rows, columns=list(columns))
    return frame[frame["run"].isin(wanted)].reset_index(drop=True)


def _in_order(tallies: Frame) -> Frame:
    """Backends in the order of the backend table, lanes in the order of their worth."""
    table = list(BUILTIN)
    names = sorted(
        set(tallies["backend"]),
        key=lambda n: (table.index(base_name(n)) if base_name(n) in BUILTIN else len(table), n),
    )
    places = {name: k for k, name in enumerate(names)}
    lanes = {str(lane): k for k, lane in enumerate(Lane)}
    order = tallies.assign(b=tallies["backend"].map(places), l=tallies["lane"].map(lanes))
    return order.sort_values(["run", "b", "l", "verdict"]).drop(columns=["b", "l"]).reset_index(drop=True)


def configuration(frames: Frames) -> dict[str, Any]:
    """What the last run was asked to do."""
    config: dict[str, Any] = json.loads(frames.runs["config"].iloc[-1])
    return config


def run_rows(frames: Frames) -> Frame:
    """`runs.csv`: one row per run × backend × lane × verdict, with what identifies the run beside it."""
    runs = frames.runs.rename(columns={"id": "run", "programs": "run_programs"})
    runs = runs.assign(started=pd.to_datetime(runs["started"], unit="s", utc=True).dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    rows = frames.tallies.merge(runs[["run", "started", "seed", "run_programs", "explore_seconds"]], on="run")
    rows = rows.merge(frames.versions[["run", "backend", "version"]], on=["run", "backend"], how="left")
    columns = ["run", "started", "seed", "backend", "version", "lane", "verdict", "kind", "programs", "seconds"]
    return rows[[*columns, "run_programs", "explore_seconds"]]
