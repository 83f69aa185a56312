"""Views that get a name: one row for each way to look at a tensor's memory, one for each way to take it apart."""

# ruff: noqa: ARG001, ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from inplace_fuzz.generate.indices import basic
from inplace_fuzz.generate.overlap import overlaps_itself
from inplace_fuzz.generate.state import Named, State


@dataclass(frozen=True, slots=True)
class View:
    """`make` gives the expression for a view of a name, or None where it does not apply."""

    feature: str
    make: Callable[[State, Named], str | None]


def brackets(state: State, x: Named) -> str | None:
    link = basic(state, x.shape)
    if not link.script:
        state.script = False
    return x.text + link.text


def grouped(state: State, x: Named) -> str:
    """Another shape for the same elements."""
    size, rank = math.prod(x.shape), x.rank
    choices = ["-1"] if size else [str(size)]
    if rank > 1 and size:
        choices += [f"{x.shape[0] * x.shape[1]}, {', '.join(map(str, x.shape[2:])) or '1'}", f"{x.shape[-1]}, -1"]
    elif rank == 1 and size:
        choices += ["1, -1", "-1, 1"]
        choices += [f"{d}, -1" for d in (2, 3) if size % d == 0]
    return state.choices.pick(choices)


def flat(state: State, x: Named) -> str | None:
    return f"{x.text}.view({grouped(state, x)})" if x.t.is_contiguous() else None


def reshape(state: State, x: Named) -> str | None:
    return f"{x.text}.reshape({grouped(state, x)})"


def _two_dims(state: State, x: Named) -> str | None:
    if x.rank < 2:
        return None
    a = state.choices.below(x.rank - 1)
    b = state.choices.between(a + 1, x.rank - 1)
    return f"{a}, {b - x.rank if state.choices.byte() & 1 else b}"


def _with_two_dims(method: str) -> Callable[[State, Named], str | None]:
    def make(state: State, x: Named) -> str | None:
        dims = _two_dims(state, x)
        return None if dims is None else f"{x.text}.{method}({dims})"

    return make


transpose = _with_two_dims("transpose")
movedim = _with_two_dims("movedim")


def permute(state: State, x: Named) -> str | None:
    if x.rank < 2:
        return None
    turn = state.choices.between(1, x.rank - 1)
    dims = [(d + turn) % x.rank for d in range(x.rank)]
    return f"{x.text}.permute({', '.join(map(str, dims))})"


def _t(state: State, x: Named) -> str | None:
    if x.rank == 2:
        return x.text + state.choices.pick((".t()", ".T", ".mT"))
    return f"{x.text}.mT" if x.rank > 2 else None


def squeeze(state: State, x: Named) -> str | None:
    ones = [d for d, n in enumerate(x.shape) if n == 1]
    if not ones:
        return None
    return x.text + state.choices.pick((".squeeze()", f".squeeze({ones[0]})", f".squeeze({ones[-1] - x.rank})"))


def unsqueeze(state: State, x: Named) -> str | None:
    return f"{x.text}.unsqueeze({state.choices.between(-1, x.rank)})" if x.rank < 4 else None


def expand(state: State, x: Named) -> str | None:
    sizes = [2 if n == 1 else -1 for n in x.shape]
    if -1 in sizes and 2 not in sizes and x.rank >= 4:
        return None
    lead = [2] if 2 not in sizes else []
    return f"{x.text}.expand({', '.join(map(str, lead + sizes))})"


def diagonal(state: State, x: Named) -> str | None:
    if x.rank < 2:
        return None
    return x.text + state.choices.pick((".diagonal()", ".diagonal(1)", ".diagonal(-1)", ".diagonal(0, -1, -2)"))


def narrow(state: State, x: Named) -> str | None:
    if not x.rank:
        return None
    d = state.choices.below(x.rank)
    start = state.choices.between(0, max(x.shape[d] - 1, 0))
    return f"{x.text}.narrow({d}, {start}, {state.choices.between(min(1, x.shape[d]), x.shape[d] - start)})"


def select(state: State, x: Named) -> str | None:
    dims = [d for d, n in enumerate(x.shape) if n]
    if not dims:
        return None
    d = state.choices.pick(dims)
    at = state.choices.below(x.shape[d])
    return f"{x.text}.select({d}, {at - x.shape[d] if state.choices.byte() & 1 else at})"


def flatten(state: State, x: Named) -> str | None:
    options = [".flatten()", ".ravel()"]
    if x.rank > 1:
        options += [".flatten(0, 1)", ".flatten(-2)"]
    return x.text + state.choices.pick(options)


def unflatten(state: State, x: Named) -> str | None:
    for d, n in enumerate(x.shape):
        if n in (4, 6):
            return f"{x.text}.unflatten({d}, [2, {n // 2}])"
    return f"{x.text}.unflatten(0, [1, {x.shape[0]}])" if x.rank else None


