"""Shapes as far as the text tells them, for reducers that make a tensor of the same shape elsewhere.

`Shapes` reads forward in order, like `Scope`, and knows inputs, literal indices, elementwise arithmetic and tensors
made with literal sizes. Everything else is None: the reducer then does without.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import TypeAlias

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.kinds import index_elements
from inplace_fuzz.shrink.edit import body_statements, on_torch

Shape: TypeAlias = tuple[int, ...]
_SIZED = frozenset({
    "zeros", "ones", "empty", "full", "rand", "randn", "new_zeros", "new_ones", "new_empty", "new_full",
})  # fmt: skip
_SAME = frozenset({
    "clone", "contiguous", "detach", "neg", "abs", "relu", "zero_", "fill_", "add_", "sub_", "mul_", "float", "double",
    "long", "int", "bool", "to", "type_as", "zeros_like", "ones_like", "empty_like", "full_like", "flip",
})  # fmt: skip


class Shapes:
    """The shapes of names while forward is read; a name that blocks or loops rebind loses its shape."""

    def __init__(self, program: Program) -> None:
        first = program.calls[0] if program.calls else ()
        self.names: dict[str, Shape] = {
            p: a.shape for p, a in zip(program.parameters, first, strict=False) if isinstance(a, TensorSpec)
        }
        self.body = body_statements(program)

    def steps(self) -> Iterator[ast.stmt]:
        """Each statement in reading order, while `names` still holds what was before it."""
        for statement in self.body:
            yield statement
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._bind(name, self.of(value))
                case ast.Assign() | ast.For():
                    for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
                        for node in ast.walk(target):
                            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                                self._bind(node.id, None)

    def _bind(self, name: str, shape: Shape | None) -> None:
        if shape is None:
            self.names.pop(name, None)
        else:
            self.names[name] = shape

    def of(self, node: ast.expr) -> Shape | None:
        """The shape of this expression, or None where the text does not tell."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Constant(value=int() | float()):
                return ()
            case ast.UnaryOp(operand=operand):
                return self.of(operand)
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                return _broadcast(self.of(left), self.of(right))
            case ast.Subscript(value=value):
                base = self.of(value)
                return None if base is None else _indexed(base, index_elements(node))
            case ast.Attribute(value=value, attr="T" | "mT"):
                base = self.of(value)
                return None if base is None or len(base) != 2 else base[::-1]
            case ast.Call():
                return self._called(node)
        return None

    def _called(self, node: ast.Call) -> Shape | None:
        made = made_shape(node)
        if made is not None or not isinstance(node.func, ast.Attribute):
            return made
        owner = node.args[0] if on_torch(node) and node.args else node.func.value
        rest = node.args[1:] if on_torch(node) else node.args
        base = self.of(owner)
        if base is None:
            return None
        match node.func.attr:
            case "t" if len(base) == 2:
                return base[::-1]
            case "add" | "sub" | "mul" | "maximum" | "minimum" if rest:
                return _broadcast(base, self.of(rest[0]))
            case "view" | "reshape" | "expand" | "flatten" | "ravel" as method:
                return _reviewed(base, method, rest)
            case method if method in _SAME:
                return base
        return None


def _reviewed(base: Shape, method: str, args: list[ast.expr]) -> Shape | None:
    """The shape of a view with literal sizes."""
    if method in ("flatten", "ravel"):
        return None if args else (math.prod(base),)
    parts = args[0].elts if len(args) == 1 and isinstance(args[0], (ast.List, ast.Tuple)) else args
    try:
        sizes = [ast.literal_eval(p) for p in parts]
    except ValueError:
        return None
    if not sizes or any(type(n) is not int for n in sizes):
        return None
    if method == "expand":
        padded = (1,) * (len(sizes) - len(base)) + base
        return (
            tuple(b if n == -1 else n for n, b in zip(sizes, padded, strict=True))
            if len(padded) == len(sizes)
            else None
        )
    known = math.prod(n for n in sizes if n != -1)
    return tuple(math.prod(base) // known if n == -1 and known else n for n in sizes)


def made_shape(node: ast.expr) -> Shape | None:
    """The shape of a tensor that is made with a literal size or from a literal: of `torch.zeros([3, 2])` (3, 2)."""
    match node:
        case ast.Call(func=ast.Attribute(attr="tensor"), args=[data]) if on_torch(node):
            try:
                return _nested_shape(ast.literal_eval(data))
            except ValueError:
                return None
        case ast.Call(func=ast.Attribute(attr="arange"), args=[ast.Constant(value=int(stop))]) if on_torch(node):
            return (stop,)
        case ast.Call(func=ast.Attribute(attr=maker), args=args) if maker in _SIZED and args:
            sizes = args[0].elts if isinstance(args[0], (ast.List, ast.Tuple)) else args
            numbers = [s.value for s in sizes if isinstance(s, ast.Constant) and isinstance(s.value, int)]
            return tuple(numbers) if len(numbers) == len(sizes) else None
    return None


def _nested_shape(value: object) -> Shape:
    return (len(value), *(_nested_shape(value[0]) if value else ())) if isinstance(value, list) else ()


def _broadcast(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None:
        return None
    length = max(len(a), len(b))
    pairs = zip((1,) * (length - len(a)) + a, (1,) * (length - len(b)) + b, strict=True)
    return tuple(m if n == 1 else n for n, m in pairs)


def _indexed(base: Shape, elements: list[ast.expr]) -> Shape | None:
    """The shape behind brackets that hold literals only."""
    consuming = sum(not (isinstance(e, ast.Constant) and (e.value is None or e.value is ...)) for e in elements)
    shape: list[int] = []
    axis = 0
    for element in elements:
        match element:
            case ast.Constant(value=None):
                shape.append(1)
                continue
            case ast.Constant(value=value) if value is ...:
                shape += base[axis : axis + len(base) - consuming]
                axis += len(base) - consuming
                continue
        if axis >= len(base):
            return None
        match element:
            case ast.Slice(lower=lower, upper=upper, step=step):
                try:
                    bounds = [None if b is None else ast.literal_eval(b) for b in (lower, upper, step)]
                    shape.append(len(range(base[axis])[slice(*bounds)]))
                except (ValueError, TypeError):
                    return None
            case ast.Constant(value=int()) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
                pass
            case _:
                return None
        axis += 1
    return (*shape, *base[axis:])
