"""Pairs that weights make rare: chains of any views, and any write through them.

Weights follow what compilers get wrong, so two rare operators seldom meet. Here every kind of view and every write is
as likely as every other, whatever its weight; `LOOKS` has one row for each operator that a graph can hold for a view.
"""

# ruff: noqa: ARG001, ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

from inplace_fuzz.generate import views
from inplace_fuzz.generate.indexed import INDEXED, OTHERS, call_indexed
from inplace_fuzz.generate.inputs import Shape
from inplace_fuzz.generate.places import place, whole
from inplace_fuzz.generate.sources import source
from inplace_fuzz.generate.state import Named, State
from inplace_fuzz.generate.views import bind_view
from inplace_fuzz.generate.writes import METHODS, OF_MATRICES, assign_to, augment_place, call_one

_ASSIGNMENTS, _AUGMENTED = 4, 3  # how many of the alternatives these are
ANY_RANK, _NOT_A_NUMBER = range(99), range(1, 99)
_SELDOM_ON_BUFFERS = tuple(m for m in METHODS if m.feature in ("bitwise_", "triangle_"))


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


def _unfold(state: State, x: Named) -> str | None:
    """Windows that mostly do not overlap, so that they can be written as they are; half of the time of one row, which
    gives a matrix.
    """
    kind = state.choices.byte()
    if kind & 1 and x.rank > 1 and x.shape[0]:
        x = within(state, x, f"{x.text}[0]")
    if kind < 192:
        dims = [d for d, n in enumerate(x.shape) if n >= 2]
        return f"{x.text}.unfold({state.choices.pick(dims)}, 2, 2)" if dims else None
    return views.unfold(state, x)


def _flatten_two(state: State, x: Named) -> str | None:
    """The first two dimensions, so that a matrix is left to look at."""
    return f"{x.text}{'[None]' if x.rank == 2 else ''}.flatten(0, 1)" if x.rank > 1 else None


def _ravel(state: State, x: Named) -> str | None:
    """Turned first where only so it is a view."""
    turned = x.rank > 1 and not x.t.is_contiguous() and x.t.mT.is_contiguous()
    return f"{x.text}{'.mT' if turned else ''}.ravel()"


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
    Look("unfold", _unfold),
    Look("as_strided", views.as_strided),
    Look("detach", _always("{x}.detach()")),
    Look("reshape", views.reshape),
    Look("flatten", _always("{x}.flatten()")),
    Look("flatten", _flatten_two),
    Look("flatten", _ravel),
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


def look(state: State, x: Named, ranks: range = ANY_RANK) -> Named:
    """Adds `v = x...` by the drawn kind of view, or the next that applies and leaves so many dimensions. The drawn kind
    is also tried on a row and on a column of `x`: few kinds give a matrix of any `x`.
    """
    sources: Iterable[Named] = (x,) if ranks is ANY_RANK else _near(state, x)
    for row in state.active.level(state.choices, LOOKS):
        made = map(row.make, repeat(state), sources)
        text = next((t for t in made if t and (ranks is ANY_RANK or state.look(t)[0].dim() in ranks)), None)
        if text is not None:
            break
        sources = (x,)
    else:
        text = f"{x.text}.detach()"
    name = state.fresh("vwuab")
    state.run(f"{name} = {text}")
    return bind_view(state, name, x)


def within(state: State, x: Named, text: str) -> Named:
    """A view of `x` as a name would be that is bound to it."""
    t, u = state.look(text)
    return Named(text, t, u, x.base, "view")


def _near(state: State, x: Named) -> Iterator[Named]:
    yield x
    if x.rank and x.shape[0]:
        yield within(state, x, f"{x.text}[0]")
    if x.rank < 4:
        yield within(state, x, f"{x.text}.unsqueeze(-1)")


