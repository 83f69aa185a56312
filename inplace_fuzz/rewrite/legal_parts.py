"""What legalisation rules are made of, and the rules of views and of writes at constant positions.

Nearly everything rests on two forms that every compiler gets right. What is written at positions that depend on content
is a one-dimensional put on the flattened tensor, at positions that are computed by plain arithmetic:

    x[i, :, j] = y        flat = x.reshape(-1)
                          at   = wrap(i)[:, None] * 12 + arange(3) * 4 + wrap(j)[:, None]
                          x    = put(flat, at.reshape(-1), y.expand(..).reshape(-1)).reshape(x.shape)

What is written at constant positions is a choice between old and new elements, read at constant positions:

    x[1:, 0] = y          x = index_select(cat([x.reshape(-1), y.reshape(-1)]), 0, [0, 1, 6, 3, 7, 5]).reshape(x.shape)

A table says which put its compiler gets right (`PUT`), and whether the choice is needed (`CHOOSE`).
"""


# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .legal import Tensor

aten = torch.ops.aten
# Keys of a table that are no operators.
PUT = "put"
CHOOSE = "choose"


# ---------------------------------------------------------------------- small words
def reshape(g: Any, x: Tensor, *size: int) -> Tensor:
    return x if x.shape == size else g.call(aten.reshape.default, x, list(size))


def expand(g: Any, x: Tensor, size: tuple[int, ...]) -> Tensor:
    return x if x.shape == size else g.call(aten.expand.default, x, list(size))


def cast(g: Any, x: Tensor, dtype: torch.dtype) -> Tensor:
    return x if x.dtype == dtype else g.call(aten._to_copy.default, x, dtype=dtype)


def full(g: Any, value: Any, dtype: torch.dtype) -> Tensor:
    return g.call(aten.full.default, [], value, dtype=dtype)  # type: ignore[no-any-return]


def wrapped(g: Any, index: Tensor, size: int) -> Tensor:
    """Negative indices counted from the front."""
    index = cast(g, index, torch.int64)
    below = g.call(aten.lt.Scalar, index, 0)
    return g.call(aten.where.self, below, g.call(aten.add.Tensor, index, size), index)  # type: ignore[no-any-return]


def put_flat(g: Any, x: Tensor, at: Tensor, values: Tensor, accumulate: bool = False) -> Tensor:
    """x.flatten()[at] := values, or +=."""
    n = math.prod(at.shape)
    if n == 0 or math.prod(x.shape) == 0:
        return x
    values = reshape(g, expand(g, cast(g, values, x.dtype), at.shape), n)
    flat = reshape(g, x, math.prod(x.shape))
    made = g.rules.get(PUT, by_index_put)(g, flat, reshape(g, at, n), values, accumulate)
    return reshape(g, made, *x.shape)


def by_index_put(g: Any, flat: Tensor, at: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """index_put(flat, [at], values)"""
    return g.call(aten.index_put.default, flat, [at], values, accumulate)  # type: ignore[no-any-return]


def by_scatter(g: Any, flat: Tensor, at: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """scatter(flat, 0, at, values), which is defined where no position comes twice with different values"""
    return g.call(aten.scatter_add.default if accumulate else aten.scatter.src, flat, 0, at, values)  # type: ignore[no-any-return]


def put_constant(g: Any, x: Tensor, at: torch.Tensor, values: Tensor) -> Tensor:
    """x.flatten()[at] := values, where `at` is known and no position comes twice."""
    if CHOOSE not in g.rules:
        return put_flat(g, x, g.hold(at), values)
    old, new = math.prod(x.shape), at.numel()
    if new == 0 or old == 0:
        return x
    from_ = torch.arange(old)
    from_[at.reshape(-1)] = torch.arange(new) + old
    values = expand(g, cast(g, values, x.dtype), tuple(at.shape))
    both = g.call(aten.cat.default, [reshape(g, x, old), reshape(g, values, new)])
    return reshape(g, g.call(aten.index_select.default, both, 0, g.hold(from_)), *x.shape)


def seen_through(look: Callable[[torch.Tensor], torch.Tensor], x: Tensor) -> torch.Tensor:
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
        return expand(g, cast(g, src, x.dtype), x.shape)
    if step == 1 and CHOOSE not in g.rules:
        return g.call(aten.slice_scatter.default, x, cast(g, src, x.dtype), dim, first, last, 1)
    look = (slice(None),) * dim + (slice(first, last, step),)
    return put_constant(g, x, seen_through(lambda p: p[look], x), src)


def along_view(view: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """A scatter along a view of constant arguments: put at the positions that the view shows."""

    def rule(g: Any, x: Any, src: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            not isinstance(x, Tensor)
            or not isinstance(src, Tensor)
            or not constant(args)
            or not constant(kwargs.values())
        ):
            return None
        return put_constant(g, x, seen_through(lambda p: view(p, *args, **kwargs), x), src)

    return rule


def constant(args: Any) -> bool:
    return all(isinstance(a, (int, type(None))) or (isinstance(a, (list, tuple)) and constant(a)) for a in args)


def through_view(view: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """A view of constant arguments, read at the positions that it shows."""

    def rule(g: Any, x: Any, *args: Any) -> Any:
        if not isinstance(x, Tensor) or not constant(args) or 0 in x.shape:
            return None
        return take_flat(g, x, g.hold(seen_through(lambda p: view(p, *args), x)))

    return rule


def stored_at(x: Tensor) -> torch.Tensor:
    """For each place of the memory of x up to its last, the position in x.flatten() that lies there, or -1."""
    shape, strides, first = x.shape, x.meta.stride(), int(x.meta.storage_offset())
    span = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    places = torch.full((first + span,), -1)
    places[torch.arange(first + span).as_strided(shape, strides, first).reshape(-1)] = torch.arange(math.prod(shape))
    return places


def as_strided(g: Any, x: Any, size: Any, stride: Any, offset: Any = None) -> Any:
    """The elements of x that as_strided finds in x's memory, in whatever order they lie."""
    at = _strided_positions(x, size, stride, offset)
    return None if at is None else take_flat(g, x, g.hold(at))


def as_strided_scatter(g: Any, x: Any, src: Any, size: Any, stride: Any, offset: Any = None) -> Any:
    """A scatter to the elements of x that as_strided finds in x's memory."""
    at = _strided_positions(x, size, stride, offset)
    if at is None or not isinstance(src, Tensor) or at.unique().numel() < at.numel():
        return None
    return put_constant(g, x, at, src)


def _strided_positions(x: Any, size: Any, stride: Any, offset: Any) -> torch.Tensor | None:
    if not isinstance(x, Tensor) or not constant((size, stride, offset)) or 0 in x.shape:
        return None
    first = x.meta.storage_offset() if offset is None else offset
    try:
        at = stored_at(x).as_strided(size, stride, first).contiguous()
    except RuntimeError:  # past the elements of x: only the caller's storage has them
        return None
    return None if (at < 0).any() else at


def take_flat(g: Any, x: Tensor, at: Tensor) -> Tensor:
    """x.flatten()[at]."""
    flat = reshape(g, x, math.prod(x.shape))
    taken = g.call(aten.index_select.default, flat, 0, reshape(g, at, math.prod(at.shape)))
    return reshape(g, taken, *at.shape)
