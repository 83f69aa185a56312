"""Pairs that weights make rare: a view of any kind, and any write through it.

Weights follow what compilers get wrong, so two rare operators seldom meet. Here every kind of view and every write is
as likely as every other.
"""

from __future__ import annotations

from inplace_fuzz.generate.indexed import INDEXED, OTHERS, call_indexed
from inplace_fuzz.generate.places import place, whole
from inplace_fuzz.generate.sources import source
from inplace_fuzz.generate.state import Named, State
from inplace_fuzz.generate.views import name_view
from inplace_fuzz.generate.writes import METHODS, assign_to, augment_place, call_one

_ASSIGNMENTS, _AUGMENTED = 4, 3  # how many of the alternatives these are


def view_and_write(state: State) -> bool:
    """`v = x.t(); v.square_()`, through one view or two, and half of the time a write to the base after it."""
    choices = state.choices
    names = state.tensors(writable=True)
    if not names:
        return False
    x = choices.pick(names)
    v = name_view(state, x, level=True)
    if choices.byte() & 1:
        v = name_view(state, v, level=True)
    if v.writable:
        write_level(state, v)
    if not v.writable or choices.byte() & 1:
        write_level(state, x)
        state.wanted.append(v.text)
    return True


def write_level(state: State, named: Named) -> None:
    """Some write to a name, every kind as likely as every other."""
    choices = state.choices
    kind = choices.below(len(METHODS) + len(INDEXED) + len(OTHERS) + _ASSIGNMENTS + _AUGMENTED)
    if kind < _ASSIGNMENTS:
        where = place(state, named)
        assign_to(state, where, source(state, where.aim(), same_dtype=where.copies))
    elif kind < _ASSIGNMENTS + _AUGMENTED and named.numbers.category != "b":
        augment_place(state, whole(named))
    elif kind < _ASSIGNMENTS + _AUGMENTED + len(METHODS):
        call_one(state, whole(named), state.active.level(choices, METHODS))
    elif kind < _ASSIGNMENTS + _AUGMENTED + len(METHODS) + len(INDEXED):
        call_indexed(state, whole(named), state.active.level(choices, INDEXED))
    else:
        where = whole(named)
        rows = state.active.level(choices, OTHERS)
        if not any(row.make(state, where) for row in rows):
            call_one(state, where, state.active.level(choices, METHODS))
