"""Everything that a caller can see of a run, as plain data that needs no torch to be compared or sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

# Outputs as they are nested: TensorSeen at the leaves, with tuples, lists, dicts and plain values around them.
Tree: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class TensorSeen:
    """One tensor after a call.

    `values` are the elements in row-major order. `group` numbers the storage among all that the call shows (outputs,
    inputs, buffers), in order of first appearance, and `offset` is the storage offset in bytes: together they say what
    aliases what. `strides` count elements.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    values: tuple[Any, ...]
    group: int
    offset: int


@dataclass(frozen=True, slots=True)
class CallSeen:
    """One call: its outputs, and the named inputs and buffers as they are after it.

    `storages` holds the whole storage of each input, as flat elements of the input's dtype, so that a write outside
    the view that was passed shows too. `buffers` is None where they cannot be looked at. `raised` is
    `(exception type, first line)` when the call failed.
    """

    output: Tree
    inputs: dict[str, Tree]
    storages: dict[str, tuple[Any, ...]]
    buffers: dict[str, TensorSeen] | None
    raised: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One run: the calls of one module instance, in order.

    `kept` holds the first call's outputs as they are after the last call, where the caller has written into them.
    `before` holds the buffers as they are before the first call.
    """

    calls: tuple[CallSeen, ...]
    kept: Tree = None
    before: dict[str, TensorSeen] = field(default_factory=dict)
