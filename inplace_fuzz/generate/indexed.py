"""In-place methods that take indices: `index_*_`, `scatter_*_`, `masked_scatter_`, `put_`; and `out=`, `_foreach_*_`.

Positions that come twice are drawn only where the result does not depend on their order: the same value for all of
them, or a sum.
"""

# ruff: noqa: ARG001, ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from inplace_fuzz.generate.exact import NUMBERS, Span, add, fits, hull, mul, times
from inplace_fuzz.generate.indices import Index, index
from inplace_fuzz.generate.inputs import Shape
from inplace_fuzz.generate.overlap import meet
from inplace_fuzz.generate.places import Place, place, target, whole
from inplace_fuzz.generate.sources import Expr, combine, number, part
from inplace_fuzz.generate.state import State
from inplace_fuzz.generate.writes import cell, instead, run_call


@dataclass(frozen=True, slots=True)
class Positions:
    """A one-dimensional index into one dimension."""

    text: str
    count: int
    duplicates: bool


def positions(state: State, n: int, *, negative: bool = False) -> Positions:
    """An index tensor of rank 1 into a dimension of size n > 0."""
    return as_positions(index(state, n, lists=False), n, negative)


def as_positions(found: Index, n: int, negative: bool) -> Positions:
    """The index with rank 1, and without negative positions where they are not allowed."""
    text, tensor = found.text, found.tensor
    simple = text.isidentifier() or (text.startswith("torch.") and text.endswith(")"))
    if tensor.dim() != 1:
        text = f"{text}.reshape(-1)" if simple else f"({text}).reshape(-1)"
        simple = True
    if found.negative and not negative:
        text, simple = f"{text} % {n}" if simple else f"({text}) % {n}", False
    return Positions(text, tensor.numel(), found.duplicates)


def exactly(state: State, shape: Shape, where: Place) -> Expr:
    """A tensor of just this shape and of the place's dtype, that covers none of its memory."""
    found = part(state, shape)
    if found is not None and (_meets(found, where) or found.dtype != where.dtype):
        mixed = combine(state, found, found) if state.choices.byte() & 1 else None
        found = mixed if mixed is not None and mixed.base is None else found.copied()
        found = found.cast(where.dtype) if fits(found.span, where.dtype) else None
    if found is None or not fits(found.span, where.dtype):
        value = number(state, where.dtype)
        text = f"torch.full({list(shape)}, {value.text}, dtype=torch.{NUMBERS[where.dtype].name})"
        return Expr(text, shape, where.dtype, value.span)
    if found.shape != shape:
        found = replace(found, text=found.called(f".expand({list(shape)})"), shape=shape, t=None, atom=True)
    return found


def _meets(found: Expr, where: Place) -> bool:
    return found.base is where.named.base and (found.t is None or not found.t.numel() or meet(found.t, where.t))


@dataclass(frozen=True, slots=True)
class Indexed:
    """`{p}` place, `{d}` dimension, `{i}` index, `{s}` a tensor of the shape it picks, `{k}` a number, `{c}` a cell."""

    feature: str
    text: str
    span: Callable[[Span, Span, int], Span]  # of the place, of the operand, number of positions
    duplicates: bool = False  # whether one position may come twice
    negative: bool = False  # whether positions may count from the end
    categories: str = "bif"
    lanes: bool = False  # the index has the place's rank, as in scatter


def _put(a: Span, b: Span, count: int) -> Span:
    return b


def _sum(a: Span, b: Span, count: int) -> Span:
    return add(a, times(b, count))


