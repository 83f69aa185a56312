"""A template: a short sequence of statements, written as text with names and alternatives left open."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import dedent

from inplace_fuzz.generate.exact import Span, hull, mul


def put(a: Span) -> Span:
    """Only the numbers that occur in these lines are written, besides the elements already there."""
    return hull(a, (0, 7))


def double(a: Span) -> Span:
    return hull(mul(hull(a, (0, 7)), (2, 2)), (0, 9))


def far(a: Span) -> Span:
    return hull(mul(hull(a, (0, 7)), (10, 10)), (-16, 16))


@dataclass(frozen=True)
class Template:
    """`{x}` is written. `{t} {v} {w} {r} {i} {m} {u}` are new names, of which `t` and `r` are kept to be returned.

    One line of `text` is one statement. `a | b` stands for either; what comes before `::` stands before each.
    """

    feature: str
    text: str
    span: Callable[[Span], Span] = double
    rank: int = 1  # the least rank of x
    rows: int = 1  # the least size of its first dimension
    square: bool = False
    categories: str = "if"
    script: bool = True

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        text = self.text
        for name, alternatives in _SETS.items():
            text = text.replace(name, alternatives)
        later = _SETS["LATER"]
        joined = re.sub(r"\s*\n\s*\|", " |", text)
        lines = dedent(joined).strip().splitlines()
        return tuple(replace(_line(line), later=line == later) for line in lines)


@dataclass(frozen=True, slots=True)
class Line:
    """The alternatives of one statement, and which new name it binds, if any."""

    alternatives: tuple[str, ...]
    made: str
    later: bool = False  # any write to the whole of `x` will do


def _line(text: str) -> Line:
    head, separator, rest = text.rpartition(" :: ")
    gap = "" if not separator or head.endswith("(") else " "
    binds = re.match(r"\{([tvwrimu])\} = ", text)
    indent = text[: len(text) - len(text.lstrip())]
    options = [(head + gap if head else indent) + part.strip() for part in rest.split(" | ")]
    return Line(tuple(options), binds[1] if binds else "")


_SETS = {
    "LATER": """
        {x}.zero_() | {x}.fill_(7) | {x}.add_(1) | {x} *= 2 | {x} += 1 | {x}[0] = 7 | {x}[:1].zero_() | {x}.mul_(2)
    """,
    "COPIES": """
        {x}.clone() | {x} + 0 | {x}[:].clone() | torch.cat([{x}]) | {x}.flip(0) | torch.stack([{x}, {x}]) | {x} * 1
        | {x}.repeat({ones}2) | torch.slice_scatter({x}, {x}[:1], 0, 0, 1) | torch.select_scatter({x}, {x}[0], 0, 0)
        | {x}.index_fill(0, torch.tensor([0]), 3) | {x}.masked_fill({x} > 2, 1) | {x}.roll(1, 0)
        | torch.index_put({x}, (torch.tensor([0]),), {x}[:1]) | torch.where({x} > 2, {x}, {x} * 0)
        | {x}.index_select(0, torch.tensor([0])) | {x}.scatter(0, torch.zeros_like({x}, dtype=torch.int64)[:1], {x}[:1])
    """,
    "VIEW": """
        {x}[0] | {x}[:1] | {x}[-1] | {x}[::2] | {x}.flatten() | {x}.view(-1) | {x}.transpose(0, -1) | {x}[None]
        | {x}.select(0, 0) | {x}.narrow(0, 0, 1) | {x}.unbind(0)[0] | {x}.detach() | {x}.unsqueeze(-1) | {x}.chunk(2)[0]
    """,
    "NO_OPS": """
        {x}.contiguous() | {x}.to({x}.dtype) | {x}.reshape({x}.shape) | {x}.expand({x}.shape) | {x}.view_as({x})
        | {x}.type_as({x}) | {x}[:] | {x} | {x}.detach() | torch.nn.functional.dropout({x}, 0.5, False)
    """,
    "WRITE": """
        {v}.add_(1) | {v}.fill_(7) | {v} += 1 | {v}.mul_(2) | {v}.zero_() | {v} *= 2
    """,
    "DUPLICATES": """
        torch.tensor([0, 0]) | torch.cat([torch.arange(1), torch.arange(1)]) | torch.arange(2) // 2
        | torch.zeros([3], dtype=torch.int64) | torch.arange(3) * 0
    """,
}
_SETS = {name: " ".join(text.split()) for name, text in _SETS.items()}
