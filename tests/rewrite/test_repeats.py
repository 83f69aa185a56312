"""Views in which an element shows twice, and storages that are larger than the input: right or refused, never else."""

from __future__ import annotations

import pytest
import torch

from inplace_fuzz.core import Kind, Lane, Program, TensorSpec, Verdict

HEAD = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
EIGHT = tuple(float(k) for k in range(1, 9))
WHOLE = TensorSpec((4, 2), "float32", EIGHT)
PART = TensorSpec((2, 2), "float32", EIGHT, strides=(2, 1))
LATER = TensorSpec((2, 2), "float32", EIGHT, strides=(2, 1), offset=2)
SCALAR = TensorSpec((), "float32", EIGHT)
COLUMN = TensorSpec((3, 1), "float32", (1.0, 2.0, 3.0))

TURNED = TensorSpec((2, 2), "float32", (1.0, 2.0, 3.0, 4.0), strides=(1, 2))
GAPS = TensorSpec((2, 1, 2), "float32", tuple(float(k) for k in range(1, 8)), strides=(2, 4, 4))

RIGHT = {
    "strides of what is computed from new content": (
        TURNED,
        "x.scatter_reduce_(0, torch.tensor([[0]]), torch.tensor([[5.0]]), reduce='amax')",
        "v = x + 0",
        "w = v.reshape(-1)",
        "w[0] = 0",
        "return w, v",
    ),
    "as_strided of what is laid out otherwise": (GAPS, "v = x + 0", "v.as_strided([2], [1])[:] = 0", "return v"),
    "as_strided of what out= has written": (
        TensorSpec((2, 2), "float32", (1.0, 2.0, 3.0, 4.0), strides=(1, 2)),
        "v = x + 0",
        "torch.maximum(torch.arange(4.0).reshape(2, 2), torch.zeros([2, 2]), out=v)",
        "return v.as_strided([4], [1])",
    ),
    "a copy of what may be a copy, and was written": (
        TensorSpec((2,), "float32", (1.0, 2.0, 3.0), strides=(2,)),
        "v = x.flatten()",
        "v.fill_(1)",
        "w = v.ravel()",
        "v[1:] = 0",
        "w += 0",
        "return w",
    ),
    "a copy of a copy of what was written": (
        TensorSpec((2, 1, 2), "float32", EIGHT, strides=(1, 2, 6)),
        "v = x[0]",
        "v.fill_(0)",
        "w = v.flatten().ravel()",
        "w[:] = 1",
        "v[:] = 0",
        "return w",
    ),
    "windows seen in another shape": (
        TensorSpec((2, 3), "float32", EIGHT[:6], strides=(1, 2)),
        "x.unfold(0, 2, 1).view(2, -1).neg_()",
        "return x",
    ),
    "part of an expanded view": (COLUMN, "x.expand(-1, 2)[:, 1] += 7", "return x"),
    "row of a new dimension": (COLUMN, "v = x.expand(2, -1, -1)", "v[:1].neg_()", "return v, x"),
    "part of overlapping windows": (WHOLE, "v = x.flatten().unfold(0, 4, 2)", "v[1][0] = 50", "return v, x"),
    "part of an overlapping as_strided": (WHOLE, "v = x.as_strided([3, 4], [2, 1])", "v[1, 2:] = 50", "return v, x"),
    "view of an expanded view": (COLUMN, "v = x.expand(-1, 3)", "v[:, 2].add_(1)", "v[:, 0].mul_(2)", "return v, x"),
    "beyond a part of a storage": (PART, "v = x.as_strided([2], [5])", "v += 1", "return v, x"),
    "beyond a scalar": (SCALAR, "v = x.as_strided([2], [2])", "v[:] = 0", "return v, x"),
    "before an offset": (LATER, "v = x.as_strided([3], [1], 0)", "v.mul_(2)", "x.add_(1)", "return v, x"),
    "index writes beyond": (SCALAR, "x.as_strided([2, 2], [2, 1])[torch.tensor([0, 1])] = 9", "return x"),
}


def judged(spec: TensorSpec, lines: tuple[str, ...]) -> dict[str, Verdict]:
    # The judge compares whole storages, and lives in a room that the pass does not know.
    from inplace_fuzz import backends
    from inplace_fuzz.execute.evaluate import evaluate

    program = Program(HEAD + "".join(f"        {line}\n" for line in lines), ((spec,), (spec,)))
    graph, seen = backends.load("torchscript-graph"), {}
    evaluate(program, [(graph, Lane.REWRITTEN)], enter=lambda *_: None, emit=lambda w, v: seen.update({w[0]: v}))
    return seen


