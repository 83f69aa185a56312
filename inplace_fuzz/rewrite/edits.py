"""Operators that change a list or a dict whose items are followed: each gives the new items, and its own result."""

# ruff: noqa: ARG001, ARG005  (the functions of one table take the same arguments)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ir import NOT_CONSTANT, Node, Value


def _place(walk: Any, node: Node, bound: Any) -> Any:
    if bound.__class__ is Value and bound.py is not NOT_CONSTANT:
        return bound.py
    raise walk.refuse(node.kind, "it changes a list at a place known only at run time")


def _append(walk: Any, node: Node, target: Any, args: list[Any]) -> tuple[Any, Any]:
    return (*target.items, args[0]), None


def _extend(walk: Any, node: Node, target: Any, args: list[Any]) -> tuple[Any, Any]:
    if not hasattr(args[0], "at_run_time") or args[0].at_run_time:
        raise walk.refuse(node.kind, "it extends a list by one that the pass does not follow")
    return target.items + args[0].items, None


def _insert(walk: Any, node: Node, target: Any, args: list[Any]) -> tuple[Any, Any]:
    items = list(target.items)
    items.insert(_place(walk, node, args[0]), args[1])
    return items, None


def _set(walk: Any, node: Node, target: Any, args: list[Any]) -> tuple[Any, Any]:
    place = _place(walk, node, args[0])
    if target.keyed:
        held = dict(target.items)
        held[place] = args[1]
        return held.items(), None
    items = list(target.items)
    items[place] = args[1]
    return items, None


def _pop(walk: Any, node: Node, target: Any, args: list[Any]) -> tuple[Any, Any]:
    place = _place(walk, node, args[0])
    if target.keyed:
        held = dict(target.items)
        return held.items(), held.pop(place)
    items = list(target.items)
    taken = items.pop(place)
    return items, taken


def _delete(walk: Any, node: Node, target: Any, args: list[Any]) -> tuple[Any, Any]:
    return _pop(walk, node, target, args)[0], None


EDITS: dict[str, Callable[[Any, Node, Any, list[Any]], tuple[Any, Any]]] = {
    "aten::append": _append,
    "aten::extend": _extend,
    "aten::insert": _insert,
    "aten::_set_item": _set,
    "aten::pop": _pop,
    "aten::Delete": _delete,
    "aten::clear": lambda walk, node, target, args: ((), None),
    "aten::reverse": lambda walk, node, target, args: (target.items[::-1], None),
}
