"""Straight-line code: the bodies of if, for, while and with in place of the blocks, loops with fewer trips."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from inplace_fuzz.core import Program
from inplace_fuzz.shrink.edit import Change, body_statements, constant, edited, substitute


def flatten_blocks(program: Program) -> Iterator[Program]:
    """Puts one branch of an if, or one trip of a loop, in place of the block."""
    for statement in body_statements(program):
        match statement:
            case ast.If(body=body, orelse=orelse):
                yield edited(program, {statement: body})
                if orelse:
                    yield edited(program, {statement: orelse})
                    yield edited(program, {statement: ast.If(statement.test, body, [])})
            case ast.For(target=target, body=body):
                for first in _first_items(statement.iter):
                    yield edited(program, {statement: _with_item(body, target, first)})
            case ast.While(body=body):
                yield edited(program, {statement: [s for s in body if not isinstance(s, (ast.Break, ast.Continue))]})
            case ast.With(body=body):
                yield edited(program, {statement: body})


def fewer_trips(program: Program) -> Iterator[Program]:
    """Turns the iterable of a loop into range(2), and shortens a list that is looped over."""
    for statement in body_statements(program):
        if not isinstance(statement, ast.For):
            continue
        if ast.unparse(statement.iter) != "range(2)" and isinstance(statement.target, ast.Name):
            yield edited(program, {statement.iter: ast.parse("range(2)", mode="eval").body})
        if isinstance(statement.iter, (ast.List, ast.Tuple)) and len(statement.iter.elts) > 2:
            yield edited(program, {statement.iter: type(statement.iter)(statement.iter.elts[:2], ast.Load())})


def _first_items(iterable: ast.expr) -> Iterator[ast.expr]:
    """What the loop variable can be in a single trip: 0 and 1 for a range, the first element of anything else."""
    match iterable:
        case ast.Call(func=ast.Name(id="range")):
            yield constant(0)
            yield constant(1)
        case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
            yield first
        case _:
            yield ast.Subscript(iterable, constant(0), ast.Load())


def _with_item(body: list[ast.stmt], target: ast.expr, item: ast.expr) -> list[Any]:
    kept = [s for s in body if not isinstance(s, (ast.Break, ast.Continue))]
    if not isinstance(target, ast.Name):
        return [ast.Assign([target], item), *kept]
    holder = ast.Module(kept, [])
    uses: dict[ast.AST, Change] = {n: item for n in ast.walk(holder) if isinstance(n, ast.Name) and n.id == target.id}
    replaced = substitute(holder, uses)
    assert isinstance(replaced, ast.Module)
    return list(replaced.body)
