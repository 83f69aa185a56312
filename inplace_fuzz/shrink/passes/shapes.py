"""Smaller shapes, kept consistent with the text: inputs that share a size shrink together, and sizes in literals too.

Shapes are changed by size, not by meaning. "All 4s become 2s" changes every dimension of every input that is 4 and
every 4 in the text that is the size of something; index tensors are clamped to what is left. Whether the result runs
is for eager to say.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.kinds import index_elements
from inplace_fuzz.core.spec import contiguous_strides, map_specs, specs_in
from inplace_fuzz.shrink.edit import Change, body_statements, constant, each_input, edited, expressions, size_literals

_TAKES_DIMENSION = ("index_", "scatter", "gather", "select", "narrow", "unsqueeze", "squeeze", "unbind")


def smaller_sizes(program: Program) -> Iterator[Program]:
    """Makes dimensions smaller: every one of a size together with the literals, then those of a single input."""
    sizes = sorted({n for s in _specs(program) for n in s.shape} | set(_literal_sizes(program)), reverse=True)
    for old in sizes:
        for new in (1, 2, 3):
            if new < old:
                yield _resized(program, {old: new})
    for a in sizes:
        for b in sizes:
            # x is 4 long and y, stored into x[1:], is 3: both go down by the same amount.
            if a > b > 1:
                for by in dict.fromkeys((b - 1, b - 2, 1)):
                    if by > 0:
                        yield _resized(program, {a: a - by, b: b - by})
    if len(program.parameters) > 1:
        for k in range(len(program.parameters)):
            for size in sorted({n for s in specs_in(program.calls[0][k : k + 1]) for n in s.shape}, reverse=True):
                yield from (_resized(program, {size: new}, only=k) for new in (1, 2) if new < size)


def natural_shapes(program: Program) -> Iterator[Program]:
    """Makes lone numbers and dimensions of one element two long, all at once and then input by input."""
    yield from each_input(program, _natural)


def _natural(spec: TensorSpec) -> TensorSpec:
    if not spec.plain or (spec.shape and min(spec.shape) > 1):
        return spec
    shape = tuple(max(2, n) for n in spec.shape) or (2,)
    kind = type(spec.values[0]) if spec.values else float
    whole = spec.dtype.startswith(("int", "uint"))
    first = 0 if whole else spec.values[0].real if spec.values else 1
    values = tuple(kind(k % 2 == 0 if kind is bool else first + k) for k in range(math.prod(shape)))
    return replace(spec, shape=shape, values=values)


def fewer_dimensions(program: Program) -> Iterator[Program]:
    """Drops a dimension of every tensor of the highest rank, or of one input, with the index element that meets it."""
    specs = _specs(program)
    ranks = sorted({len(s.shape) for s in specs}, reverse=True)
    for rank in ranks:
        if rank == 0:
            continue
        for axis in dict.fromkeys((rank - 1, 0)):
            yield _less_deep(program, axis, lambda s, rank=rank: len(s.shape) == rank)  # type: ignore[misc]
            yield _less_deep(program, axis, lambda s, rank=rank: len(s.shape) == rank, cut=axis)  # type: ignore[misc]
            yield _less_deep(program, axis, lambda s, axis=axis: len(s.shape) > axis, cut=axis)  # type: ignore[misc]
    for k in range(len(program.parameters)):
        for spec in specs_in(program.calls[0][k : k + 1])[:1]:
            for axis in dict.fromkeys((len(spec.shape) - 1, 0)):
                if axis >= 0:
                    yield _less_deep(program, axis, lambda s, axis=axis: len(s.shape) > axis, only=k)  # type: ignore[misc]


def _specs(program: Program) -> list[TensorSpec]:
    return specs_in(program.calls[0]) if program.calls else []


def _literal_sizes(program: Program) -> list[int]:
    return [n.value for n in size_literals(program) if isinstance(n.value, int) and n.value > 1]


def _resized(program: Program, new: dict[int, int], *, only: int | None = None) -> Program:
    changes: dict[ast.AST, Change] = {}
    if only is None:
        for node in size_literals(program):
            if isinstance(node.value, int) and node.value in new:
                changes[node] = constant(new[node.value])
    smallest = min(new.values())

    def resize(spec: TensorSpec) -> TensorSpec:
        if spec.dtype in ("int64", "int32") and not set(spec.shape) & set(new):
            # An index tensor of another length must still point into what is left, and not newly to one place twice.
            clamped = tuple(max(-smallest, min(int(_real(v)), smallest - 1)) for v in spec.values)
            merged = len(set(clamped)) < len(set(spec.values)) and len(clamped) <= smallest
            return spec.with_values(tuple(range(len(clamped))) if merged else clamped)
        return _cropped(spec, tuple(new.get(n, n) for n in spec.shape))

    calls = tuple(
        tuple(map_specs(a, resize) if only in (None, k) else a for k, a in enumerate(call)) for call in program.calls
    )
    return replace(edited(program, changes), calls=calls)


def _real(value: complex) -> float:
    return value.real


def _cropped(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
    """The corner of a tensor that has this shape. Values are those of the corner; the layout stays a plain one."""
    if shape == spec.shape:
        return spec
    strides = contiguous_strides(spec.shape) if spec.strides is None else spec.strides
    if spec.strides is not None or spec.storage is not None or spec.offset:
        # A view of its storage: look at less of it.
        return replace(spec, shape=shape, strides=strides)
    offsets = [0]
    for length, stride in zip(shape, strides, strict=True):
        offsets = [o + k * stride for o in offsets for k in range(length)]
    # A dimension that was empty has no corner: whatever is new holds zeros.
    values = tuple(spec.values[o] if o < len(spec.values) else 0 for o in offsets)
    return TensorSpec(shape, spec.dtype, values, requires_grad=spec.requires_grad)


def _later_dimension(node: ast.Call, cut: int) -> bool:
    """Whether a call names, as its first argument, a dimension that comes after the one that is dropped."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=int(dim)), *_]):
            return method.startswith(_TAKES_DIMENSION) and dim > cut
    return False


