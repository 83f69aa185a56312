"""Every conformance case, by every route: outputs, inputs after the call, buffers, aliasing; then with other inputs."""

from __future__ import annotations

import io
import warnings
from typing import Any

import pytest
import torch

from inplace_fuzz.rewrite import UnsupportedMutation, functionalize, rewrite_graph, writing_operators
from tests.rewrite.conformance import CASES, NOT_SCRIPT
from tests.rewrite.conformance.case import Case
from tests.rewrite.observed import Seen, interpret, seen

SCRIPTABLE = [c for c in CASES if c.name not in NOT_SCRIPT]
EVERY = pytest.mark.parametrize("case", SCRIPTABLE, ids=lambda c: c.name)
SHARED = ("two_inputs_aliased_by_caller", "two_inputs_overlapping_by_caller")
ON_CONTENT = ("cf_if_tensor_condition", "cf_while_write")
NO_EXPORT = {"cf_if_tensor_condition", "cf_while_write"}


def eager(case: Case, inputs: Any) -> Seen:
    module = case.module()
    return seen(module(*inputs), inputs, module.buffers())


def both(case: Case) -> list[Any]:
    return [make for make in (case.inputs, case.other) if make is not None]


@EVERY
def test_graph(case: Case) -> None:
    graph = rewrite_graph(torch.jit.script(case.module()).inlined_graph)
    assert writing_operators(graph) == []
    for make in both(case):
        script, inputs = torch.jit.script(case.module()), make()
        if case.name in SHARED:
            with pytest.raises(torch.jit.Error, match="shares memory"):
                interpret(graph, inputs, script._c)
            continue
        got = seen(interpret(graph, inputs, script._c), inputs, script.buffers())
        assert got.differs(eager(case, make())) == []


@EVERY
def test_saved_module(case: Case) -> None:
    module = functionalize(case.module(), case.inputs())
    assert writing_operators(module) == []
    for make in both(case):
        file = io.BytesIO()
        torch.jit.save(module, file)
        file.seek(0)
        loaded, inputs = torch.jit.load(file), make()
        assert seen(loaded(*inputs), inputs, loaded.buffers()).differs(eager(case, make())) == []


@EVERY
def test_trace(case: Case) -> None:
    """A trace freezes control flow and numbers: it is judged on the inputs it was made with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            traced = torch.jit.trace(case.module(), case.inputs(), check_trace=False)
        except RuntimeError:
            pytest.skip("the tracer does not take these arguments")
    inputs, expected_inputs = case.inputs(), case.inputs()
    graph = rewrite_graph(traced.inlined_graph, inputs)
    assert writing_operators(graph) == []
    own = torch.jit.trace(case.module(), case.inputs(), check_trace=False)
    reference = torch.jit.trace(case.module(), case.inputs(), check_trace=False)
    expected = seen(
        interpret(reference.inlined_graph, expected_inputs, reference._c), expected_inputs, reference.buffers()
    )
    got = seen(interpret(graph, inputs, own._c), inputs, own.buffers())
    assert got.outputs == expected.outputs
    assert got.inputs == expected.inputs


@EVERY
def test_fx(case: Case) -> None:
    if case.name in ON_CONTENT:
        with pytest.raises(UnsupportedMutation, match="content of a tensor"):
            functionalize(case.module(), case.inputs(), target="fx")
        return
    check_fx(case, case.module())


@EVERY
def test_exported(case: Case) -> None:
    try:
        program = torch.export.export(case.module(), case.inputs())
    except Exception as why:  # noqa: BLE001  export raises many types for what it does not take
        pytest.skip(f"export does not take it: {type(why).__name__}")
    check_fx(case, program)


def check_fx(case: Case, source: Any) -> None:
    module = functionalize(source, case.inputs(), target="fx")
    assert writing_operators(module) == []
    start = {name: value.clone() for name, value in module.named_buffers()}
    for make in both(case):
        inputs = make()
        expected = eager(case, make())
        with torch.no_grad():
            for name, value in module.named_buffers():
                value.copy_(start[name])
        names = [n for n, _ in case.module().named_buffers()]
        held = dict(module.named_buffers())
        try:
            outputs = module(*inputs)
        except UnsupportedMutation:
            assert make is case.other
            continue
        buffers = [held.get(n, b) for n, b in zip(names, case.module().buffers(), strict=True)]
        assert seen(outputs, inputs, buffers).differs(expected) == []
