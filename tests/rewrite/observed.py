"""What a caller can see of one call: outputs, inputs after it, buffers after it, and what shares memory with what."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch


@dataclasses.dataclass(frozen=True)
class Seen:
    """`tensors` holds (dtype, shape, values) of outputs, inputs and buffers; `alias` the groups that share storage."""

    outputs: list[Any]
    inputs: list[Any]
    buffers: list[Any]
    alias: list[Any]
    strides: list[Any]

    def differs(self, other: Seen) -> list[str]:
        return [f.name for f in dataclasses.fields(self) if getattr(self, f.name) != getattr(other, f.name)]


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [x for v in value.values() for x in leaves(v)]
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in leaves(v)]
    return [value]


def seen(outputs: Any, inputs: Any, buffers: Any = ()) -> Seen:
    outs, ins, bufs = leaves(outputs), leaves(list(inputs)), list(buffers)
    tensors = [t for t in (*outs, *ins, *bufs) if isinstance(t, torch.Tensor)]
    where = [t.untyped_storage().data_ptr() if t.numel() else None for t in tensors]
    alias = [(where.index(p), t.storage_offset()) if where.count(p) > 1 and p is not None else None
             for p, t in zip(where, tensors, strict=True)]  # fmt: skip
    return Seen(*([_plain(x) for x in part] for part in (outs, ins, bufs)), alias, [_strides(t) for t in outs])


def _plain(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return type(value).__name__, value
    data = torch.view_as_real(value.detach().resolve_conj()) if value.is_complex() else value.detach()
    return str(value.dtype), tuple(value.shape), repr(data.tolist())


def _strides(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or not value.numel():
        return None
    return tuple(s for s, n in zip(value.stride(), value.shape, strict=True) if n > 1)


def interpret(graph: torch._C.Graph, inputs: Any, self_: Any = None) -> Any:
    """Run a TorchScript graph without the optimising executor."""
    names = [v.debugName() for v in graph.inputs()]
    leading = [self_] if names and names[0].split(".")[0] == "self" else []
    return torch._C._jit_interpret_graph(graph, (*leading, *inputs))