def _less_deep(
    program: Program,
    axis: int,
    which: Callable[[TensorSpec], bool],
    *,
    cut: int | None = None,
    only: int | None = None,
) -> Program:
    """Drops `axis` of the tensors that `which` picks; with `cut`, drops that element of long indices and sizes too."""

    def flatter(spec: TensorSpec) -> TensorSpec:
        if not which(spec) or spec.storage is not None or len(spec.shape) <= axis:
            return spec
        shape = spec.shape[:axis] + spec.shape[axis + 1 :]
        if spec.strides is not None:
            return replace(spec, shape=shape, strides=spec.strides[:axis] + spec.strides[axis + 1 :])
        one = _cropped(spec, tuple(1 if k == axis else n for k, n in enumerate(spec.shape)))
        return replace(one, shape=shape)

    changes: dict[ast.AST, Change] = {}
    if cut is not None:
        for statement in body_statements(program):
            for node in expressions(statement):
                if (
                    isinstance(node, ast.Subscript)
                    and len(index_elements(node)) > cut
                    and isinstance(node.slice, ast.Tuple)
                ):
                    left = [e for k, e in enumerate(node.slice.elts) if k != cut]
                    changes[node.slice] = left[0] if len(left) == 1 else ast.Tuple(left, ast.Load())
                elif isinstance(node, ast.Call) and _later_dimension(node, cut):
                    changes[node.args[0]] = constant(ast.literal_eval(node.args[0]) - 1)
                elif (
                    isinstance(node, ast.List)
                    and len(node.elts) > max(cut, 1)
                    and all(isinstance(e, ast.Constant) for e in node.elts)
                ):
                    changes[node] = ast.List([e for k, e in enumerate(node.elts) if k != cut], ast.Load())
    calls = tuple(
        tuple(map_specs(a, flatter) if only in (None, k) else a for k, a in enumerate(call)) for call in program.calls
    )
    return replace(edited(program, changes), calls=calls)
