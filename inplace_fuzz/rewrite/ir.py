"""The pass's own small graph: values, nodes, blocks.

Readers make one of these from TorchScript or FX, the walk makes another, targets emit it. It says no more than the
walk needs: an operator is a string (``aten::slice``; a dotted overload such as ``aten::add.Tensor`` where the reader
knows one), its arguments are positional in schema order, and a constant is a value that knows its Python object.
"""

# ruff: noqa: A001, A002, ARG005  (a type is what a value has)
# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

NOT_CONSTANT: Any = type("NotConstant", (), {"__repr__": lambda self: "NOT_CONSTANT"})()

INT = torch._C.IntType.get()
INTS = torch._C.ListType.ofInts()
BOOL = torch._C.BoolType.get()
MAYBE = torch._C.OptionalType.ofTensor()
TENSORS = torch._C.ListType.ofTensors()


class Value:
    """One value. `type` is None for a tensor, else the TorchScript type; `py` the Python object of a constant.

    `fresh` says that it may become the content of a base as it is: no caller and no other name can reach its memory,
    and it lies in memory as what it was computed from does.
    `bound` is the walk's: what this source value stands for. `block` is where an output value was made.
    """

    __slots__ = ("block", "bound", "fresh", "live", "name", "node", "py", "target", "type")

    def __init__(
        self, type: Any = None, py: Any = NOT_CONSTANT, fresh: bool = True, block: Block | None = None
    ) -> None:
        self.type = type
        self.py = py
        self.fresh = fresh
        self.block = block
        self.node: Node | None = None
        self.bound: Any = None
        self.live = False
        self.target: Any = None
        self.name: str = ""


class Node:
    """One operator call. `keep` marks a node that stays even when nobody uses its outputs."""

    __slots__ = ("blocks", "inputs", "keep", "kind", "live", "origin", "outputs")

    def __init__(
        self, kind: str, inputs: list[Value], outputs: list[Value], *, origin: Any = None, keep: bool = False
    ) -> None:
        self.kind = kind
        self.inputs = inputs
        self.outputs = outputs
        self.origin = origin
        self.keep = keep
        self.live = False
        self.blocks: list[Block] = []


class Block:
    """A list of nodes with parameters and results: a graph, a branch of an If, the body of a Loop."""

    __slots__ = ("depth", "nodes", "outer", "params", "results")

    def __init__(self, outer: Block | None = None) -> None:
        self.outer = outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.nodes: list[Node] = []
        self.params: list[Value] = []
        self.results: list[Value] = []

    def encloses(self, other: Block | None) -> bool:
        """True when a value made in `self` is visible in `other`."""
        while other is not None:
            if other is self:
                return True
            other = other.outer
        return False


class Graph:
    """A top block, the constants it uses, and what the reader knows of the program."""

    __slots__ = ("block", "constants", "mutates_lists", "origin", "sets_attributes", "writes")

    def __init__(self) -> None:
        self.block = Block()
        self.constants: list[Value] = []
        self.mutates_lists = False
        self.sets_attributes = False
        self.writes = False
        self.origin: Any = None


class Builder:
    """Appends nodes to the current block. `g.select_scatter(b, w, 0, i)` makes one ATen call; Python arguments become
    constants. A result is as fresh as the operator makes it: a view is as fresh as what it looks at.
    """

    def __init__(self, graph: Graph, views: frozenset[str] | dict[str, Any]) -> None:
        self.graph = graph
        self.block = graph.block
        self._views = views
        self._constants: dict[Any, Value] = {}

    def const(self, py: Any) -> Value:
        key = (py.__class__, tuple(py) if py.__class__ is list else py)
        value = self._constants.get(key)
        if value is None:
            value = Value(_constant_type(py), py, block=self.graph.block)
            value.bound = value
            self._constants[key] = value
            self.graph.constants.append(value)
        return value

    def op(self, kind: str, inputs: list[Value], type: Any = None, fresh: bool = True) -> Value:
        """A pure call of one result that disappears when nobody uses it."""
        value = Value(type, fresh=fresh, block=self.block)
        value.node = node = Node(kind, inputs, [value])
        self.block.nodes.append(node)
        return value

    def call(self, kind: str, args: Sequence[Any], type: Any = None) -> Value:
        inputs = [a if a.__class__ is Value else self.const(a) for a in args]
        if type is None:
            type = _RESULT_TYPES.get(kind)
        base = kind.split(".", 1)[0]
        fresh = inputs[0].fresh and not base.startswith("aten::expand") if base in self._views else True
        return self.op(kind, inputs, type, fresh)

    def ints(self, items: Sequence[Any]) -> Value:
        """An `int[]` of Python ints and int values."""
        return self.call("prim::ListConstruct", items, INTS)

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = "aten::" + name

        def emit(*args: Any) -> Value:
            return self.call(kind, args)

        self.__dict__[name] = emit
        return emit


