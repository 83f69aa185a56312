"""Pairs that weights make rare: chains of any views, and any write through them.

Weights follow what compilers get wrong, so two rare operators seldom meet. Here every kind of view and every write is
as likely as every other, whatever its weight; `LOOKS` has one row for each operator that a graph can hold for a view.
"""

# ruff: noqa: ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_fuzz.generate import views
from inplace_fuzz.generate.indexed import INDEXED, OTHERS, call_indexed
from inplace_fuzz.generate.places import place, whole
from inplace_fuzz.generate.sources import source
from inplace_fuzz.generate.state import Named, State
from inplace_fuzz.generate.views import bind_view
from inplace_fuzz.generate.writes import METHODS, assign_to, augment_place, call_one

_ASSIGNMENTS, _AUGMENTED = 4, 3  # how many of the alternatives these are


@dataclass(frozen=True, slots=True)
class Look:
    """`make` gives the expression for one kind of view of a name, or None where it does not apply."""

    feature: str
    make: Callable[[State, Named], str | None]


def _always(*texts: str) -> Callable[[State, Named], str | None]:
    return lambda state, x: state.choices.pick(texts).format(x=x.text, shape=list(x.shape))


def _ranked(low: int, high: int, text: str) -> Callable[[State, Named], str | None]:
    return lambda state, x: text.format(x=x.text) if low <= x.rank <= high else None


def _slice(state: State, x: Named) -> str | None:
    texts = ("{x}[1:]", "{x}[:-1]", "{x}[::2]", "{x}[..., 1:]", "{x}[..., :2]")
    return state.choices.pick(texts).format(x=x.text) if x.rank else None


def _view(state: State, x: Named) -> str | None:
    sizes = x.shape if state.choices.byte() & 1 else (1, *x.shape)
    return views.flat(state, x) or f"{x.text}.view({list(sizes)})"


def _squeeze(state: State, x: Named) -> str | None:
    return views.squeeze(state, x) or _always("{x}.squeeze()", "{x}.squeeze(-1)")(state, x)


def _or_one(make: Callable[[State, Named], str | None], call: str) -> Callable[[State, Named], str | None]:
    """A kind that turns dimensions round, also where there is but one."""
    return lambda state, x: f"{x.text}.{call}" if x.rank == 1 else make(state, x)


def _part(call: str) -> Callable[[State, Named], str | None]:
    def make(state: State, x: Named) -> str | None:
        if not x.rank or x.shape[0] < 2:
            return None
        text = call.format(half=x.shape[0] // 2, rest=x.shape[0] - 1)
        return f"{x.text}.{text}[{state.choices.below(2)}]"

    return make


def _copy(state: State, x: Named) -> str | None:
    """What could have been a view, and is a copy: other strides, or another dtype."""
    texts: tuple[str, ...] = () if x.numbers.category == "f" else ("{x}.to(torch.float64)",)
    if x.rank > 1:
        texts += ("{x}.mT.contiguous()", "{x}.mT.reshape(-1)", "{x}.mT.flatten()", "{x}.transpose(0, -1).ravel()")
    return state.choices.pick(texts).format(x=x.text) if texts else None


LOOKS = (
    Look("select_call", views.select),
    Look("view_brackets", _slice),
    Look("view_brackets", _ranked(1, 4, "{x}[:]")),
    Look("view_brackets", views.brackets),
    Look("narrow", views.narrow),
    Look("transpose", _or_one(views.transpose, "transpose(0, -1)")),
    Look("t", _ranked(1, 2, "{x}.t()")),
    Look("t", _ranked(1, 2, "{x}.T")),
    Look("t", _ranked(2, 4, "{x}.mT")),
    Look("permute", _or_one(views.permute, "permute(0)")),
    Look("movedim", _or_one(views.movedim, "movedim(0, -1)")),
    Look("view", _view),
    Look("view", _always("{x}.view_as({x})")),
    Look("unflatten", views.unflatten),
    Look("squeeze", _squeeze),
    Look("unsqueeze", views.unsqueeze),
    Look("expand", views.expand),
    Look("expand", _always("{x}.expand({shape})")),
    Look("diagonal", views.diagonal),
    Look("unfold", views.unfold),
    Look("as_strided", views.as_strided),
    Look("detach", _always("{x}.detach()")),
    Look("reshape", views.reshape),
    Look("flatten", _always("{x}.flatten()")),
    Look("flatten", _ranked(2, 4, "{x}.flatten(0, 1)")),
    Look("flatten", _always("{x}.ravel()")),
    Look("no_op_alias", _always("{x}.contiguous()")),
    Look("no_op_alias", _always("{x}.to({x}.dtype)", "{x}.to({x})")),
    Look("no_op_alias", _always("{x}.type_as({x})")),
    Look("no_op_alias", lambda state, x: views.dropout(x)),
    Look("unbind", _part("unbind(0)")),
    Look("split", _part("split({half})")),
    Look("split_sizes", _part("split([1, {rest}])")),
    Look("chunk", _part("chunk(2)")),
    Look("tensor_split", _part("tensor_split(2)")),
    Look("reshape", _copy),
)


def look(state: State, x: Named) -> Named:
    """Adds `v = x...` by the drawn kind of view, or the next that applies."""
    for row in state.active.level(state.choices, LOOKS):
        text = row.make(state, x)
        if text is not None:
            break
    else:
        text = f"{x.text}.detach()"
    name = state.fresh("vwuab")
    state.run(f"{name} = {text}")
    return bind_view(state, name, x)


def view_and_write(state: State) -> bool:
    """`v = x.t(); w = v[1:]; w.square_()`, through one view to three, and half of the time a write to the base after
    it.
    """
    choices = state.choices
    names = state.tensors(writable=True)
    if not names:
        return False
    kind = choices.byte()
    if kind & 1:
        names = [n for n in names if n.role == "buffer"] or names
    x = choices.pick(names)
    v = x
    for _ in range((2, 1, 2, 3)[kind >> 6]):
        v = look(state, v)
    if v.overlapping and v.rank:
        name = state.fresh("vwuab")
        state.run(f"{name} = {v.text}[0]")
        v = bind_view(state, name, v)
    if v.writable:
        write_level(state, v)
    if not v.writable or kind & 2:
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
