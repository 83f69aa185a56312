"""Tensors made in `forward`, and buffers: further targets of writes."""

# ruff: noqa: ARG005 - the rows of a table have one signature, used or not

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import torch

from inplace_fuzz.generate.exact import BY_NAME, NUMBERS, Span, fits
from inplace_fuzz.generate.inputs import DTYPES, Shape
from inplace_fuzz.generate.sources import number
from inplace_fuzz.generate.state import Base, Named, State


@dataclass(frozen=True, slots=True)
class Made:
    """`{shape}`, `{dtype}`, `{size}`, a number `{k}`, a `{like}` name; the span is of what it holds."""

    feature: str
    text: str
    span: Callable[[int, int], Span]  # of the number of elements and of k


MADE = (
    Made("zeros", "torch.zeros({shape}{as_dtype})", lambda n, k: (0, 0)),
    Made("ones", "torch.ones({shape}{as_dtype})", lambda n, k: (1, 1)),
    Made("full", "torch.full({shape}, {k}{as_dtype})", lambda n, k: (k, k)),
    Made("empty_fill", "torch.empty({shape}{as_dtype}).fill_({k})", lambda n, k: (k, k)),
    Made("arange", "torch.arange({size}, dtype={dtype}).reshape({shape})", lambda n, k: (0, max(n - 1, 0))),
    Made("literal", "torch.tensor({literal}, dtype={dtype})", lambda n, k: (0, n)),
    Made("zeros_like", "torch.zeros_like({like})", lambda n, k: (0, 0)),
    Made("ones_like", "torch.ones_like({like})", lambda n, k: (1, 1)),
    Made("full_like", "torch.full_like({like}, {k})", lambda n, k: (k, k)),
    Made("new_zeros", "{like}.new_zeros({shape})", lambda n, k: (0, 0)),
    Made("new_full", "{like}.new_full({shape}, {k})", lambda n, k: (k, k)),
    Made("eye", "torch.eye({rows}{as_dtype})", lambda n, k: (0, 1)),
)


def make(state: State) -> bool:
    """`t = torch.zeros([3])`"""
    made(state, state.choices.pick(shapes(state.root)))
    return True


def shapes(root: Shape) -> tuple[Shape, ...]:
    """Shapes of tensors made in `forward`: the root's, its rows', one more row, a scalar."""
    if not root:
        return ((), (3,))
    return (root, root, root[1:], (root[0] + 1, *root[1:]), (2, *root[-1:]), root[::-1], ())


def made(state: State, shape: Shape) -> Named:
    """Adds a line that makes a tensor of a shape, and names it."""
    choices = state.choices
    row = state.active.pick(choices, MADE)
    likes = [n for n in state.tensors() if n.shape == shape or "{shape}" in row.text] if "{like}" in row.text else []
    if "{like}" in row.text and not likes:
        row = MADE[0]
    like = choices.pick(likes) if likes else None
    dtype = like.dtype if like else _dtype(state)
    if "eye" in row.text:
        shape = (max(2, *shape[:1]) if shape else 2,) * 2
    size = math.prod(shape)
    if (dtype == torch.bool and "arange" in row.text) or (size == 0 and "literal" in row.text):
        row = MADE[0]
    k = number(state, dtype)
    name = state.fresh("tuvw")
    as_dtype = "" if dtype == torch.float32 else f", dtype={dtype}"
    text = row.text.format(
        shape=list(shape),
        as_dtype=as_dtype,
        dtype=dtype,
        size=size,
        rows=shape[0] if shape else 2,
        k=k.text,
        like=like.text if like else "",
        literal=_literal(shape, NUMBERS[dtype].category) if "literal" in row.text else "",
    )
    state.run(f"{name} = {text.removesuffix(f'.reshape({list(shape)})') if len(shape) == 1 else text}")
    return state.bind(name, "made", row.span(size, k.span[0]))


def _dtype(state: State) -> torch.dtype:
    """The first input's dtype, or another where the program mixes dtypes."""
    if state.gate("mixed_dtypes"):
        return BY_NAME[state.active.pick(state.choices, DTYPES).name]
    return state.names[0].dtype


def _literal(shape: Shape, category: str, start: int = 0) -> str:
    """Nested lists of 0, 1, 2 … of a shape."""
    if not shape:
        return "True" if category == "b" else f"{start}.0" if category == "f" else str(start)
    step = math.prod(shape[1:])
    return f"[{', '.join(_literal(shape[1:], category, start + k * step) for k in range(shape[0]))}]"


def add_buffer(state: State) -> None:
    """Registers `self.buf` in `__init__`. Its content lasts from the first call to the second."""
    dtype = state.names[0].dtype
    shape = state.choices.pick(shapes(state.root))
    limit = min(16, NUMBERS[dtype].high)
    suffix = "" if dtype == torch.float32 else f", dtype={dtype}"
    size = math.prod(shape)
    if state.choices.byte() & 1 and size <= limit and dtype != torch.bool:
        text = f"torch.arange({size}, dtype={dtype})" + ("" if len(shape) == 1 else f".reshape({list(shape)})")
    else:
        text = f"torch.zeros({list(shape)}{suffix})"
    state.init.append(f'self.register_buffer("buf", {text})')
    t, u = state.look(text)
    state.first_env["self"], state.second_env["self"] = SimpleNamespace(buf=t), SimpleNamespace(buf=u)
    # What the second call starts from is what the first leaves: known to stay within this span, or there is one call.
    base = Base("self.buf", (0 if dtype == torch.uint8 or dtype == torch.bool else -limit, limit), "buffer")
    if t.numel():
        state.bases[t.untyped_storage().data_ptr()] = base
    state.names.append(Named("self.buf", t, u, base, "buffer"))


_NEXT = ("{b} + 1", "{b}.clone()", "{b} * 2", "torch.zeros_like({b})", "{b} - {b}")


def assign_buffer(state: State) -> bool:
    """`self.buf = self.buf + 1`: the attribute gets another tensor, and its other names keep the old one."""
    found = next((n for n in state.names if n.role == "buffer"), None)
    if found is None or found.dtype == torch.bool:
        return False
    text = state.choices.pick(_NEXT)
    low, high = found.base.span
    span = {"{b} + 1": (low + 1, high + 1), "{b} * 2": (low * 2, high * 2), "{b}.clone()": (low, high)}.get(
        text, (0, 0)
    )
    if not fits(span, found.dtype):
        return False
    state.run(f"self.buf = {text.format(b='self.buf')}")
    _rebound(state, found, span)
    return True


def _rebound(state: State, named: Named, span: Span) -> None:
    state.keep(named.t)
    named.t, named.u = state.first_env["self"].buf, state.second_env["self"].buf
    named.base = Base("self.buf", span, "buffer")
    named.base.written = 1
    if named.t.numel():
        state.bases[named.t.untyped_storage().data_ptr()] = named.base


def settled(state: State) -> bool:
    """Whether the first call left the buffer within the span that the second was drawn for."""
    for named in state.names:
        if named.role == "buffer" and named.t.numel():
            low, high = (int(v) for v in named.t.aminmax()) if named.dtype != torch.bool else (0, 1)
            limit = min(16, named.numbers.high)
            if low < max(-limit, named.numbers.low) or high > limit:
                return False
    return True
