"""What makes a graph functional: no operator in it writes, but one trailing write-back per input or buffer."""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import operator
from typing import Any

import torch

from . import schemas


def writing_operators(graph: Any) -> list[str]:
    """The names of the operators of `graph` that write, in order; empty for a functional graph.

    graph: a torch._C.Graph, a ScriptModule or ScriptFunction, a torch.fx.GraphModule or fx.Graph.
    The trailing write-backs (`aten::copy_` into an input or an attribute, one each, with nothing but views, containers
    and other write-backs after the first) are what a functional graph may hold, and are not in the list.
    Raises TypeError for anything else.
    """
    if isinstance(graph, torch._C.Graph):
        return _of_torchscript(graph)
    if hasattr(graph, "inlined_graph"):
        return _of_torchscript(graph.inlined_graph)
    fx_graph = getattr(graph, "graph", graph)
    if isinstance(fx_graph, torch.fx.Graph):
        return _of_fx(fx_graph)
    raise TypeError(f"writing_operators() takes a TorchScript or an FX graph, not {type(graph).__name__}")


def _writes(node: torch._C.Node, kind: str) -> bool:
    if kind.startswith("prim::"):
        return False
    return schemas.verdict(kind, node.inputsSize(), node) is schemas.WRITE


def _of_torchscript(graph: torch._C.Graph) -> list[str]:
    external = set(graph.inputs())
    top = [(node, node.kind()) for node in graph.nodes()]  # asking a node crosses into C++
    for node, kind in top:
        if kind in _OUTSIDE and node.inputsAt(0) in external:
            external.update(node.outputs())
    seen: set[Any] = set()
    allowed: set[int] = set()
    for place in range(len(top) - 1, -1, -1):
        node, kind = top[place]
        target = node.inputsAt(0) if kind == "aten::copy_" else _where_given(node) if kind == "prim::If" else None
        if target is not None:
            if target not in external or target in seen:
                break
            seen.add(target)
            allowed.add(place)
        elif _writes(node, kind):
            break
    found: list[str] = []
    for place, (node, kind) in enumerate(top):
        if place not in allowed:
            _collect(node, kind, found)
    return found


def _where_given(node: torch._C.Node) -> Any:
    """The optional tensor that `if x is not None:` writes back and does nothing else; None for any other If."""
    then, otherwise = ([n for n in b.nodes() if n.kind() != "prim::Constant"] for b in node.blocks())
    if otherwise or not then or then[-1].kind() != "aten::copy_":
        return None
    cast = then[-1].inputsAt(0).node()
    plain = all(n.kind() == "prim::unchecked_cast" for n in then[:-1])
    return cast.inputsAt(0) if plain and cast.kind() == "prim::unchecked_cast" else None


# What comes from an input is outside too: its attributes and items, and the storage that it looks into.
_OUTSIDE = frozenset(["prim::GetAttr", "aten::__getitem__", "prim::TupleUnpack", "aten::as_strided", "aten::detach"])


def _collect(node: torch._C.Node, kind: str, found: list[str]) -> None:
    if kind in ("prim::If", "prim::Loop"):
        for block in node.blocks():
            for inner in block.nodes():
                _collect(inner, inner.kind(), found)
    elif _writes(node, kind):
        found.append(kind)


def _of_fx(graph: torch.fx.Graph) -> list[str]:
    found: list[str] = []
    seen: set[Any] = set()
    trailing = True
    for node in reversed(graph.nodes):
        target = node.target
        schema = getattr(target, "_schema", None)
        if node.op != "call_function" or schema is None:
            if node.op == "call_method" and str(target).endswith("_") and not str(target).endswith("__"):
                found.append(str(target))
            continue
        if schemas.schema_verdict(schema) is not schemas.WRITE:
            continue
        into = node.args[0] if node.args else None
        is_back = target is torch.ops.aten.copy_.default and _is_external(into)
        if trailing and is_back and into not in seen:
            seen.add(into)
            continue
        trailing = False
        found.append(target.name())
    return found[::-1]


def _is_external(node: Any) -> bool:
    """An input, an attribute, an item of an input, or the storage that an input looks into."""
    op = getattr(node, "op", "")
    inner = (operator.getitem, torch.ops.aten.as_strided.default, torch.ops.aten.detach.default)
    return op in ("placeholder", "get_attr") or (
        op == "call_function" and node.target in inner and _is_external(node.args[0])
    )
