"""Plainer forms of one thing: brackets for methods, assignment for augmented assignment, zeros for other creators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.core.kinds import CREATORS
from inplace_fuzz.shrink.edit import body_statements, constant, edited, expressions, on_torch
from inplace_fuzz.shrink.static import Shapes

_OPERATOR = {"add_": ast.Add, "sub_": ast.Sub, "mul_": ast.Mult, "div_": ast.Div}
_ARITHMETIC = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div}
_FULL = ast.Slice(None, None, None)


def plainer_writes(program: Program) -> Iterator[Program]:
    """`x[0] += y` as `x[0] = y`; `index_put_`, `copy_`, `fill_`, `zero_` as `=`; `add_` as `+=`; others as `add_`."""
    for statement in body_statements(program):
        yield from (edited(program, {statement: plain}) for plain in _plainer_write(statement))


def brackets_for_methods(program: Program) -> Iterator[Program]:
    """`x.select(0, 1)` as `x[1]`, `x.narrow(0, 1, 2)` as `x[1:3]`, `unsqueeze(0)` as `[None]`, `torch.add` as `+`."""
    for statement in body_statements(program):
        for node in expressions(statement):
            yield from (edited(program, {node: plain}) for plain in _plainer_expression(node))


def plainer_creators(program: Program) -> Iterator[Program]:
    """Makes a tensor by `torch.zeros([...])`, then by `torch.ones`, wherever its size is known from the text."""
    shapes = Shapes(program)
    for statement in shapes.steps():
        for node in expressions(statement):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _creates(node.func.attr)):
                continue
            shape = shapes.of(node)
            for maker in ("zeros", "ones") if shape is not None else ():
                text = f"torch.{maker}({list(shape or ())})"
                if ast.unparse(node) != text:
                    yield edited(program, {node: ast.parse(text, mode="eval").body})


def _plainer_write(statement: ast.stmt) -> Iterator[ast.stmt]:
    match statement:
        case ast.AugAssign(target=ast.Subscript() as target, value=value):
            yield ast.Assign([target], value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver, attr=method), args=args)):
            match method, args:
                case "index_put_", [ast.Tuple(elts=elts) | ast.List(elts=elts), value, *_]:
                    index = elts[0] if len(elts) == 1 else ast.Tuple(elts, ast.Load())
                    yield ast.Assign([ast.Subscript(receiver, index, ast.Store())], value)
                case "copy_" | "fill_", [value, *_]:
                    target = (
                        receiver if isinstance(receiver, ast.Subscript) else ast.Subscript(receiver, _FULL, ast.Store())
                    )
                    yield ast.Assign([target], value)
                case "masked_fill_" | "index_fill_", [*_, index, value]:
                    yield ast.Assign([ast.Subscript(receiver, index, ast.Store())], value)
                case "zero_", []:
                    target = (
                        receiver if isinstance(receiver, ast.Subscript) else ast.Subscript(receiver, _FULL, ast.Store())
                    )
                    yield ast.Assign([target], constant(0))
                case _, [value] if method in _OPERATOR and isinstance(receiver, (ast.Name, ast.Subscript)):
                    yield ast.AugAssign(receiver, _OPERATOR[method](), value)
                    if isinstance(receiver, ast.Subscript):
                        yield ast.Assign([receiver], value)
                case _, [value, *_] if method not in _OPERATOR and method.endswith("_"):
                    yield ast.Expr(ast.Call(ast.Attribute(receiver, "add_", ast.Load()), [value], []))
                case _, [] if method.endswith("_"):
                    yield ast.Expr(ast.Call(ast.Attribute(receiver, "add_", ast.Load()), [constant(1)], []))


def _plainer_expression(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=receiver, attr=method), args=args, keywords=[]) if not on_torch(node):
            yield from _as_brackets(receiver, method, args)
        case ast.Call(func=ast.Attribute(attr=method), args=[first, *rest], keywords=[]) if on_torch(node):
            if method in _ARITHMETIC and len(rest) == 1:
                yield ast.BinOp(first, _ARITHMETIC[method](), rest[0])
            yield from _as_brackets(first, method, rest)
            if method == "where" and len(rest) == 2:
                yield from rest
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.Add):
            yield ast.BinOp(left, ast.Add(), right)


def _as_brackets(receiver: ast.expr, method: str, args: list[ast.expr]) -> Iterator[ast.expr]:
    def at(dim: int, element: ast.expr) -> ast.expr:
        index = ast.Tuple([_FULL] * dim + [element], ast.Load()) if dim > 0 else element
        return ast.Subscript(receiver, index, ast.Load())

    numbers = [_integer(a) for a in args]
    match method, numbers:
        case "select", [int(dim), _] if dim >= 0:
            yield at(dim, args[1])
        case "narrow", [int(dim), int(start), int(length)] if dim >= 0:
            yield at(dim, ast.Slice(constant(start) if start else None, constant(start + length), None))
        case "unsqueeze", [int(dim)] if dim >= 0:
            yield at(dim, ast.Constant(None))
        case "index_select", [int(dim), _] if dim >= 0:
            yield at(dim, args[1])
        case "masked_select", [_]:
            yield at(0, args[0])
        case "add" | "sub" | "mul", [_]:
            yield ast.BinOp(receiver, _ARITHMETIC[method](), args[0])
        case "detach" | "contiguous" | "alias", []:
            yield receiver


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _creates(method: str) -> bool:
    return method == "clone" or method in CREATORS
