"""Random programs: a rewritten graph does what its input graph does, and eager with it."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
import torch

from inplace_fuzz.rewrite import UnsupportedMutation, rewrite_graph, writing_operators
from tests.rewrite.drawn import Drawn
from tests.rewrite.observed import interpret, seen

PROGRAMS = int(os.environ.get("INPLACE_FUZZ_DRAWN", "300"))
FIRST = int(os.environ.get("INPLACE_FUZZ_DRAWN_FROM", "0"))


def check(graph: torch._C.Graph, drawn: Drawn, counts: dict[str, int]) -> None:
    try:
        rewritten = rewrite_graph(graph)
    except UnsupportedMutation as why:
        counts["refused"] += 1
        counts[str(why).split("\n", 1)[0]] = counts.get(str(why).split("\n", 1)[0], 0) + 1
        return
    assert writing_operators(rewritten) == [], drawn.source
    for shift in (0, 7):
        mine, theirs = drawn.inputs(shift), drawn.inputs(shift)
        try:
            expected = seen(interpret(graph, theirs), theirs)
        except RuntimeError:  # the program takes another way with these values, one that eager does not allow
            continue
        got = seen(interpret(rewritten, mine), mine)
        assert got.differs(expected) == [], f"{drawn.source}\n{graph}\n{rewritten}"
    counts["agree"] += 1


def scripted(source: str) -> Any:
    try:
        return torch.jit.CompilationUnit(source).f.graph
    except RuntimeError:  # script takes less of Python than eager does
        return None


@pytest.mark.parametrize("flow", [False, True], ids=["straight", "branching"])
def test_script_graphs(flow: bool) -> None:
    counts = {"agree": 0, "refused": 0}
    for seed in range(PROGRAMS):
        drawn = Drawn(FIRST + seed, flow=flow)
        graph = scripted(drawn.source)
        if graph is not None:
            check(graph, drawn, counts)
    assert counts["agree"] > PROGRAMS // 3, counts
    assert counts["refused"] <= counts["agree"] // 50, counts


def test_traced_graphs() -> None:
    counts = {"agree": 0, "refused": 0}
    for seed in range(PROGRAMS):
        drawn = Drawn(FIRST + 10_000 + seed)
        scope: dict[str, Any] = {"torch": torch, "__name__": "drawn"}
        exec(drawn.source, scope)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                graph = torch.jit.trace(scope["f"], drawn.inputs(), check_trace=False).graph
            except (RuntimeError, IndexError):  # the tracer takes less than eager does
                continue
        check(graph, drawn, counts)
    assert counts["agree"] > PROGRAMS // 2, counts
    assert counts["refused"] <= counts["agree"] // 50, counts
