"""Statements that write: assignment, augmented assignment, and in-place methods, one row each."""

# ruff: noqa: ARG001, ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from inplace_fuzz.generate.exact import NUMBERS, Span, add, bits, fits, hull, mul, neg, sub
from inplace_fuzz.generate.overlap import overlaps_itself
from inplace_fuzz.generate.places import Place, place, target, whole
from inplace_fuzz.generate.sources import Expr, number, source
from inplace_fuzz.generate.state import State

_ANY, _ARITHMETIC, _WHOLE, _SIGNED = "bif", "if", "bi", "if"


def assign(state: State) -> bool:
    """`x[1:] = source`"""
    named = target(state)
    if named is None:
        return False
    where = place(state, named)
    value = source(state, where.aim(), same_dtype=where.copies)
    assign_to(state, where, value)
    return True


def assign_to(state: State, where: Place, value: Expr) -> None:
    state.run(f"{where.text} = {value.text}")
    state.wrote(where.named.base, (0, 1) if where.dtype == torch.bool else value.span)


# ------------------------------------------------------------------------------------------------ augmented assignment
@dataclass(frozen=True, slots=True)
class Augmented:
    feature: str
    operator: str
    span: Callable[[Span, Span], Span]
    categories: str = _ARITHMETIC


AUGMENTED = (
    Augmented("augmented_add", "+=", add),
    Augmented("augmented_mul", "*=", mul),
    Augmented("augmented_sub", "-=", sub),
)
BITS = (
    Augmented("augmented_bits", "|=", bits, _WHOLE),
    Augmented("augmented_bits", "&=", bits, _WHOLE),
    Augmented("augmented_bits", "^=", bits, _WHOLE),
)


def augment(state: State) -> bool:
    """`x[1:] += source`, or `x += source`"""
    named = target(state)
    if named is None:
        return False
    return augment_place(state, whole(named) if state.choices.chance(35) else place(state, named))


def augment_place(state: State, where: Place) -> bool:
    named = where.named
    table = BITS if named.numbers.category in _WHOLE and state.gate("augmented_bits") else AUGMENTED
    if table is AUGMENTED and named.numbers.category == "b":
        return False
    value = source(state, where.aim(), category=True)
    for row in state.active.order(state.choices, table):
        if applies(row.categories, where, value):
            span = row.span(named.base.span, value.span)
            if fits(span, where.dtype):
                state.run(f"{where.text} {row.operator} {value.text}")
                state.wrote(named.base, span)
                return True
    return instead(state, where)


def applies(categories: str, where: Place, value: Expr | None = None) -> bool:
    """Whether an operation that takes these categories takes this place and this operand."""
    if NUMBERS[where.dtype].category not in categories:
        return False
    if value is None or value.number:
        return True
    return NUMBERS[value.dtype].category in categories


def instead(state: State, where: Place) -> bool:
    """Assigns a number where nothing drawn stays exact."""
    value = number(state, where.dtype)
    if where.bare:
        state.run(f"{where.text}.fill_({value.text})")
        state.wrote(where.named.base, value.span)
    else:
        assign_to(state, where, value)
    return True


# -------------------------------------------------------------------------------------------------- in-place methods
@dataclass(frozen=True, slots=True)
class Method:
    """`{p}` is the place, `{s}` a source, `{k}` a number, `{m}` a mask of the place's shape, `{c}` a cell of it."""

    feature: str
    text: str
    span: Callable[[Span, Span], Span]  # of the place and of the operand, to that of the result
    categories: str = _ARITHMETIC


def _keep(a: Span, b: Span) -> Span:
    return a


def _put(a: Span, b: Span) -> Span:
    return b


def _truth(a: Span, b: Span) -> Span:
    return (0, 1)


