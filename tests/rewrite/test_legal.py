"""Legalised graphs compute what the graphs that they were made of compute, whatever compiler the table is for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils import _pytree as pytree

from inplace_fuzz.core import Program
from inplace_fuzz.core.materialize import load_module, make_call
from inplace_fuzz.generate import draw_many
from inplace_fuzz.rewrite import UnsupportedMutation, functionalize, legalise, without_state
from inplace_fuzz.rewrite.legal import TABLES

# One backend for each table.
BACKENDS = {table: name for name, table in reversed(TABLES.items())}.values()
aten = torch.ops.aten


def drawn(seed: int, count: int) -> list[Program]:
    programs: list[Program] = []
    draw_many(seed, count, programs.append)
    return programs


def legalised_agrees(program: Program, backend: str) -> str:
    """What differs between eager and the legalised graph, which runs on copies as a compiler's memory is; "" for nothing."""
    module, given = load_module(program), make_call(program.calls[0])
    expected = pytree.tree_leaves(module(*given))
    args = make_call(program.calls[0])
    try:
        functional = functionalize(load_module(program), make_call(program.calls[0]), target="fx")
        pure = without_state(functional, args).legalised(lambda gm: legalise(gm, backend))
    except UnsupportedMutation:
        return ""
    assert not any(node.target is aten.copy_.default for node in pure.module.graph.nodes)
    result = pytree.tree_leaves(pure.wrap(lambda *tensors: pure.module(*copy.deepcopy(tensors)))(*args))
    for what, ours, theirs in (
        ("output", result, expected),
        ("input", pytree.tree_leaves(args), pytree.tree_leaves(given)),
    ):
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if a.dtype != b.dtype or a.shape != b.shape or not torch.equal(a, b):
                return f"{what} {k}: {b} became {a}\n{program.source}"
    for name, buffer in module.named_buffers():
        ours = dict(functional.named_buffers()).get(name, buffer)
        if not torch.equal(ours, buffer):
            return f"buffer {name}: {buffer} became {ours}\n{program.source}"
    return ""


@pytest.mark.parametrize("backend", BACKENDS)
def test_drawn_programs_stay_what_they_are(backend: str) -> None:
    assert [w for w in (legalised_agrees(p, backend) for p in drawn(5, 12)) if w] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_drawn_programs_stay_what_they_are(backend: str, seed: int) -> None:
    assert [w for w in (legalised_agrees(p, backend) for p in drawn(seed, 200)) if w] == []


def operators(module: torch.fx.GraphModule) -> list[str]:
    return [str(n.target).removeprefix("aten.") for n in module.graph.nodes if n.op == "call_function"]


def rewritten(forward: Callable[..., Any], backend: str, *example: torch.Tensor) -> torch.fx.GraphModule:
    class M(torch.nn.Module):
        def forward(self, *args: Any) -> Any:
            return forward(*args)

    exported = torch.export.export(M(), example).run_decompositions({}).module()
    result = legalise(exported, backend)
    for a, b in zip(pytree.tree_leaves(result(*example)), pytree.tree_leaves(forward(*example)), strict=True):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)
    return result


@pytest.mark.parametrize(
    ("forward", "backend", "expected"),
    [
        (lambda x: x.slice_scatter(x[:1] * 2, 0, 1, 2), "openvino", ["cat", "index_select"]),
        (lambda x: x.slice_scatter(x[:1] * 2, 0, 1, 2), "tvm", ["slice_scatter"]),
        (lambda x: x.to(torch.int8).cumsum(0), "openvino-trace", ["to.dtype", "cumsum"]),
        (lambda x: x.to(torch.int8) + 1, "onnxruntime", ["add", "_to_copy"]),
        (lambda x: torch._foreach_add([x, x * 2], 1), "iree", ["add.Tensor"]),
        (lambda x: [t + 1 for t in x.split(1)], "iree", ["slice"]),
        (lambda x: x.clone(), "openvino", []),
        (lambda x: x.mT.relu(), "pnnx", ["transpose", "clamp_min"]),
        (lambda x: x.index_put((torch.tensor([1]),), x[:1]), "openvino", ["scatter"]),
        (lambda x: x.index_reduce(0, torch.tensor([1, 1]), x, "amax"), "tvm", ["maximum"]),
    ],
)
def test_a_rule_says_it_in_other_operators(forward: Callable[..., Any], backend: str, expected: list[str]) -> None:
    text = " ".join(operators(rewritten(forward, backend, torch.arange(4.0).reshape(2, 2))))
    assert all(word in text for word in expected), text
    for gone in (
        ("clone", "index_put", "mT", "index_reduce", "split", "_foreach") if backend != "tvm" else ("index_reduce",)
    ):
        assert gone not in text or gone in " ".join(expected), text


def test_without_state_each_tensor_is_returned_once_and_buffers_go_in() -> None:
    class M(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(2))
            self.register_buffer("still", torch.ones(2))

        def forward(self, x: torch.Tensor) -> Any:
            self.seen.add_(x)
            x.mul_(2)
            return {"x": x, "seen": self.seen + 0}, [self.still + x]

    module, eager = M(), M()
    pure = without_state(functionalize(module, (torch.ones(2),), target="fx"), (torch.ones(2),))
    assert len(pure.module.graph.find_nodes(op="placeholder")) == 2
    call = pure.wrap(pure.module)
    for _ in range(2):
        x, y = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])
        ours, theirs = call(x), eager(y)
        assert str(ours) == str(theirs)
        assert torch.equal(x, y)
        assert torch.equal(module.seen, eager.seen)


def test_what_lies_beside_an_input_in_its_storage_goes_in_and_comes_out() -> None:
    class M(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x.as_strided([2], [1], 1).add_(10)
            return x * 1

    def given() -> torch.Tensor:
        return torch.arange(4.0)[:3]

    pure = without_state(functionalize(M(), (given(),), target="fx"), (given(),))
    x, y = given(), given()
    assert torch.equal(pure.wrap(lambda *tensors: pure.module(*[t.clone() for t in tensors]))(x), M()(y))
    assert torch.equal(x._base, y._base)


BASE = torch.arange(1.0, 7.0)


@pytest.mark.parametrize(
    "given",
    [BASE.view(2, 3), BASE.view(3, 2).t(), BASE[1:5].view(2, 2), BASE[::2], BASE[:3].expand(2, 3)],
    ids=["dense", "transposed", "offset", "strided", "expanded"],
)
@pytest.mark.parametrize("offset", [None, 1])
def test_as_strided_of_an_input_finds_the_elements_in_its_memory(given: torch.Tensor, offset: int | None) -> None:
    class Look(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.as_strided((2,), (1,), offset) + 1

    exported = torch.export.export(Look(), (given,)).run_decompositions({}).module()
    legal = legalise(exported, "tvm")
    expected = given.as_strided((2,), (1,), offset) + 1
    assert torch.equal(legal(given), expected)
    # Only what lies between the elements of the input is left to the caller's memory.
    if given.stride(-1) != 2:
        assert not any("as_strided" in name for name in operators(legal))


def test_a_scatter_along_as_strided_writes_where_the_elements_lie() -> None:
    class Put(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.as_strided_scatter(x.t(), y, (3,), (1,), 0) * 1

    args = BASE.view(2, 3), -BASE[:3]
    exported = torch.export.export(Put(), args).run_decompositions({}).module()
    assert torch.equal(legalise(exported, "tvm")(*args), Put()(*args))
