"""Which whole numbers each dtype holds exactly, and how far an operation can carry them.

A *span* `(low, high)` bounds every element of a tensor. Each operation's span is worked out before it is drawn, and an
operation whose result could leave `Numbers.low .. Numbers.high` of the result's dtype is not drawn: so no drawn program
rounds, wraps round, or divides, and any order of evaluation gives the same elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch

Span: TypeAlias = tuple[int, int]
_WIDE = 1 << 22  # below 2**24, so that whatever fits here fits float32, int32 and everything wider


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one dtype holds: its name, its category (b, i or f: bool, integer, floating) and its exact range."""

    name: str
    category: str
    low: int
    high: int


NUMBERS: dict[torch.dtype, Numbers] = {
    torch.float32: Numbers("float32", "f", -_WIDE, _WIDE),
    torch.float64: Numbers("float64", "f", -_WIDE, _WIDE),
    torch.int64: Numbers("int64", "i", -_WIDE, _WIDE),
    torch.int32: Numbers("int32", "i", -_WIDE, _WIDE),
    torch.float16: Numbers("float16", "f", -2048, 2048),
    torch.bfloat16: Numbers("bfloat16", "f", -256, 256),
    torch.uint8: Numbers("uint8", "i", 0, 255),
    torch.int8: Numbers("int8", "i", -128, 127),
    torch.int16: Numbers("int16", "i", -32768, 32767),
    torch.bool: Numbers("bool", "b", 0, 1),
}
BY_NAME = {numbers.name: dtype for dtype, numbers in NUMBERS.items()}
_RANK = {"b": 0, "i": 1, "f": 2}


def fits(span: Span, dtype: torch.dtype) -> bool:
    """Whether every number of the span is one that the dtype holds exactly."""
    numbers = NUMBERS[dtype]
    return numbers.low <= span[0] and span[1] <= numbers.high


def can_cast(source: torch.dtype, target: torch.dtype) -> bool:
    """Whether an in-place operation may put a result of dtype `source` into `target`."""
    return _RANK[NUMBERS[source].category] <= _RANK[NUMBERS[target].category]


def promoted(a: torch.dtype, a_rank: int, b: torch.dtype, b_rank: int) -> torch.dtype:
    """The dtype of `a + b`: a 0-d tensor does not widen one of its own category."""
    if a == b:
        return a
    category_a, category_b = NUMBERS[a].category, NUMBERS[b].category
    if (a_rank == 0) != (b_rank == 0):
        of_dims, of_zero = (b, a) if a_rank == 0 else (a, b)
        if _RANK[NUMBERS[of_zero].category] <= _RANK[NUMBERS[of_dims].category]:
            return of_dims
    if category_a != category_b:
        return a if _RANK[category_a] > _RANK[category_b] else b
    return torch.promote_types(a, b)


def hull(a: Span, b: Span) -> Span:
    return (min(a[0], b[0]), max(a[1], b[1]))


def add(a: Span, b: Span) -> Span:
    return (a[0] + b[0], a[1] + b[1])


def sub(a: Span, b: Span) -> Span:
    return (a[0] - b[1], a[1] - b[0])


def mul(a: Span, b: Span) -> Span:
    corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return (min(corners), max(corners))


def neg(a: Span) -> Span:
    return (-a[1], -a[0])


def times(a: Span, count: int) -> Span:
    """The sum of up to `count` elements, partial sums included."""
    return (min(a[0], a[0] * count, 0), max(a[1], a[1] * count, 0))


def bits(a: Span, b: Span) -> Span:
    """What and, or and xor of whole numbers can give."""
    width = max(abs(v).bit_length() for v in (*a, *b))
    return (-(1 << width) if min(a[0], b[0]) < 0 else 0, (1 << width) - 1 if width else 0)
