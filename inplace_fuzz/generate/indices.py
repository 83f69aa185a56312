"""What stands between the brackets: slices, numbers, `None`, `...`, index tensors and masks.

An item is a pair: its text, and the object it denotes. Both come from the same numbers, and indexing a real tensor with
the objects is how the shape of what a chain selects becomes known.
"""

# ruff: noqa: ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from inplace_fuzz.generate.inputs import Shape, distinct
from inplace_fuzz.generate.state import State

Item: TypeAlias = tuple[str, Any]
FULL: Item = (":", slice(None))


@dataclass(frozen=True, slots=True)
class Link:
    """One pair of brackets. `copies`: it selects by tensors, so reading it copies and only assigning to it writes."""

    text: str
    objects: tuple[Any, ...]
    copies: bool = False
    duplicates: bool = False  # two of its positions may be the same
    ragged: bool = False  # how many elements it selects depends on values
    script: bool = True


@dataclass(frozen=True, slots=True)
class One:
    """A form for one dimension of size n. `a` is a position in it, `b` a later one or n."""

    feature: str
    make: Callable[[int, int, int], Any]  # an int or a slice; None where it does not apply


ONES = (
    One("full_slice", lambda n, a, b: slice(None)),
    One("slice", lambda n, a, b: slice(a, b)),
    One("open_slice", lambda n, a, b: slice(a, None) if b == n else slice(None, b)),
    One("select", lambda n, a, b: a if n else None),
    One("negative_select", lambda n, a, b: a - n if n else None),
    One(
        "negative_slice", lambda n, a, b: slice(a - n, None) if b == n and n else slice(None, b - n) if b < n else None
    ),
    One("step", lambda n, a, b: slice(a or None, None, 2 + (b + a) % 2)),
    One("past_end", lambda n, a, b: slice(a, n + b)),
    One("clamped_slice", lambda n, a, b: slice(-n - 1 - a, b)),
    One("empty_slice", lambda n, a, b: slice(a, a) if b < n else slice(n + a, None)),
)


def show(thing: Any) -> str:
    """The text of an int, a slice, None or an Ellipsis between brackets."""
    if isinstance(thing, slice):
        start = "" if thing.start is None else thing.start
        stop = "" if thing.stop is None else thing.stop
        return f"{start}:{stop}" if thing.step is None else f"{start}:{stop}:{thing.step}"
    return "..." if thing is ... else str(thing)


def one(state: State, n: int) -> Item:
    """A form for one dimension: a slice or a number."""
    choices = state.choices
    row = state.active.pick(choices, ONES)
    if row is ONES[0] or (n == 1 and choices.byte() & 1):
        return FULL
    both = choices.byte()
    a = (both & 15) % n if n else 0
    b = a + 1 + (both >> 4) % (n - a) if n else 0
    thing = row.make(n, a, b)
    return FULL if thing is None else (show(thing), thing)


def basic(state: State, shape: Shape) -> Link:
    """Brackets that give a view: slices, numbers, `None` and `...`."""
    choices = state.choices
    rank = len(shape)
    if rank == 0:
        return _of_scalar(state)
    kind = choices.byte()
    count = 1 + kind % rank if kind & 64 == 0 or rank == 1 else rank
    items = [one(state, n) for n in shape[:count]]
    if state.gate("ellipsis"):
        items = [("...", ...), *(one(state, n) for n in shape[rank - count :])] if kind & 16 else [*items, ("...", ...)]
    elif state.gate("none_index"):
        items.insert(kind % (len(items) + 1), ("None", None))
    return _link(items)


def _of_scalar(state: State) -> Link:
    """Brackets on a 0-d tensor. TorchScript takes neither a lone `...` that is read nor `()`."""
    if not state.script_only and state.choices.byte() & 7 == 7:
        if state.gate("ellipsis"):
            return Link("[...]", (...,), script=False)
        if state.gate("empty_tuple"):
            return Link("[()]", (), script=False)
    return Link("[None]", (None,))


def _link(items: list[Item], **flags: Any) -> Link:
    return Link(f"[{', '.join(text for text, _ in items)}]", tuple(thing for _, thing in items), **flags)


