"""The legalisation rules that the tables of several compilers have in common, by operator."""

# ruff: noqa: ARG001  (the functions of one table take the same arguments)
# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from .legal import Tensor
from .legal_indices import (
    along_dim,
    index,
    index_fill,
    index_put,
    index_reduce,
    masked_fill,
    masked_scatter,
    put,
    scatter_add,
)
from .legal_parts import (
    along_view,
    as_strided,
    as_strided_scatter,
    cast,
    expand,
    select,
    slice_,
    slice_scatter,
    through_view,
)

aten = torch.ops.aten


def copy(g: Any, x: Any, src: Any, non_blocking: bool = False) -> Any:
    """src in x's shape and dtype"""
    if not isinstance(x, Tensor) or not isinstance(src, Tensor):
        return None
    made = expand(g, cast(g, src, x.dtype), x.shape)
    return made if made is not src else g.call(aten.clone.default, src)


def fill(g: Any, x: Any, value: Any) -> Any:
    """x's shape and dtype, full of value"""
    if not isinstance(x, Tensor):
        return None
    if isinstance(value, Tensor):
        return expand(g, cast(g, value, x.dtype), x.shape)
    return g.call(aten.full.default, list(x.shape), value, dtype=x.dtype)


def view(g: Any, x: Any, size: Any) -> Any:
    """A reshape: what a rule makes need not lie in memory as what it stands for, and `view` asks for that."""
    return g.call(aten.reshape.default, x, size) if not isinstance(size, torch.dtype) else None


def scaled(op: Any) -> Callable[..., Any]:
    """x + alpha * y with the product written out: the importer forgets alpha."""

    def rule(g: Any, x: Any, y: Any, *, alpha: Any = 1) -> Any:
        if alpha == 1:
            return None
        return g.call(op, x, y * alpha if isinstance(y, (int, float)) else g.call(aten.mul.Tensor, y, alpha))

    return rule


def widened(
    op: Any, narrow: Mapping[torch.dtype, torch.dtype], rule: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """op in a wider dtype and cast back, where there is no kernel for the narrow one. Exact: what fits, fits."""

    def wide_of(g: Any, value: Any) -> Any:
        if isinstance(value, Tensor) and value.dtype in narrow:
            return cast(g, value, narrow[value.dtype])
        if isinstance(value, (list, tuple)):
            return type(value)(wide_of(g, v) for v in value)
        return value

    def widen(g: Any, *args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(t, Tensor) and t.dtype in narrow for t in leaves(args)):
            return rule(g, *args, **kwargs) if rule else None
        plain = g.meta(op, *args, **kwargs)
        if plain is None:
            return None
        wide = wide_of(g, args)
        made = rule(g, *wide, **kwargs) if rule else None
        made = g.call(op, *wide, **kwargs) if made is None else made
        return cast(g, made, plain.dtype) if isinstance(made, Tensor) else made

    return widen


def leaves(value: Any) -> list[Any]:
    """The arguments in lists and tuples, one by one."""
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (list, tuple)) else [value]


def same(g: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """x itself: a copy, in a graph that writes nothing."""
    return x


def full_like(g: Any, x: Any, value: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    """full in x's shape"""
    if not isinstance(x, Tensor) or isinstance(value, Tensor):
        return None
    return g.call(aten.full.default, list(x.shape), value, dtype=dtype or x.dtype)


def as_op(other: Any) -> Callable[..., Any]:
    """Another operator that does the same to the same arguments."""
    return lambda g, *args, **kwargs: g.call(other, *args, **kwargs)


def relu(g: Any, x: Any) -> Any:
    """x, at least 0"""
    return g.call(aten.clamp_min.default, x, 0)


def matrix_transpose(g: Any, x: Any) -> Any:
    """x with its last two dimensions swapped"""
    return g.call(aten.transpose.int, x, -2, -1)


def totalled(op: Any) -> Callable[..., Any]:
    """A sum of whole numbers, in int64 from the start: not every importer knows that it is counted there."""

    def rule(g: Any, x: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if not isinstance(x, Tensor) or dtype is not None or x.dtype.is_floating_point or x.dtype is torch.int64:
            return None
        return g.call(op, cast(g, x, torch.int64), *args, **kwargs)

    return rule


def pieces(op: Any) -> Callable[..., Any]:
    """split, chunk and the like as slices, one after the other; unbind as selects."""

    def rule(g: Any, x: Any, *args: Any) -> Any:
        if not isinstance(x, Tensor):
            return None
        dim = (args[0] if args else 0) if op is aten.unbind.int else (args[1] if len(args) > 1 else 0)
        parts = op(x.meta, *args)
        if op is aten.unbind.int:
            return [g.call(aten.select.int, x, dim, k) for k in range(len(parts))]
        made, at = [], 0
        for part in parts:
            made.append(slice_(g, x, dim, at, at + part.shape[dim]))
            at += part.shape[dim]
        return made

    return rule


def item(g: Any, values: Any, k: Any) -> Any:
    """An element of what a rule has made a list of."""
    return values[k] if isinstance(values, list) else None


def each(op: Any) -> Callable[..., Any]:
    """A `_foreach_` operator, tensor by tensor."""

    def rule(g: Any, xs: Any, *others: Any, **kwargs: Any) -> Any:
        rows = [[o[k] if isinstance(o, (list, tuple)) else o for o in others] for k in range(len(xs))]
        return [g.call(op, x, *row, **kwargs) for x, row in zip(xs, rows, strict=True)]

    return rule


def widening(
    ops: Iterable[Any], narrow: Mapping[torch.dtype, torch.dtype], rules: Mapping[Any, Any]
) -> dict[Any, Callable[..., Any]]:
    """`rules`, and `ops` in wider dtypes, after their own rule where they have one."""
    return {**rules, **{op: widened(op, narrow, rules.get(op)) for op in ops}}


# What computes, rather than moves elements.
ARITHMETIC = (
    *(getattr(getattr(aten, name), kind) for name in ("add", "sub", "mul") for kind in ("Tensor", "Scalar")),
    *(
        getattr(getattr(aten, name), kind)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
        for kind in ("Tensor", "Scalar")
    ),
    *(getattr(aten, name).default for name in ("neg", "abs", "sign", "relu", "square", "maximum", "minimum", "clamp")),
    *(getattr(aten, name).default for name in ("clamp_min", "clamp_max", "cumsum", "amax", "amin", "sum")),
    aten.rsub.Scalar,
    aten.rsub.Tensor,
    aten.sum.dim_IntList,
    aten.remainder.Scalar,
    aten.remainder.Tensor,
    aten.where.self,
)
# What says of a graph that writes nothing only that memory is not shared, or is.
COPIES = {
    aten.clone.default: same,
    aten.alias.default: same,
    aten.detach.default: same,
    aten.lift_fresh_copy.default: same,
    # What a graph that was drawn up for these shapes checks again.
    aten._assert_tensor_metadata.default: same,
    aten._assert_scalar.default: same,
}

# Views that not every front end has.
VIEWS = {aten.diagonal.default: through_view(torch.diagonal)}
PIECES = (
    aten.split.Tensor,
    aten.split.sizes,
    aten.split_with_sizes.default,
    aten.chunk.default,
    aten.tensor_split.sections,
    aten.unbind.int,
)
EACH = (
    *((name, kind, "Tensor") for name in ("add", "sub", "mul") for kind in ("List", "Scalar")),
    ("neg", "default", "default"),
    ("abs", "default", "default"),
)
# What most compilers refuse or get wrong in one way or another.
COMMON: dict[Any, Callable[..., Any]] = {
    aten.select.int: select,
    aten.slice.Tensor: slice_,
    aten.slice_scatter.default: slice_scatter,
    aten.select_scatter.default: along_view(torch.select),
    aten.diagonal_scatter.default: along_view(torch.diagonal),
    aten.as_strided_scatter.default: as_strided_scatter,
    aten.unfold.default: through_view(lambda p, *a: p.unfold(*a)),
    aten.as_strided.default: as_strided,
    aten.view.default: view,
    aten._unsafe_view.default: view,
    aten.index.Tensor: index,
    aten.index_put.default: index_put,
    aten._unsafe_index_put.default: index_put,
    aten.index_copy.default: along_dim(accumulate=False),
    aten.index_add.default: along_dim(accumulate=True),
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
    aten.index_reduce.default: index_reduce,
    # What a person spells in another way.
    aten.relu.default: relu,
    aten.mT.default: matrix_transpose,
    aten.__and__.Tensor: as_op(aten.bitwise_and.Tensor),
    aten.__or__.Tensor: as_op(aten.bitwise_or.Tensor),
    aten.__xor__.Tensor: as_op(aten.bitwise_xor.Tensor),
    aten.__and__.Scalar: as_op(aten.bitwise_and.Scalar),
    aten.__or__.Scalar: as_op(aten.bitwise_or.Scalar),
    aten.__xor__.Scalar: as_op(aten.bitwise_xor.Scalar),
    aten.sum.default: totalled(aten.sum.default),
    aten.sum.dim_IntList: totalled(aten.sum.dim_IntList),
    aten.cumsum.default: totalled(aten.cumsum.default),
    # Lists.
    operator.getitem: item,
    **{op: pieces(op) for op in PIECES},
    **{getattr(getattr(aten, f"_foreach_{n}"), k): each(getattr(getattr(aten, n), o)) for n, k, o in EACH},
}
# For a compiler that needs no more.
PASSES = ({**COMMON, **COPIES},)
