"""The report's content as plain rows, so that Markdown and HTML cannot say different things.

The agreement rate of a backend and lane is agreeing programs out of those that were judged: `invalid` says nothing
about a backend and is left out; a refusal is support data, but it is not agreement.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inplace_fuzz.core import ALL_CHANNELS, Channel, Kind, Lane
from inplace_fuzz.report.causes import SILENT, RootCause, root_causes
from inplace_fuzz.report.frames import Frames, configuration
from inplace_fuzz.report.words import KINDS, counted, duration, rate


@dataclass(frozen=True)
class LaneRow:
    """One backend and lane: programs of each verdict kind, and how many of the judged ones agree."""

    backend: str
    version: str
    lane: str
    counts: dict[str, int]
    judged: int
    seconds: float

    @property
    def agreement(self) -> float | None:
        return self.counts.get(Kind.AGREE, 0) / self.judged if self.judged else None


@dataclass(frozen=True)
class LiftRow:
    """What the legalisations and the pass are worth to one compiler: agreement per lane."""

    backend: str
    rates: dict[str, float | None]

    def gain(self, lane: str, over: str) -> float | None:
        before, after = self.rates.get(over), self.rates.get(lane)
        return None if before is None or after is None else after - before


@dataclass(frozen=True)
class Refused:
    backend: str
    lane: str
    verdict: str
    message: str
    programs: int


@dataclass(frozen=True)
class Content:
    """Everything that a report says."""

    headline: str
    ran: list[tuple[str, str]]
    kinds: list[str]
    lanes: list[LaneRow]
    lift: list[LiftRow]
    causes: list[RootCause]
    unpromised: list[tuple[str, str]]
    unavailable: list[tuple[str, str]]
    refused: list[Refused]
    corpus: Path


def content(frames: Frames, corpus: Path) -> Content:
    causes = root_causes(frames, corpus)
    lanes = lane_rows(frames)
    present = {kind for row in lanes for kind, n in row.counts.items() if n}
    return Content(
        headline(causes),
        what_ran(frames),
        [str(kind) for kind in KINDS if kind is Kind.AGREE or kind in present],
        lanes,
        lift_rows(lanes),
        causes,
        unpromised(frames),
        unavailable(frames),
        refusals(frames),
        corpus,
    )


def headline(causes: list[RootCause]) -> str:
    """The one sentence for a reader who has no more time."""
    new = [c for c in causes if c.standing == "new"]
    programs = len({c.program.digest for c in new})
    silent = len({c.program.digest for c in new if c.section == SILENT})
    text = counted(programs, "new root cause")
    if silent:
        what = "silent wrong values" if silent > 1 else "a silent wrong value"
        text += f", {silent} of them {what}" if programs > 1 else f", {what}"
    if waiting := sum(c.met for c in causes if c.standing == "to shrink"):
        text += f"; {counted(waiting, 'finding')} to shrink"
    if known := sum(c.standing == "known" for c in causes):
        text += f"; {counted(known, 'known one')} met again"
    return f"{text}."


def what_ran(frames: Frames) -> list[tuple[str, str]]:
    runs = frames.runs
    programs, explored = int(runs["programs"].sum()), float(runs["explore_seconds"].sum())
    worked = float(frames.tallies["seconds"].sum())
    seeds = ", ".join(str(s) for s in dict.fromkeys(runs["seed"]))
    config = configuration(frames)
    rows = [
        ("runs", ", ".join(f"{r.id} ({_when(r.started)})" for r in runs.itertuples())),
        ("seed", seeds),
        ("programs", f"{programs:,}, {rate(programs, explored)} per second"),
        ("time", f"{duration(explored)} exploring, {duration(float(runs['shrink_seconds'].sum()))} shrinking"),
        ("in workers", f"{duration(worked)}, {rate(programs, worked)} programs per worker-second"),
    ]
    if config.get("mix"):
        rows.append(("mix", str(config["mix"])))
    if tuple(config.get("shard") or (1, 1)) != (1, 1):
        rows.append(("shard", "/".join(map(str, config["shard"]))))
    if runs["ended"].isna().any():
        rows.append(("ended", "not every run: one is still going, or was killed"))
    return rows


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def lane_rows(frames: Frames) -> list[LaneRow]:
    """One row per backend and lane, in the order of the backend table."""
    versions = _versions(frames)
    rows = []
    for (backend, lane), group in frames.tallies.groupby(["backend", "lane"], sort=False):
        counts = {str(kind): int(n) for kind, n in group.groupby("kind")["programs"].sum().items()}
        judged = sum(counts.values()) - counts.get(Kind.INVALID, 0)
        seconds = float(group["seconds"].sum())
        rows.append(LaneRow(str(backend), versions.get(str(backend), ""), str(lane), counts, judged, seconds))
    return rows


def _versions(frames: Frames) -> dict[str, str]:
    """Each backend's versions in these runs, joined where there are several."""
    found: dict[str, dict[str, None]] = {}
    for row in frames.versions.itertuples():
        if row.version:
            found.setdefault(row.backend, {})[row.version] = None
    return {backend: ", ".join(versions) for backend, versions in found.items()}


def lift_rows(lanes: list[LaneRow]) -> list[LiftRow]:
    """Backends that were reached by more than one lane."""
    backends: dict[str, dict[str, float | None]] = {}
    for row in lanes:
        backends.setdefault(row.backend, {})[row.lane] = row.agreement
    return [LiftRow(name, rates) for name, rates in backends.items() if len(rates) > 1]


def unpromised(frames: Frames) -> list[tuple[str, str]]:
    """What each backend does not promise to keep, and is therefore not judged by."""
    rows: dict[str, str] = {}
    for row in frames.versions.itertuples():
        if row.version:
            promised = {Channel(c) for c in row.channels.split()}
            missing = [str(c) for c in Channel if c in ALL_CHANNELS - promised]
            rows[row.backend] = ", ".join(missing) or "nothing: everything that a caller can see is judged"
    return list(rows.items())


def unavailable(frames: Frames) -> list[tuple[str, str]]:
    """Backends that ran in none of these runs, with the latest reason."""
    available = set(_versions(frames))
    rows = {r.backend: r.unavailable for r in frames.versions.itertuples() if r.unavailable}
    return [(backend, reason) for backend, reason in rows.items() if backend not in available]


def refusals(frames: Frames) -> list[Refused]:
    sums: Any = frames.refusals.groupby(["backend", "lane", "verdict", "message"], sort=False)["programs"].sum()
    rows = [Refused(str(b), str(lane), str(v), str(m), int(n)) for (b, lane, v, m), n in sums.items()]
    return sorted(rows, key=lambda r: (-r.programs, r.backend, r.lane, r.message))


def percent(share: float | None) -> str:
    """`98.31 %`, never rounded up to a hundred that it is not."""
    if share is None:
        return "-"
    shown = f"{100 * share:.1f} %"
    return "99.9 %" if share < 1 and shown == "100.0 %" else shown


def gain(points: float | None) -> str:
    """`+12.4 points`."""
    return "-" if points is None else f"{100 * points:+.1f}"


LANES = tuple(str(lane) for lane in Lane)
