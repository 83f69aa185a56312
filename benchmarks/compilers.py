"""Programs per CPU-second of each compiler, the share of that time spent inside it, and what batches would bring.

Each backend runs warm in a process of its own and judges the same drawn programs in its direct lane, one by one, as a
worker does. Beside that stands the ratio to a floor measured in the same process: the same programs as TorchScript
graphs, interpreted (`torchscript-graph`). "In the compiler" is everything from the first stage that it enters
until it has compiled; the rest is eager, running and comparing.

For TVM a further line builds all programs that it imports as functions of one module, beside one module for each: what
a batch would save. Building is most of the cost and grows with the functions in it, so a batch saves little.

    python benchmarks/compilers.py [--backends tvm,export] [--programs 24] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections import Counter
from typing import Any

from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import Lane, Verdict

FLOOR = "torchscript-graph"
WARMED = 2  # programs that are run first and not counted


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--backends", default="torchscript,torchscript-trace,export,aot-eager,inductor,tvm")
    parser.add_argument("--programs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.backends.split(",")
    if options.one:
        programs = [Program.from_json(json.loads(line)) for line in sys.stdin]
        measure(names[0], programs)
        return

    from inplace_fuzz.execute.drawing import Drawing

    with Drawing(options.seed, options.programs + WARMED) as drawn:
        lines = "".join(json.dumps(program.to_json()) + "\n" for program in drawn if program is not None)
    print(f"{options.programs} programs, direct lane, seed {options.seed}", flush=True)
    for name in names:
        command = [sys.executable, __file__, "--one", "--backends", name]
        ended = subprocess.run(command, check=False, input=lines, text=True, stderr=subprocess.PIPE)
        if ended.returncode:
            said = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
            print(f"  {name:<22} could not be measured: {said}", flush=True)


def measure(name: str, programs: list[Program]) -> None:
    from inplace_fuzz.backends import load

    warnings.simplefilter("ignore")
    backend, floor = load(name), load(FLOOR)
    backend.version()
    if hasattr(backend, "warm"):
        backend.warm()
    for one in (floor, backend):
        judged(one, programs[:WARMED])
    programs = programs[WARMED:]
    least, _, _ = judged(floor, programs)
    cost, inside, verdicts = judged(backend, programs)
    said = ", ".join(f"{kind} {count}" for kind, count in Counter(str(v) for v in verdicts).most_common())
    print(
        f"  {name:<22}{1 / cost:8.2f} per CPU-second  {cost / least:8.1f}x the floor"
        f"  {inside / cost:4.0%} in the compiler   {said}",
        flush=True,
    )
    if name == "tvm":
        batch(programs)


def judged(backend: Any, programs: list[Program]) -> tuple[float, float, list[Verdict]]:
    """CPU seconds for each program, those of them inside the compiler, and the verdicts."""
    from inplace_fuzz.execute.evaluate import evaluate

    inside, since = 0.0, 0.0
    verdicts: list[Verdict] = []

    def enter(where: tuple[str, str], stage: str) -> None:
        nonlocal inside, since
        if since:
            inside += time.process_time() - since
        since = 0.0 if where[0] == "eager" or stage == "run" else time.process_time()

    def emit(where: tuple[str, str], verdict: Verdict) -> None:
        enter(("eager", ""), "")
        if where[0] != "eager":
            verdicts.append(verdict)

    began = time.process_time()
    for program in programs:
        evaluate(program, [(backend, Lane.DIRECT)], enter=enter, emit=emit)
    return (time.process_time() - began) / len(programs), inside / len(programs), verdicts


def batch(programs: list[Program]) -> None:
    """TVM alone: building each imported program by itself, and all of them as one module."""
    import torch
    import tvm
    from tvm import relax
    from tvm.relax.frontend.torch import from_exported_program

    from inplace_fuzz.execute.subject import Subject

    began = time.process_time()
    modules = []
    for program in programs:
        subject = Subject(program)
        try:
            modules.append(from_exported_program(torch.export.export(subject.module(), subject.example())))
        except Exception:  # noqa: BLE001  it is about those that import
            continue
        finally:
            subject.close()
    importing = time.process_time() - began

    def built(module: Any) -> float:
        start = time.process_time()
        relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
        return time.process_time() - start

    alone = sum(built(module) for module in modules)
    whole = tvm.IRModule()
    for number, module in enumerate(modules):
        whole[f"main_{number}"] = module["main"].with_attr("global_symbol", f"main_{number}")
    together = built(whole)
    print(
        f"  {'':<22}{len(modules)} that import: built one by one {alone / len(modules):.3f} CPU-s each, as one module "
        f"{together / len(modules):.3f}, {alone / together:.2f}x; importing {importing / len(programs):.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
