"""What the pass costs: against a bare copy of the graph, warm make_fx(functionalize), and export with decompositions.

    python benchmarks/pass.py [--sizes 5,50,500,5000]

The bare copy walks the same graph from Python and clones every node, and does nothing else: the floor of any pass
that is written in Python and gives a new graph. Everything is measured in one process, one run after another, and
the smallest of several is taken.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

from inplace_fuzz.rewrite import functionalize, rewrite_graph

_STATEMENTS = (
    "v = x[:, 1:]",
    "v[0] = y",
    "x[1:3, :2] += 1.0",
    "x.t()[0].mul_(2.0)",
    "x[k] = 3.0",
)


def program(statements: int) -> str:
    lines = [_STATEMENTS[i % len(_STATEMENTS)] for i in range(statements)]
    return "def f(x, y, k):\n" + "".join(f"    {line}\n" for line in lines) + "    return x\n"


def arguments(size: int = 4) -> tuple[torch.Tensor, ...]:
    return (torch.arange(float(size * 3)).reshape(size, 3), torch.tensor([7.0, 8.0]), torch.tensor([1, 0]))


def bare_copy(graph: torch._C.Graph) -> torch._C.Graph:
    made = torch._C.Graph()
    known: dict[int, Any] = {}
    for value in graph.inputs():
        mine = made.addInput()
        mine.setType(value.type())
        known[value.unique()] = mine
    for node in graph.nodes():
        clone = made.createClone(node, lambda v: known[v.unique()])
        made.insertNode(clone)
        for value, mine in zip(node.outputs(), clone.outputs(), strict=True):
            known[value.unique()] = mine
    for value in graph.outputs():
        made.registerOutput(known[value.unique()])
    return made


def best(body: Callable[[], Any], seconds: float = 0.5, least: int = 3) -> float:
    """Milliseconds, the smallest of as many runs as fit."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < until:
        start = time.perf_counter()
        body()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


class _Module(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor, y: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.function(x, y, k)
        return result


def rewriting(sizes: list[int]) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    print(
        f"{'statements':>10} {'nodes':>6} {'bare copy':>10} {'pass':>10} {'ratio':>6} {'make_fx':>10} {'export':>10} ms"
    )
    for size in sizes:
        source = program(size)
        scope: dict[str, Any] = {}
        exec(source, scope)
        graph = torch.jit.CompilationUnit(source).f.graph
        nodes = len(list(graph.nodes()))
        floor, ours = best(lambda: bare_copy(graph)), best(lambda: rewrite_graph(graph))  # noqa: B023
        peers = ["-", "-"]
        if size <= 500:
            functional = torch.func.functionalize(scope["f"])
            make_fx(functional)(*arguments())
            peers[0] = f"{best(lambda: make_fx(functional)(*arguments()), least=2):10.1f}"  # noqa: B023
        if size <= 50:
            module = _Module(scope["f"])

            def exported() -> Any:
                return torch.export.export(module, arguments()).run_decompositions()  # noqa: B023

            exported()
            peers[1] = f"{best(exported, least=2):10.1f}"
        print(f"{size:10} {nodes:6} {floor:10.3f} {ours:10.3f} {ours / floor:6.2f} {peers[0]:>10} {peers[1]:>10}")


def running() -> None:
    """Functional code copies the base at every write; eager changes it where it lies."""
    print("\nrun time, 25 statements: eager against the rewritten module (ms)")
    source = program(25)
    scope: dict[str, Any] = {}
    exec(source, scope)
    rewritten = functionalize(torch.jit.CompilationUnit(source).f)
    for rows in (4, 1_000, 1_000_000):
        args = arguments(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eager = best(lambda: scope["f"](*args))  # noqa: B023
            ours = best(lambda: rewritten(*args))  # noqa: B023
        print(
            f"  x: f32[{rows}, 3]".ljust(24) + f"eager {eager:9.3f}   rewritten {ours:9.3f}   ratio {ours / eager:6.2f}"
        )
    print(
        "Every write copies its base once (slice_scatter and its like clone it), so the cost of a write grows with\n"
        "the base, not with the part written. A compiler that plans memory gives copies back (Inductor's reinplacing\n"
        "pass, TVM's memory planner); run as they are, rewritten graphs are for importing, not for speed."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sizes", default="5,50,500,5000")
    sizes = [int(s) for s in parser.parse_args().sizes.split(",")]
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rewriting(sizes)
    running()


if __name__ == "__main__":
    main()
