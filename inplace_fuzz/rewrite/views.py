"""The table of views: how a base is rebuilt from a written view of it.

A view row is legal when `put(b, show(b))` is `b` and `show(put(b, w))` is `w`: what was written is seen, and nothing
else moved. Neither needs a rank or a size known in advance; where a size is needed it is read from `b` in the graph.

    b        content of what the view was taken from        w    new content of the view, in the view's shape
    *args    the view's own arguments, in schema order, as values of the graph
"""

# ruff: noqa: ARG001, ARG002, ARG005  (the functions of one table take the same arguments)

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .ir import INT, NOT_CONSTANT, Builder, Value, is_int

Put = Callable[..., Value]


@dataclasses.dataclass(frozen=True)
class View:
    """One row. `put=None`: can be read again after a write, not written through.

    make:       turns the call into another row and arguments (`narrow` is a slice); gets (g, *args)
    maybe:      a view or a copy, depending on strides or dtypes at run time
    complex:    does something to a complex tensor alone; a real one it gives back as it is
    one_to_one: no element of the base shows twice, so what is written is exactly what is seen after; where one may,
                a part of the view is put back by the positions of that part alone (`Memory.write`)
    storage:    looks at the whole storage of the base, whatever it is called on
    """

    kind: str
    put: Put | None
    make: Callable[..., tuple[str, tuple[Any, ...]]] | None = None
    maybe: bool = False
    one_to_one: bool = True
    storage: bool = False
    complex: bool = False
    call: str = ""

    def show(self, g: Builder, base: Value, args: tuple[Value, ...]) -> Value:
        return g.call(self.call or self.kind, (base, *args))


def add(g: Builder, a: Any, b: Any) -> Any:
    """a + b for ints of the graph, folded when both are known."""
    x, y = _known(a), _known(b)
    if x is not None and y is not None:
        return x + y
    return b if x == 0 else a if y == 0 else g.call("aten::add", (a, b), INT)


def mul(g: Builder, a: Any, b: Any) -> Any:
    x, y = _known(a), _known(b)
    return x * y if x is not None and y is not None else g.call("aten::mul", (a, b), INT)


def _known(a: Any) -> int | None:
    py = a.py if isinstance(a, Value) else a
    return py if isinstance(py, int) else None


def like(g: Builder, w: Value, b: Value) -> Value:
    """The elements of w in the shape of b."""
    return g.reshape(w, g.size(b))


def by_position(kind: str) -> Put:
    """For a view without an inverse of its own: look at a tensor of positions through it, and put w there."""

    def put(g: Builder, b: Value, w: Value, *args: Value) -> Value:
        return g.put(b, g.call(kind, (everywhere(g, b), *args)), w, False)  # b.flatten()[positions] := w

    return put


def known_ints(values: Value) -> list[int] | None:
    """The ints of a list, where they are constants."""
    found: Any = [_known(v) for v in values.node.inputs] if values.node is not None else values.py
    return None if found is NOT_CONSTANT or None in found else list(found)


def everywhere(g: Builder, b: Value) -> Value:
    """The position of each element of b, in b's shape."""
    device = g.call("prim::device", (b,))
    return like(g, g.call("aten::arange", (g.numel(b), g.const(None), g.const(None), device, g.const(None))), b)


def _inverse(g: Builder, dims: Value) -> Value:
    order = known_ints(dims)
    if order is None:
        raise LookupError("permute with dims that are not constants")
    n = len(order)
    back = [0] * n
    for new, old in enumerate(order):
        back[old % n] = new
    return g.ints(back)


def _narrow(g: Builder, dim: Value, start: Value, length: Value) -> tuple[str, tuple[Any, ...]]:
    first = _known(start)
    if first is not None and first >= 0:
        return "aten::slice", (dim, start, add(g, start, length), 1)
    return "aten::narrow", (dim, start, length)


def _view(g: Builder, size: Value) -> tuple[str, tuple[Any, ...]]:
    return ("aten::view.dtype" if is_int(size) else "aten::view"), (size,)


def _same_size(kind: str) -> Callable[..., tuple[str, tuple[Any, ...]]]:
    return lambda g, other: (kind, (g.size(other),))


def _retyped(g: Builder, b: Value, w: Value, dtype: Value) -> Value:
    return g.call("aten::view.dtype", (g.contiguous(w, 0), g.call("prim::dtype", (b,))))


def _pair(g: Builder, real: Value, imag: Value) -> Value:
    return g.complex(real, imag)


_back_through_reshape: Put = lambda g, b, w, *size: like(g, w, b)  # noqa: E731
_same: Put = lambda g, b, w, *rest: w  # noqa: E731

