"""One row, one test: every view read and written through, every write called on a view, text and values."""

from __future__ import annotations

import pytest
import torch

from inplace_fuzz.rewrite import DEFAULT_RULES, graph_text, rewrite_graph, writing_operators
from tests.rewrite.observed import interpret, seen

VIEWS = {
    "select": ("x.select(1, -1)", (2, 3), "select_scatter"),
    "slice": ("x[:, 1:]", (2, 3), "slice_scatter"),
    "narrow": ("x.narrow(1, 1, 2)", (2, 3), "slice_scatter"),
    "narrow from the end": ("x.narrow(1, -2, 2)", (2, 3), "put"),
    "diagonal": ("x.diagonal(1)", (3, 3), "diagonal_scatter"),
    "unfold": ("x.unfold(0, 2, 2)", (6,), "put"),
    "as_strided": ("x.as_strided([2, 2], [2, 1], 1)", (3, 3), "as_strided_scatter"),
    "transpose": ("x.transpose(0, 1)", (2, 3), "transpose"),
    "swapaxes": ("x.swapaxes(0, 1)", (2, 3), "transpose"),
    "t": ("x.t()", (2, 3), "aten::t("),
    "numpy_T": ("x.T", (2, 3), "numpy_T"),
    "mT": ("x.mT", (2, 2, 3), "mT"),
    "H": ("x.H", (2, 3), "matrix_H"),
    "adjoint": ("x.adjoint()", (2, 3), "mH"),
    "permute": ("x.permute(2, 0, 1)", (2, 3, 4), "permute"),
    "movedim": ("x.movedim(0, 2)", (2, 3, 4), "movedim"),
    "view": ("x.view(3, 2)", (2, 3), "reshape"),
    "view_as": ("x.view_as(torch.zeros([3, 2]))", (2, 3), "reshape"),
    "unflatten": ("x.unflatten(0, [2, 2])", (4,), "reshape"),
    "squeeze": ("x.squeeze()", (1, 3), "reshape"),
    "squeeze one": ("x.squeeze(0)", (1, 3), "reshape"),
    "unsqueeze": ("x.unsqueeze(-1)", (3,), "squeeze"),
    "expand the same": ("x.expand([2, 3])", (2, 3), "reshape"),
    "detach": ("x.detach()", (2, 3), "add"),
    "reshape": ("x.reshape(-1)", (2, 3), "prim::If"),
    "flatten": ("x.flatten()", (2, 3), "prim::If"),
    "ravel": ("x.ravel()", (2, 3), "prim::If"),
    "contiguous": ("x.contiguous()", (2, 3), "prim::If"),
    "a copy by strides": ("x.t().reshape(-1)", (2, 3), "prim::If"),
    "to the same": ("x.to(torch.float32)", (2, 3), "prim::If"),
    "to another": ("x.to(torch.float64)", (2, 3), "prim::If"),
    "unbind": ("x.unbind(1)[1]", (2, 3), "select_scatter"),
    "split": ("x.split(2, 1)[1]", (2, 3), "slice_scatter"),
    "split_with_sizes": ("x.split([1, 2], 1)[1]", (2, 3), "slice_scatter"),
    "chunk": ("x.chunk(2, 1)[1]", (2, 5), "slice_scatter"),
    "tensor_split": ("x.tensor_split(3, 1)[1]", (2, 5), "slice_scatter"),
    "tensor_split at": ("x.tensor_split([1, 3], 1)[1]", (2, 5), "slice_scatter"),
    "hsplit": ("x.hsplit(2)[1]", (2, 4), "slice_scatter"),
    "vsplit": ("x.vsplit(2)[0]", (4, 2), "slice_scatter"),
    "dsplit": ("x.dsplit(2)[1]", (2, 2, 4), "slice_scatter"),
    "view_as_real": ("torch.view_as_real(torch.view_as_complex(x))", (3, 2), "view_as_real"),
    "real": ("torch.view_as_complex(x).real", (3, 2), "complex"),
    "imag": ("torch.view_as_complex(x).imag", (3, 2), "complex"),
}


