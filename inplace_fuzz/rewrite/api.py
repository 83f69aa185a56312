"""`functionalize` and `rewrite_graph`: the pass, as users call it."""

from __future__ import annotations

from typing import Any

import torch

from . import torchscript
from .rules import DEFAULT_RULES, Rules
from .walk import Walk


def rewrite_graph(
    graph: torch._C.Graph, example_inputs: Any = None, *, rules: Rules = DEFAULT_RULES, guard: bool = True,
    write_back: bool = True,
) -> torch._C.Graph:  # fmt: skip
    """A new graph that computes what `graph` computes, and in which nothing writes but one write-back per input.

    graph:      a TorchScript graph, from script or trace; it is not changed
    guard:      the result checks, when it runs, that a written input shares no memory with another one
    write_back: False returns the new contents of written inputs and buffers as further outputs instead
    Raises UnsupportedMutation for what cannot be proved.
    """
    walk = Walk(torchscript.read(graph), rules, guard=guard, write_back=write_back)
    return torchscript.emit(walk.run())
