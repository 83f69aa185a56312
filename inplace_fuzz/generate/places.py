"""Where a statement writes: a name, seen through up to four pairs of brackets."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from inplace_fuzz.generate.indices import Link, advanced, basic, mask
from inplace_fuzz.generate.inputs import Shape
from inplace_fuzz.generate.sources import Aim
from inplace_fuzz.generate.state import Named, State


@dataclass(frozen=True, slots=True)
class Place:
    """Text that selects part of a name. `t` is what a view gives, or what the last brackets are applied to."""

    text: str
    named: Named
    t: torch.Tensor
    shape: Shape
    copies: bool = False  # the last brackets select by tensors: assigning writes, calling a method does not
    duplicates: bool = False
    ragged: bool = False
    bare: bool = False  # the name itself, without brackets

    @property
    def dtype(self) -> torch.dtype:
        return self.named.dtype

    def aim(self) -> Aim:
        base = self.named.base
        return Aim(
            self.shape, self.dtype, self.text, base.span, self.t, base, self.duplicates, self.ragged, not self.copies
        )


def target(state: State) -> Named | None:
    """A name that may be written; None where there is none. Names that share memory with others come up often."""
    names = state.tensors(writable=True)
    if not names:
        return None
    kind = state.choices.byte()
    if kind & 3 == 3:
        views = [n for n in names if n.role in ("view", "alias")]
        names = views or names
    elif kind & 3 == 2:
        buffers = [n for n in names if n.role in ("buffer", "made")]
        names = buffers or names
    return state.choices.pick(names)


def whole(named: Named) -> Place:
    return Place(named.text, named, named.t, named.shape, bare=True)


def place(state: State, named: Named, *, views_only: bool = False) -> Place:
    """A part of a name. With `views_only` a method of it writes into the name."""
    choices = state.choices
    drawn = choices.byte()
    depth = 1 if drawn < 160 or not state.on("chain") else 2 if drawn < 220 else 3 if drawn < 245 else 4
    text, t = named.text, named.t
    for _ in range(depth - 1):
        link = basic(state, tuple(t.shape))
        state.script = state.script and link.script
        text, t = text + link.text, t[link.objects]
    last = None if views_only else _selecting(state, text, t, named)
    if last is None:
        link = basic(state, tuple(t.shape))
        state.script = state.script and link.script
        t = t[link.objects]
        return Place(text + link.text, named, t, tuple(t.shape))
    state.script = state.script and last.script
    selected = t[last.objects]
    return Place(text + last.text, named, t, tuple(selected.shape), True, last.duplicates, last.ragged)


def _selecting(state: State, text: str, t: torch.Tensor, named: Named) -> Link | None:
    """Brackets with index tensors or a mask, where the program draws them and they apply."""
    shape = tuple(t.shape)
    if state.gate("mask"):
        return mask(state, shape, text, min(named.base.span[1], 6))
    return advanced(state, shape) if state.gate("index") else None
