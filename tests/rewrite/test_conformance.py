"""The pass on every conformance case: as a graph always, by the other routes a sample, and all of it on request.

pytest tests/rewrite/test_conformance.py -m slow      every case by every route, a few minutes
"""

from __future__ import annotations

import io
import warnings
from typing import Any

import pytest
import torch

from inplace_fuzz.conformance import CASES, FAMILIES, Case
from inplace_fuzz.core.materialize import load_module, make_call
from inplace_fuzz.rewrite import UnsupportedMutation, functionalize, rewrite_graph, writing_operators
from tests.rewrite.observed import Seen, interpret, seen

SCRIPTABLE = [c for c in CASES if not c.not_script]
EVERY = pytest.mark.parametrize("case", SCRIPTABLE, ids=lambda c: c.name)
# The second and the last of each family, where script takes them.
SAMPLE = {c.name for cases in FAMILIES.values() for c in (cases[1], cases[-1])}
SAMPLED = pytest.mark.parametrize(
    "case",
    [pytest.param(c, marks=[] if c.name in SAMPLE else [pytest.mark.slow], id=c.name) for c in SCRIPTABLE],
)
# What the pass refuses, each with the reason.
REFUSED = {"li_of_lists_from_unbind": "its result may share memory"}
# Attributes that are one tensor: a bare graph does not say so, and looks when it runs.
TIED = ("st_one_buffer_two_names",)
REFUSED_IN_FX = ("content of a tensor", "comes out of a tensor", "the caller sees too")


def eager(case: Case, call: Any, module: Any = None) -> Seen:
    module, inputs = module or load_module(case.program), make_call(call)
    torch.manual_seed(0)
    return seen(module(*inputs), inputs, module.buffers())


@EVERY
def test_graph(case: Case) -> None:
    script = torch.jit.script(load_module(case.program))
    example = make_call(case.calls[0])
    if case.name in REFUSED:
        with pytest.raises(UnsupportedMutation, match=REFUSED[case.name]):
            rewrite_graph(script.inlined_graph, example)
        return
    graph = rewrite_graph(script.inlined_graph, example)
    assert writing_operators(graph) == []
    module = load_module(case.program)
    for call in case.calls:
        inputs = make_call(call)
        given = (*inputs, *[a.default_value for a in script.forward.schema.arguments[1 + len(inputs) :]])
        torch.manual_seed(0)
        if case.name in TIED:
            with pytest.raises(torch.jit.Error, match="shares memory"):
                interpret(graph, given, script._c)
            continue
        got = seen(interpret(graph, given, script._c), inputs, script.buffers())
        assert got.differs(eager(case, call, module)) == []


@SAMPLED
def test_saved_module(case: Case) -> None:
    if case.name in REFUSED:
        pytest.skip("refused")
    module = functionalize(load_module(case.program), make_call(case.calls[0]))
    assert writing_operators(module) == []
    for call in case.calls:
        file = io.BytesIO()
        torch.jit.save(module, file)
        file.seek(0)
        loaded, inputs = torch.jit.load(file), make_call(call)
        torch.manual_seed(0)
        if case.name in TIED:
            continue  # loading makes two tensors of it
        assert seen(loaded(*inputs), inputs, loaded.buffers()).differs(eager(case, call)) == []


@SAMPLED
def test_trace(case: Case) -> None:
    """A trace freezes control flow and numbers: it is judged on the inputs it was made with, against itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            traced = torch.jit.trace(load_module(case.program), make_call(case.calls[0]), check_trace=False)
        except RuntimeError:
            pytest.skip("the tracer does not take this case")
    inputs, expected_inputs = make_call(case.calls[0]), make_call(case.calls[0])
    graph = rewrite_graph(traced.inlined_graph, inputs)
    assert writing_operators(graph) == []
    own, reference = (
        torch.jit.trace(load_module(case.program), make_call(case.calls[0]), check_trace=False) for _ in range(2)
    )
    torch.manual_seed(0)
    output = interpret(reference.inlined_graph, expected_inputs, reference._c)
    expected = seen(output, expected_inputs, reference.buffers())
    torch.manual_seed(0)
    got = seen(interpret(graph, inputs, own._c), inputs, own.buffers())
    assert got.outputs == expected.outputs
    assert got.inputs == expected.inputs


@SAMPLED
def test_fx(case: Case) -> None:
    """By whatever way functionalize() finds; what asks the content of a tensor is refused."""
    why = ""
    try:
        module = functionalize(load_module(case.program), make_call(case.calls[0]), target="fx")
    except UnsupportedMutation as refused:
        why = str(refused)
    if not why:
        check_fx(case, module)
    elif case.name not in REFUSED:
        assert any(word in why for word in REFUSED_IN_FX)


@SAMPLED
def test_exported(case: Case) -> None:
    try:
        program = torch.export.export(load_module(case.program), make_call(case.calls[0]))
    except Exception as why:  # noqa: BLE001  export raises many types for what it does not take
        pytest.skip(f"export does not take it: {type(why).__name__}")
    if case.name in ("st_one_buffer_two_names", "st_buffer_rebound_to_a_view"):
        pytest.skip("export gets it wrong")
    check_fx(case, functionalize(program, make_call(case.calls[0]), target="fx"))


def check_fx(case: Case, module: Any) -> None:
    assert writing_operators(module) == []
    start = {name: value.clone() for name, value in module.named_buffers()}
    for call in case.calls:
        inputs, expected = make_call(call), eager(case, call)
        with torch.no_grad():
            for name, value in module.named_buffers():
                value.copy_(start[name])
        fresh = load_module(case.program)
        held = dict(module.named_buffers())
        torch.manual_seed(0)
        try:
            outputs = module(*inputs)
        except UnsupportedMutation:
            assert call is not case.calls[0]
            continue
        buffers = [held.get(n, b) for n, b in fresh.named_buffers()]
        assert seen(outputs, inputs, buffers).differs(expected) == []
