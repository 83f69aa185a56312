"""Plainer indices: fewer elements between the brackets, open bounds, lists for tensors, numbers for lists."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.kinds import Scope, index_elements
from inplace_fuzz.core.spec import specs_in
from inplace_fuzz.shrink.edit import (
    body_statements,
    constant,
    edited,
    expressions,
    fresh_parameter,
    name,
    on_torch,
    with_input,
)
from inplace_fuzz.shrink.static import Shapes


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
                    for plain in _plainer(element, advanced=advanced):
                        yield edited(program, {element: plain})


def plainer_index_arguments(program: Program) -> Iterator[Program]:
    """Makes the computed index of index_add_, scatter_ and their like a literal tensor, of one to three axes."""
    for statement in body_statements(program):
        for node in _index_arguments(statement):
            if not isinstance(node, (ast.Name, ast.Constant)) and not _is_literal_tensor(node):
                for data in ([0], [0, 1], [[0]], [[[0]]]):
                    yield edited(program, {node: _literal_tensor(data)})


def index_to_input(program: Program) -> Iterator[Program]:
    """Puts an input in the place of a computed index: one of whole numbers or truth values, or a new one of its shape.

    `x.scatter_add_(0, y.to(torch.int64) % 4, z)` as `x.scatter_add_(0, i, z)`.
    """
    scope, shapes, fresh = Scope(program), Shapes(program), fresh_parameter(program)
    inputs = {p: scope.names[p].dtype for p in program.parameters if scope.names[p].dtype.startswith(("int", "bool"))}
    more = not program.forward.args.defaults
    for statement, _ in zip(scope.steps(), shapes.steps(), strict=True):
        for node in dict.fromkeys((*_index_arguments(statement), *_elements(statement, scope))):
            if isinstance(node, (ast.Name, ast.List)) or not scope.is_advanced(node) or _is_literal_tensor(node):
                continue
            mask = scope.value(node).dtype == "bool"
            yield from (edited(program, {node: name(p)}) for p, dtype in inputs.items() if mask == (dtype == "bool"))
            for spec in _index_specs(program, shapes.of(node), mask=mask) if more else ():
                yield with_input(program, {node: name(fresh)}, fresh, spec)


def _elements(statement: ast.stmt, scope: Scope) -> Iterator[ast.expr]:
    for node in expressions(statement):
        if isinstance(node, ast.Subscript) and scope.value(node.value).what in ("tensor", "unknown"):
            yield from index_elements(node)


def _index_specs(program: Program, shape: tuple[int, ...] | None, *, mask: bool) -> Iterator[TensorSpec]:
    """Inputs that may stand for an index of this shape. Which elements are picked may matter to the fault: from the
    front, then from the back of what some input is long. Those that reach too far do not run.
    """
    if not shape or 0 in shape:
        return
    count = math.prod(shape)
    if mask:
        yield TensorSpec(shape, "bool", tuple(k % 2 == 0 for k in range(count)))
        yield TensorSpec(shape, "bool", (True,) * count)
        return
    yield TensorSpec(shape, "int64", tuple(range(count)))
    lengths = {n for call in program.calls for spec in specs_in(call) for n in spec.shape if n > 1}
    for n in sorted(lengths, reverse=True)[:3]:
        yield TensorSpec(shape, "int64", tuple((n - 1 - k) % n for k in range(count)))
    yield TensorSpec(shape, "int64", tuple(k % 2 for k in range(count)))


def literal_index_to_input(program: Program) -> Iterator[Program]:
    """Passes an index that is a literal tensor in as one more input; the same literal everywhere is one input."""
    if program.forward.args.defaults:
        return
    literals: dict[str, list[ast.expr]] = {}
    for statement in body_statements(program):
        for node in expressions(statement):
            if _is_literal_tensor(node):
                literals.setdefault(ast.unparse(node), []).append(node)
    for nodes in literals.values():
        assert isinstance(nodes[0], ast.Call)
        spec = _spec_of(ast.literal_eval(nodes[0].args[0]))
        if spec is not None:
            fresh = fresh_parameter(program)
            yield with_input(program, dict.fromkeys(nodes, name(fresh)), fresh, spec)


def _index_arguments(statement: ast.stmt) -> Iterator[ast.expr]:
    """The arguments that select elements: of index_add_, scatter_ and their like, and of index_put_."""
    for node in expressions(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr="index_put_" | "index_put"), args=[*args]):
                for argument in args:
                    if isinstance(argument, (ast.Tuple, ast.List)):
                        yield from argument.elts
            case ast.Call(func=ast.Attribute(attr=method), args=[*args]) if method.startswith(_WITH_INDEX):
                yield from (args[2:3] if on_torch(node) else args[1:2])


_LITERAL = (ast.List, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)
_WITH_INDEX = ("index_add", "index_copy", "index_fill", "index_select", "scatter", "gather")


def _literal_tensor(data: object) -> ast.expr:
    return ast.parse(f"torch.tensor({data!r})", mode="eval").body


def _is_literal_tensor(node: ast.expr) -> bool:
    """Whether this is `torch.tensor` of whole numbers."""
    match node:
        case ast.Call(func=ast.Attribute(attr="tensor"), args=[data]) if on_torch(node) and not node.keywords:
            return all(isinstance(n, _LITERAL) for n in ast.walk(data))
    return False


def _spec_of(data: object) -> TensorSpec | None:
    """A literal of whole numbers as an int64 input; None where it is ragged, empty or of something else."""
    shape: tuple[int, ...] = ()
    level = [data]
    while level and isinstance(level[0], list):
        if any(not isinstance(item, list) or len(item) != len(level[0]) for item in level):
            return None
        shape = (*shape, len(level[0]))
        level = [inner for item in level if isinstance(item, list) for inner in item]
    if not level or any(type(item) is not int for item in level):
        return None
    return TensorSpec(shape, "int64", tuple(item for item in level if isinstance(item, int)))


def _subscripts(program: Program) -> Iterator[ast.Subscript]:
    scope = Scope(program)
    for statement in scope.steps():
        for node in expressions(statement):
            if isinstance(node, ast.Subscript):
                yield node


def _plainer(element: ast.expr, *, advanced: bool) -> Iterator[ast.expr]:
    match element:
        case ast.Slice():
            yield from _plainer_slice(element)
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield from (constant(k) for k in (0, 1) if k < value)
        case ast.UnaryOp(op=ast.USub()):
            yield from (constant(0), constant(1), constant(-1))
        case ast.Constant(value=value) if value is None or value is ...:
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
