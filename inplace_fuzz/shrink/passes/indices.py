"""Plainer indices: fewer elements between the brackets, open bounds, lists for tensors, numbers for lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.core.kinds import Scope, index_elements
from inplace_fuzz.shrink.edit import constant, edited, expressions


def fewer_index_elements(program: Program) -> Iterator[Program]:
    """Drops elements of an index, from the last to the first: `x[1:, 0, ...]` as `x[1:, 0]`, `x[1:]`."""
    for node in _subscripts(program):
        elements = index_elements(node)
        if len(elements) > 1:
            for k in reversed(range(len(elements))):
                yield edited(program, {node.slice: _index(elements[:k] + elements[k + 1 :])})


def plainer_index_elements(program: Program) -> Iterator[Program]:
    """Makes one element of an index plainer: bounds open, step 1, tensors to lists to numbers, numbers to 0 or 1."""
    scope = Scope(program)
    for statement in scope.steps():
        for node in expressions(statement):
            if isinstance(node, ast.Subscript) and scope.value(node.value).what in ("tensor", "unknown"):
                elements = index_elements(node)
                for element in elements:
                    advanced = scope.is_advanced(element)
                    for plain in _plainer(element, advanced=advanced, alone=len(elements) == 1):
                        yield edited(program, {element: plain})


def _subscripts(program: Program) -> Iterator[ast.Subscript]:
    scope = Scope(program)
    for statement in scope.steps():
        for node in expressions(statement):
            if isinstance(node, ast.Subscript):
                yield node


def _plainer(element: ast.expr, *, advanced: bool, alone: bool) -> Iterator[ast.expr]:
    match element:
        case ast.Slice():
            yield from _plainer_slice(element)
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield from (constant(k) for k in (0, 1) if k < value)
        case ast.UnaryOp(op=ast.USub()):
            yield from (constant(0), constant(1))
        case ast.Constant(value=value) if value is None or value is ...:
            if not alone:
                yield ast.Slice(None, None, None)
        case ast.List(elts=elts):
            yield constant(0)
            yield from (constant(short) for short in ([0], [1], [0, 1], [0, 0], [1, 0]) if len(short) <= len(elts))
            if len(elts) > 2:
                yield from (ast.List(elts[:n], ast.Load()) for n in (1, 2))
        case ast.Call(func=ast.Attribute(attr="tensor"), args=[ast.List() as items, *_]):
            yield items
            yield constant(0)
        case _ if advanced:
            yield constant(0)
            yield from (constant(short) for short in ([0], [0, 1], [0, 0]))


def _plainer_slice(element: ast.Slice) -> Iterator[ast.expr]:
    lower, upper, step = element.lower, element.upper, element.step
    if lower or upper or step:
        yield ast.Slice(None, None, None)
    if step:
        yield ast.Slice(lower, upper, None)
        if ast.unparse(step) != "2":
            yield ast.Slice(lower, upper, constant(2))
    if lower and (upper or step):
        yield ast.Slice(None, upper, step)
    if upper and (lower or step):
        yield ast.Slice(lower, None, step)
    if lower and ast.unparse(lower) != "1":
        yield ast.Slice(constant(1), upper, step)
    if upper and ast.unparse(upper) != "1":
        yield from (ast.Slice(lower, constant(k), step) for k in (1, 2) if ast.unparse(upper) != str(k))


def _index(elements: list[ast.expr]) -> ast.expr:
    return elements[0] if len(elements) == 1 else ast.Tuple(elements, ast.Load())
