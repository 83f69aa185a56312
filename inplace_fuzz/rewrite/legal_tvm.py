"""TVM Relax (`from_exported_program`): what its importer refuses or gets wrong, in operators that it takes.

Seen with apache-tvm 0.27: it reads out of bounds for a negative `select`; takes `slice_scatter` only with bounds inside
the tensor; takes `index_put` only with an integer tensor for every dimension, and puts the result of separated index
tensors in the wrong order; forgets `alpha` of `add` and `sub`; has no `select_scatter`, `index_copy`, `index_fill`,
`index_add`, `scatter_add`, `put`, `diagonal_scatter`, boolean masks.

Nearly everything rests on one form that it gets right: a one-dimensional `index_put` or `index_select` on the flattened
tensor, at positions that are computed by plain arithmetic.

    x[i, :, j] = y        flat = x.reshape(-1)
                          at   = wrap(i)[:, None] * 12 + arange(3) * 4 + wrap(j)[:, None]
                          x    = index_put(flat, [at.reshape(-1)], y.expand(..).reshape(-1)).reshape(x.shape)
"""

# ruff: noqa: ARG001  (the functions of one table take the same arguments)
# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .legal import Tensor

aten = torch.ops.aten


# ---------------------------------------------------------------------- small words
def _reshape(g: Any, x: Tensor, *size: int) -> Tensor:
    return x if x.shape == size else g.call(aten.reshape.default, x, list(size))


def _expand(g: Any, x: Tensor, size: tuple[int, ...]) -> Tensor:
    return x if x.shape == size else g.call(aten.expand.default, x, list(size))


def _cast(g: Any, x: Tensor, dtype: torch.dtype) -> Tensor:
    return x if x.dtype == dtype else g.call(aten._to_copy.default, x, dtype=dtype)


def _full(g: Any, value: Any, dtype: torch.dtype) -> Tensor:
    return g.call(aten.full.default, [], value, dtype=dtype)  # type: ignore[no-any-return]


def _wrapped(g: Any, index: Tensor, size: int) -> Tensor:
    """Negative indices counted from the front."""
    index = _cast(g, index, torch.int64)
    below = g.call(aten.lt.Scalar, index, 0)
    return g.call(aten.where.self, below, g.call(aten.add.Tensor, index, size), index)  # type: ignore[no-any-return]


def _put_flat(g: Any, x: Tensor, at: Tensor, values: Tensor, accumulate: bool = False) -> Tensor:
    """x.flatten()[at] := values, or +=."""
    n = math.prod(at.shape)
    if n == 0 or math.prod(x.shape) == 0:
        return x
    values = _reshape(g, _expand(g, _cast(g, values, x.dtype), at.shape), n)
    flat = _reshape(g, x, math.prod(x.shape))
    put = g.call(aten.index_put.default, flat, [_reshape(g, at, n)], values, accumulate)
    return _reshape(g, put, *x.shape)


def _seen_through(look: Callable[[torch.Tensor], torch.Tensor], x: Tensor) -> torch.Tensor:
    """The positions in x.flatten() that a view of x shows."""
    return look(torch.arange(math.prod(x.shape)).reshape(x.shape)).contiguous()


# ---------------------------------------------------------------------- parts
def select(g: Any, x: Any, dim: int, index: Any) -> Any:
    """x[-1] as x[n - 1]."""
    if not isinstance(x, Tensor) or not isinstance(index, int) or index >= 0:
        return None
    return g.call(aten.select.int, x, dim, index + x.shape[dim])


def _bounds(size: int, start: Any, end: Any) -> tuple[int, int]:
    first, last, _ = slice(start, end).indices(size)
    return first, max(first, last)


