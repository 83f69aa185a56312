"""Smaller expressions: a part of an expression, an input, or a number in its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.core.kinds import CREATORS, Scope
from inplace_fuzz.shrink.edit import (
    COMPOUND,
    body_statements,
    constant,
    distinct_spec,
    edited,
    expressions,
    fresh_parameter,
    index_spec,
    name,
    on_torch,
    with_input,
)
from inplace_fuzz.shrink.static import Shapes

_TAKES_SCALAR = frozenset({
    "add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_", "fill_", "masked_fill_", "masked_fill", "index_fill_",
    "pow_", "eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum", "copy_",
})  # fmt: skip


def hoist_parts(program: Program) -> Iterator[Program]:
    """Puts a part of an expression in its place: the receiver of a call, the tensor behind brackets, one operand."""
    for statement in body_statements(program):
        for node in expressions(statement):
            if _is_target(node, statement):
                # `x[1:][0] = y` to `x[1:] = y`: what is left must still be something that can be assigned to.
                if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript):
                    yield edited(program, {node: node.value})
                continue
            yield from (edited(program, {node: part}) for part in _parts(node, statement))


def replace_by_input(program: Program) -> Iterator[Program]:
    """Puts an input in the place of a computed tensor."""
    scope = Scope(program)
    tensors = [p for p in program.parameters if scope.names[p].what == "tensor" and scope.names[p].dtype != "bool"]
    for statement in scope.steps():
        for node in expressions(statement):
            computed = isinstance(node, (ast.Call, ast.BinOp, ast.Subscript)) and not _is_target(node, statement)
            if computed and not _is_statement(node, statement) and scope.value(node).what == "tensor":
                yield from (edited(program, {node: name(t)}) for t in tensors[:3])


def computed_to_input(program: Program) -> Iterator[Program]:
    """Passes a computed value in as one more input, where its shape is known from the text and is not a number's."""
    if any(d for d in program.forward.args.defaults):
        return
    shapes, fresh = Shapes(program), fresh_parameter(program)
    scope = Scope(program)
    for _ in scope.steps():
        pass
    for statement in shapes.steps():
        for node in dict.fromkeys(_value_places(statement)):
            shape = None if isinstance(node, (ast.Name, ast.Constant)) else shapes.of(node)
            if shape and 0 not in shape:
                dtype = scope.value(node).dtype
                spec = index_spec(program, shape) if dtype.startswith("int") else distinct_spec(program, shape)
                yield with_input(program, {node: name(fresh)}, fresh, spec)


def replace_by_number(program: Program) -> Iterator[Program]:
    """Puts 0 or 1 where a tensor is stored, added or compared."""
    scope = Scope(program)
    for statement in scope.steps():
        for node in _scalar_places(statement):
            if not isinstance(node, ast.Constant) and scope.value(node).maybe_tensor:
                yield edited(program, {node: constant(0)})
                yield edited(program, {node: constant(1)})


def shorten_lists(program: Program) -> Iterator[Program]:
    """Drops elements of lists and tuples of tensors, such as the argument of torch.cat, and of dicts."""
    scope = Scope(program)
    for statement in scope.steps():
        if isinstance(statement, ast.Return):
            continue
        for node in expressions(statement):
            if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
                if any(scope.value(e).what == "tensor" for e in node.elts) and not _is_index(node, statement):
                    yield from (edited(program, {e: None}) for e in node.elts)
            elif isinstance(node, ast.Dict) and len(node.keys) > 1:
                for k in range(len(node.keys)):
                    keys, values = list(node.keys), list(node.values)
                    del keys[k], values[k]
                    yield edited(program, {node: ast.Dict(keys, values)})


def drop_arguments(program: Program) -> Iterator[Program]:
    """Drops keyword arguments, all of a call's first, and the last of several positional ones."""
    for statement in body_statements(program):
        for node in expressions(statement):
            if not isinstance(node, ast.Call):
                continue
            if len(node.keywords) > 1:
                yield edited(program, {node: ast.Call(node.func, node.args, [])})
            for keyword in node.keywords:
                yield edited(program, {keyword: None})
            if len(node.args) > (2 if on_torch(node) else 1):
                yield edited(program, {node.args[-1]: None})


def _parts(node: ast.expr, statement: ast.stmt) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.BoolOp(values=values):
            yield from values
        case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if not on_torch(node):
            if _is_statement(node, statement) and not isinstance(receiver, ast.Call):
                return  # `x` alone is no statement; deleting this one is another reducer's work
            if isinstance(receiver, ast.Name) and receiver.id == "self":
                yield from (a for a in node.args if _computes(a))
                return
            yield receiver
            if not method.endswith("_"):
                yield from (a for a in node.args if isinstance(a, (ast.Call, ast.BinOp)))
        case ast.Call() if on_torch(node) and node.args:
            assert isinstance(node.func, ast.Attribute)
            if node.func.attr not in CREATORS:
                first = node.args[0]
                yield from (
                    first.elts if isinstance(first, (ast.List, ast.Tuple)) else [a for a in node.args if _computes(a)]
                )
        case ast.Call(func=ast.Name(), args=args):
            yield from (a for a in args if _computes(a))
        case ast.Subscript(value=value, ctx=ast.Load()):
            yield value
        case ast.Attribute(value=value, attr="T" | "mT" | "data" | "real"):
            yield value


def _computes(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Call, ast.Subscript, ast.BinOp, ast.Attribute))


def _is_target(node: ast.expr, statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)):
        return node is statement.target
    return isinstance(statement, ast.Assign) and node in statement.targets


def _is_statement(node: ast.expr, statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and statement.value is node


def _is_index(node: ast.expr, statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Subscript) and n.slice is node for n in ast.walk(statement))


def _value_places(statement: ast.stmt) -> Iterator[ast.expr]:
    """Where any tensor can stand: where a number can, both operands, the arguments of calls."""
    yield from _scalar_places(statement)
    for node in expressions(statement) if not isinstance(statement, COMPOUND) else ():
        match node:
            case ast.BinOp(left=left, right=right):
                yield from (left, right)
            case ast.Call(func=ast.Attribute(), args=args):
                yield from args


def _scalar_places(statement: ast.stmt) -> Iterator[ast.expr]:
    """Where a number can stand for a tensor: stored values, operands, the last argument of add_ and its like."""
    if isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)
    ):
        yield statement.value
    if isinstance(statement, COMPOUND):
        return
    for node in expressions(statement):
        match node:
            case ast.BinOp(right=right):
                yield right
            case ast.Call(func=ast.Attribute(attr=method), args=[*_, last]) if method in _TAKES_SCALAR:
                yield last