# --------------------------------------------------------------------------------------------------- index tensors
@dataclass(frozen=True, slots=True)
class Index:
    """Index text and tensor. `duplicates`: two of its elements may name one position of the dimension it indexes."""

    text: str
    tensor: Any
    duplicates: bool
    negative: bool = False  # positions may count from the end


@dataclass(frozen=True, slots=True)
class Indexing:
    """A way to write an index into a dimension of size n > 0. None where it does not apply."""

    feature: str
    make: Callable[[State, int], Index | None]


def positions(state: State, n: int) -> list[int]:
    """A few positions of a dimension, distinct unless the program draws duplicates."""
    choices = state.choices
    start, count = choices.below(n), choices.between(1, min(n, 3))
    found = [(start + k) % n for k in range(count)]
    if choices.byte() & 1:
        found.reverse()
    if state.gate("duplicate_index"):
        found.append(found[0])
    if state.gate("negative_index"):
        found[0] -= n
    return found


def _list(state: State, n: int) -> Index:
    found = positions(state, n)
    return Index(str(found), found, len({p % n for p in found}) < len(found), min(found) < 0)


def _literal(state: State, n: int) -> Index:
    found = positions(state, n)
    return Index(
        f"torch.tensor({found})", torch.tensor(found), len({p % n for p in found}) < len(found), min(found) < 0
    )


def _table(state: State, n: int) -> Index:
    found = positions(state, n)
    rows = (
        [found, [(p + 1) % n for p in found]] if n < 2 * len(found) else [found, [(p + len(found)) % n for p in found]]
    )
    tensor = torch.tensor(rows)
    return Index(f"torch.tensor({rows})", tensor, not distinct(tensor, n), min(found) < 0)


def _number(state: State, n: int) -> Index:
    position = state.choices.below(n)
    return Index(f"torch.tensor({position})", torch.tensor(position), False)


def _arange(state: State, n: int) -> Index:
    stop = state.choices.between(1, n)
    return Index(f"torch.arange({stop})", torch.arange(stop), False)


def _input(state: State, n: int) -> Index | None:
    fitting = [i for i in state.names if i.role == "index" and i.base.span[1] < n and i.base.span[0] >= -n]
    if not fitting:
        return None
    named = state.choices.pick(fitting)
    return Index(named.text, named.t, not (distinct(named.t, n) and distinct(named.u, n)), named.base.span[0] < 0)


_COMPUTED = (
    # text                                whether distinct positions stay distinct
    ("{i}.flip(0)", True),
    ("{i}[:1]", True),
    ("({i} + 1) % {n}", True),
    ("{last} - {i} % {n}", True),
    ("({i} * 2) % {n}", False),
    ("{i} // 2 % {n}", False),
    ("torch.cat([{i}, {i}])", False),
    ("{i}.clamp(0, 0)", False),
)


def _computed(state: State, n: int) -> Index | None:
    """An index that the graph computes, from an index input or from the elements of a tensor."""
    found = _input(state, n)
    if found is None or found.tensor.dim() == 0:
        return _from_elements(state, n)
    text, keeps = state.choices.pick(_COMPUTED)
    text = text.format(i=found.text, n=n, last=n - 1)
    return Index(text, state.look(text)[0], found.duplicates or not keeps, found.negative and "%" not in text)


def _from_elements(state: State, n: int) -> Index | None:
    fitting = [v for v in state.tensors() if v.rank and not v.empty and v.numbers.category != "b"]
    if not fitting:
        return None
    named = state.choices.pick(fitting)
    cut = ", ".join("0" for _ in named.shape[1:])
    text = f"{named.text}[{cut}, :2]" if cut else f"{named.text}[:2]"
    text = f"{text}.to(torch.int64) % {n}" if named.dtype != torch.int64 else f"{text} % {n}"
    return Index(text, state.look(text)[0], True)


INDEXINGS = (
    Indexing("index_list", _list),
    Indexing("index_tensor", _literal),
    Indexing("index_2d", _table),
    Indexing("index_0d", _number),
    Indexing("index_arange", _arange),
    Indexing("index_by_input", _input),
    Indexing("index_computed", _computed),
)


def index(state: State, n: int, *, lists: bool = True) -> Index:
    """An index into a dimension of size n > 0: the drawn form, or the next one that applies."""
    for row in state.active.order(state.choices, INDEXINGS):
        if row.make is _list and not lists:
            continue
        found = row.make(state, n)
        if found is not None:
            return found
    return _literal(state, n)


