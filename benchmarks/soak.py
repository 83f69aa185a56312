"""Whether memory stays flat: many fast-lane programs in one campaign, and what each kind of process holds meanwhile.

    python -m benchmarks.soak --programs 20000
    python -m benchmarks.soak --programs 500000 --resume soak.json [--minutes 60]

With `--resume` the measurements are kept in that file: a run that `--minutes` or Ctrl-C has ended goes on where it
stopped, with other programs, until there are as many as asked for. Each run is a campaign of its own, on the graphs of
TorchScript and what the pass makes of them, without shrinking; what it finds goes into a store that is thrown away.

A row is printed for every `--every` programs: the largest resident size of each kind of process since the row before,
in MiB. Forked processes share most of their pages with the warm one that they come from, and resident sizes count
those in each. Growth is the slope of a line through the rows of each run, without its first, where caches fill.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from inplace_fuzz.campaign.run import Campaign, Config, Progress
from inplace_fuzz.campaign.store import Finding

KINDS = ("supervisor", "warm drawer", "drawer", "warm worker", "worker")
SEED = 20261201
BACKENDS = ("torchscript-graph",)
_LOOK_EVERY = 0.5  # seconds
_MIB = 1 << 20


def family() -> dict[str, list[psutil.Process]]:
    """This process and those that it has started, by kind."""
    found: dict[str, list[psutil.Process]] = {kind: [] for kind in KINDS}
    me = psutil.Process()
    found["supervisor"].append(me)
    for warm in me.children():
        with suppress(psutil.Error):
            kind = "drawer" if any("/drawer" in word for word in warm.cmdline()) else "worker"
            found[f"warm {kind}"].append(warm)
            found[kind] += warm.children()
    return found


def resident(processes: list[psutil.Process]) -> int:
    """The largest resident size among them, in bytes; 0 where none is alive."""
    sizes = [0]
    for process in processes:
        with suppress(psutil.Error):
            sizes.append(process.memory_info().rss)
    return max(sizes)


def cpu_seconds(found: dict[str, list[psutil.Process]]) -> float:
    """Processor time of all of them, and of those that have ended."""
    total = 0.0
    for kind, processes in found.items():
        for process in processes:
            with suppress(psutil.Error):
                spent = process.cpu_times()
                total += spent.user + spent.system
                if kind == "supervisor" or kind.startswith("warm"):
                    total += spent.children_user + spent.children_system
    return total


class Watch:
    """Listens to a campaign and fills a run's rows: [programs, CPU seconds, resident bytes by kind]."""

    def __init__(self, run: dict[str, Any], before: int, every: int) -> None:
        self._run = run
        self._before = before
        self._every = every
        self._looked = 0.0
        self._peaks = dict.fromkeys(KINDS, 0)
        self._at = 0
        self._cpu = self._first_cpu = cpu_seconds(family())
        self._warm: set[int] = set()

    def on_start(self, progress: Progress) -> None:
        del progress

    def on_found(self, finding: Finding, version: str) -> None:
        del finding, version

    def on_note(self, text: str) -> None:
        print(f"note: {text}", flush=True)

    def on_progress(self, progress: Progress) -> None:
        now = time.monotonic()
        due = progress.programs - self._at >= self._every
        if not due and now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        found = family()
        for kind in KINDS:
            self._peaks[kind] = max(self._peaks[kind], resident(found[kind]))
        self._warm |= {process.pid for process in found["warm worker"]}
        self._run |= {
            "programs": progress.programs,
            "cpu": cpu_seconds(found) - self._first_cpu,
            "warm workers": len(self._warm),
        }
        if due:
            self._close_row(progress.programs)

    def _close_row(self, programs: int) -> None:
        spent = self._first_cpu + self._run["cpu"]
        rate = (programs - self._at) / max(spent - self._cpu, 1e-9)
        self._run["rows"].append([programs, self._run["cpu"], self._peaks])
        cells = " ".join(f"{self._peaks[kind] / _MIB:12.1f}" for kind in KINDS)
        print(f"{self._before + programs:9} {cells} {rate:13.1f}", flush=True)
        self._at, self._cpu, self._peaks = programs, spent, dict.fromkeys(KINDS, 0)


def growth(runs: list[dict[str, Any]], kind: str) -> float | None:
    """Bytes per program, by least squares with a level of its own for each run; None with too few rows."""
    above = below = 0.0
    for run in runs:
        points = [(row[0], row[2][kind]) for row in run["rows"][1:] if row[2][kind]]
        if len(points) < 2:
            continue
        middle = sum(x for x, _ in points) / len(points)
        level = sum(y for _, y in points) / len(points)
        above += sum((x - middle) * (y - level) for x, y in points)
        below += sum((x - middle) ** 2 for x, _ in points)
    return above / below if below else None


def summary(runs: list[dict[str, Any]]) -> None:
    programs, cpu = sum(run["programs"] for run in runs), sum(run["cpu"] for run in runs)
    print(f"\n{programs} programs in {len(runs)} runs, {programs / max(cpu, 1e-9):.1f} per CPU-second, start included")
    print(f"{sum(run['warm workers'] for run in runs)} warm workers, each replaced when it has grown")
    print("growth per 100,000 programs, and the largest size seen")
    for kind in KINDS:
        slope = growth(runs, kind)
        largest = max((row[2][kind] for run in runs for row in run["rows"]), default=0)
        said = "too few rows" if slope is None else f"{slope * 100_000 / _MIB:+.2f} MiB"
        print(f"  {kind:12} {said:>14}   {largest / _MIB:8.1f} MiB")


def kept(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.exists():
        return []
    runs: list[dict[str, Any]] = json.loads(path.read_text())
    return runs


def keep(path: Path | None, runs: list[dict[str, Any]]) -> None:
    if path is not None:
        beside = path.with_suffix(".tmp")
        beside.write_text(json.dumps(runs))
        beside.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=2000)
    parser.add_argument("--resume", type=Path, help="where measurements are kept between runs")
    parser.add_argument("--minutes", type=float, help="how long this run may take")
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a job's end is to keep its rows like Ctrl-C
    runs = kept(chosen.resume)
    before = sum(run["programs"] for run in runs)
    if before < chosen.programs:
        print(f"{'programs':>9} " + " ".join(f"{kind:>12}" for kind in KINDS) + f" {'per CPU-s':>13}", flush=True)
        run: dict[str, Any] = {"seed": SEED + len(runs), "programs": 0, "cpu": 0.0, "warm workers": 0, "rows": []}
        runs.append(run)
        with tempfile.TemporaryDirectory(prefix="soak-") as directory:
            config = Config(
                seconds=chosen.minutes * 60 if chosen.minutes else None,
                examples=chosen.programs - before,
                seed=run["seed"],
                backends=BACKENDS,
                corpus=Path(directory, "corpus"),
                store=Path(directory, "store.sqlite"),
                workers=chosen.workers,
                shrink_share=0.0,
                save_entries=False,
            )
            try:
                Campaign(config, Watch(run, before, chosen.every)).run()
            finally:
                keep(chosen.resume, runs)
    summary(runs)


if __name__ == "__main__":
    main()
