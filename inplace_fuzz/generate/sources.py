"""Right-hand sides: what is written into a place.

Each is an expression whose shape broadcasts to the place it is for, with the span of its elements. Expressions that
look into the place's own memory are copied first, because eager leaves the order of overlapping reads and writes open.
"""

# ruff: noqa: ARG001, ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from inplace_fuzz.generate.exact import NUMBERS, Span, add, bits, can_cast, fits, hull, mul, neg, promoted, sub, times
from inplace_fuzz.generate.inputs import Shape
from inplace_fuzz.generate.overlap import meet, same_place
from inplace_fuzz.generate.state import Base, Named, State

_NAMES = {dtype: f"torch.{numbers.name}" for dtype, numbers in NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression. `t` is its tensor in the first call where it is a view of `base`; None where it is new memory."""

    text: str
    shape: Shape
    dtype: torch.dtype
    span: Span
    t: torch.Tensor | None = None
    base: Base | None = None
    atom: bool = True  # a method can be called on the text as it stands
    number: bool = False  # a Python number

    def called(self, call: str) -> str:
        return f"{self.text}{call}" if self.atom else f"({self.text}){call}"

    def copied(self) -> Expr:
        return replace(self, text=self.called(".clone()"), t=None, base=None, atom=True)

    def cast(self, dtype: torch.dtype) -> Expr:
        """The same in another dtype. The caller has seen to it that the numbers fit."""
        if self.dtype == dtype or self.number:
            return self
        span = (0, 1) if dtype == torch.bool else self.span
        return replace(
            self, text=self.called(f".to({_NAMES[dtype]})"), dtype=dtype, span=span, t=None, base=None, atom=True
        )


@dataclass(frozen=True, slots=True)
class Aim:
    """What an expression is for: the shape it must broadcast to, the dtype it ends in, and the memory it goes to.

    `again` reads the place itself (`x[1:]`), `t` is the memory that the write touches.
    """

    shape: Shape
    dtype: torch.dtype
    again: str = ""
    span: Span = (0, 0)
    t: torch.Tensor | None = None
    base: Base | None = None
    duplicates: bool = False
    ragged: bool = False
    pointwise: bool = False  # element k of the source goes to element k of `t`, so that reading `t` itself is defined


# ------------------------------------------------------------------------------------------------------------ leaves
def number(state: State, dtype: torch.dtype) -> Expr:
    """A Python number that suits a dtype."""
    category = NUMBERS[dtype].category
    if category == "b":
        truth = state.choices.below(2) == 0
        return Expr(str(truth), (), dtype, (int(truth), int(truth)), number=True)
    value = (
        state.choices.pick((7, 2, 3, 5, 9, 1, 0, -1, -4, 11))
        if dtype != torch.uint8
        else state.choices.pick((7, 2, 3, 1, 0))
    )
    return Expr(f"{value}.0" if category == "f" else str(value), (), dtype, (value, value), number=True)


def cut(state: State, x: Named, shape: Shape) -> Expr | None:
    """A part of `x` that broadcasts to a shape. None where no part does."""
    if x.shape == shape or not x.rank:
        return Expr(x.text, x.shape, x.dtype, x.base.span, x.t, x.base)
    extra = x.rank - len(shape)
    texts: list[str] = []
    objects: list[int | slice] = []
    for d, n in enumerate(x.shape):
        want = shape[d - extra] if d >= extra else -1
        if n == want or (d >= extra and n == 1):
            texts.append(":")
            objects.append(slice(None))
        elif n == 0:
            return None
        elif want < 0:
            at = state.choices.below(n)
            texts.append(str(at))
            objects.append(at)
        else:
            size = min(want, n) if want < n else 1
            start = state.choices.below(n - size + 1)
            texts.append(f"{start}:{start + size}" if start else f":{size}")
            objects.append(slice(start, start + size))
    while texts and texts[-1] == ":":
        texts.pop()
        objects.pop()
    if not texts:
        return Expr(x.text, x.shape, x.dtype, x.base.span, x.t, x.base)
    t = x.t[tuple(objects)]
    return Expr(f"{x.text}[{', '.join(texts)}]", tuple(t.shape), x.dtype, x.base.span, t, x.base)


def part(state: State, shape: Shape, *, like: str = "") -> Expr | None:
    """A name, or a part of one, that broadcasts to a shape."""
    tensors = state.tensors()
    if like:
        tensors = [n for n in tensors if n.numbers.category in like]
    if not tensors:
        return None
    start = state.choices.below(len(tensors))
    for named in (*tensors[start:], *tensors[:start]):
        found = cut(state, named, shape)
        if found is not None:
            return found
    return None


def _literal(state: State, aim: Aim) -> Expr:
    return number(state, aim.dtype)


def _part(state: State, aim: Aim) -> Expr | None:
    return part(state, aim.shape)


def _zero_dim(state: State, aim: Aim) -> Expr | None:
    kind = state.choices.below(4)
    if kind == 0:
        return part(state, ())
    if kind == 1:
        value = number(state, aim.dtype)
        suffix = "" if aim.dtype in (torch.float32, torch.int64, torch.bool) else f", dtype={_NAMES[aim.dtype]}"
        return replace(value, text=f"torch.tensor({value.text}{suffix})", number=False)
    tensors = state.tensors()
    named = state.choices.pick(tensors)
    if kind == 3 and not named.empty and named.numbers.category != "b":
        return Expr(f"{named.text}.{state.choices.pick(('max', 'min'))}()", (), named.dtype, named.base.span)
    return total(named)


def total(named: Named) -> Expr | None:
    """`x.sum()`, where it stays exact."""
    span = times(named.base.span, math.prod(named.shape))
    dtype = named.dtype if named.numbers.category == "f" else torch.int64
    return Expr(f"{named.text}.sum()", (), dtype, span) if fits(span, dtype) else None


def _made(state: State, aim: Aim) -> Expr | None:
    """A tensor made on the spot, broadcast or not."""
    shape = aim.shape[state.choices.below(len(aim.shape) + 1) :]
    size = math.prod(shape)
    suffix = "" if aim.dtype == torch.float32 else f", dtype={_NAMES[aim.dtype]}"
    kind = state.choices.below(3)
    if kind == 0 or aim.dtype == torch.bool:
        return Expr(f"torch.ones({list(shape)}{suffix})", shape, aim.dtype, (1, 1))
    if kind == 1:
        value = number(state, aim.dtype)
        return replace(value, text=f"torch.full({list(shape)}, {value.text}{suffix})", shape=shape, number=False)
    text = f"torch.arange({size}, dtype={_NAMES[aim.dtype]})"
    text = text if len(shape) == 1 else f"{text}.reshape({list(shape)})"
    return Expr(text, shape, aim.dtype, (0, max(0, size - 1)))


# -------------------------------------------------------------------------------------------------------- arithmetic
@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An exact operation on `a`, and on `b` or a number `k`, for the categories it takes."""

    feature: str
    text: str
    span: Callable[[Span, Span], Span]
    categories: str = "if"


ARITHMETIC = (
    Arithmetic("source_add", "{a} + {k}", add),
    Arithmetic("source_add", "{a} + {b}", add),
    Arithmetic("source_mul", "{a} * {k}", mul),
    Arithmetic("source_mul", "{a} * {b}", mul),
    Arithmetic("source_sub", "{a} - {b}", sub),
    Arithmetic("source_sub", "{k} - {a}", lambda a, b: sub(b, a)),
    Arithmetic("source_neg", "-{a}", lambda a, b: neg(a)),
    Arithmetic("source_where", "torch.where({a} > {k}, {a}, {b})", hull, "bif"),
    Arithmetic("source_max", "torch.maximum({a}, {b})", hull, "bif"),
    Arithmetic("source_max", "torch.minimum({a}, {b})", hull, "bif"),
    Arithmetic("source_compare", "{a} > {b}", lambda a, b: (0, 1), "bif"),
    Arithmetic("source_compare", "{a} == {k}", lambda a, b: (0, 1), "bif"),
    Arithmetic("rounding_source", "{a} / 3", lambda a, b: a, "f"),
    Arithmetic("rounding_source", "torch.sin({a})", lambda a, b: (-1, 1), "f"),
    Arithmetic("source_bits", "{a} & {b}", bits, "bi"),
    Arithmetic("source_bits", "{a} ^ {b}", bits, "bi"),
)
_MADE_BOOL = ("{a} > {b}", "{a} == {k}")


def _arithmetic(state: State, aim: Aim) -> Expr | None:
    a = part(state, aim.shape)
    if a is None:
        return None
    b = part(state, aim.shape) or a
    return combine(state, a, b)


def combine(state: State, a: Expr, b: Expr) -> Expr | None:
    """An exact operation on two expressions; the drawn one, or the next that stays exact."""
    rank = max(len(a.shape), len(b.shape))
    for row in state.active.order(state.choices, ARITHMETIC):
        both = NUMBERS[a.dtype].category + (NUMBERS[b.dtype].category if "{b}" in row.text else "")
        if any(c not in row.categories for c in both):
            continue
        k = number(state, a.dtype)
        second = b if "{b}" in row.text else k
        dtype = promoted(a.dtype, len(a.shape), b.dtype, len(b.shape)) if "{b}" in row.text else a.dtype
        span = row.span(a.span, second.span)
        if not fits(span, dtype) or not fits(second.span, dtype):
            continue
        if row.text in _MADE_BOOL:
            dtype = torch.bool
        text = row.text.format(a=a.text, b=b.text, k=k.text)
        shape = _broadcast(a.shape, b.shape) if "{b}" in row.text else a.shape
        assert len(shape) <= rank
        return Expr(text, shape, dtype, span, atom=text.startswith("torch."))
    return None


def _broadcast(a: Shape, b: Shape) -> Shape:
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(m if n == 1 else n for m, n in zip(a, b, strict=True))


# ---------------------------------------------------------------------------------------------------------- self-read
_SELF = (
    # the place itself      whether it keeps duplicates equal
    ("{p}.flip(0)", False),
    ("{p} + 1", True),
    ("{p}.flip(-1)", False),
    ("{p}.roll(1, 0)", False),
    ("{p} * 2", True),
    ("{p}.clone()", True),
    ("{p}.roll(1, -1)", False),
    ("{p} + {p}.flip(0)", False),
    ("{p}.cumsum(0)", False),
)


def _self_read(state: State, aim: Aim) -> Expr | None:
    """An expression of the place's own elements, at the same or at other positions."""
    if not aim.again or aim.dtype == torch.bool:
        return None
    text, keeps = state.choices.pick(_SELF)
    if not keeps and (aim.duplicates or aim.ragged or not aim.shape):
        text = "{p} + 1"
    span = aim.span
    if "+ 1" in text:
        span = (span[0], span[1] + 1)
    elif "* 2" in text or "+ {p}" in text:
        span = mul(span, (2, 2))
    elif "cumsum" in text:
        span = times(span, aim.shape[0])
    if not fits(span, aim.dtype):
        return None
    dtype = torch.int64 if "cumsum" in text and NUMBERS[aim.dtype].category != "f" else aim.dtype
    return Expr(text.format(p=aim.again), aim.shape, dtype, span, atom=" " not in text)


def _shifted(state: State, aim: Aim) -> Expr | None:
    """Another part of the tensor that is written, moved by a position or turned round."""
    if aim.base is None:
        return None
    siblings = [n for n in state.tensors() if n.base is aim.base]
    if not siblings:
        return None
    found = cut(state, state.choices.pick(siblings), aim.shape)
    if found is None:
        return None
    turns = ["{a}.clone()", "{a} + 0" if found.dtype != torch.bool else "{a}.clone()"]
    if len(found.shape) > 1 and found.shape[0] == found.shape[1]:
        turns.append("{a}.transpose(0, 1).clone()")
    if found.shape:
        turns.append("{a}.flip(0)")
    text = state.choices.pick(turns)
    return replace(found, text=text.format(a=found.text), t=None, base=None, atom=" " not in text)


def _itself(state: State, aim: Aim) -> Expr | None:
    """The place as it stands, as in `x.add_(x)`."""
    if not aim.pointwise or aim.base is None:
        return None
    return Expr(aim.again, aim.shape, aim.dtype, aim.base.span, aim.t, aim.base)


@dataclass(frozen=True, slots=True)
class Source:
    feature: str
    make: Callable[[State, Aim], Expr | None]


SOURCES = (
    Source("source_number", _literal),
    Source("source_tensor", _part),
    Source("source_arithmetic", _arithmetic),
    Source("source_self", _self_read),
    Source("source_shifted", _shifted),
    Source("source_zero_dim", _zero_dim),
    Source("source_made", _made),
    Source("source_itself", _itself),
)


def _undefined(t: torch.Tensor, aim: Aim) -> bool:
    """Whether writing what `t` looks into to the place would depend on the order of reads and writes."""
    if aim.t is None or (aim.pointwise and same_place(t, aim.t)):
        return False
    return not t.numel() or meet(t, aim.t)


def source(state: State, aim: Aim, *, same_dtype: bool = False, category: bool = False) -> Expr:
    """A right-hand side for a place: the drawn kind, or the next that applies and fits.

    `same_dtype`: a tensor must have the place's dtype. `category`: its dtype must be one that an in-place operation
    of the place may promote with.
    """
    for row in state.active.order(state.choices, SOURCES):
        found = row.make(state, aim)
        if found is None or not (aim.dtype == torch.bool or fits(found.span, aim.dtype)):
            continue
        if (aim.duplicates or aim.ragged) and found.shape and row.make is not _self_read:
            continue
        if found.t is not None and found.base is aim.base and _undefined(found.t, aim):
            found = found.copied()
        if same_dtype or (category and not can_cast(found.dtype, aim.dtype)):
            found = found.cast(aim.dtype)
        return found
    return number(state, aim.dtype)