def unfold(state: State, x: Named) -> str | None:
    dims = [d for d, n in enumerate(x.shape) if n >= 2]
    if not dims:
        return None
    d = state.choices.pick(dims)
    return f"{x.text}.unfold({d}, 2, {state.choices.between(1, 2)})"


def as_strided(state: State, x: Named) -> str | None:
    """Indexes the storage, not the view it is called on."""
    room = x.t.untyped_storage().nbytes() // x.t.element_size()
    if room < 3 or x.empty:
        return None
    offset = state.choices.below(2)
    room -= offset
    forms = [f"[{room // 2}], [2], {offset}", f"[2, {room // 2}], [{room // 2}, 1], {offset}"]
    if room >= 4:
        forms += [f"[{room // 2}, 2], [2, 1], {offset}", f"[2, 2], [1, 2], {offset}", f"[2, 2], [1, 1], {offset}"]
    return f"{x.text}.as_strided({state.choices.pick(forms)})"


_NO_OPS = (
    "{x}.contiguous()", "{x}.to({x}.dtype)", "{x}.reshape({x}.shape)", "{x}.expand({x}.shape)", "{x}.view_as({x})",
    "{x}.to({x})", "{x}.type_as({x})", "dropout",
)  # fmt: skip


def dropout(x: Named) -> str:
    """In eval it gives its argument."""
    return f"torch.nn.functional.dropout({x.text}, 0.5, False)"


def _no_op(state: State, x: Named) -> str | None:
    """Looks like a computation, and gives the same memory."""
    text = state.choices.pick(_NO_OPS).format(x=x.text)
    if text == "dropout":
        return dropout(x)
    return None if "view_as" in text and not x.t.is_contiguous() else text


VIEWS = (
    View("view_brackets", brackets),
    View("view", flat),
    View("reshape", reshape),
    View("transpose", transpose),
    View("t", _t),
    View("permute", permute),
    View("movedim", movedim),
    View("swapaxes", _with_two_dims("swapaxes")),
    View("squeeze", squeeze),
    View("unsqueeze", unsqueeze),
    View("expand", expand),
    View("diagonal", diagonal),
    View("narrow", narrow),
    View("select_call", select),
    View("flatten", flatten),
    View("unflatten", unflatten),
    View("unfold", unfold),
    View("as_strided", as_strided),
    View("detach", lambda state, x: f"{x.text}.detach()"),
    View("no_op_alias", _no_op),
)


def view_text(state: State, x: Named, rows: Iterable[View]) -> str:
    """A view of a name: the first of these kinds that applies."""
    for row in rows:
        text = row.make(state, x)
        if text is not None:
            return text
    return f"{x.text}.detach()"


def name_view(state: State, x: Named) -> Named:
    """Adds `v = x...` and returns the new name."""
    text = view_text(state, x, state.active.order(state.choices, VIEWS))
    name = state.fresh("vwuab")
    state.run(f"{name} = {text}")
    return bind_view(state, name, x)


def bind_view(state: State, name: str, x: Named) -> Named:
    """Records a name made from `x`, whether it turned out to share memory with it or to be a copy."""
    named = state.bind(name, "view", x.base.span)
    if named.base is x.base:
        named.overlapping = overlaps_itself(named.t)
    else:
        named.role = "read"
        named.overlapping = overlaps_itself(named.t)
    return named


@dataclass(frozen=True, slots=True)
class Parts:
    """A way to take a tensor apart: the call, and how many parts it gives; None where it does not apply."""

    feature: str
    make: Callable[[Named], tuple[str, int] | None]


def _halves(x: Named) -> int:
    return x.shape[0] // 2 if x.rank and x.shape[0] >= 2 else 0


PARTS = (
    Parts("split", lambda x: (f"{x.text}.split({_halves(x)})", -(-x.shape[0] // _halves(x))) if _halves(x) else None),
    Parts("chunk", lambda x: (f"{x.text}.chunk(2)", 2) if _halves(x) else None),
    Parts("unbind", lambda x: (f"{x.text}.unbind(0)", x.shape[0]) if _halves(x) else None),
    Parts("tensor_split", lambda x: (f"{x.text}.tensor_split(2)", 2) if _halves(x) else None),
    Parts("split_sizes", lambda x: (f"{x.text}.split([1, {x.shape[0] - 1}])", 2) if _halves(x) else None),
)


def name_parts(state: State, x: Named) -> bool:
    """Adds `v, w = x.split(...)`, or takes one part of it. False where `x` cannot be taken apart."""
    row = state.active.pick(state.choices, PARTS)
    found = row.make(x)
    if found is None:
        return False
    text, count = found
    if count > 3 or state.choices.byte() & 1:
        name = state.fresh("vwuab")
        state.run(f"{name} = {text}[{state.choices.below(count)}]")
        bind_view(state, name, x)
        return True
    names = []
    for _ in range(count):
        names.append(state.fresh("vwuab"))
        state.first_env[names[-1]] = None
    state.run(f"{', '.join(names)} = {text}")
    for name in names:
        bind_view(state, name, x)
    return True
