"""Wrong passes that share nothing with the right one: what somebody would write first, on torch's own graph.

Each function takes a copy of a graph and changes it; its first sentence says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from inplace_fuzz.rewrite import rewrite_graph
from tests.planted.passes import Pass

_VIEWS = frozenset({
    "aten::slice", "aten::select", "aten::view", "aten::unsqueeze", "aten::squeeze", "aten::transpose", "aten::t",
    "aten::permute", "aten::narrow", "aten::diagonal",
})  # fmt: skip
_MADE = frozenset({
    "aten::zeros", "aten::ones", "aten::full", "aten::empty", "aten::arange", "aten::tensor", "aten::zeros_like",
    "aten::ones_like", "aten::new_zeros", "aten::eye",
})  # fmt: skip
_CONTAINERS = frozenset({"prim::TupleConstruct", "prim::ListConstruct", "prim::DictConstruct"})


def on_a_copy(name: str, change: Callable[[Any], None]) -> Pass:
    """A pass that changes a copy of the graph it is given."""

    def rewrite(graph: Any, example: Any) -> Any:
        copy = graph.copy()
        change(copy)
        return copy

    return Pass(name=f"planted-{name}", rewrite=rewrite)


def nodes(block: Any) -> list[Any]:
    """Every node, those of inner blocks included, in a list: a node that is destroyed cannot be asked for the next."""
    found = []
    for node in block.nodes():
        found.append(node)
        for inner in node.blocks():
            found += nodes(inner)
    return found


def writes_in_place(node: Any) -> bool:
    kind = node.kind()
    return kind.startswith("aten::") and kind.endswith("_") and not kind.endswith("__") and node.outputsSize() == 1


def base_of(value: Any) -> Any:
    """The tensor that a value is a view of, or a result of writing into, as far as it is easily seen."""
    while value.node().kind() in _VIEWS or writes_in_place(value.node()):
        value = value.node().inputsAt(0)
    return value


def name(value: Any) -> str:
    return str(value.debugName())


def replace_inputs(node: Any, old: Any, new: Any) -> None:
    for k in range(node.inputsSize()):
        if name(node.inputsAt(k)) == name(old):
            node.replaceInput(k, new)


def drop(node: Any) -> None:
    """Takes an in-place operator out; who used its result gets its self."""
    node.output().replaceAllUsesWith(node.inputsAt(0))
    node.destroy()


# ------------------------------------------------------------------------------------------------------------ the passes
def return_last_copy(graph: Any) -> None:
    """The result of the last copy_ is returned in place of the tensor it was written into, of which it may be a part."""
    copies = [n for n in graph.nodes() if n.kind() == "aten::copy_"]
    if copies:
        result = copies[-1].output()
        base = base_of(result)
        for node in [*(n for n in graph.nodes() if n.kind() in _CONTAINERS), graph.return_node()]:
            replace_inputs(node, base, result)


def local_is_constant(graph: Any) -> None:
    """A tensor made in forward is a constant: writes into it are dropped."""
    for node in nodes(graph):
        if writes_in_place(node) and base_of(node.inputsAt(0)).node().kind() in _MADE:
            drop(node)


def dead_writes(graph: Any) -> None:
    """A write whose result nobody uses is taken for dead code."""
    for node in reversed(nodes(graph)):
        if writes_in_place(node) and not node.output().uses():
            node.destroy()


def pure_twins(graph: Any) -> None:
    """Every in-place operator becomes its pure twin, and nobody who reads through a view or later is told."""
    torch._C._jit_pass_remove_inplace_ops(graph)


def inputs_copied(graph: Any) -> None:
    """The program works on copies of its inputs, which the caller never sees."""
    first = next(iter(graph.nodes()), graph.return_node())
    for value in list(graph.inputs()):
        if value.type().kind() != "TensorType":
            continue
        with graph.insert_point_guard(first):
            memory_format = graph.insertConstant(None)
            copy = graph.create("aten::clone", [memory_format, memory_format], 1)
            graph.insertNode(copy)
        value.replaceAllUsesWith(copy.output())
        copy.replaceInput(0, value)


def then_always(graph: Any) -> None:
    """Of every If the first branch is kept."""
    _fix_first_input(graph, "prim::If", True)


def one_iteration(graph: Any) -> None:
    """The body of every loop is kept once."""
    _fix_first_input(graph, "prim::Loop", 1)


def _fix_first_input(graph: Any, kind: str, value: Any) -> None:
    first = next(iter(graph.nodes()), graph.return_node())
    with graph.insert_point_guard(first):
        constant = graph.insertConstant(value)
    for node in nodes(graph):
        if node.kind() == kind:
            node.replaceInput(0, constant)


def reads_merged(graph: Any) -> None:
    """Equal expressions are computed once, though a write lies between them."""
    _merge(graph, {})


def _merge(block: Any, seen: dict[Any, Any]) -> None:
    for node in list(block.nodes()):
        kind = node.kind()
        if kind.startswith("aten::") and node.outputsSize() == 1 and not writes_in_place(node):
            key = kind, *(_same(v) for v in node.inputs())
            if node.output().type().kind() == "TensorType" and kind not in _MADE:
                if key in seen:
                    node.output().replaceAllUsesWith(seen[key])
                else:
                    seen[key] = node.output()
        for inner in node.blocks():
            _merge(inner, dict(seen))


def _same(value: Any) -> str:
    if value.node().kind() == "prim::Constant":
        return f"constant {value.toIValue()!r}"
    if value.node().kind() == "prim::ListConstruct":
        return f"list {[_same(v) for v in value.node().inputs()]}"
    return name(value)


def first_input_written(graph: Any, example: Any) -> Any:
    """Every write-back goes to the first input, whichever was written."""
    result = rewrite_graph(graph, example)
    inputs = [v for v in result.inputs() if v.type().kind() == "TensorType"]
    names = {name(v) for v in inputs}
    for node in result.nodes():
        if node.kind() == "aten::copy_" and name(node.inputsAt(0)) in names:
            node.replaceInput(0, inputs[0])
    return result


RETURN_LAST_COPY = on_a_copy("return-last-copy", return_last_copy)
LOCAL_IS_CONSTANT = on_a_copy("local-is-constant", local_is_constant)
DEAD_WRITES = on_a_copy("dead-writes", dead_writes)
PURE_TWINS = on_a_copy("pure-twins", pure_twins)
INPUTS_COPIED = on_a_copy("inputs-copied", inputs_copied)
THEN_ALWAYS = on_a_copy("then-always", then_always)
ONE_ITERATION = on_a_copy("one-iteration", one_iteration)
READS_MERGED = on_a_copy("reads-merged", reads_merged)
FIRST_INPUT_WRITTEN = Pass(name="planted-first-input-written", rewrite=first_input_written)