def advanced(state: State, shape: Shape) -> Link | None:
    """Brackets with one or more index tensors among slices and numbers. None where no dimension can be indexed."""
    choices = state.choices
    rank = len(shape)
    dims = [d for d, n in enumerate(shape) if n > 0]
    if not dims:
        return None
    at = {choices.pick(dims)} if choices.byte() & 1 else {dims[0]}
    if rank > 1 and len(dims) > 1:
        if rank > 2 and state.gate("index_apart"):
            at = {dims[0], dims[-1]}
        elif state.gate("index_several"):
            first = choices.below(len(dims) - 1)
            at = {dims[first], dims[first + 1]}
    items: list[Item] = []
    duplicates = False
    shared: Index | None = None
    for d in range(max(at) + 1):
        if d not in at:
            items.append(one(state, shape[d]) if choices.chance(40) else FULL)
            continue
        if shared is None:
            found = shared = index(state, min(shape[k] for k in at))
        else:
            found = _beside(state, shared, shape[d])
        duplicates = duplicates or found.duplicates
        items.append((found.text, found.tensor))
    if _last_alone(items, rank) and not state.script_only and state.gate("ellipsis_index"):
        # TorchScript takes no tensor after an Ellipsis.
        return _link([("...", ...), items[-1]], copies=True, duplicates=duplicates, script=False)
    return _link(items, copies=True, duplicates=duplicates)


def _last_alone(items: list[Item], rank: int) -> bool:
    """Whether only the last of several dimensions is indexed, so that `...` can stand for the others."""
    return len(items) == rank > 1 and all(item is FULL for item in items[:-1])


def _beside(state: State, first: Index, n: int) -> Index:
    """A second index of a shape that goes with the first: the same again, a constant, or a column against a row."""
    tensor = first.tensor
    flat = isinstance(tensor, list)
    rank = 1 if flat else tensor.dim()
    count = len(tensor) if flat else tensor.numel()
    kind = state.choices.below(4)
    if kind == 1 and rank == 1 and count:
        found = [(state.choices.byte() + k) % n for k in range(count)]
        return Index(str(found), found, True) if flat else Index(f"torch.tensor({found})", torch.tensor(found), True)
    if kind == 2 and rank == 1 and state.on("index_2d"):
        column = [[p] for p in positions(state, n)]
        return Index(f"torch.tensor({column})", torch.tensor(column), not distinct(torch.tensor(column), n))
    if kind == 3:
        position = state.choices.below(n)
        return Index(f"torch.tensor({position})", torch.tensor(position), False)
    return first


# ------------------------------------------------------------------------------------------------------------ masks
def mask(state: State, shape: Shape, text: str, top: int) -> Link | None:
    """Brackets with a mask, over all dimensions or some. `text` is what is indexed, `top` a number it may reach."""
    if not shape:
        return None
    choices = state.choices
    if state.on("mask_input"):
        for named in state.names:
            if named.role == "mask" and shape[: named.rank] == named.shape:
                return Link(f"[{named.text}]", (named.t,), copies=True)
            if named.role == "mask" and named.rank == 1 and len(shape) > 1 and shape[1] == named.shape[0]:
                return Link(f"[:, {named.text}]", (slice(None), named.t), copies=True)
    if 0 < shape[0] <= 6 and state.gate("mask_literal"):
        pattern = choices.byte() | 1
        found = [bool(pattern >> k & 1) for k in range(shape[0])]
        return Link(f"[torch.tensor({found})]", (torch.tensor(found),), copies=True)
    if 0 in shape or ("[" in text.replace("self.", "") and len(text) > 12):
        return None
    level = choices.below(max(1, top))
    test = choices.pick((">", "<", "!=", ">=", "=="))
    if len(shape) > 1 and state.gate("mask_partial"):
        rows = f"{text}[{', '.join([':', *('0' for _ in shape[1:])])}]"
        condition = f"{rows} {test} {level}"
    else:
        condition = f"{text} {test} {level}"
    return Link(f"[{condition}]", (state.look(condition)[0],), copies=True, ragged=True)
