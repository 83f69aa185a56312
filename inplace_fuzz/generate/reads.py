"""Statements that compute a new tensor and write nothing: reads before and after writes, snapshots, second names."""

# ruff: noqa: ARG001, ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from inplace_fuzz.generate.exact import Span, fits, hull, times
from inplace_fuzz.generate.sources import combine, cut, part
from inplace_fuzz.generate.state import Named, State


@dataclass(frozen=True, slots=True)
class Read:
    """An expression of a name `{x}` and, where `{y}` stands, of another part of the same shape."""

    feature: str
    text: str
    span: Callable[[Span, Span, Named], Span]
    rank: int = 0  # the least rank it takes
    categories: str = "bif"


def _same(a: Span, b: Span, x: Named) -> Span:
    return a


def _both(a: Span, b: Span, x: Named) -> Span:
    return hull(a, b)


READS = (
    Read("sum", "{x}.sum()", lambda a, b, x: times(a, math.prod(x.shape))),
    Read("sum", "{x}.sum(0)", lambda a, b, x: times(a, x.shape[0]), 1),
    Read("flip", "{x}.flip(0)", _same, 1),
    Read("roll", "{x}.roll(1, 0)", _same, 1),
    Read("cat", "torch.cat([{x}, {y}])", _both, 1),
    Read("stack", "torch.stack([{x}, {y}])", _both),
    Read("where", "torch.where({x} > 2, {x}, {y})", _both),
    Read("cumsum", "{x}.cumsum(0)", lambda a, b, x: times(a, x.shape[0]), 1),
    Read("amax", "{x}.amax(0)", _same, 1, "if"),
    Read("any", "({x} > 2).any()", lambda a, b, x: (0, 1)),
    Read("cast", "{x}.to(torch.float64)", _same),
    Read("cast", "{x}.to(torch.int64)", _same),
    Read("repeat", "{x}.repeat({ones}2)", _same, 1),
    Read("rounding_read", "{x}.mean()", _same, 0, "f"),
    Read("rounding_read", "{x} / 3", _same, 0, "f"),
    Read("rounding_read", "{x}.softmax(0)", lambda a, b, x: (0, 1), 1, "f"),
    Read("rounding_read", "{x}.cos()", lambda a, b, x: (-1, 1), 0, "f"),
    Read("slice_scatter", "torch.slice_scatter({x}, {x}[:1] * 0, 0, 0, 1)", lambda a, b, x: hull(a, (0, 0)), 1, "if"),
    Read("select_scatter", "torch.select_scatter({x}, {x}[0], 0, -1)", _same, 1),
    Read("index_fill", "{x}.index_fill(0, torch.tensor([0]), 3)", lambda a, b, x: hull(a, (3, 3)), 1, "if"),
    Read("masked_fill", "{x}.masked_fill({x} > 2, 1)", lambda a, b, x: hull(a, (1, 1)), 0, "if"),
)


def read(state: State) -> bool:
    """`r = x + y`, `r = x.sum(0)`"""
    tensors = state.tensors()
    x = state.choices.pick(tensors)
    if state.choices.byte() & 1 == 0:
        a = part(state, x.shape)
        b = cut(state, x, x.shape)
        found = combine(state, b, a) if a is not None and b is not None else None
        if found is not None:
            name = state.fresh("rsqp")
            state.run(f"{name} = {found.text}")
            state.bind(name, "read", found.span)
            state.wanted.append(name)
            return True
    for row in state.active.order(state.choices, READS):
        if x.rank < row.rank or (row.rank and x.empty) or x.numbers.category not in row.categories:
            continue
        other = x
        if "{y}" in row.text:
            same = [n for n in tensors if n.shape == x.shape and n.dtype == x.dtype]
            other = state.choices.pick(same)
        span = row.span(x.base.span, other.base.span, x)
        if not fits(span, x.dtype if x.numbers.category == "f" else torch.int64) or (
            x.empty and row.text in ("{x}.amax(0)", "{x}.mean()")
        ):
            continue
        name = state.fresh("rsqp")
        state.run(f"{name} = {row.text.format(x=x.text, y=other.text, ones='1, ' * (x.rank - 1))}")
        state.bind(name, "read", span)
        state.wanted.append(name)
        return True
    return False


def snapshot(state: State) -> bool:
    """`t = x.clone()`: a copy that later writes to `x` must leave alone. It can be written itself."""
    x = state.choices.pick(state.tensors())
    text = "{x}.clone()" if state.choices.byte() & 1 or x.dtype == torch.bool or not x.rank else "{x} + 0"
    name = state.fresh("tuvw")
    state.run(f"{name} = {text.format(x=x.text)}")
    named = state.bind(name, "made", x.base.span)
    named.overlapping = x.overlapping and "+" in text and 0 in named.t.stride()
    state.wanted.append(name)
    return True


def alias(state: State) -> bool:
    """`a = x`: a second name for one tensor."""
    x = state.choices.pick(state.tensors())
    if x.role == "buffer" and state.choices.byte() & 1:
        return False
    name = state.fresh("abcd")
    state.run(f"{name} = {x.text}")
    named = state.bind(name, "alias", x.base.span)
    named.overlapping = x.overlapping
    return True
