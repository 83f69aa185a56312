"""ATen FX graphs in: what `torch.export.export` gives before decomposition, in-place operators and all.

Placeholders become inputs; every tensor that the module holds becomes one more input after them.
"""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import operator
from typing import Any

import torch

from .errors import UnsupportedMutation
from .ir import INT, TENSORS, Builder, Graph, Node, Value
from .overloads import DTYPE_NUMBERS

_FORMAT_NUMBERS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2}


class Reader:
    """One graph. `paths` are the attributes that became inputs, `held` their tensors, `tied` is empty for FX."""

    def __init__(self, source: torch.fx.GraphModule) -> None:
        self.source = source
        self.result = Graph()
        self.builder = Builder(self.result, {})
        self.values: dict[torch.fx.Node, Value] = {}
        self.paths: list[str] = []
        self.held: dict[str, torch.Tensor] = {}
        self.tied: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.regions: dict[torch.fx.Node, torch.fx.GraphModule] = {}

    def graph(self) -> Graph:
        nodes = list(self.source.graph.nodes)
        block = self.result.block
        for node in nodes:
            if node.op == "placeholder":
                self.values[node] = self.param(node, node.name)
        same: dict[int, Value] = {}
        for node in nodes:
            if node.op == "get_attr":
                tensor = _fetch(self.source, str(node.target))
                if isinstance(tensor, torch.fx.GraphModule):
                    self.regions[node] = tensor
                    continue
                if not isinstance(tensor, torch.Tensor):
                    raise UnsupportedMutation("get_attr", f"{node.target} is not a tensor")
                if id(tensor) not in same:
                    same[id(tensor)] = self.param(node, "")
                    self.paths.append(str(node.target))
                    self.held[str(node.target)] = tensor
                self.values[node] = same[id(tensor)]
        block.results = [self.body(nodes)]
        return self.result

    def body(self, nodes: list[torch.fx.Node]) -> Value:
        """Reads the calls and gives what the graph returns."""
        for node in nodes:
            if node.op == "call_function":
                self.call(node)
            elif node.op == "output":
                return self.argument(node.args[0])
            elif node.op not in ("placeholder", "get_attr") and node.name != "_guards_fn":
                raise UnsupportedMutation(str(node.target), f"{node.op} in an FX graph; export it first")
        raise UnsupportedMutation("output", "the graph returns nothing")

    def region(self, node: torch.fx.Node) -> None:
        """`with torch.no_grad():` is a graph of its own, which is read in its place."""
        enabled, held, *args = node.args
        inner = self.regions[held]  # type: ignore[index]
        nodes = list(inner.graph.nodes)
        for place, given in zip([n for n in nodes if n.op == "placeholder"], args, strict=True):
            self.values[place] = self.argument(given)
        if any(n.op == "get_attr" for n in nodes):
            raise UnsupportedMutation(str(node.target), "a region that holds tensors of its own")
        mark = Node("fx::grad_mode", [self.builder.const(enabled)], [])
        self.result.block.nodes.append(mark)
        self.values[node] = self.body(nodes)
        self.result.block.nodes.append(Node("fx::grad_mode", [self.builder.const(None)], []))

    def param(self, node: torch.fx.Node, name: str) -> Value:
        example = node.meta.get("val", torch.Tensor)
        plain = not isinstance(example, torch.Tensor) and example is not torch.Tensor
        value = Value(INT if plain else None)
        value.name = name
        self.result.block.params.append(value)
        return value

    def argument(self, arg: Any) -> Value:
        if isinstance(arg, torch.fx.Node):
            return self.values[arg]
        if isinstance(arg, (list, tuple)):
            items = [self.argument(a) for a in arg]
            if isinstance(arg, list) and not any((i.type is None) for i in items):
                known = [i.py for i in items]
                if all(isinstance(k, (int, float, bool)) for k in known):
                    return self.emit("prim::ListConstruct", items, TENSORS)
            return self.emit("prim::ListConstruct" if isinstance(arg, list) else "prim::TupleConstruct", items, TENSORS)
        if isinstance(arg, dict):
            pairs = [v for k, a in arg.items() for v in (self.builder.const(k), self.argument(a))]
            return self.emit("prim::DictConstruct", pairs, TENSORS)
        if isinstance(arg, torch.dtype):
            arg = DTYPE_NUMBERS[arg]
        elif isinstance(arg, torch.memory_format):
            arg = _FORMAT_NUMBERS[arg]
        elif isinstance(arg, torch.layout):
            arg = 0
        return self.builder.const(arg)

    def emit(self, kind: str, inputs: list[Value], type_: Any, origin: Any = None) -> Value:
        value = Value(type_)
        value.node = node = Node(kind, inputs, [value], origin=origin)
        self.result.block.nodes.append(node)
        return value

    def call(self, node: torch.fx.Node) -> None:
        target = node.target
        if target is operator.getitem:
            whole, place = node.args
            inputs = [self.argument(whole), self.argument(place)]
            self.values[node] = self.emit("prim::TupleIndex", inputs, _type(node.meta.get("val")))
            return
        if target is torch.ops.higher_order.wrap_with_set_grad_enabled:
            self.region(node)
            return
        if getattr(target, "__module__", "") in ("_operator", "math", "torch"):
            inputs = [self.argument(a) for a in node.args]
            self.values[node] = self.emit(f"python::{getattr(target, '__name__', target)}", inputs, INT, target)
            return
        if not isinstance(target, torch._ops.OpOverload):
            raise UnsupportedMutation(str(target), "an FX graph of ATen operators is read; export it first")
        schema = target._schema
        given = dict(node.kwargs)
        inputs = []
        for i, argument in enumerate(schema.arguments):
            if i < len(node.args):
                inputs.append(self.argument(node.args[i]))
            elif argument.name in given:
                inputs.append(self.argument(given[argument.name]))
            else:
                inputs.append(self.argument(argument.default_value))
        kind = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        results = [_returned(r) for r in schema.returns]
        if len(results) == 1:
            self.values[node] = self.emit(kind, inputs, results[0], target)
            return
        outputs = [Value(t) for t in results]
        made = Node(kind, inputs, outputs, origin=target)
        for out in outputs:
            out.node = made
        self.result.block.nodes.append(made)
        if outputs:
            self.values[node] = self.emit("prim::TupleConstruct", outputs, TENSORS)


def _returned(result: Any) -> Any:
    text = str(result.type)
    if text == "Tensor":
        return None
    return TENSORS if "List" in text else INT


def _type(example: Any) -> Any:
    return None if example is None or isinstance(example, torch.Tensor) else INT


def _fetch(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner
