"""The table of writes: what an in-place operator makes of the tensor it is called on.

A write row is legal when its result has the shape and dtype of `self` and the elements that the in-place operator
would leave there. In place means: compute in the promoted type, then cast to self's; expand the source to self's
shape; never widen self.

Most rows name the pure twin, which takes the same arguments. `cast` says when the twin's dtype can differ from
self's: "never", "tensors" (only a tensor argument can promote: eager refuses scalars that would), or "always".
"""

# ruff: noqa: ARG001, ARG005  (the functions of one table take the same arguments)

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from .ir import INT, INTS, Builder, Value


@dataclasses.dataclass(frozen=True)
class Write:
    """One row. `new` is the pure twin's name, or a function (g, self, *args) -> the new content of self."""

    kind: str
    new: str | Callable[..., Value]
    cast: str = "never"

    @property
    def relaid(self) -> bool:
        """The twin's result can lie in memory otherwise than self: seen on a transposed tensor."""
        return self.kind in _RELAID

    def content(self, g: Builder, kind: str, self_: Value, args: list[Value]) -> Value:
        if not isinstance(self.new, str):
            return self.new(g, self_, *args)
        overload = kind.partition(".")[1:]
        value = g.call(self.new + "".join(overload), (self_, *args))
        if self.cast == "always" or (self.cast == "tensors" and any(_is_tensor(a) for a in args if a is not self_)):
            return cast_like(g, value, self_)
        return value


_RELAID = frozenset(
    [
        "aten::addmm_",
        "aten::cumprod_",
        "aten::cumsum_",
        "aten::index_add_",
        "aten::index_copy_",
        "aten::index_reduce_",
        "aten::masked_fill_",
        "aten::masked_scatter_",
        "aten::mvlgamma_",
        "aten::renorm_",
        "aten::scatter_",
        "aten::scatter_add_",
        "aten::scatter_reduce_",
        "aten::tril_",
        "aten::triu_",
        "aten::fill_diagonal_",
        "aten::addbmm_",
        "aten::baddbmm_",
    ]
)


def _is_tensor(value: Value) -> bool:
    return value.type is None and value.py is not None


def cast_like(g: Builder, value: Value, self_: Value) -> Value:
    return g.op("aten::type_as", [value, self_], fresh=value.fresh)


def copied(g: Builder, self_: Value, src: Value, non_blocking: Any = None) -> Value:
    """src in self's shape and dtype."""
    return cast_like(g, g.expand_as(src, self_), self_)


def _fill_diagonal(g: Builder, self_: Value, value: Value, wrap: Value) -> Value:
    """self.flatten()[k * (sum of contiguous strides)] := value; without wrap, only the first min(size) of them."""
    none, device = g.const(None), g.call("prim::device", (self_,))
    flat = g.reshape(g.call("aten::arange", (g.numel(self_), none, none, device, none)), g.size(self_))
    step = g.call("aten::sum", (g.call("aten::stride", (flat,), INTS),), INT)
    mask = g.eq(g.remainder(flat, step), 0)
    if wrap.py is not True:
        limit = g.call("aten::mul", (step, g.call("prim::min", (g.size(self_),), INT)), INT)
        mask = g.logical_and(mask, g.lt(flat, limit))
    return g.masked_fill(self_, mask, value)


def _dropout(g: Builder, self_: Value, p: Value, train: Value) -> Value:
    if train.py is not False:
        raise LookupError("dropout_ while training draws its mask in an order of its own")
    return self_


def _twins(names: str, cast: str) -> Iterator[Write]:
    for name in names.split():
        yield Write(f"aten::{name}_", f"aten::{name}", cast)


# fmt: off
WRITES: tuple[Write, ...] = (
    # ---- self takes given content
    Write("aten::copy_", copied),                                                   # self[:] := src
    Write("aten::fill_", "aten::fill"),                                             # self[:] := value
    Write("aten::zero_", lambda g, self: g.zeros_like(self, None, None, None, None, None)),    # self[:] := 0
    Write("aten::masked_fill_", "aten::masked_fill"),                               # self[mask] := value
    Write("aten::masked_scatter_", "aten::masked_scatter"),                         # self[mask] := src.flatten()[:n]
    Write("aten::index_put_", "aten::index_put"),                                   # self[i, ...] := or += values
    Write("aten::_index_put_impl_", lambda g, self, i, v, acc, unsafe: g.index_put(self, i, v, acc)),
    Write("aten::index_fill_", "aten::index_fill"),                                 # self[.., i, ..] := value
    Write("aten::index_copy_", "aten::index_copy"),                                 # self[.., i, ..] := src
    Write("aten::index_add_", "aten::index_add"),                                   # self[.., i, ..] += alpha * src
    Write("aten::index_reduce_", "aten::index_reduce"),                             # self[.., i, ..] := reduce(.., src)
    Write("aten::scatter_", "aten::scatter"),                                       # self[.., i[k], ..] := src[k]
    Write("aten::scatter_add_", "aten::scatter_add"),                               # self[.., i[k], ..] += src[k]
    Write("aten::scatter_reduce_", "aten::scatter_reduce"),
    Write("aten::fill_diagonal_", _fill_diagonal),                                  # self[i, i, ...] := value
    Write("aten::put_", "aten::put"),                                               # self.flatten()[i] := or += src
    # ---- arithmetic: a tensor argument can promote, in place casts back
    *_twins("""add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow float_power atan2
               arctan2 copysign hypot ldexp xlogy heaviside nextafter gcd lcm lerp addcmul addcdiv igamma igammac
               logit clamp clamp_min clamp_max clip bitwise_and bitwise_or bitwise_xor bitwise_left_shift
               bitwise_right_shift""", "tensors"),
    # ---- one argument, dtype kept
    *_twins("""abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil celu
               conj_physical cos cosh deg2rad digamma elu erf erfc erfinv exp exp2 expm1 fix floor frac gelu
               hardsigmoid hardswish hardtanh i0 leaky_relu lgamma log log10 log1p log2 mish mvlgamma nan_to_num
               neg negative polygamma rad2deg reciprocal relu relu6 renorm round rsqrt selu sgn sigmoid sign silu sin
               sinc sinh sqrt square tan tanh threshold tril triu trunc bitwise_not""", "never"),
    *_twins("cumsum cumprod", "always"),
    Write("aten::__iand__", "aten::__and__"),                                       # self &= other
    Write("aten::__ior__", "aten::__or__"),                                         # self |= other
    Write("aten::__ixor__", "aten::__xor__"),                                       # self ^= other
    Write("aten::__ilshift__", "aten::__lshift__"),                                 # self <<= other
    Write("aten::__irshift__", "aten::__rshift__"),                                 # self >>= other
    Write("aten::dropout_", _dropout),                                              # in eval: self
    # ---- comparison and logic: the twin gives bool, in place keeps self's dtype
    *_twins("""eq ne gt ge lt le greater greater_equal less less_equal not_equal logical_and logical_or logical_xor
               logical_not""", "always"),
    # ---- matrix products added in place
    *_twins("addmm addmv addr addbmm baddbmm", "never"),
    # ---- random content, drawn in the order of the program
    *_twins("bernoulli cauchy exponential geometric log_normal random uniform", "never"),
    Write("aten::normal_", "aten::normal_functional"),
)
# fmt: on
