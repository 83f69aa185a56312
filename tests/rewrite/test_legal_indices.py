"""Every legalisation rule for positions and masks against its operator, one call at a time and by either way to put."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.passes.shape_prop import ShapeProp
from torch.utils import _pytree as pytree

from inplace_fuzz.rewrite import legalise

aten = torch.ops.aten
Call = tuple[Any, ...]


def ordered(*shape: int, start: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return (torch.arange(torch.Size(shape).numel()) + start).to(dtype).reshape(shape)


def new(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return ordered(*shape, start=50, dtype=dtype)


def at(*values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


PUT = aten.index_put.default
X, M, V = ordered(2, 3, 4), ordered(3, 4), ordered(4)
H, J = at(1, 0), at(2, -1)
BOTH, ONE, NEITHER = torch.tensor([True, False, True]), torch.tensor([False, True, False]), torch.zeros(3) > 0
PICKS = (
    [H], [None, J], [None, None, J], [H, J], [H, None, J], [None, H, J], [H, J, at(3, -2)], [at(-1)],
    [at([0, 1], [1, 0]), None, J], [None, at([0, 1], [-1, 2])], [torch.tensor(1)], [torch.tensor(-1), None, J],
    [None, J.int()], [H.reshape(2, 1), J], [None, torch.tensor(2), torch.tensor(-4)], [H, torch.tensor(1)],
    [H, BOTH], [None, BOTH, J], [BOTH.new_ones(2), None, J], [H, ONE], [None, ONE, J], [at(1, 0, 1), J.new_ones(3)],
)  # fmt: skip
POSITIONS: list[Call] = [(aten.index.Tensor, X, picked) for picked in PICKS]
for picked in PICKS:
    found = aten.index.Tensor(X, picked)
    once = aten.index.Tensor(X * 0 + ordered(2, 3, 4), picked).unique().numel() == found.numel()
    POSITIONS += [(PUT, X, picked, new(*found.shape), True), (PUT, X, picked, torch.tensor(7.0), True)]
    POSITIONS += [(PUT, X, picked, new(*found.shape))] if once else []
POSITIONS += [
    (PUT, X, [H], new(3, 4, dtype=torch.float64).to(torch.float32)),
    (PUT, X, [at()], new(0, 3, 4)),
    (aten._unsafe_index_put.default, M, [at(2, 0)], new(4)),
    (aten.index_copy.default, X, 1, at(2, 0), new(2, 2, 4)), (aten.index_copy.default, X, -1, at(3), new(2, 3, 1)),
    (aten.index_copy.default, M, 0, torch.tensor(2), new(1, 4)), (aten.index_copy.default, V, -1, at(3), new(1)),
    (aten.index_add.default, X, 1, at(2, 2), new(2, 2, 4)), (aten.index_add.default, V, 0, torch.tensor(3), new(1)),
    (aten.index_fill.int_Scalar, X, 1, at(2, -3), 7), (aten.index_fill.int_Scalar, X, -2, torch.tensor(1), 7),
    (aten.index_fill.int_Tensor, X, 2, at(1), torch.tensor(7)),
    (aten.scatter_add.default, M, 0, at([2, 0], [2, 1]), new(3, 3)), (aten.scatter_add.default, M, -1, at([3, 3, 0]), new(2, 3)),
    (aten.scatter_add.default, V, 0, at(1, 1, 2), new(5)),
    (aten.put.default, M, at(-1, 5), new(2)), (aten.put.default, M, at([0, 0], [3, -12]), new(2, 2), True),
    (aten.index_reduce.default, M, 0, at(2, 2, 0), new(3, 4), "amax"), (aten.index_reduce.default, M, 1, at(3), -new(3, 1), "amin"),
    (aten.index_reduce.default, V[None], 1, at(2), new(1, 1), "amax"),
    (aten.index_reduce.default, X, -1, at(0, 0), new(2, 3, 2), "prod"), (aten.index_reduce.default, V, 0, torch.tensor(1), new(1), "amax"),
]  # fmt: skip
SQUARE = M % 2 > 0
MASKS: list[Call] = [
    (PUT, M, [BOTH], new(4)), (PUT, M, [BOTH], new(2, 4)), (PUT, M, [BOTH], new(1, 4), True), (PUT, M, [ONE], new(1, 4)),
    (PUT, M, [NEITHER], new(0, 4)), (PUT, M, [NEITHER], new(4)), (PUT, M, [SQUARE], new(6)), (PUT, M, [SQUARE], new(6), True),
    (PUT, M, [SQUARE], torch.tensor(7.0)), (PUT, M, [SQUARE], new(1)), (PUT, X, [None, BOTH], new(2, 2, 4)),
    (PUT, X, [None, BOTH], new(2, 1)), (PUT, X, [None, BOTH], new(4)), (PUT, X, [None, None, V > 1], new(2, 3, 2)),
    (PUT, X, [None, SQUARE], new(2, 6), True), (PUT, X, [None, SQUARE], new(6)), (PUT, X, [None, SQUARE], new(2, 1)),
    (PUT, X, [None, BOTH, None], new(2, 2, 4)),
    (aten.masked_fill.Scalar, X, BOTH[:, None], 7), (aten.masked_fill.Tensor, M, SQUARE, torch.tensor(7)),
    (aten.masked_fill.Scalar, M.int(), SQUARE, 7), (aten.masked_scatter.default, M, SQUARE, new(12)),
    (aten.masked_scatter.default, M, SQUARE, new(3, 2)), (aten.masked_scatter.default, X, BOTH[:, None], new(20)),
    (aten.masked_scatter.default, M, V > 1, new(6)), (aten.masked_scatter.default, M, SQUARE, new(5, 5)),
]  # fmt: skip
EMPTY = ordered(0, 3)
STAY: list[Call] = [  # whose shape depends on content, or which put nothing
    (aten.index.Tensor, M, [SQUARE]), (aten.index.Tensor, X, [None, BOTH]), (aten.index.Tensor, M, [BOTH, V > 1]),
    (aten.index.Tensor, EMPTY, [at()]), (aten.index.Tensor, M, [at()]),
    (aten.index_reduce.default, M, 0, at(1), new(1, 4), "mean"), (aten.index_reduce.default, ordered(), 0, torch.tensor(0), new(), "amax"),
    (aten.index_reduce.default, ordered(2), 0, at(*[0] * 17), new(17), "amax"),
    (aten.index_add.default, ordered(), 0, torch.tensor(0), new()), (aten.masked_scatter.default, EMPTY, EMPTY > 0, new(4)),
    (aten.scatter_add.default, M, 0, at().reshape(0, 4), new(3, 4)), (aten.index_fill.int_Scalar, ordered(), 0, at(0), 7),
]  # fmt: skip
NOTHING: list[Call] = [
    (PUT, EMPTY, [at()], new(0, 3)), (PUT, EMPTY, [None, BOTH], new(0, 2)), (PUT, EMPTY, [None, BOTH], torch.tensor(7.0)),
    (aten.index_reduce.default, EMPTY, 1, at(1), new(0, 1), "amax"),
]  # fmt: skip


def said(call: Call) -> str:
    op, *args = call
    text = str(pytree.tree_map(lambda t: f"{list(t.shape)}" if isinstance(t, torch.Tensor) else t, args))
    return f"{op} {text}".replace("'", "")


def legal(call: Call, backend: str, **options: Any) -> tuple[torch.fx.GraphModule, list[torch.Tensor]]:
    op, *args = call
    leaves, spec = pytree.tree_flatten(args)
    graph = torch.fx.Graph()
    given = []
    for k, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            given.append(leaf.clone())
            leaves[k] = graph.placeholder(f"x{k}")
            leaves[k].meta["val"] = leaf
    graph.output(graph.call_function(op, tuple(pytree.tree_unflatten(leaves, spec)), options))
    return legalise(torch.fx.GraphModule(torch.nn.Module(), graph), backend), given


def agrees(call: Call, backend: str, **options: Any) -> torch.fx.GraphModule:
    module, given = legal(call, backend, **options)
    expected, got = call[0](*call[1:], **options), module(*given)
    assert got.dtype == expected.dtype
    assert got.tolist() == expected.tolist()
    assert all(map(torch.equal, given, [t for t in pytree.tree_leaves(call[1:]) if isinstance(t, torch.Tensor)]))
    return module


@pytest.mark.parametrize("backend", ["tvm", "openvino"])
@pytest.mark.parametrize("call", [*POSITIONS, *MASKS, *NOTHING], ids=said)
def test_a_rule_gives_what_its_operator_gives(call: Call, backend: str) -> None:
    module = agrees(call, backend)
    for node in module.graph.find_nodes(op="call_function", target=call[0]):
        ShapeProp(module).propagate(*legal(call, backend)[1])
        assert len(node.args[0].meta["tensor_meta"].shape) == 1, "it is left for flat positions alone"


@pytest.mark.parametrize("call", STAY, ids=said)
def test_where_no_rule_applies_the_operator_stays(call: Call) -> None:
    assert agrees(call, "tvm").graph.find_nodes(op="call_function", target=call[0])


def test_index_add_multiplies_by_alpha_and_index_reduce_without_self_stays() -> None:
    agrees((aten.index_add.default, M, 0, at(2, 1), new(2, 4)), "tvm", alpha=3)
    left = agrees((aten.index_reduce.default, M, 0, at(2), new(1, 4), "amax"), "tvm", include_self=False)
    assert left.graph.find_nodes(op="call_function", target=aten.index_reduce.default)
