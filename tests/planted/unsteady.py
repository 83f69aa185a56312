"""Compilers that do not give the same thing twice, each in its own way: `tests.planted.unsteady:NAME` loads one.

They count what they have compiled in their process, so each is the same in every run of the tests.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

from inplace_fuzz.core import Compiled
from tests.planted.backends import Spoil, Spoiled, compiled, mapped


def by_turns(*ways: Callable[[Any], Any]) -> Spoil:
    """Each compile takes the next of these ways to spoil what a call gives, and then the first again."""
    turn = itertools.cycle(ways)

    def spoil(module: Any, example: tuple[Any, ...]) -> Compiled:
        way = next(turn)
        return compiled(module, lambda *args: way(module(*args)))

    return spoil


def plus(number: int) -> Callable[[Any], Any]:
    """Every element is larger by as much; of booleans, nothing changes where it is even."""

    def more(t: torch.Tensor) -> torch.Tensor:
        return t.logical_xor(torch.full_like(t, number % 2 == 1)) if t.dtype is torch.bool else t + number

    return lambda output: mapped(output, more)


def itself(output: Any) -> Any:
    return output


def raising(output: Any) -> Any:
    raise ValueError("not this time")


def never_the_same() -> Spoil:
    """Each compile adds one more than the one before."""
    count = itertools.count(1)

    def spoil(module: Any, example: tuple[Any, ...]) -> Compiled:
        return by_turns(plus(next(count)))(module, example)

    return spoil


NEVER_THE_SAME = Spoiled("unsteady-never-the-same", never_the_same())
WRONG_BY_TURNS = Spoiled("unsteady-wrong-by-turns", by_turns(plus(1), itself))
RAISES_BY_TURNS = Spoiled("unsteady-raises-by-turns", by_turns(raising, itself))
WRONG_OR_RAISES = Spoiled("unsteady-wrong-or-raises", by_turns(plus(1), raising))
RAISES_OR_WRONG = Spoiled("unsteady-raises-or-wrong", by_turns(raising, plus(1)))
ALWAYS_RAISES = Spoiled("unsteady-always-raises", by_turns(raising))
ALWAYS_THE_SAME = Spoiled("unsteady-always-the-same", by_turns(plus(1)))
