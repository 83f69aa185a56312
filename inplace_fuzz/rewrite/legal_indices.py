"""Legalisation of reads and writes at positions that depend on content, and under masks."""

# ruff: noqa: ARG001  (the functions of one table take the same arguments)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from .legal import Tensor
from .legal_parts import cast, expand, full, put_flat, reshape, slice_, take_flat, wrapped

aten = torch.ops.aten


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
        part = g.call(aten.mul.Tensor, wrapped(g, indices[d], x.shape[d]), weight[d])
        part = reshape(g, part, *part.shape, *[1] * len(after))
        total = part if total is None else g.call(aten.add.Tensor, total, part)
    others = torch.zeros([1] * rank, dtype=torch.int64)
    for place, d in [*enumerate(before), *((len(before) + len(joint) + k, d) for k, d in enumerate(after))]:
        shape = [1] * rank
        shape[place] = x.shape[d]
        others = others + (torch.arange(x.shape[d]) * weight[d]).reshape(shape)
    if plain:
        total = g.call(aten.add.Tensor, total, g.hold(others.contiguous()))
    size = (*(x.shape[d] for d in before), *joint, *(x.shape[d] for d in after))
    return expand(g, total, size)


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
    ones = cast(g, mask, torch.int64)
    upto = reshape(g, g.call(aten.cumsum.default, ones, 0), 1, *mask.shape)
    last = g.call(aten.sub.Tensor, g.call(aten.sum.dim_IntList, ones, [0]), 1)
    which = g.call(aten.minimum.default, g.hold(torch.arange(count).reshape(count, 1)), last)
    before = g.call(aten.le.Tensor, upto, which)
    return g.call(aten.sum.dim_IntList, cast(g, before, torch.int64), [1])  # type: ignore[no-any-return]


def index(g: Any, x: Any, indices: list[Any]) -> Any:
    """x[indices], at positions."""
    if not isinstance(x, Tensor) or 0 in x.shape:
        return None
    at = _positions(g, x, list(indices))
    return None if at is None or 0 in at.shape else take_flat(g, x, at)


def index_put(g: Any, x: Any, indices: list[Any], values: Any, accumulate: bool = False) -> Any:
    """x[indices] := or += values, at positions; under one mask, a choice."""
    if not isinstance(x, Tensor) or not isinstance(values, Tensor):
        return None
    indices = list(indices)
    masks = [i for i in indices if isinstance(i, Tensor) and i.dtype in (torch.bool, torch.uint8)]
    if len(masks) == 1 and all(i is None for i in indices if i is not masks[0]):
        return _under_mask(g, x, indices.index(masks[0]), masks[0], values, accumulate)
    at = _positions(g, x, indices)
    return None if at is None else put_flat(g, x, at, values, accumulate)


def _under_mask(g: Any, x: Tensor, dim: int, mask: Tensor, values: Tensor, accumulate: bool) -> Any:
    """x[:, mask] := values. The k-th true takes row k of values; where there is one row, every true takes it."""
    rank = len(mask.shape)
    rows_at = len(values.shape) - (len(x.shape) - dim - rank) - 1
    after = x.shape[dim + rank :]
    if 0 in x.shape:
        return x
    values = cast(g, values, x.dtype)
    if rows_at >= 0 and values.shape[rows_at] != 1:
        if values.shape[rows_at] == 0:
            return x
        upto = g.call(aten.cumsum.default, reshape(g, cast(g, mask, torch.int64), math.prod(mask.shape)), 0)
        row = g.call(aten.clamp.default, g.call(aten.sub.Tensor, upto, 1), 0, values.shape[rows_at] - 1)
        values = g.call(aten.index_select.default, values, rows_at, row)
        values = reshape(g, values, *values.shape[:rows_at], *mask.shape, *values.shape[rows_at + 1 :])
    elif rows_at >= 0:
        values = reshape(g, values, *values.shape[:rows_at], *[1] * rank, *values.shape[rows_at + 1 :])
    wide = reshape(g, cast(g, mask, torch.bool), *mask.shape, *[1] * len(after))
    new = expand(g, values, x.shape)
    return g.call(aten.where.self, wide, g.call(aten.add.Tensor, x, new) if accumulate else new, x)


def _along(dim: int, at: Any, rank: int) -> list[Any]:
    return [None] * (dim % max(rank, 1)) + [at]


def along_dim(accumulate: bool) -> Callable[..., Any]:
    def rule(g: Any, x: Any, dim: int, at: Any, src: Any, *, alpha: Any = 1) -> Any:
        if not all(isinstance(t, Tensor) for t in (x, at, src)) or not x.shape:
            return None
        at = reshape(g, at, max(1, math.prod(at.shape))) if not at.shape else at
        if alpha != 1:
            src = g.call(aten.mul.Tensor, src, alpha)
        return index_put(g, x, _along(dim, at, len(x.shape)), src, accumulate)

    return rule


def index_fill(g: Any, x: Any, dim: int, at: Any, value: Any) -> Any:
    """x[.., i, ..] := value"""
    if not isinstance(x, Tensor) or not isinstance(at, Tensor) or not x.shape:
        return None
    value = value if isinstance(value, Tensor) else full(g, value, x.dtype)
    at = reshape(g, at, 1) if not at.shape else at
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
    return put_flat(g, x, total, src, True)


def put(g: Any, x: Any, at: Any, src: Any, accumulate: bool = False) -> Any:
    """x.flatten()[at] := or += src"""
    if not all(isinstance(t, Tensor) for t in (x, at, src)):
        return None
    at = wrapped(g, at, math.prod(x.shape))
    return put_flat(g, x, at, reshape(g, src, *at.shape), accumulate)


# ---------------------------------------------------------------------- masks and content
def masked_fill(g: Any, x: Any, mask: Any, value: Any) -> Any:
    """where(mask, value, x)"""
    if not isinstance(x, Tensor) or not isinstance(mask, Tensor):
        return None
    value = cast(g, value, x.dtype) if isinstance(value, Tensor) else full(g, value, x.dtype)
    return g.call(aten.where.self, mask, value, x)


def masked_scatter(g: Any, x: Any, mask: Any, src: Any) -> Any:
    """The k-th true of mask takes element k of src."""
    if not all(isinstance(t, Tensor) for t in (x, mask, src)) or 0 in x.shape:
        return None
    mask = expand(g, mask, x.shape)
    flat = reshape(g, src, math.prod(src.shape))
    return _under_mask(g, x, 0, mask, slice_(g, flat, 0, 0, math.prod(x.shape)) or flat, False)


_COMBINE = {"amax": aten.maximum.default, "amin": aten.minimum.default, "prod": aten.mul.Tensor}


def index_reduce(g: Any, x: Any, dim: int, at: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """One entry of the index after the other: x[.., i[k], ..] := op(x[.., i[k], ..], src[.., k, ..])."""
    if (
        not all(isinstance(t, Tensor) for t in (x, at, src))
        or reduce not in _COMBINE
        or not include_self
        or not x.shape
    ):
        return None
    at = reshape(g, at, 1) if not at.shape else at
    if 0 in x.shape or at.shape[0] > _LONG:
        return x if 0 in x.shape else None
    dim %= len(x.shape)
    for k in range(at.shape[0]):
        here = slice_(g, at, 0, k, k + 1)
        new = slice_(g, src, dim, k, k + 1)
        old = g.call(aten.index_select.default, x, dim, here)
        x = index_put(g, x, _along(dim, here, len(x.shape)), g.call(_COMBINE[reduce], old, new))
    return x


_LONG = 16