# fmt: off
VIEWS: tuple[View, ...] = (
    # ---- parts
    View("aten::select", lambda g, b, w, dim, i: g.select_scatter(b, w, dim, i)),             # b[.., i, ..] := w
    View("aten::slice", lambda g, b, w, dim, a, z, s: g.slice_scatter(b, w, dim, a, z, s)),   # b[.., a:z:s, ..] := w
    View("aten::narrow", by_position("aten::narrow"), make=_narrow),                          # b[.., a:a+n, ..] := w
    View("aten::diagonal", lambda g, b, w, o, d0, d1: g.diagonal_scatter(b, w, o, d0, d1)),   # b[.., i, .., i+o] := w
    View("aten::unfold", by_position("aten::unfold"), one_to_one=False),                    # b[.., i*s:i*s+n] := w
    View("aten::as_strided", lambda g, b, w, n, s, o: g.as_strided_scatter(b, w, n, s, o),
         one_to_one=False, storage=True),                                                     # storage[o + i.s] := w
    # ---- the same elements in another order
    View("aten::transpose", lambda g, b, w, d0, d1: g.transpose(w, d0, d1)),                  # its own inverse
    View("aten::swapaxes", lambda g, b, w, d0, d1: g.transpose(w, d0, d1)),                   # its own inverse
    View("aten::swapdims", lambda g, b, w, d0, d1: g.transpose(w, d0, d1)),                   # its own inverse
    View("aten::t", lambda g, b, w: g.t(w)),                                                  # its own inverse
    View("aten::numpy_T", lambda g, b, w: g.numpy_T(w)),                                      # its own inverse
    View("aten::mT", lambda g, b, w: g.mT(w)),                                                # its own inverse
    View("aten::matrix_H", lambda g, b, w: g.resolve_conj(g.matrix_H(w))),                    # its own inverse
    View("aten::mH", lambda g, b, w: g.resolve_conj(g.mH(w))),                                # its own inverse
    View("aten::adjoint", lambda g, b, w: g.resolve_conj(g.adjoint(w))),                      # its own inverse
    View("aten::permute", lambda g, b, w, dims: g.permute(w, _inverse(g, dims))),             # the inverse permutation
    View("aten::movedim", lambda g, b, w, src, dst: g.movedim(w, dst, src)),                  # moved back
    View("aten::moveaxis", lambda g, b, w, src, dst: g.movedim(w, dst, src)),                 # moved back
    # ---- the same elements in another shape
    View("aten::view", _back_through_reshape, make=_view),                              # b.flatten()[:] := w.flatten()
    View("aten::view_as", None, make=_same_size("aten::view")),
    View("aten::_unsafe_view", _back_through_reshape),
    View("aten::_reshape_alias", lambda g, b, w, size, strides: like(g, w, b)),
    View("aten::unflatten", _back_through_reshape),
    View("aten::squeeze", _back_through_reshape),
    View("aten::unsqueeze", lambda g, b, w, dim: g.squeeze(w, dim)),                          # the new dim goes
    View("aten::expand", _back_through_reshape, one_to_one=False),      # as a whole, eager writes only without repeats
    View("aten::expand_as", None, make=lambda g, other: ("aten::expand", (g.size(other), False))),
    View("aten::broadcast_to", None, make=lambda g, size: ("aten::expand", (size, False))),
    # ---- the same memory as another type
    View("aten::view_as_real", lambda g, b, w: _pair(g, g.select(w, -1, 0), g.select(w, -1, 1))),
    View("aten::view_as_complex", lambda g, b, w: g.view_as_real(w)),
    View("aten::real", lambda g, b, w: _pair(g, w, g.imag(b)), complex=True),
    View("aten::imag", lambda g, b, w: _pair(g, g.real(b), w)),
    View("aten::view.dtype", _retyped, call="aten::view"),
    View("aten::conj", lambda g, b, w: g.conj_physical(w), complex=True),                     # its own inverse
    View("aten::_conj", lambda g, b, w: g.conj_physical(w), complex=True),                    # its own inverse
    View("aten::_neg_view", lambda g, b, w: g.neg(w)),
    # ---- the same tensor under another name
    View("aten::detach", _same),
    View("aten::alias", _same),
    View("aten::lift_fresh", _same),
    View("aten::positive", _same),
    View("aten::pin_memory", _same, maybe=True),
    View("prim::unchecked_unwrap_optional", _same),
    View("prim::unchecked_cast", _same),                                                      # of what is not None
    # ---- a view or a copy: strides and dtypes decide at run time
    View("aten::reshape", _back_through_reshape, maybe=True),
    View("aten::reshape_as", None, make=_same_size("aten::reshape")),
    View("aten::flatten", _back_through_reshape, maybe=True),
    View("aten::ravel", _back_through_reshape, maybe=True),
    View("aten::contiguous", _same, maybe=True),
    View("aten::to", _same, maybe=True),
    View("aten::type_as", _same, maybe=True),
    View("aten::cpu", _same, maybe=True),
    View("aten::cuda", _same, maybe=True),
    View("aten::resolve_conj", _same, maybe=True),
    View("aten::resolve_neg", _same, maybe=True),
    View("aten::atleast_1d", _back_through_reshape, maybe=True),
    View("aten::atleast_2d", _back_through_reshape, maybe=True),
    View("aten::atleast_3d", _back_through_reshape, maybe=True),
)
# fmt: on


class Whole(View):
    """`x[:]`: another name for the same elements; nothing to emit."""

    def show(self, g: Builder, base: Value, args: tuple[Value, ...]) -> Value:
        return base


WHOLE = Whole("aten::alias", lambda g, b, w: w)
# The elements at given positions, which no view of torch's is: what a loop carries of a view that changes.
AT = View("aten::take", lambda g, b, w, places: g.put(b, places, w, False))
