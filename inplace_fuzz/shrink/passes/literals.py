"""Plainer numbers: 0 and 1, whole ones, shorter literal lists. Sizes and indices have reducers of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.core.kinds import index_elements
from inplace_fuzz.shrink.edit import body_statements, constant, edited, expressions, size_literals


def plainer_numbers(program: Program) -> Iterator[Program]:
    """Turns a number into 0 or 1, a float into a whole number, a negative number into a positive one."""
    sizes = {id(n) for n in size_literals(program)}
    for statement in body_statements(program):
        indices = _inside_indices(statement) | sizes
        for node in expressions(statement):
            value = _number(node)
            if value is None or id(node) in indices:
                continue
            plain: list[float] = [k for k in (0, 1) if abs(value) > k or isinstance(value, float)]
            if isinstance(value, float) and value.is_integer():
                plain.append(int(value))
            if value < 0:
                plain.append(-value)
            yield from (edited(program, {node: constant(p)}) for p in plain)


def shorter_literals(program: Program) -> Iterator[Program]:
    """Shortens a literal list of numbers, such as that of torch.tensor([3, 1, 2]), to two elements and to one."""
    for statement in body_statements(program):
        for node in expressions(statement):
            if isinstance(node, ast.List) and len(node.elts) > 1 and all(_literal(e) for e in node.elts):
                for length in (1, 2):
                    if length < len(node.elts):
                        yield edited(program, {node: ast.List(node.elts[:length], ast.Load())})


def _inside_indices(statement: ast.stmt) -> set[int]:
    inside: set[int] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript):
            inside |= {id(n) for e in index_elements(node) for n in ast.walk(e)}
        elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            inside.add(id(node.operand))
    return inside


def _number(node: ast.expr) -> int | float | None:
    match node:
        case ast.Constant(value=int(value) | float(value)) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value) | float(value))):
            return -value
    return None


def _literal(node: ast.expr) -> bool:
    return isinstance(node, (ast.Constant, ast.UnaryOp)) or (
        isinstance(node, ast.List) and all(_literal(e) for e in node.elts)
    )
