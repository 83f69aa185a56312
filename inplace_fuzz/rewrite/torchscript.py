"""TorchScript graphs in and out. Reading asks each node for as little as possible: every question crosses into C++."""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

from typing import Any

import torch

from .ir import NOT_CONSTANT, Block, Graph, Node, Value, mark_live

_LIST_WRITES = frozenset(
    [
        "aten::append",
        "aten::extend",
        "aten::insert",
        "aten::pop",
        "aten::clear",
        "aten::remove",
        "aten::reverse",
        "aten::_set_item",
        "aten::Delete",
        "aten::popitem",
        "aten::setdefault",
        "aten::update",
    ]
)
_CALLS = frozenset(("prim::CallMethod", "prim::CallFunction"))


class _NeedsInlining(Exception):
    """The graph calls methods: it has to be copied and inlined first."""


def read(source: torch._C.Graph) -> Graph:
    """The pass's own copy of `source`, which is not touched; called methods and functions are inlined."""
    try:
        return _Reader().graph(source)
    except _NeedsInlining:
        inlined = source.copy()
        torch._C._jit_pass_inline(inlined)
        return _Reader(inlined=True).graph(inlined)


class _Reader:
    def __init__(self, *, inlined: bool = False) -> None:
        self.inlined = inlined
        self.values: dict[torch._C.Value, Value] = {}

    def graph(self, source: torch._C.Graph) -> Graph:
        self.result = graph = Graph()
        graph.origin = source
        for value in source.inputs():
            graph.block.params.append(self.define(value))
        for node in source.nodes():
            self.node(node, graph.block)
        graph.block.results = [self.values[v] for v in source.outputs()]
        return graph

    def define(self, value: torch._C.Value) -> Value:
        kind = value.type()
        mine = Value(None if kind.kind() == "TensorType" else kind)
        mine.target = value
        self.values[value] = mine
        return mine

    def node(self, node: torch._C.Node, block: Block) -> None:
        kind = node.kind()
        values = self.values
        if kind == "prim::Constant":
            value = node.output()
            mine = self.define(value)
            mine.py = value.toIValue()
            mine.bound = mine
            mine.node = Node(kind, [], [mine], origin=node)
            self.result.constants.append(mine)
            return
        n = node.inputsSize()
        inputs = [values[node.inputsAt(i)] for i in range(n)]
        n_out = node.outputsSize()
        outputs = [self.define(node.output())] if n_out == 1 else [self.define(node.outputsAt(i)) for i in range(n_out)]
        mine_node = Node(kind, inputs, outputs, origin=node)
        for out in outputs:
            out.node = mine_node
        block.nodes.append(mine_node)
        if kind.startswith("prim::"):
            if kind in ("prim::If", "prim::Loop"):
                for inner in node.blocks():
                    mine_node.blocks.append(self.block(inner, block))
            elif kind in _CALLS and not self.inlined:
                raise _NeedsInlining
        elif kind in _LIST_WRITES:
            self.result.mutates_lists = True

    def block(self, source: torch._C.Block, outer: Block) -> Block:
        block = Block(outer)
        for value in source.inputs():
            block.params.append(self.define(value))
        for node in source.nodes():
            self.node(node, block)
        block.results = [self.values[v] for v in source.outputs()]
        return block


# ---------------------------------------------------------------------- out
def emit(graph: Graph) -> torch._C.Graph:
    """A new torch._C.Graph of the live part of `graph`."""
    block = graph.block
    mark_live(block)
    target = torch._C.Graph()
    for param in block.params:
        param.target = value = target.addInput()
        origin = param.name
        if origin:
            value.setDebugName(origin)
        if param.type is not None:
            value.setType(param.type)
    for constant in graph.constants:
        if constant.live:
            constant.target = _constant(target, constant)
    _nodes(target, block)
    for result in block.results:
        target.registerOutput(result.target)
    return target


def _constant(target: torch._C.Graph, constant: Value) -> Any:
    if constant.node is not None:
        origin = constant.node.origin
        node = target.create("prim::Constant", [], 1)
        node.copyAttributes(origin)
        out = node.output()
        out.setType(origin.output().type())
        target.insertNode(node)
        return out
    return target.insertConstant(constant.py)  # type: ignore[attr-defined]


def _nodes(target: torch._C.Graph, block: Block) -> None:
    create, insert = target.create, target.insertNode
    for node in block.nodes:
        if not node.live:
            continue
        kind = node.kind
        if node.blocks:
            _nested(target, node)
            continue
        outputs = node.outputs
        made = create(kind if "." not in kind else kind.split(".", 1)[0], [v.target for v in node.inputs], len(outputs))
        if kind.startswith("prim::"):
            _attributes(made, node)
        insert(made)
        if len(outputs) == 1:
            out = outputs[0]
            out.target = value = made.output()
            if out.type is not None:
                value.setType(out.type)
        else:
            for i, out in enumerate(outputs):
                out.target = value = made.outputsAt(i)
                if out.type is not None:
                    value.setType(out.type)


def _attributes(made: torch._C.Node, node: Node) -> None:
    origin = node.origin
    if isinstance(origin, str):
        made.s_("name", origin)
    elif origin is not None and origin.hasAttributes():
        made.copyAttributes(origin)


def _nested(target: torch._C.Graph, node: Node) -> None:
    loop = node.kind == "prim::Loop"
    kept = [i for i, out in enumerate(node.outputs) if out.live]
    inputs = node.inputs[:2] + [node.inputs[2 + i] for i in kept] if loop else node.inputs
    made = target.create(node.kind, [v.target for v in inputs], 0)
    target.insertNode(made)
    for block in node.blocks:
        inner = made.addBlock()
        if loop:
            for param in [block.params[0], *(block.params[1 + i] for i in kept)]:
                param.target = inner.addInputToBlock()  # type: ignore[attr-defined]
                if param.type is not None:
                    param.target.setType(param.type)
        with target.insert_point_guard(inner):
            _nodes(target, block)
        results = (
            [block.results[0], *(block.results[1 + i] for i in kept)] if loop else [block.results[i] for i in kept]
        )
        for result in results:
            inner.registerOutput(result.target)
    for i in kept:
        out = node.outputs[i]
        out.target = made.addOutput()
        if out.type is not None:
            out.target.setType(out.type)


__all__ = ["NOT_CONSTANT", "emit", "read"]