@pytest.mark.parametrize("name", RIGHT)
def test_a_part_is_written_and_nothing_else(name: str) -> None:
    spec, *lines = RIGHT[name]
    seen = judged(spec, tuple(lines))
    assert seen["eager"].kind is Kind.AGREE, seen["eager"].message
    verdict = seen["torchscript-graph"]
    assert verdict.kind is Kind.AGREE, (str(verdict), verdict.message, verdict.differences)


def test_without_examples_a_look_beyond_the_input_is_refused_when_it_runs() -> None:
    from inplace_fuzz.rewrite import rewrite_graph

    unit = torch.jit.CompilationUnit("def forward(x):\n    x.as_strided([2], [1]).add_(1)\n    return x\n")
    graph = rewrite_graph(unit.forward.graph)
    small = torch.arange(8.0)[:1]
    with pytest.raises(torch.jit.Error, match="beyond input 0 into its storage"):
        torch._C._jit_interpret_graph(graph, (small,))
    large = torch.arange(8.0)
    torch._C._jit_interpret_graph(graph, (large,))
    assert large.tolist()[:3] == [1.0, 2.0, 2.0]


def test_the_gaps_that_a_scatter_keeps_are_not_looked_at() -> None:
    """What is written later has none, so `as_strided` would find other elements there."""
    lines = (
        "t = torch.slice_scatter(x, x[:1] * 0, 0, 0, 1)",
        "v = t.as_strided([2], [1])",
        "t.neg_()",
        "return v + 0, t",
    )
    gaps = TensorSpec((2,), "float32", (1.0, 2.0, 3.0), strides=(2,))
    verdict = judged(gaps, lines)["torchscript-graph"]
    assert verdict.kind is Kind.REFUSED, str(verdict)
    assert "aten::slice_scatter made of a tensor that is not contiguous from the start" in verdict.message
    assert judged(TensorSpec((3,), "float32", EIGHT[:3]), lines)["torchscript-graph"].kind is Kind.AGREE


def test_nor_the_storage_around_a_view_that_a_scatter_copies() -> None:
    """A view that is contiguous lies at an offset, in a larger storage; the scatter copies all of that."""
    lines = (
        "w = x[{0}]",
        "r = torch.select_scatter(w, w[0] * 0, 0, -1)",
        "v = r.as_strided([2], [1], {1})",
        "r.neg_()",
        "return v + 0, r",
    )
    square = TensorSpec((2, 2), "float32", EIGHT[:4])
    at_an_offset = judged(square, tuple(line.format(1, 0) for line in lines))["torchscript-graph"]
    assert at_an_offset.kind is Kind.REFUSED, str(at_an_offset)
    assert "contiguous from the start of its storage" in at_an_offset.message
    too_far = judged(square, tuple(line.format(0, 1) for line in lines))["torchscript-graph"]
    assert too_far.kind is Kind.REFUSED, str(too_far)
    assert "beyond what aten::select_scatter made" in too_far.message
    assert judged(square, tuple(line.format(0, 0) for line in lines))["torchscript-graph"].kind is Kind.AGREE


@pytest.mark.parametrize(
    ("view", "kept"),
    [
        ("x.as_strided([2, 2], [1, 1], 0)", True),
        ("x.unfold(0, 2, 1)", True),
        ("x.unfold(0, 2, 2)", False),
        ("x.as_strided([2, 2], [2, 1], 0)", False),
        ("x[:2].expand(2, 2)", False),  # by a stride of 0: eager's copy has each element for itself
    ],
)
def test_a_scatter_keeps_the_repeats_of_its_argument(view: str, kept: bool) -> None:
    four = TensorSpec((4,), "float32", EIGHT[:4])
    lines = (f"r = torch.select_scatter({view}, x[:2] * 3, 0, -1)", "r[-1:].sub_(r[:1] * 2)", "return r + 0, x")
    verdict = judged(four, lines)["torchscript-graph"]
    if not kept:
        assert verdict.kind is Kind.AGREE, str(verdict)
        return
    assert verdict.kind is Kind.REFUSED, str(verdict)
    assert "repeats elements in memory, as its argument does" in verdict.message
    # Where nobody writes it, the operator itself lays it out as eager does.
    assert judged(four, (lines[0], "return r + 0, x"))["torchscript-graph"].kind is Kind.AGREE
