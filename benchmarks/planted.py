"""How soon each planted fault is found, and how small it becomes: fault × seeds, as a Markdown table.

    python -m benchmarks.planted                        every fault, seed 1
    python -m benchmarks.planted --seeds 1,2,3          as in the table of docs/
    python -m benchmarks.planted --faults stale-view,segfault

Programs are those drawn until the first that shows the fault by itself, drawing included in the seconds, which are of
processor time; for a death, which every program shows, they are those of the clock, confirming included. Sizes are
statements/operators of the minimal program. Shrinking is not in the seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence

from inplace_fuzz.execute.engine import Engine
from inplace_fuzz.shrink import operators, statements
from tests.e2e.engine_hunting import LIMITS, death_of, shrunk_by
from tests.e2e.hunting import forget, hunt
from tests.planted.table import DEATHS, PLANTED, Fault

Row = tuple[str, int, float, tuple[int, int]]  # verdict, programs, seconds, size


def hunted(fault: Fault, seed: int) -> Row:
    forget()
    found = hunt(fault, seed)
    return str(found.verdict), found.programs, found.seconds, found.size


def died(engine: Engine, fault: Fault, seed: int) -> Row:
    started = time.perf_counter()
    finding = death_of(engine, fault, seed)
    seconds = time.perf_counter() - started
    minimal = shrunk_by(engine, fault, finding, seconds=60)
    return str(finding.verdict), 1, seconds, (statements(minimal), operators(minimal))


def line(fault: Fault, rows: Sequence[Row]) -> str:
    verdicts = ", ".join(dict.fromkeys(row[0] for row in rows))
    programs = _joined(str(row[1]) for row in rows)
    seconds = _joined(f"{row[2]:.1f}" for row in rows)
    sizes = _joined(f"{row[3][0]}/{row[3][1]}" for row in rows)
    return f"| {fault.name} | {verdicts} | {programs} | {seconds} | {sizes} |"


def _joined(cells: Iterable[str]) -> str:
    return ", ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description="How soon each planted fault is found, and how small it becomes.")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--faults", default="", help="names, with commas; all where none is given")
    chosen = parser.parse_args()
    seeds = [int(seed) for seed in chosen.seeds.split(",")]
    wanted = [f for f in (*PLANTED, *DEATHS) if not chosen.faults or f.name in chosen.faults.split(",")]
    print("| fault | verdict | programs | seconds | statements/operators |")
    print("|---|---|---|---|---|", flush=True)
    with Engine(workers=1, limits=LIMITS) as engine:
        for fault in wanted:
            deadly = fault in DEATHS
            rows = [died(engine, fault, seed) if deadly else hunted(fault, seed) for seed in seeds]
            print(line(fault, rows), flush=True)


if __name__ == "__main__":
    main()
