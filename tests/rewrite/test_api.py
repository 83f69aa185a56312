"""functionalize() as users call it, and what it says when it will not."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch

from inplace_fuzz.rewrite import (
    Policy,
    Rules,
    UnsupportedMutation,
    functionalize,
    graph_text,
    legalise,
    rewrite_graph,
    writing_operators,
)
from tests.rewrite.observed import interpret, seen


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("n", torch.zeros(2))
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.n.add_(1.0)
        x[0] = self.n
        return self.inner(x) + self.n


def graph(source: str) -> torch._C.Graph:
    made: torch._C.Graph = torch.jit.CompilationUnit(source).f.graph
    return made


def test_a_module_keeps_its_own_buffers_and_can_be_saved() -> None:
    module = Counter()
    rewritten = functionalize(module, (torch.ones(3, 2),))
    x, y = torch.ones(3, 2), torch.ones(3, 2)
    with torch.no_grad():
        rewritten(x)
        assert module.n.tolist() == [1.0, 1.0]
        file = io.BytesIO()
        torch.jit.save(rewritten, file)
        file.seek(0)
        loaded = torch.jit.load(file)
        assert torch.equal(loaded(x), module(y))
    assert writing_operators(rewritten) == []
    assert {n for n, _ in loaded.named_parameters()} == {"inner.weight", "inner.bias"}


def test_new_contents_as_outputs() -> None:
    source = graph("def f(x, y):\n    y.add_(1.0)\n    x[0] = 5.0\n    return x * 2.0\n")
    rewritten = rewrite_graph(source, write_back=False)
    x, y = torch.zeros(2), torch.zeros(2)
    out, new_x, new_y = interpret(rewritten, (x, y))
    assert (out.tolist(), new_x.tolist(), new_y.tolist()) == ([10.0, 0.0], [5.0, 0.0], [1.0, 1.0])
    assert x.tolist() == y.tolist() == [0.0, 0.0]
    assert "copy_" not in graph_text(rewritten)


def test_the_input_graph_is_not_changed() -> None:
    source = graph("def f(x):\n    x.add_(1.0)\n    return x\n")
    before = str(source)
    rewrite_graph(source)
    assert str(source) == before


def test_explain_tells_of_every_write() -> None:
    source = graph("def f(x):\n    x.add_(1.0)\n    x[0] = 2.0\n    return x\n")
    _, story = functionalize(source, explain=True)
    assert [e.operator for e in story] == ["aten::add_", "aten::copy_"]
    assert "x.add_(1.0)" in story[0].source_line


@pytest.mark.parametrize(
    ("body", "operator"),
    [
        ("    x.resize_([3])\n    return x\n", "aten::resize_"),
        ("    x.t_()\n    return x\n", "aten::t_"),
        ("    x.data.add_(1.0)\n    return x\n", "prim::data"),
        ("    x.set_(torch.zeros([2]))\n    return x\n", "aten::set_"),
    ],
)
def test_refusals_name_the_operator_and_the_line(body: str, operator: str) -> None:
    with pytest.raises(UnsupportedMutation) as refused:
        rewrite_graph(graph("def f(x):\n" + body))
    assert refused.value.operator == operator
    assert body.splitlines()[0].strip() in refused.value.source_line


def test_storage_is_looked_at_through_the_example_inputs() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        x.add_(1.0)
        return torch.as_strided_copy(x, (2,), (2,), 1)

    def inputs() -> tuple[torch.Tensor, ...]:
        return (torch.arange(8.0)[::2],)

    source = torch.jit.script(f).graph
    mine, theirs = inputs(), inputs()
    rewritten = rewrite_graph(source, inputs())
    assert seen(interpret(rewritten, mine), mine).differs(seen(interpret(source, theirs), theirs)) == []
    with pytest.raises(torch.jit.Error, match="contiguous"):
        interpret(rewrite_graph(source), inputs())


def test_the_fx_target_refuses_other_shapes() -> None:
    module = functionalize(Counter(), (torch.ones(3, 2),), target="fx")
    module(torch.ones(3, 2))
    with pytest.raises(UnsupportedMutation, match="rewritten for"):
        module(torch.ones(4, 2))
    exported = torch.export.export(module, (torch.ones(3, 2),))
    assert any("copy_" in str(n.target) for n in exported.graph.nodes)


def test_bad_arguments_say_what_to_write() -> None:
    with pytest.raises(ValueError, match='target="torchscript" or target="fx"'):
        functionalize(Counter(), target="onnx")
    with pytest.raises(ValueError, match="example_inputs"):
        functionalize(Counter(), target="fx")
    with pytest.raises(TypeError, match="TorchScript or an FX graph"):
        writing_operators(3)


def test_legalise_leaves_the_input_alone() -> None:
    module = functionalize(Counter(), (torch.ones(3, 2),), target="fx")
    before = str(module.graph)
    assert legalise(module, "no such compiler") is module
    assert str(legalise(module, "tvm").graph) != before
    assert str(module.graph) == before


class _Forgets(Policy):
    def written_back(self, memory: Any, externals: list[Any]) -> list[Any]:
        return []


def test_a_fault_can_be_planted() -> None:
    source = graph("def f(x):\n    x.add_(1.0)\n    return x * 1.0\n")
    x = torch.zeros(2)
    interpret(rewrite_graph(source, rules=Rules(policy=_Forgets())), (x,))
    assert x.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("train", [True, False])
def test_dropout_draws_once_and_may_be_its_argument(train: bool) -> None:
    source = graph(
        f"def f(x):\n    y = torch.dropout(x, 0.5, {train})\n    y.add_(1.0)\n    return y, torch.rand([2]), x * 1.0\n"
    )
    results = []
    for each in (source, rewrite_graph(source)):
        torch.manual_seed(0)
        inputs = (torch.arange(4.0),)
        results.append(seen(interpret(each, inputs), inputs))
    assert results[0].differs(results[1]) == []


class _ViewsWhatWasWrittenTransposed(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.t()[0] = 1
        return x.view(3, 2).clone()


def test_a_legalised_graph_may_lie_otherwise_in_memory() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    module = legalise(functionalize(_ViewsWhatWasWrittenTransposed(), (x.clone(),), target="fx"), "tvm")
    assert module(x.clone()).tolist() == [[1, 1], [2, 1], [4, 5]]
