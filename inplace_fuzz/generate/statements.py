"""The kinds of statement, and the drawing of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_fuzz.generate.indexed import indexed_method
from inplace_fuzz.generate.inputs import Shape
from inplace_fuzz.generate.makers import make
from inplace_fuzz.generate.reads import alias, read, snapshot
from inplace_fuzz.generate.state import State
from inplace_fuzz.generate.templates import template
from inplace_fuzz.generate.views import name_parts, name_view
from inplace_fuzz.generate.writes import assign, augment, call_method


@dataclass(frozen=True, slots=True)
class Statement:
    """`draw` adds one statement to the program; False where this kind does not apply, and nothing was added."""

    feature: str
    draw: Callable[[State, Shape], bool]


def _view(state: State, root: Shape) -> bool:
    name_view(state, state.choices.pick(state.tensors()))
    return True


def _parts(state: State, root: Shape) -> bool:
    return name_parts(state, state.choices.pick(state.tensors()))


STATEMENTS = (
    Statement("assign", lambda state, root: assign(state)),
    Statement("method", lambda state, root: call_method(state)),
    Statement("augment", lambda state, root: augment(state)),
    Statement("view", _view),
    Statement("indexed_method", lambda state, root: indexed_method(state)),
    Statement("make", make),
    Statement("read", lambda state, root: read(state)),
    Statement("snapshot", lambda state, root: snapshot(state)),
    Statement("template", lambda state, root: template(state)),
    Statement("parts", _parts),
    Statement("alias", lambda state, root: alias(state)),
)


def add_statement(state: State, root: Shape) -> None:
    """Adds one statement: the drawn kind, or the next that applies."""
    for row in state.active.order(state.choices, STATEMENTS):
        if row.draw(state, root):
            return
    make(state, root)
