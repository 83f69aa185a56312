"""`if` and `for` with writes inside: off in the default mix, because not every target can take them.

What stands in a branch or a loop is drawn like any statement but makes no names, and runs only when the block is
complete. Spans take in what either branch may write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_fuzz.generate.exact import fits
from inplace_fuzz.generate.indexed import indexed_method
from inplace_fuzz.generate.splice import fill, suits
from inplace_fuzz.generate.state import Named, State
from inplace_fuzz.generate.template import Template, far
from inplace_fuzz.generate.writes import assign, augment, call_method

_WRITES: tuple[Callable[[State], bool], ...] = (assign, call_method, augment, indexed_method)


@dataclass(frozen=True, slots=True)
class Condition:
    """The test of an `if`: some depend on values, and may go one way in one call and another way in the next."""

    text: str
    rank: int = 0
    categories: str = "bif"


CONDITIONS = (
    Condition("{x}.sum() > 3"),
    Condition("{x}[0].sum() > 7", 1),
    Condition("{x}.size(0) > 2", 1),
    Condition("bool(({x} > 5).any())"),
    Condition("{x}.flatten()[0] < 2", 1),
    Condition("{x}.dim() == 2"),
)


def branch(state: State) -> bool:
    """`if x.sum() > 3:` with one or two writes, and half of the time an `else`."""
    choices = state.choices
    x = choices.pick(state.tensors())
    if x.empty:
        return False
    condition = choices.pick([c for c in CONDITIONS if x.rank >= c.rank])
    then = _body(state, choices.between(1, 2))
    otherwise = _body(state, 1) if choices.byte() & 1 else []
    if not then:
        return False
    lines = [f"if {condition.text.format(x=x.text)}:", *then]
    state.run("\n".join([*lines, "else:", *otherwise] if otherwise else lines))
    return True


def _body(state: State, count: int) -> list[str]:
    """Some writes, indented, not yet run."""
    state.block = []
    for _ in range(count):
        state.choices.pick(_WRITES)(state)
    lines, state.block = state.block, None
    return [f"    {line}" for line in lines]


# Each of these is one statement. `n` is the size of the first dimension of `x`, at most 6.
# fmt: off
LOOPS = (
    Template("loop", """
        for k in range({n}):
            {x}[k] += 1 | {x}[k] = k | {x}[k].add_(k) | {x}[k] = {x}[k - 1] + 1 | {x}[k].fill_(7) | {x}[:k] = 7
              | {x}[k:] += 1
    """, far),
    Template("loop", """
        for k in range(2):
            {x}.add_(1) | {x}[0] = {x}[-1] + k | {x}[0] += {x}[1] | {x}[k] = {x}[1 - k].clone()
            {x}[1].add_(k) | {x}[1] = {x}[0].clone() | {x}[k].zero_() | {x}[:1] += 1
    """, far, rows=2),
    Template("loop", """
        for k in range({x}.size(0)):
            if k > 0:
                {x}[k] = {x}[k - 1] + 1 | {x}[k - 1].zero_() | {x}[k].add_(1)
    """, far),
    Template("loop", """
        for k in range(0):
            {x}.zero_() | {x}[0] = 7
    """, far),
    Template("loop", """
        for row in {x}.unbind(0):
            row.add_(1) | row.fill_(7) | row += 1
    """, far),
    Template("loop", """
        for k in range(3):
            if k == 2:
                break | continue
            {x}[0] += 1 | {x}.add_(k) | {x}[k - 1] = 7
    """, far),
    Template("loop", """
        k = 0
        while k < 2:
            {x}[k - 1] += 1 | {x}[0] = k | {x}.add_(1)
            k += 1
    """, far),
)
# fmt: on


def loop(state: State) -> bool:
    """`for k in range(2):` with writes that depend on each other."""
    names = [n for n in state.tensors(writable=True) if n.rank and not n.empty and n.shape[0] <= 6]
    if not names:
        return False
    x = state.choices.pick(names)
    start = state.choices.below(len(LOOPS))
    for row in (*LOOPS[start:], *LOOPS[:start]):
        if suits(row, x) and fits(row.span(x.base.span), x.dtype):
            _run_loop(state, row, x)
            return True
    return False


def _run_loop(state: State, row: Template, x: Named) -> None:
    state.run("\n".join(fill(state, line, {"x": x.text, "n": str(x.shape[0])}, x) for line in row.lines))
    state.wrote(x.base, row.span(x.base.span))
