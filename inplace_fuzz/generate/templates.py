"""Short sequences of statements that public reports, and their neighbours, showed to break compilers.

A uniform generator rarely meets these combinations, so they are spliced in whole. One row each: the lines, what they
need, and how far they carry the elements of the tensors they touch. The first five groups are the patterns behind most
of what is silently wrong in compilers: a snapshot that must survive a later write; a write through a view or an index
and then one to the base; a read of the tensor itself at other positions; duplicate indices computed in the graph; and
a call that looks like a computation but gives the same memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent

from inplace_fuzz.generate.exact import Span, fits, hull, mul
from inplace_fuzz.generate.overlap import overlaps_itself
from inplace_fuzz.generate.state import Named, State


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
        joined = re.sub(r"\s*\n\s*\|", " |", text)
        return tuple(_line(line) for line in dedent(joined).strip().splitlines())


@dataclass(frozen=True, slots=True)
class Line:
    """The alternatives of one statement, and which new name it binds, if any."""

    alternatives: tuple[str, ...]
    made: str


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

# fmt: off
TEMPLATES = (
    # 1. a snapshot, then a write to what it was taken from
    Template("snapshot_then_write", """
        {t} = :: COPIES
        LATER
    """),
    Template("copy_then_write", """
        {t} = torch.zeros_like({x})
        {t}[:] = :: {x} | {x}.clone() | {x}[:]
        LATER
    """),
    Template("copy_then_write", """
        {t} = torch.ones_like({x})
        {t}.copy_( :: {x}) | {x}.flip(0))
        LATER
    """),
    Template("part_then_write", """
        {t} = :: {x}[0].clone() | {x}[:1].clone() | {x}[-1] + 0 | {x}[::2].clone()
        LATER
    """),
    Template("part_then_write", """
        {t} = :: {x}.diagonal().clone() | {x}.t().clone()
        LATER
    """, rank=2, square=True),
    # 2. a write through a view or an index, then one to the base
    Template("view_then_base", """
        {v} = :: VIEW
        WRITE
        LATER
    """, far),
    Template("view_then_base", """
        {v} = :: {x}.diagonal() | {x}.t() | {x}[:, 0] | {x}[:, 1:] | {x}.t()[0]
        WRITE
        LATER
    """, far, rank=2, rows=2, square=True),
    Template("index_then_base", """
        {x}[[0]] = 7 | {x}[torch.tensor([0])] = {x}[:1] + 1 | {x}[{x} > 2] = 1 | {x}[torch.arange(1)] += 1
        LATER
    """, far),
    # 3. reads itself at other positions
    Template("self_read", """
        {x}.add_({x}.flip(0)) | {x} += {x}.roll(1, 0) | {x}.copy_({x}.flip(0)) | {x}[:] = {x}.flip(0)
          | {x}.mul_(0).add_({x}.flip(0))
    """),
    Template("self_read", """
        {x}.copy_({x}.t().clone()) | {x}.add_({x}.t().clone()) | {x}[:] = {x}.t() + 0 | {x} += {x}.t() * 1
    """, rank=2, square=True),
    Template("index_self_read", """
        {x}[[0]] = 5 | {x}[torch.tensor([0])] = 5 | {x}[0] = 5
        {x}.add_({x}.flip(0)) | {x}.copy_({x}.roll(1, 0)) | {x} += {x}.flip(0)
    """),
    Template("shift", """
        {x}[1:] = :: {x}[:-1].clone() | {x}[:-1].clone() + 1 | {x}[:-1] + 0 | {x}[:-1] * 1
    """, rows=2),
    Template("shift", """
        {x}[:-1] = :: {x}[1:].clone() | {x}[1:] + 1 | {x}[1:].flip(0)
    """, rows=2),
    Template("swap", """
        {t} = {x}[0].clone()
        {x}[0] = {x}[1]
        {x}[1] = {t}
    """, put, rows=2, categories="bif"),
    Template("swap", """
        {t} = {x}[:1].clone()
        {x}[:1] = {x}[-1:]
        {x}[-1:] = {t}
    """, put, rows=2, categories="bif"),
    # 4. duplicate indices, computed in the graph
    Template("computed_duplicates", """
        {i} = :: DUPLICATES
        {x}[{i}] = :: {x}[{i}] + 1 | {x}[{i}] * 2
        LATER
    """, far),
    Template("computed_duplicates", """
        {i} = :: DUPLICATES
        {x}[{i}] += 1 | {x}[{i}] *= 2 | {x}[{i}] = 7
    """),
    Template("computed_duplicates", """
        {i} = :: DUPLICATES
        {x}.index_put_(({i},), {x}[{i}] + 1, accumulate=True) | {x}.index_add_(0, {i}, {x}[{i}])
    """, far),
    # 5. looks like a computation, gives the same memory
    Template("alias_then_write", """
        {v} = :: NO_OPS
        WRITE
    """),
    Template("alias_then_write", """
        {v} = :: NO_OPS
        {v}[0] = 7 | {v}[:1] += 1 | {v}[-1].zero_() | {v}[[0]] = 5
        {r} = {x} + 0
    """),
)
# fmt: on


def template(state: State) -> bool:
    """Splices in one template, on a name that it suits. False where none is suited."""
    from inplace_fuzz.generate.neighbours import NEIGHBOURS

    names = [n for n in state.tensors(writable=True) if n.rank and not n.empty]
    if not names:
        return False
    x = state.choices.pick(names)
    for row in state.active.order(state.choices, TEMPLATES + NEIGHBOURS):
        if suits(row, x) and (row.script or not state.script_only) and fits(row.span(x.base.span), x.dtype):
            splice(state, row, x)
            return True
    return False


def suits(row: Template, x: Named) -> bool:
    return (
        x.rank >= row.rank
        and x.shape[0] >= row.rows
        and x.numbers.category in row.categories
        and (not row.square or (x.rank == 2 and x.shape[0] == x.shape[1]))
    )


def splice(state: State, row: Template, x: Named) -> None:
    """Adds the lines of a template, names what they make, and widens the spans of what they write."""
    names = {"x": x.text, "ones": "1, " * (x.rank - 1), "n": str(x.shape[0]), "size": str(math.prod(x.shape))}
    span = row.span(x.base.span)
    x.base.span = hull(x.base.span, span)
    x.base.written += 1
    state.script = state.script and row.script
    for line in row.lines:
        if line.made and line.made not in names:
            names[line.made] = state.fresh(_LETTERS[line.made])
        state.run(fill(state, line, names, x))
        if line.made:
            _bind(state, names[line.made], line.made, x, span)
    if row.feature == "metadata":
        state.reshaped()


_LETTERS = {"t": "tuvw", "r": "rsqp", "v": "vwuab", "w": "wvuab", "i": "ijkl", "m": "mnop", "u": "uvwab"}


def fill(state: State, line: Line, names: dict[str, str], x: Named) -> str:
    """A line with one of its alternatives, and names filled in.

    Alternatives that need contiguous memory, or floats, count only where `x` has them.
    """
    options: Sequence[str] = line.alternatives
    if len(options) > 1:
        contiguous, floating = x.t.is_contiguous(), x.numbers.category == "f"
        options = [o for o in options if (contiguous or ".view" not in o) and (floating or "dropout" not in o)]
    return state.choices.pick(options).format(**names)


def _bind(state: State, name: str, made: str, x: Named, span: Span) -> None:
    if made == "u":
        return  # a list or a dict
    role = {"t": "made", "r": "read", "i": "read", "m": "read"}.get(made, "view")
    named = state.bind(name, role, (0, x.shape[0]) if made == "i" else (0, 1) if made == "m" else span)
    named.overlapping = overlaps_itself(named.t)
    named.base.span = hull(named.base.span, span)
    if made in "tr":
        state.wanted.append(name)