METHODS = (
    Method("add_", "{p}.add_({s})", add),
    Method("copy_", "{p}.copy_({s})", _put, _ANY),
    Method("fill_", "{p}.fill_({k})", _put, _ANY),
    Method("fill_", "{p}.fill_({c})", _keep, _ANY),
    Method("zero_", "{p}.zero_()", lambda a, b: (0, 0), _ANY),
    Method("mul_", "{p}.mul_({s})", mul),
    Method("sub_", "{p}.sub_({s})", sub),
    Method("alpha", "{p}.add_({s}, alpha=2)", lambda a, b: add(a, mul(b, (2, 2)))),
    Method("alpha", "{p}.sub_({s}, alpha=3)", lambda a, b: sub(a, mul(b, (3, 3)))),
    Method("neg_", "{p}.neg_()", lambda a, b: neg(a)),
    Method("masked_fill_", "{p}.masked_fill_({m}, {k})", _put, _ANY),
    Method("masked_fill_", "{p}.masked_fill_({m}, {c})", _keep, _ANY),
    Method("abs_", "{p}.abs_()", lambda a, b: (0, max(abs(a[0]), abs(a[1])))),
    Method("clamp_", "{p}.clamp_(-2, 5)", lambda a, b: hull(a, (-2, 5))),
    Method("clamp_", "{p}.clamp_(min=2)", lambda a, b: (max(a[0], 2), max(a[1], 2))),
    Method("clamp_", "{p}.clamp_max_({k})", lambda a, b: (min(a[0], b[0]), min(a[1], b[1]))),
    Method("clamp_", "{p}.clamp_(max={s})", lambda a, b: (min(a[0], b[0]), min(a[1], b[1]))),
    Method("clamp_", "{p}.clamp_max_({s})", lambda a, b: (min(a[0], b[0]), min(a[1], b[1]))),
    Method("sign_", "{p}.sign_()", lambda a, b: (-1, 1)),
    Method("relu_", "{p}.relu_()", lambda a, b: (0, max(0, a[1]))),
    Method("square_", "{p}.square_()", lambda a, b: mul(a, a)),
    Method("addcmul_", "{p}.addcmul_({s}, {s}, value=2)", lambda a, b: add(a, mul((2, 2), mul(b, b)))),
    Method("compare_", "{p}.ge_({s})", _truth, _ANY),
    Method("compare_", "{p}.eq_({s})", _truth, _ANY),
    Method("compare_", "{p}.lt_({k})", _truth, _ANY),
    Method("compare_", "{p}.lt_({s})", _truth, _ANY),
    Method("logical_", "{p}.logical_not_()", _truth, _ANY),
    Method("logical_", "{p}.logical_and_({s})", _truth, _ANY),
    Method("bitwise_", "{p}.bitwise_or_({s})", bits, _WHOLE),
    Method("bitwise_", "{p}.bitwise_and_({s})", bits, _WHOLE),
    Method("bitwise_", "{p}.bitwise_xor_({s})", bits, _WHOLE),
    Method("bitwise_", "{p}.bitwise_not_()", lambda a, b: (-a[1] - 1, -a[0] - 1), _WHOLE),
    Method("triangle_", "{p}.tril_()", _keep, _ANY),
    Method("triangle_", "{p}.triu_(1)", _keep, _ANY),
    Method("fill_diagonal_", "{p}.fill_diagonal_({k})", _put, _ANY),
    Method("rounding_call", "{p}.sin_()", lambda a, b: (-1, 1), "f"),
    Method("rounding_call", "{p}.div_(3)", _keep, "f"),
    Method("rounding_call", "{p}.sigmoid_()", lambda a, b: (0, 1), "f"),
    Method("rounding_call", "{p}.mul_(0.3)", _keep, "f"),
    Method("rounding_call", "{p}.tanh_()", lambda a, b: (-1, 1), "f"),
    Method("rounding_call", "{p}.lerp_({s}, 0.3)", hull, "f"),
    Method("cumsum_", "{p}.cumsum_(0)", lambda a, b: mul(hull(a, (0, 0)), (1, 6))),
)


def call_method(state: State) -> bool:
    """`x[1:].add_(source)`, or `x.add_(source)`"""
    named = target(state)
    if named is None:
        return False
    if state.choices.chance(50):
        where = place(state, named, views_only=not state.gate("write_to_copy"))
    else:
        where = whole(named)
    return call_one(state, where, state.active.order(state.choices, METHODS))


def call_one(state: State, where: Place, rows: Iterable[Method]) -> bool:
    """Calls the first of these methods that applies and stays exact; assigns a number where none does."""
    named = where.named
    value: Expr | None = None
    for row in rows:
        if not applies(row.categories, where) or (row.feature in _SHAPED and not _SHAPED[row.feature](where)):
            continue
        if "{c}" in row.text and 0 in where.shape:
            continue
        operand = number(state, where.dtype)
        if "{s}" in row.text:
            if value is None:
                value = source(state, where.aim(), category=row.span is not _put and row.span is not _truth)
            operand = value
            if not applies(row.categories, where, value):
                continue
            if row.text.startswith(("{p}.addcmul", "{p}.lerp")) and (value.number or value.dtype != where.dtype):
                if where.copies:
                    continue
                operand = Expr(where.text, where.shape, where.dtype, named.base.span)  # itself, which surely suits
            if value.number and ("and_" in row.text or "copy_" in row.text or row.feature == "bitwise_"):
                operand = _tensor(value, where)
        span = row.span(named.base.span, operand.span)
        if where.dtype == torch.bool:
            span = (0, 1)
        if fits(span, where.dtype):
            _call(state, row, where, operand, span)
            return True
    return instead(state, where)


def _tensor(value: Expr, where: Place) -> Expr:
    """A number as a 0-d tensor, for methods that take no number."""
    dtype = f", dtype=torch.{NUMBERS[where.dtype].name}"
    return Expr(f"torch.tensor({value.text}{dtype})", (), where.dtype, value.span)


def _matrix(where: Place) -> bool:
    return len(where.shape) == 2 and 0 not in where.shape


OF_MATRICES = {"triangle_": range(2, 99), "fill_diagonal_": range(2, 3)}  # the ranks that they take
_SHAPED: dict[str, Callable[[Place], bool]] = {
    "triangle_": lambda where: len(where.shape) >= 2,
    "fill_diagonal_": _matrix,
    "cumsum_": lambda where: len(where.shape) >= 1 and where.shape[0] <= 6,
}


def _call(state: State, row: Method, where: Place, operand: Expr, span: Span) -> None:
    mask = ""
    if "{m}" in row.text:
        mask = f"{where.text} > {state.choices.pick((2, 4, 1, 0))}"
        masks = [m for m in state.names if m.role == "mask" and m.shape == where.shape[len(where.shape) - m.rank :]]
        if masks and state.choices.byte() & 1:
            mask = masks[0].text
    text = operand.text
    run_call(state, row.text.format(p=where.text, s=text, k=text, m=mask, c=cell(where)), span)
    if not where.copies:
        state.wrote(where.named.base, span)


def cell(where: Place) -> str:
    """The first element of a place that has one."""
    return f"{where.text}[{', '.join('0' * len(where.shape))}]" if where.shape else where.text


def run_call(state: State, text: str, span: Span) -> None:
    """Adds a call that writes; now and then its result, which is the very tensor that was written, gets a name."""
    if state.block is not None or not state.gate("named_result"):
        state.run(text)
        return
    name = state.fresh("abcd")
    state.run(f"{name} = {text}")
    named = state.bind(name, "alias", span)
    named.overlapping = overlaps_itself(named.t)
