"""Programs per CPU-second in the fast lane, beside a floor measured in the same run.

The fast lane is what a campaign does with every program, all of it isolated: draw it in a process of its own, send it
to a forked worker, run it eagerly on two value sets and once more after writing into its outputs, compile `forward`
through `CompilationUnit`, interpret that graph as often, run the pass, interpret its result as often, judge everything.

The floor does nothing else than draw, compile, interpret and run eagerly on the two value sets, in one process, without
looking at any result. All of it runs on one core: two threads of a core slow each other down, and the floor is one
process alone. Both figures are marginal: the CPU time of a long run less that of a short one, so that importing torch
and starting processes does not count.

    python benchmarks/fast_lane.py [--programs 2000] [--rounds 3] [--profile]
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from typing import Any

SHORT = 200
SEED = 20261130


def children_cpu() -> float:
    """CPU seconds of this process and of all that it has waited for."""
    own, waited = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + waited.ru_utime + waited.ru_stime


def fast_lane(count: int) -> tuple[float, Counter[str]]:
    """Draws and judges `count` programs through the real processes. Returns CPU seconds and verdicts."""
    from inplace_fuzz.core import Lane
    from inplace_fuzz.execute.drawing import Drawing
    from inplace_fuzz.execute.engine import Engine, Target, Task

    targets = (Target("torchscript-graph", Lane.DIRECT), Target("torchscript-graph", Lane.REWRITTEN))
    before = children_cpu()
    verdicts: Counter[str] = Counter()
    with Drawing(SEED, count, wait=0.05) as drawing, Engine(workers=1) as engine:
        tasks = (None if p is None else Task(p, targets, k) for k, p in enumerate(drawing))
        for result in engine.run(tasks):
            verdicts[f"{result.target.lane}: {result.verdict.kind}"] += 1
    return children_cpu() - before, verdicts


def floor(count: int) -> float:
    """The floor's CPU seconds for `count` programs, in a process of its own."""
    before = children_cpu()
    subprocess.run([sys.executable, __file__, "--floor", str(count)], check=True)
    return children_cpu() - before


def run_floor(count: int) -> None:
    import torch

    from inplace_fuzz.backends.torchscript import GRAPH
    from inplace_fuzz.core import Program
    from inplace_fuzz.core.materialize import forget_namespace, load_namespace, make_call
    from inplace_fuzz.generate import draw_many

    torch.set_num_threads(1)
    gc.freeze()  # as workers do
    interpret = torch._C._jit_interpret_graph

    def emit(program: Program) -> None:
        names = load_namespace(program.source)
        module = names["M"]().eval()
        for call in program.calls:
            module(*make_call(call))
        try:
            opened = GRAPH.open(program, names["M"])
            for call in program.calls:
                interpret(opened.graph, opened.leading + make_call(call))
        except Exception:  # noqa: BLE001  TorchScript raises many types
            pass  # what it does not take costs the fast lane the same
        forget_namespace(names)

    draw_many(SEED, count, emit)


def profile(count: int) -> list[tuple[str, float]]:
    """Milliseconds per program of each part, measured in one process."""
    import torch

    from inplace_fuzz import backends, rewrite
    from inplace_fuzz.backends import torchscript
    from inplace_fuzz.core import Lane, Program
    from inplace_fuzz.execute import evaluate as lane
    from inplace_fuzz.execute import subject as subjects
    from inplace_fuzz.generate import draw_many
    from inplace_fuzz.shrink import statements

    torch.set_num_threads(1)
    gc.freeze()
    programs: list[Program] = []
    draw_many(SEED + 1, 200, programs.append)  # warms caches up
    programs.clear()
    spent: dict[str, float] = defaultdict(float)
    started = time.process_time()
    draw_many(SEED, count, programs.append)
    spent["draw"] = time.process_time() - started

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            begin = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent[name] += time.process_time() - begin

        return wrapped

    graph = backends.load("torchscript-graph")
    targets = [(graph, Lane.DIRECT), (graph, Lane.REWRITTEN)]
    for program in programs[:200]:
        lane.evaluate(program, targets, enter=lambda *_: None, emit=lambda *_: None)
    subjects.load_namespace = timed("load the class", subjects.load_namespace)
    torchscript._function_graph = timed("compile by CompilationUnit", torchscript._function_graph)
    rewrite.rewrite_graph = timed("the pass", rewrite.rewrite_graph)
    subjects.observe = timed("run and look, eager and both graphs", subjects.observe)
    lane.compare = timed("compare", lane.compare)
    started = time.process_time()
    for program in programs:
        lane.evaluate(program, targets, enter=lambda *_: None, emit=lambda *_: None)
    total = time.process_time() - started
    spent["the rest of judging"] = total - sum(v for k, v in spent.items() if k != "draw")
    rows = [(name, 1000 * seconds / len(programs)) for name, seconds in spent.items()]
    rows.append(("(statements per program)", sum(map(statements, programs)) / len(programs)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="only the parts, in one process")
    parser.add_argument("--floor", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if options.floor:
        run_floor(options.floor)
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if not options.profile:
        measure(options.programs, options.rounds)
    print("\nwhere the time goes (milliseconds per program)")
    for name, milliseconds in profile(min(options.programs, 500)):
        print(f"  {name:38} {milliseconds:6.2f}")


def measure(programs: int, rounds: int) -> None:
    ours, floors, ratios = [], [], []
    verdicts: Counter[str] = Counter()
    for _ in range(rounds):
        # In turn, so that a machine that changes its speed changes both.
        low, _ = fast_lane(SHORT)
        high, verdicts = fast_lane(programs)
        floor_low, floor_high = floor(SHORT), floor(programs)
        cost = (high - low) / (programs - SHORT)
        least = (floor_high - floor_low) / (programs - SHORT)
        ours.append(cost)
        floors.append(least)
        ratios.append(cost / least)
    print(f"{programs} programs, {rounds} rounds, marginal CPU time; medians (and range)")
    print(f"  fast lane   {1 / statistics.median(ours):7.1f} programs per CPU-second   {spread(ours)}")
    print(f"  floor       {1 / statistics.median(floors):7.1f} programs per CPU-second   {spread(floors)}")
    print(f"  fast lane / floor, cost   {statistics.median(ratios):.2f}x   ({min(ratios):.2f} to {max(ratios):.2f})")
    print("  verdicts of the last round: " + ", ".join(f"{k} {n}" for k, n in sorted(verdicts.items())))


def spread(costs: list[float]) -> str:
    low, middle, high = min(costs), statistics.median(costs), max(costs)
    return f"{1000 * middle:.2f} ms each ({1000 * low:.2f} to {1000 * high:.2f})"


if __name__ == "__main__":
    with closing(sys.stdout):
        main()