INDEXED = (
    Indexed("index_put_", "{p}.index_put_(({i},), {s})", _put, negative=True),
    Indexed("index_put_", "{p}.index_put_(({i},), {t})", _put, duplicates=True, negative=True),
    Indexed("accumulate", "{p}.index_put_(({i},), {s}, accumulate=True)", _sum, True, True, "if"),
    Indexed("index_add_", "{p}.index_add_({d}, {i}, {s})", _sum, True, False, "if"),
    Indexed(
        "index_add_",
        "{p}.index_add_({d}, {i}, {s}, alpha=2)",
        lambda a, b, n: add(a, mul(times(b, n), (2, 2))),
        True,
        False,
        "if",
    ),
    Indexed("index_copy_", "{p}.index_copy_({d}, {i}, {s})", _put),
    Indexed("index_fill_", "{p}.index_fill_({d}, {i}, {k})", _put, True, True),
    Indexed("index_fill_", "{p}.index_fill_({d}, {i}, {c})", lambda a, b, n: a, True, True),
    Indexed("index_reduce_", "{p}.index_reduce_({d}, {i}, {s}, 'amax')", lambda a, b, n: hull(a, b), True, False, "f"),
    Indexed("scatter_", "{p}.scatter_({d}, {i}, {s})", _put, lanes=True),
    Indexed("scatter_", "{p}.scatter_({d}, {i}, {k})", _put, True, lanes=True),
    Indexed("scatter_add_", "{p}.scatter_add_({d}, {i}, {s})", _sum, True, False, "if", True),
    Indexed(
        "scatter_reduce_",
        "{p}.scatter_reduce_({d}, {i}, {s}, reduce='amax')",
        lambda a, b, n: hull(a, b),
        True,
        False,
        "if",
        True,
    ),
    Indexed("scatter_reduce_", "{p}.scatter_reduce_({d}, {i}, {s}, reduce='sum')", _sum, True, False, "if", True),
)


def indexed_method(state: State) -> bool:
    """`x.index_add_(0, i, y)` and its kin, on a name or on a view of one."""
    named = target(state)
    if named is None:
        return False
    where = place(state, named, views_only=True) if state.choices.chance(40) else whole(named)
    if where.bare and state.choices.chance(30):
        return False if where.shape == () else _other(state, where)
    return call_indexed(state, where, state.active.order(state.choices, INDEXED))


def call_indexed(state: State, where: Place, rows: Iterable[Indexed]) -> bool:
    """Calls the first of these methods that applies and stays exact. False for a place without elements."""
    if 0 in where.shape or not where.shape:
        return _other(state, where)
    dims = range(len(where.shape))
    d = state.choices.pick(dims)
    found = index(state, where.shape[d], lists=False)
    leading = found if d == 0 else index(state, where.shape[0], lists=False)
    for row in rows:
        at, drawn = (d, found) if "{d}" in row.text else (0, leading)
        if NUMBERS[where.dtype].category not in row.categories or (drawn.duplicates and not row.duplicates):
            continue
        if _call(state, row, where, at, as_positions(drawn, where.shape[at], row.negative)):
            return True
    return instead(state, where)


def _call(state: State, row: Indexed, where: Place, d: int, at: Positions) -> bool:
    shape = (*where.shape[:d], at.count, *where.shape[d + 1 :])
    operand = exactly(state, shape, where) if "{s}" in row.text else number(state, where.dtype)
    span = row.span(where.named.base.span, operand.span, at.count)
    if not fits(span, where.dtype):
        return False
    text = _lanes(at, d, shape) if row.lanes else at.text
    c = cell(where)
    scalar = f"torch.tensor({operand.text}, dtype=torch.{NUMBERS[where.dtype].name})"
    run_call(state, row.text.format(p=where.text, d=d, i=text, s=operand.text, k=operand.text, t=scalar, c=c), span)
    state.wrote(where.named.base, span)
    return True


def _lanes(found: Positions, d: int, shape: Shape) -> str:
    """The index with the place's rank: one position for each lane."""
    if len(shape) == 1:
        return found.text
    text = (
        found.text
        if found.text.isidentifier() or (found.text.endswith(")") and "%" not in found.text)
        else f"({found.text})"
    )
    column = ", ".join("-1" if k == d else "1" for k in range(len(shape)))
    return f"{text}.view({column}).expand({list(shape)})"


