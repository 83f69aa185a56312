"""A simpler return: fewer elements, no container."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.core.kinds import Scope
from inplace_fuzz.shrink.edit import body_statements, edited, name


def simplify_return(program: Program) -> Iterator[Program]:
    """Returns one element of a container, then all but one; then one tensor instead of an expression."""
    for statement in body_statements(program):
        if not isinstance(statement, ast.Return) or statement.value is None:
            continue
        value = statement.value
        if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            yield from (edited(program, {value: e}) for e in value.elts)
            if len(value.elts) > 2:
                yield from (edited(program, {e: None}) for e in value.elts)
            if isinstance(value, ast.List) and len(value.elts) > 1:
                yield edited(program, {value: ast.Tuple(value.elts, ast.Load())})
        elif isinstance(value, ast.Dict):
            yield from (edited(program, {value: e}) for e in value.values)
            if len(value.values) > 1:
                yield edited(program, {value: ast.Tuple(value.values, ast.Load())})


def return_a_name(program: Program) -> Iterator[Program]:
    """Returns a tensor that has a name instead of what is returned now."""
    statements = body_statements(program)
    if not statements or not isinstance(statements[-1], ast.Return):
        return
    value = statements[-1].value
    scope = Scope(program)
    for _ in scope.steps():
        pass
    for candidate, what in reversed(scope.names.items()):
        if what.maybe_tensor and not (isinstance(value, ast.Name) and value.id == candidate):
            yield edited(program, {statements[-1]: ast.Return(name(candidate))})
