"""The kinds of statement, and the drawing of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_fuzz.generate.control import branch, loop
from inplace_fuzz.generate.indexed import indexed_method
from inplace_fuzz.generate.makers import assign_buffer, make
from inplace_fuzz.generate.mixed import view_and_write
from inplace_fuzz.generate.reads import alias, read, snapshot
from inplace_fuzz.generate.splice import template
from inplace_fuzz.generate.state import State
from inplace_fuzz.generate.views import name_parts, name_view
from inplace_fuzz.generate.writes import assign, augment, call_method


@dataclass(frozen=True, slots=True)
class Statement:
    """`draw` adds one statement to the program; False where this kind does not apply, and nothing was added."""

    feature: str
    draw: Callable[[State], bool]


def _view(state: State) -> bool:
    name_view(state, state.choices.pick(state.tensors()))
    return True


def _parts(state: State) -> bool:
    return name_parts(state, state.choices.pick(state.tensors()))


STATEMENTS = (
    Statement("assign", assign),
    Statement("method", call_method),
    Statement("augment", augment),
    Statement("view", _view),
    Statement("indexed_method", indexed_method),
    Statement("make", make),
    Statement("assign_buffer", assign_buffer),
    Statement("read", read),
    Statement("snapshot", snapshot),
    Statement("template", template),
    Statement("pair", view_and_write),
    Statement("branch", branch),
    Statement("loop", loop),
    Statement("parts", _parts),
    Statement("alias", alias),
)


def add_statement(state: State) -> None:
    """Adds one statement: the drawn kind, or the next that applies."""
    for row in state.active.order(state.choices, STATEMENTS):
        if row.draw(state):
            return
    make(state)