def slice_(g: Any, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """Bounds inside the tensor, from the front."""
    if not isinstance(x, Tensor) or not all(isinstance(b, (int, type(None))) for b in (start, end, step)):
        return None
    first, last = _bounds(x.shape[dim], start, end)
    if (first, last, step) == (0, x.shape[dim], 1):
        return x
    if first == last:
        size = [*x.shape]
        size[dim] = 0
        return g.call(aten.full.default, size, 0, dtype=x.dtype)
    return g.call(aten.slice.Tensor, x, dim, first, last, step)


def slice_scatter(
    g: Any, x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:  # fmt: skip
    """Bounds inside the tensor; a step through positions."""
    if not isinstance(x, Tensor) or not isinstance(src, Tensor):
        return None
    if not all(isinstance(b, (int, type(None))) for b in (start, end, step)):
        return None
    dim %= len(x.shape)
    first, last = _bounds(x.shape[dim], start, end)
    if first == last or 0 in x.shape:
        return x
    if (first, last, step) == (0, x.shape[dim], 1):
        return _expand(g, _cast(g, src, x.dtype), x.shape)
    if step == 1:
        return g.call(aten.slice_scatter.default, x, _cast(g, src, x.dtype), dim, first, last, 1)
    look = (slice(None),) * dim + (slice(first, last, step),)
    return _put_flat(g, x, g.hold(_seen_through(lambda p: p[look], x)), src)


def _scatter(view: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """A scatter along a view of constant arguments: put at the positions that the view shows."""

    def rule(g: Any, x: Any, src: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            not isinstance(x, Tensor)
            or not isinstance(src, Tensor)
            or not _constant(args)
            or not _constant(kwargs.values())
        ):
            return None
        return _put_flat(g, x, g.hold(_seen_through(lambda p: view(p, *args, **kwargs), x)), src)

    return rule


def _constant(args: Any) -> bool:
    return all(isinstance(a, (int, type(None))) or (isinstance(a, (list, tuple)) and _constant(a)) for a in args)


def _gather(view: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """A view of constant arguments, read at the positions that it shows."""

    def rule(g: Any, x: Any, *args: Any) -> Any:
        if not isinstance(x, Tensor) or not _constant(args) or 0 in x.shape:
            return None
        try:
            at = _seen_through(lambda p: view(p, *args), x)
        except RuntimeError:  # as_strided past the elements of x: only the caller's storage has them
            return None
        return _take_flat(g, x, g.hold(at))

    return rule


def _take_flat(g: Any, x: Tensor, at: Tensor) -> Tensor:
    """x.flatten()[at]."""
    flat = _reshape(g, x, math.prod(x.shape))
    taken = g.call(aten.index_select.default, flat, 0, _reshape(g, at, math.prod(at.shape)))
    return _reshape(g, taken, *at.shape)


# ---------------------------------------------------------------------- indices
def _positions(g: Any, x: Tensor, indices: list[Any]) -> Tensor | None:
    """Positions in x.flatten() of x[indices], in the shape of x[indices]; None where that shape depends on content.

    The index tensors' own dims come where the first of them stands when they are adjacent, else in front.
    """
    unmasked = _without_masks(g, indices, x)
    if unmasked is None:
        return None
    indices = [*unmasked, *[None] * (len(x.shape) - len(unmasked))]
    given = [d for d, i in enumerate(indices) if i is not None]
    joint = torch.broadcast_shapes(*(indices[d].shape for d in given))
    adjacent = given == list(range(given[0], given[-1] + 1))
    lead = given[0] if adjacent else 0
    plain = [d for d in range(len(x.shape)) if d not in given]
    before, after = plain[:lead], plain[lead:]
    rank = len(plain) + len(joint)
    weight = [math.prod(x.shape[d + 1 :]) for d in range(len(x.shape))]
    total: Any = None
    for d in given:
        part = g.call(aten.mul.Tensor, _wrapped(g, indices[d], x.shape[d]), weight[d])
        part = _reshape(g, part, *part.shape, *[1] * len(after))
        total = part if total is None else g.call(aten.add.Tensor, total, part)
    others = torch.zeros([1] * rank, dtype=torch.int64)
    for place, d in [*enumerate(before), *((len(before) + len(joint) + k, d) for k, d in enumerate(after))]:
        shape = [1] * rank
        shape[place] = x.shape[d]
        others = others + (torch.arange(x.shape[d]) * weight[d]).reshape(shape)
    if plain:
        total = g.call(aten.add.Tensor, total, g.hold(others.contiguous()))
    size = (*(x.shape[d] for d in before), *joint, *(x.shape[d] for d in after))
    return _expand(g, total, size)


def _without_masks(g: Any, indices: list[Any], x: Tensor) -> list[Any] | None:
    """Boolean masks as index tensors, where another index says how many elements a mask must pick."""
    if not all(i is None or isinstance(i, Tensor) for i in indices):
        return None
    masks = [i for i in indices if i is not None and i.dtype in (torch.bool, torch.uint8)]
    if not masks:
        return indices
    counts = [i.shape[-1] for i in indices if i is not None and i not in masks and i.shape]
    if not counts or max(counts) <= 1 or any(len(m.shape) != 1 for m in masks):
        return None
    return [_places(g, i, max(counts)) if i in masks else i for i in indices]


def _places(g: Any, mask: Tensor, count: int) -> Tensor:
    """The places where a one-dimensional mask is true: place k has k trues before it; one true serves for every k."""
    ones = _cast(g, mask, torch.int64)
    upto = _reshape(g, g.call(aten.cumsum.default, ones, 0), 1, *mask.shape)
    last = g.call(aten.sub.Tensor, g.call(aten.sum.dim_IntList, ones, [0]), 1)
    which = g.call(aten.minimum.default, g.hold(torch.arange(count).reshape(count, 1)), last)
    before = g.call(aten.le.Tensor, upto, which)
    return g.call(aten.sum.dim_IntList, _cast(g, before, torch.int64), [1])  # type: ignore[no-any-return]


def index(g: Any, x: Any, indices: list[Any]) -> Any:
    """x[indices], at positions."""
    if not isinstance(x, Tensor) or 0 in x.shape:
        return None
    at = _positions(g, x, list(indices))
    return None if at is None or 0 in at.shape else _take_flat(g, x, at)


def index_put(g: Any, x: Any, indices: list[Any], values: Any, accumulate: bool = False) -> Any:
    """x[indices] := or += values, at positions; under one mask, a choice."""
    if not isinstance(x, Tensor) or not isinstance(values, Tensor):
        return None
    indices = list(indices)
    masks = [i for i in indices if isinstance(i, Tensor) and i.dtype in (torch.bool, torch.uint8)]
    if len(masks) == 1 and all(i is None for i in indices if i is not masks[0]):
        return _under_mask(g, x, indices.index(masks[0]), masks[0], values, accumulate)
    at = _positions(g, x, indices)
    return None if at is None else _put_flat(g, x, at, values, accumulate)


def _under_mask(g: Any, x: Tensor, dim: int, mask: Tensor, values: Tensor, accumulate: bool) -> Any:
    """x[:, mask] := values. The k-th true takes row k of values; where there is one row, every true takes it."""
    rank = len(mask.shape)
    rows_at = len(values.shape) - (len(x.shape) - dim - rank) - 1
    after = x.shape[dim + rank :]
    if 0 in x.shape:
        return x
    values = _cast(g, values, x.dtype)
    if rows_at >= 0 and values.shape[rows_at] != 1:
        if values.shape[rows_at] == 0:
            return x
        upto = g.call(aten.cumsum.default, _reshape(g, _cast(g, mask, torch.int64), math.prod(mask.shape)), 0)
        row = g.call(aten.clamp.default, g.call(aten.sub.Tensor, upto, 1), 0, values.shape[rows_at] - 1)
        values = g.call(aten.index_select.default, values, rows_at, row)
        values = _reshape(g, values, *values.shape[:rows_at], *mask.shape, *values.shape[rows_at + 1 :])
    elif rows_at >= 0:
        values = _reshape(g, values, *values.shape[:rows_at], *[1] * rank, *values.shape[rows_at + 1 :])
    wide = _reshape(g, _cast(g, mask, torch.bool), *mask.shape, *[1] * len(after))
    new = _expand(g, values, x.shape)
    return g.call(aten.where.self, wide, g.call(aten.add.Tensor, x, new) if accumulate else new, x)


def _along(dim: int, at: Any, rank: int) -> list[Any]:
    return [None] * (dim % max(rank, 1)) + [at]


def _index_rule(accumulate: bool) -> Callable[..., Any]:
    def rule(g: Any, x: Any, dim: int, at: Any, src: Any, *, alpha: Any = 1) -> Any:
        if not all(isinstance(t, Tensor) for t in (x, at, src)) or not x.shape:
            return None
        at = _reshape(g, at, max(1, math.prod(at.shape))) if not at.shape else at
        if alpha != 1:
            src = g.call(aten.mul.Tensor, src, alpha)
        return index_put(g, x, _along(dim, at, len(x.shape)), src, accumulate)

    return rule


def index_fill(g: Any, x: Any, dim: int, at: Any, value: Any) -> Any:
    """x[.., i, ..] := value"""
    if not isinstance(x, Tensor) or not isinstance(at, Tensor) or not x.shape:
        return None
    value = value if isinstance(value, Tensor) else _full(g, value, x.dtype)
    at = _reshape(g, at, 1) if not at.shape else at
    return index_put(g, x, _along(dim, at, len(x.shape)), value)


def scatter_add(g: Any, x: Any, dim: int, at: Any, src: Any) -> Any:
    """x[.., i[k], ..] += src[k], at positions."""
    if not all(isinstance(t, Tensor) for t in (x, at, src)) or not x.shape or 0 in at.shape:
        return None
    dim %= len(x.shape)
    weight = [math.prod(x.shape[d + 1 :]) for d in range(len(x.shape))]
    others = torch.zeros([1] * len(at.shape), dtype=torch.int64)
    for d, n in enumerate(at.shape):
        if d != dim:
            shape = [1] * len(at.shape)
            shape[d] = n
            others = others + (torch.arange(n) * weight[d]).reshape(shape)
    total = g.call(aten.mul.Tensor, at, weight[dim])
    total = g.call(aten.add.Tensor, total, g.hold(others.contiguous()))
    for d, n in enumerate(at.shape):
        src = slice_(g, src, d, 0, n) or src
    return _put_flat(g, x, total, src, True)


def put(g: Any, x: Any, at: Any, src: Any, accumulate: bool = False) -> Any:
    """x.flatten()[at] := or += src"""
    if not all(isinstance(t, Tensor) for t in (x, at, src)):
        return None
    at = _wrapped(g, at, math.prod(x.shape))
    return _put_flat(g, x, at, _reshape(g, src, *at.shape), accumulate)


# ---------------------------------------------------------------------- masks and content
def masked_fill(g: Any, x: Any, mask: Any, value: Any) -> Any:
    """where(mask, value, x)"""
    if not isinstance(x, Tensor) or not isinstance(mask, Tensor):
        return None
    value = _cast(g, value, x.dtype) if isinstance(value, Tensor) else _full(g, value, x.dtype)
    return g.call(aten.where.self, mask, value, x)


def masked_scatter(g: Any, x: Any, mask: Any, src: Any) -> Any:
    """The k-th true of mask takes element k of src."""
    if not all(isinstance(t, Tensor) for t in (x, mask, src)) or 0 in x.shape:
        return None
    mask = _expand(g, mask, x.shape)
    flat = _reshape(g, src, math.prod(src.shape))
    return _under_mask(g, x, 0, mask, slice_(g, flat, 0, 0, math.prod(x.shape)) or flat, False)


def copy(g: Any, x: Any, src: Any, non_blocking: bool = False) -> Any:
    """src in x's shape and dtype"""
    if not isinstance(x, Tensor) or not isinstance(src, Tensor):
        return None
    made = _expand(g, _cast(g, src, x.dtype), x.shape)
    return made if made is not src else g.call(aten.clone.default, src)


def fill(g: Any, x: Any, value: Any) -> Any:
    """x's shape and dtype, full of value"""
    if not isinstance(x, Tensor):
        return None
    if isinstance(value, Tensor):
        return _expand(g, _cast(g, value, x.dtype), x.shape)
    return g.call(aten.full.default, list(x.shape), value, dtype=x.dtype)


def view(g: Any, x: Any, size: Any) -> Any:
    """A reshape: what a rule makes need not lie in memory as what it stands for, and `view` asks for that."""
    return g.call(aten.reshape.default, x, size) if not isinstance(size, torch.dtype) else None


def _scaled(op: Any) -> Callable[..., Any]:
    """x + alpha * y with the product written out: the importer forgets alpha."""

    def rule(g: Any, x: Any, y: Any, *, alpha: Any = 1) -> Any:
        if alpha == 1:
            return None
        return g.call(op, x, y * alpha if isinstance(y, (int, float)) else g.call(aten.mul.Tensor, y, alpha))

    return rule


RULES: dict[Any, Callable[..., Any]] = {
    aten.add.Tensor: _scaled(aten.add.Tensor),
    aten.sub.Tensor: _scaled(aten.sub.Tensor),
    aten.select.int: select,
    aten.slice.Tensor: slice_,
    aten.slice_scatter.default: slice_scatter,
    aten.select_scatter.default: _scatter(torch.select),
    aten.diagonal_scatter.default: _scatter(torch.diagonal),
    aten.as_strided_scatter.default: _scatter(torch.as_strided),
    aten.unfold.default: _gather(lambda p, *a: p.unfold(*a)),
    aten.as_strided.default: _gather(torch.as_strided),
    aten.view.default: view,
    aten._unsafe_view.default: view,
    aten.index.Tensor: index,
    aten.index_put.default: index_put,
    aten._unsafe_index_put.default: index_put,
    aten.index_copy.default: _index_rule(accumulate=False),
    aten.index_add.default: _index_rule(accumulate=True),
    aten.index_fill.int_Scalar: index_fill,
    aten.index_fill.int_Tensor: index_fill,
    aten.scatter_add.default: scatter_add,
    aten.put.default: put,
    aten.masked_fill.Scalar: masked_fill,
    aten.masked_fill.Tensor: masked_fill,
    aten.masked_scatter.default: masked_scatter,
    aten.copy.default: copy,
    aten.fill.Scalar: fill,
    aten.fill.Tensor: fill,
}