_RESULT_TYPES = {
    "aten::size": INTS,
    "aten::numel": INT,
    "aten::dim": INT,
    "aten::is_set_to": BOOL,
    "prim::dtype": INT,
    "prim::device": torch._C.DeviceObjType.get(),
}


def _constant_type(py: Any) -> Any:
    if isinstance(py, torch.Tensor):
        return None
    return type(py)


def is_int(value: Value) -> bool:
    """An int rather than a list or a tensor: overloads of one name differ by it."""
    kind = value.type
    return kind is int or (hasattr(kind, "kind") and kind.kind() == "IntType")


def either(values: Sequence[Value]) -> Any:
    """The type of a tensor value that is one of `values`: optional where one of them may be None."""
    return MAYBE if any(v.type is not None for v in values) else None


def holds_tensors(type_: Any) -> bool:
    """A container, or an optional value, that may hold tensors; a tensor itself has no type here."""
    return hasattr(type_, "kind") and type_.kind() != "ClassType" and "Tensor" in str(type_)


def looks_at_storage(graph: Graph) -> bool:
    """Some operator addresses a storage rather than a tensor."""
    return any(node.kind.startswith("aten::as_strided") for node in walk_nodes(graph.block))


def walk_nodes(block: Block) -> Iterator[Node]:
    """Every node of a block and of the blocks inside it, in order."""
    for node in block.nodes:
        yield node
        for inner in node.blocks:
            yield from walk_nodes(inner)


_RANDOM = ("rand", "dropout", "bernoulli", "normal", "uniform", "multinomial", "exponential")


def varies(value: Value, seen: set[Value] | None = None) -> bool:
    """Whether a value may differ from one call to the next: it depends on an input, an attribute or a random draw."""
    seen = set() if seen is None else seen
    if value in seen or value.py is not NOT_CONSTANT:
        return False
    seen.add(value)
    node = value.node
    if node is None:
        return True
    if node.kind in ("prim::GetAttr", "prim::Uninitialized") or any(word in node.kind for word in _RANDOM):
        return True
    inner = {p for block in node.blocks for p in block.params}
    needed = [*node.inputs, *(v for block in node.blocks for v in block.results)]
    needed += [v for block in node.blocks for n in walk_nodes(block) for v in n.inputs]
    seen |= inner
    return any(varies(v, seen) for v in needed)


def mark_live(block: Block) -> None:
    """Mark what the results of `block` need. Loop-carried values that only feed themselves stay dead."""
    for value in block.results:
        value.live = True
    _mark(block)


def _mark(block: Block) -> bool:
    changed = False
    for node in reversed(block.nodes):
        if node.blocks:
            changed |= _mark_nested(node)
            continue
        if not node.live:
            if not node.keep:
                for out in node.outputs:
                    if out.live:
                        break
                else:
                    continue
            node.live = changed = True
            for value in node.inputs:
                value.live = True
    return changed


def _mark_nested(node: Node) -> bool:
    changed = False
    loop = node.kind == "prim::Loop"
    while True:
        again = False
        for block in node.blocks:
            results = block.results[1:] if loop else block.results
            for result, out in zip(results, node.outputs, strict=True):
                if out.live and not result.live:
                    result.live = again = True
            again |= _mark(block)
        needed = node.keep or any(o.live for o in node.outputs) or any(_any_live(b) for b in node.blocks)
        if needed and not node.live:
            node.live = again = True
            always = node.inputs[:2] if loop else node.inputs[:1]
            for value in always:
                value.live = True
            if loop:
                node.blocks[0].results[0].live = True
        if loop:
            for param, init, result, out in zip(
                node.blocks[0].params[1:], node.inputs[2:], node.blocks[0].results[1:], node.outputs, strict=True
            ):
                if (param.live or out.live) and not (param.live and out.live and init.live and result.live):
                    param.live = out.live = init.live = result.live = again = True
        if not again:
            return changed
        changed = True


def _any_live(block: Block) -> bool:
    return any(node.live for node in block.nodes)
