"""Views that come as a list: unbind, split and their like. Item i is a slice or a select of the tensor.

Each function gives the view row and its arguments for item `i`, a Python int or an int of the graph.
"""

# ruff: noqa: ARG001  (the functions of one table take the same arguments)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ir import INT, NOT_CONSTANT, Value, is_int
from .views import add, mul

Step = tuple[str, tuple[Any, ...]]


def _unbind(walk: Any, parts: Any, i: Any) -> Step:
    return "aten::select", (parts.args[0], i)  # x[.., i, ..]


def _even(walk: Any, parts: Any, i: Any, size: Any, dim: Any) -> Step:
    g = walk.g
    return "aten::slice", (dim, mul(g, i, size), mul(g, add(g, i, 1), size), 1)  # x[.., i*n:(i+1)*n, ..]


def _split(walk: Any, parts: Any, i: Any) -> Step:
    size, dim = parts.args
    return _uneven(walk, parts, i) if not is_int(size) else _even(walk, parts, i, size, dim)


def _uneven(walk: Any, parts: Any, i: Any) -> Step:
    g = walk.g
    sizes = _list_items(walk, parts, parts.args[0], i)
    start: Any = 0
    for size in sizes[:i]:
        start = add(g, start, size)
    return "aten::slice", (parts.args[1], start, add(g, start, sizes[i]), 1)  # x[.., sum(n[:i]):sum(n[:i+1]), ..]


def _list_items(walk: Any, parts: Any, value: Value, i: Any) -> list[Any]:
    if isinstance(i, int):
        if value.py is not NOT_CONSTANT:
            return list(value.py)
        if value.node is not None and value.node.kind == "prim::ListConstruct":
            return value.node.inputs
    raise walk.refuse(parts.kind, "a split at places known only at run time")


_AT_SIZES = frozenset(["aten::split", "aten::split_with_sizes", "aten::unsafe_split_with_sizes"])


def known_length(parts: Any) -> int | None:
    """How many parts there are, where the call lists their sizes, or the places between them."""
    places = parts.args[0]
    if is_int(places) or places.type is None:
        return None
    known = places.py if places.py is not NOT_CONSTANT else places.node.inputs if places.node is not None else None
    between = parts.kind.partition(".")[0] not in _AT_SIZES
    return None if known is None else len(known) + between


def _chunk(walk: Any, parts: Any, i: Any) -> Step:
    g = walk.g
    n, dim = parts.args
    whole = g.call("aten::size", (walk.memory.peek(parts.source), dim), INT)
    size = g.call("aten::floordiv", (add(g, whole, add(g, n, -1)), n), INT)
    return _even(walk, parts, i, size, dim)


def _tensor_split(walk: Any, parts: Any, i: Any, dim: Any = None) -> Step:
    g = walk.g
    dim = parts.args[1] if dim is None else dim
    sections = parts.args[0]
    if not is_int(sections):
        if sections.type is None:
            raise walk.refuse(parts.kind, "a split at places held in a tensor")
        places = [0, *_list_items(walk, parts, sections, i), None]
        return "aten::slice", (dim, places[i], places[i + 1], 1)
    whole = g.call("aten::size", (walk.memory.peek(parts.source), dim), INT)
    size = g.call("aten::floordiv", (whole, sections), INT)
    longer = g.call("aten::remainder", (whole, sections), INT)  # the first `longer` parts hold one more

    def start(k: Any) -> Any:
        return add(g, mul(g, k, size), g.call("prim::min", (k, longer), INT))

    return "aten::slice", (dim, start(i), start(add(g, i, 1)), 1)


def _hsplit(walk: Any, parts: Any, i: Any) -> Step:
    g = walk.g
    rank = g.call("aten::dim", (walk.memory.peek(parts.source),), INT)
    return _tensor_split(walk, parts, i, g.call("prim::min", (add(g, rank, -1), 1), INT))


PARTS: dict[str, Callable[[Any, Any, Any], Step]] = {
    "aten::unbind": _unbind,
    "aten::split": _split,
    "aten::unsafe_split": _split,
    "aten::split_with_sizes": _uneven,
    "aten::unsafe_split_with_sizes": _uneven,
    "aten::chunk": _chunk,
    "aten::unsafe_chunk": _chunk,
    "aten::tensor_split": _tensor_split,
    "aten::hsplit": _hsplit,
    "aten::vsplit": lambda walk, parts, i: _tensor_split(walk, parts, i, 0),
    "aten::dsplit": lambda walk, parts, i: _tensor_split(walk, parts, i, 2),
}