# -------------------------------------------------------------------------------- whole tensors: out=, foreach, masks
@dataclass(frozen=True, slots=True)
class Other:
    feature: str
    make: Callable[[State, Place], bool]


_OUT = (
    ("torch.add({a}, {b}, out={p})", add, "if"),
    ("torch.mul({a}, {b}, out={p})", mul, "if"),
    ("torch.maximum({a}, {b}, out={p})", hull, "bif"),
)


def _out(state: State, where: Place) -> bool:
    a, b = exactly(state, where.shape, where), exactly(state, where.shape, where)
    text, span_of, categories = state.choices.pick(_OUT)
    if NUMBERS[where.dtype].category not in categories:
        return False
    span = span_of(a.span, b.span)
    if not fits(span, where.dtype):
        return False
    run_call(state, text.format(a=a.text, b=b.text, p=where.text), span)
    state.wrote(where.named.base, span)
    return True


def _foreach(state: State, where: Place) -> bool:
    if NUMBERS[where.dtype].category == "b":
        return False
    value = state.choices.pick((1, 2, 3))
    name, span_of = state.choices.pick((("add", add), ("mul", mul)))
    span = span_of(where.named.base.span, (value, value))
    others = [n for n in state.tensors(writable=True) if n.base is not where.named.base and n.dtype == where.dtype]
    texts, bases = [where.text], [where.named.base]
    if others:
        other = state.choices.pick(others)
        wider = span_of(other.base.span, (value, value))
        if fits(wider, where.dtype):
            texts.append(other.text)
            bases.append(other.base)
    if not fits(span, where.dtype):
        return False
    state.run(f"torch._foreach_{name}_([{', '.join(texts)}], {value})")
    for base in bases:
        state.wrote(base, span_of(base.span, (value, value)))
    return True


def _masked_scatter(state: State, where: Place) -> bool:
    operand = exactly(state, where.shape, where)
    mask = f"{where.text} > {state.choices.pick((2, 0, 4))}"
    run_call(state, f"{where.text}.masked_scatter_({mask}, {operand.text})", operand.span)
    state.wrote(where.named.base, operand.span)
    return True


def _flat_put(state: State, where: Place) -> bool:
    size = math.prod(where.shape)
    if not size or NUMBERS[where.dtype].category == "b":
        return False
    found = positions(state, size, negative=True)
    summed = found.duplicates or state.choices.byte() & 1
    operand = exactly(state, (found.count,), where)
    span = _sum(where.named.base.span, operand.span, found.count) if summed else operand.span
    if not fits(span, where.dtype):
        return False
    text = f"{where.text}.put_({found.text}, {operand.text}{', accumulate=True' if summed else ''})"
    run_call(state, text, span)
    state.wrote(where.named.base, span)
    return True


def _two_indices(state: State, where: Place) -> bool:
    """`index_put_` with an index for each of two dimensions."""
    if len(where.shape) < 2 or 0 in where.shape or NUMBERS[where.dtype].category == "b":
        return False
    n = min(where.shape[:2])
    found = positions(state, n, negative=True)
    other = found.text if state.choices.byte() & 1 else f"torch.tensor({state.choices.below(n)})"
    operand = exactly(state, (found.count, *where.shape[2:]), where)
    summed = found.duplicates or state.choices.byte() & 1
    span = _sum(where.named.base.span, operand.span, found.count) if summed else operand.span
    if not fits(span, where.dtype):
        return False
    summed_text = ", accumulate=True" if summed else ""
    run_call(state, f"{where.text}.index_put_(({found.text}, {other}), {operand.text}{summed_text})", span)
    state.wrote(where.named.base, span)
    return True


OTHERS = (
    Other("out", _out),
    Other("foreach", _foreach),
    Other("masked_scatter_", _masked_scatter),
    Other("put_", _flat_put),
    Other("index_put_two", _two_indices),
)


def _other(state: State, where: Place) -> bool:
    return any(row.make(state, where) for row in state.active.order(state.choices, OTHERS))
