"""docs/pass.md: each program gives the text that the page shows, and the result does what the program does."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
import torch

from inplace_fuzz.rewrite import graph_text, rewrite_graph, writing_operators
from tests.rewrite.observed import interpret, seen

PAGE = Path(__file__).parents[2] / "docs" / "pass.md"
SECTION = re.compile(
    r"^### (?P<title>.*?)\n.*?```python\n(?P<source>.*?)```\n\n```text before\n(?P<before>.*?)```\n\n"
    r"```text after\n(?P<after>.*?)```", re.MULTILINE | re.DOTALL,
)  # fmt: skip
PROGRAMS = [m.groupdict() for m in SECTION.finditer(PAGE.read_text())]
ARGUMENTS = {
    "A write to a view of an input": [(torch.zeros(10, 10),)],
    "An index write into a slice of a tensor made inside": [(torch.ones(2, 1), torch.tensor([0, 2]))],
    "A view read after its base was written": [(torch.arange(6.0).reshape(3, 2),)],
    "A transposed view": [(torch.arange(6.0).reshape(3, 2), torch.ones(3))],
    "Two views of one base": [(torch.arange(4.0),)],
    "An in-place result is its self": [(torch.arange(3.0),)],
    "Outputs that alias": [(torch.arange(3.0),)],
    "A write in one branch": [(torch.arange(3.0), True), (torch.arange(3.0), False)],
    "A branch that picks a tensor": [(torch.arange(3.0), True), (torch.arange(3.0), False)],
    "A loop": [(torch.arange(3.0), 2), (torch.arange(3.0), 0)],
    "A view or a copy": [(torch.arange(6.0).reshape(2, 3),), (torch.arange(6.0).reshape(2, 3).t(),)],
    "A write through a list": [(torch.arange(2.0), torch.arange(2.0))],
    "A mask": [(torch.arange(8.0).reshape(4, 2),), (torch.zeros(4, 2),)],
}


def test_there_are_a_dozen() -> None:
    assert len(PROGRAMS) >= 12
    assert {p["title"] for p in PROGRAMS} == set(ARGUMENTS)


@pytest.mark.parametrize("program", PROGRAMS, ids=[p["title"] for p in PROGRAMS])
def test_program(program: dict[str, str]) -> None:
    graph = torch.jit.CompilationUnit(program["source"]).f.graph
    rewritten = rewrite_graph(graph, guard=False)
    assert graph_text(graph) == program["before"]
    assert graph_text(rewritten) == program["after"]
    assert writing_operators(rewritten) == []
    for arguments in ARGUMENTS[program["title"]]:
        mine, theirs = (
            [a.clone(memory_format=torch.preserve_format) if isinstance(a, torch.Tensor) else a for a in arguments]
            for _ in range(2)
        )
        expected = seen(interpret(graph, theirs), theirs)
        assert seen(interpret(rewritten, mine), mine).differs(expected) == []


def test_the_first_block_runs(tmp_path: Path) -> None:
    block = re.search(r"```python run\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block is not None
    file = tmp_path / "shown.py"
    file.write_text(block.group(1))
    scope = {"__name__": "shown", "__file__": str(file)}
    import linecache

    linecache.cache[str(file)] = (len(block.group(1)), None, block.group(1).splitlines(True), str(file))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(block.group(1), str(file), "exec"), scope)