def run(source: str, *makers: torch.Tensor) -> str:
    graph = torch.jit.CompilationUnit(source).f.graph
    rewritten = rewrite_graph(graph)
    assert writing_operators(rewritten) == []
    mine, theirs = [[m.clone() for m in makers] for _ in range(2)]
    expected, got = seen(interpret(graph, theirs), theirs), seen(interpret(rewritten, mine), mine)
    assert got.differs(expected) == [], graph_text(rewritten)
    return graph_text(rewritten)


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape)


@pytest.mark.parametrize("name", VIEWS)
def test_view(name: str) -> None:
    look, shape, puts_back = VIEWS[name]
    text = run(
        f"def f(x):\n    v = {look}\n    w = v + 1.0\n    v.add_(10.0)\n    u = v * 2.0\n    x.mul_(3.0)\n"
        "    return x, v, w, u, v + 0.0\n", numbers(*shape)
    )  # fmt: skip
    assert puts_back in text


CALLS = {
    "copy": "y", "fill": "3.0", "zero": "", "masked_fill": "y > 2.0, -1.0", "masked_scatter": "y > 2.0, y",
    "index_put": "[torch.tensor([1, 0])], y", "index_fill": "0, torch.tensor([1]), 5.0",
    "index_copy": "0, torch.tensor([1, 0]), y", "index_add": "0, torch.tensor([1, 1]), y",
    "scatter": "1, torch.zeros([2, 1], dtype=torch.int64), 4.0", "scatter_add": "1, torch.zeros([2, 3], dtype=torch.int64), y",
    "put": "torch.tensor([1, 2]), torch.tensor([8.0, 9.0])", "fill_diagonal": "7.0", "add": "y, alpha=2", "sub": "y",
    "mul": "y", "div": "y", "floor_divide": "y", "remainder": "y", "fmod": "y", "pow": "2", "atan2": "y", "copysign": "-y",
    "hypot": "y", "xlogy": "y", "lerp": "y, 0.5", "addcmul": "y, y", "addcdiv": "y, y", "clamp": "2.0, 4.0",
    "clamp_min": "3.0", "clamp_max": "3.0", "abs": "", "neg": "", "exp": "", "sqrt": "", "relu": "", "sigmoid": "",
    "tanh": "", "round": "", "floor": "", "ceil": "", "trunc": "", "sign": "", "square": "", "reciprocal": "",
    "nan_to_num": "", "tril": "", "triu": "", "cumsum": "1", "cumprod": "1", "eq": "y", "ne": "2.0", "gt": "y", "ge": "2.0",
    "lt": "y", "le": "2.0", "logical_and": "y", "logical_or": "y", "logical_xor": "y", "logical_not": "",
    "addmm": "torch.ones([2, 2]), torch.ones([2, 3])", "addr": "torch.ones([2]), torch.ones([3])",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("look", ["x[1:]", "x", "x.t().t()[1:]", "z.t()[1:]"])
def test_write(name: str, look: str) -> None:
    assert f"aten::{name}_" in DEFAULT_RULES.write_of
    source = f"def f(x, y, z):\n    v = {look}\n    r = v.{name}_({CALLS[name]})\n    return x, v, r, v + 1.0\n"
    x = numbers(2, 3) if look == "x" else numbers(3, 3)
    run(source, x, numbers(2, 3) + 0.5, numbers(3, 3) + 0.25)


def test_casts_and_broadcasts() -> None:
    run("def f(x, y):\n    x[0] = y\n    x[1].add_(y.to(torch.int64))\n    x.mul_(2)\n    return x\n",
        torch.arange(6).reshape(2, 3), torch.tensor([1.7]))  # fmt: skip
    run("def f(x, y):\n    x.add_(y)\n    return x\n", torch.ones(2, 2, dtype=torch.float16), numbers(2, 2) / 3)
