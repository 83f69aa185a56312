"""What eager may leave undefined, recognised in the text, so that shrinking does not walk into it.

A fault that is real in the program must not become a false one on the way: an index that now repeats is written twice
with different values, memory is read that nothing filled, a statement reads and writes overlapping views. A candidate
with more of these than the program began with is not tried. What the text does not tell is not counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.kinds import Scope, index_elements
from inplace_fuzz.shrink.edit import expressions, header, on_torch

Known: TypeAlias = dict[str, list[object]]  # a name and the literal contents that it has, one for each call
_FILLS = ("fill_", "zero_", "copy_")
_EMPTY = ("empty", "empty_like", "new_empty")


def doubts(program: Program) -> int:
    """How many places of forward may be undefined in eager, as far as the text and the inputs tell."""
    scope = Scope(program)
    known: Known = {}
    for k, parameter in enumerate(program.parameters):
        args = [c[k] for c in program.calls if k < len(c)]
        if args and all(isinstance(a, TensorSpec) and a.plain and a.dtype.startswith("int") for a in args):
            known[parameter] = [_nested(a.shape, a.values) for a in args]
    count = 0
    statements = []
    for statement in scope.steps():
        statements.append(statement)
        count += sum(_repeats(index, known) for index in _written_indices(statement))
        count += _overlaps(statement, scope)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known.pop(name, None)
                if (literal := _literal(value, {})) is not None:
                    known[name] = literal
    return count + sum(_unfilled(statement, statements[k + 1 :]) for k, statement in enumerate(statements))


def _written_indices(statement: ast.stmt) -> Iterator[list[ast.expr]]:
    """The index elements of each indexed write that does not accumulate, unless one number goes everywhere."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value) if not isinstance(value, ast.Constant):
            yield index_elements(target)
        case ast.AugAssign(target=ast.Subscript() as target, value=value) if not isinstance(value, ast.Constant):
            yield index_elements(target)
    for node in expressions(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr=method), args=args, keywords=keywords) if len(args) > 1:
                arguments = args[1:] if on_torch(node) else args
                name = method.removesuffix("_")
                if any(k.arg == "accumulate" for k in keywords) or isinstance(arguments[-1], ast.Constant):
                    continue
                if name == "index_put" and isinstance(arguments[0], (ast.Tuple, ast.List)):
                    yield list(arguments[0].elts)
                elif name in ("index_copy", "scatter") and len(arguments) > 2:
                    yield [arguments[1]]


def _repeats(elements: list[ast.expr], known: Known) -> bool:
    """Whether these index elements together name one place twice."""
    columns = [c for c in (_literal(e, known) for e in elements) if c is not None]
    if not columns:
        return False
    for call in range(max(map(len, columns))):
        flat = [_flat(c[call if call < len(c) else 0]) for c in columns]
        if len({len(f) for f in flat}) == 1:
            rows = list(zip(*flat, strict=True))
            if len(set(rows)) < len(rows):
                return True
        elif any(len(set(f)) < len(f) for f in flat):
            return True
    return False


def _literal(node: ast.expr, known: Known) -> list[object] | None:
    """The contents of a list or tensor of whole numbers that is written out, or held by a name; None otherwise."""
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Call(func=ast.Attribute(attr="tensor"), args=[data]) if on_torch(node):
            return _literal(data, known)
        case ast.List():
            try:
                value = ast.literal_eval(node)
            except ValueError:
                return None
            return None if any(isinstance(v, bool) for v in _flat(value)) else [value]
    return None


def _overlaps(statement: ast.stmt, scope: Scope) -> bool:
    """Whether the statement writes one view of some memory and reads another view of it, without a copy between."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value) | ast.AugAssign(target=target, value=value):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=method), args=[*_, value])) if (
            method.endswith("_")
        ):
            pass
        case _:
            return False
    base = target.value if isinstance(target, ast.Subscript) else target
    memory = scope.value(base).memory
    # Arithmetic and brackets with tensors in them make a copy before anything is written; only bare views overlap.
    return bool(memory) and scope.value(value).memory == memory and ast.unparse(value) != ast.unparse(target)


def _unfilled(statement: ast.stmt, later: list[ast.stmt]) -> bool:
    """Whether the statement makes an empty tensor that is not filled whole by the next statement that names it."""
    made = [
        n for n in expressions(statement)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _EMPTY
    ]  # fmt: skip
    if not made:
        return False
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is made[0]:
            following = next((s for s in later if _names(s, name)), None)
            return not (following is not None and _fills(following, name))
    parents = [n.value for n in expressions(statement) if isinstance(n, ast.Attribute) and n.attr in _FILLS]
    return not all(m in parents for m in made)


def _names(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for part in header(statement) for n in ast.walk(part))


def _fills(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=written), slice=index)]):
            return written == name and ast.unparse(index) in (":", "...")
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=written), attr=method))):
            return written == name and method in _FILLS
    return False


def _nested(shape: tuple[int, ...], values: tuple[object, ...]) -> object:
    if not shape:
        return values[0] if values else 0
    step = len(values) // shape[0] if shape[0] else 0
    return [_nested(shape[1:], values[k * step : (k + 1) * step]) for k in range(shape[0])]


def _flat(value: object) -> list[object]:
    return [inner for item in value for inner in _flat(item)] if isinstance(value, list) else [value]