def view_and_write(state: State) -> bool:
    """`v = x.t(); w = v[1:]; w.square_()`, through one view to three, and half of the time a write to the base, or to a
    view on the way, after it.
    """
    choices = state.choices
    write = drawn_write(state)
    x = _suited(state, write)
    if x is None:
        return False
    kind = choices.byte()
    chain = [x]
    for _ in range((1, 2, 2, 3)[kind >> 6]):
        chain.append(look(state, chain[-1], write.ranks))
    v = chain[-1]
    if v.overlapping and v.rank:
        name = state.fresh("vwuab")
        state.run(f"{name} = {v.text}[0]")
        v = bind_view(state, name, v)
    if v.writable:
        write.write(v)
    if not v.writable or kind & 2:
        on_the_way = choices.pick(chain[:-1])
        write_level(state, on_the_way if on_the_way.writable else x)
        state.wanted.append(v.text)
    if x.role == "buffer" and kind & 4:
        call_one(state, whole(x), state.active.level(choices, _SELDOM_ON_BUFFERS))
    return True


@dataclass(frozen=True, slots=True)
class DrawnWrite:
    """A write whose kind is drawn before the tensor, which has to be of one of these categories to take it."""

    write: Callable[[Named], object]
    categories: str = "bif"
    ranks: range = ANY_RANK


def drawn_write(state: State) -> DrawnWrite:
    """Some kind of write, every kind as likely as every other."""
    choices = state.choices
    kind = choices.below(len(METHODS) + len(INDEXED) + len(OTHERS) + _ASSIGNMENTS + _AUGMENTED)
    if kind < _ASSIGNMENTS:
        return DrawnWrite(lambda x: _assign(state, x))
    if kind < _ASSIGNMENTS + _AUGMENTED:
        return DrawnWrite(lambda x: augment_place(state, whole(x)), "if")
    if kind < _ASSIGNMENTS + _AUGMENTED + len(METHODS):
        methods = list(state.active.level(choices, METHODS))
        if not methods:
            return DrawnWrite(lambda x: _assign(state, x))
        ranks = OF_MATRICES.get(methods[0].feature, ANY_RANK)
        return DrawnWrite(lambda x: call_one(state, whole(x), methods), methods[0].categories, ranks)
    if kind < _ASSIGNMENTS + _AUGMENTED + len(METHODS) + len(INDEXED):
        return DrawnWrite(
            lambda x: call_indexed(state, whole(x), state.active.level(choices, INDEXED)), ranks=_NOT_A_NUMBER
        )
    return DrawnWrite(lambda x: _other(state, x))


def _assign(state: State, named: Named) -> None:
    where = place(state, named)
    assign_to(state, where, source(state, where.aim(), same_dtype=where.copies))


def _other(state: State, named: Named) -> None:
    where = whole(named)
    if not any(row.make(state, where) for row in state.active.level(state.choices, OTHERS)):
        call_one(state, where, state.active.level(state.choices, METHODS))


def _suited(state: State, write: DrawnWrite) -> Named | None:
    """A name that this kind of write may write, or one made for it; some other where there is none."""
    choices = state.choices
    names = state.tensors(writable=True)
    if choices.byte() & 1:
        names = [n for n in names if n.role == "buffer"] or names
    suited = [n for n in names if n.numbers.category in write.categories and n.rank >= write.ranks.start]
    if not suited and "i" in write.categories and state.block is None and (state.on("i64") or state.on("i32")):
        return _whole_numbers(state, state.root if len(state.root) >= write.ranks.start else (3, 3))
    return choices.pick(suited or names) if names else None


def _whole_numbers(state: State, shape: Shape) -> Named:
    size = math.prod(shape)
    name = state.fresh("tuvw")
    dtype = "" if state.on("i64") else ", dtype=torch.int32"
    state.run(f"{name} = torch.arange({size}{dtype}).reshape({list(shape)})")
    return state.bind(name, "made", (0, max(size - 1, 0)))


def write_level(state: State, named: Named) -> None:
    """Some write to a name, every kind as likely as every other."""
    write = drawn_write(state)
    if named.numbers.category in write.categories:
        write.write(named)
    else:
        call_one(state, whole(named), state.active.level(state.choices, METHODS))
