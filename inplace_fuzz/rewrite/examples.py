"""What example inputs tell: which of them share memory, and how to use them without changing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .errors import UnsupportedMutation
from .state import SharedStorage


def shared_storages(inputs: Sequence[Any], *, first: int = 0, storage: bool = False) -> list[SharedStorage]:
    """The groups of inputs that share a storage. `first` is the number of graph inputs before them (`self`);
    `storage` says that the program looks at storages itself (`as_strided`), so an input that is a part of its storage
    is a group of its own, and what the program writes beside it is written back too.

    Raises UnsupportedMutation when inputs of different dtypes share one, which no chain of views can say.
    """
    groups: dict[int, list[int]] = {}
    for i, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and value.numel():
            groups.setdefault(value.untyped_storage().data_ptr(), []).append(i)
    found = []
    for members in groups.values():
        alone = inputs[members[0]]
        fills = alone.numel() * alone.element_size() == alone.untyped_storage().nbytes()
        whole = fills and alone.is_contiguous() and alone.storage_offset() == 0
        if len(members) < 2 and (whole or not storage):
            continue
        tensors = [inputs[i] for i in members]
        if len({t.dtype for t in tensors}) > 1:
            raise UnsupportedMutation("inputs", "inputs of different dtypes share memory")
        length = tensors[0].untyped_storage().nbytes() // tensors[0].element_size()
        pairs = zip(members, tensors, strict=True)
        seats = tuple((first + i, tuple(t.shape), t.stride(), t.storage_offset()) for i, t in pairs)
        found.append(SharedStorage(length, seats))
    return found


def defaults(script: Any) -> tuple[Any, ...]:
    """The default of each of forward's arguments, None where it has none."""
    return tuple(a.default_value for a in script.forward.schema.arguments[1:])


def copies(inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Inputs of their own with the same values, strides and sharing, safe to run a program on."""
    storages: dict[int, torch.UntypedStorage] = {}

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            mine = storages.setdefault(storage.data_ptr(), storage.clone()) if storage.nbytes() else storage.clone()
            fresh = torch.empty(0, dtype=value.dtype, device=value.device)
            return fresh.set_(mine, value.storage_offset(), value.shape, value.stride())
        if isinstance(value, dict):
            return {k: copied(v) for k, v in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(copied, value))
        if isinstance(value, (list, tuple)):
            return type(value)(map(copied, value))
        return value

    with torch.no_grad():
        return tuple(copied(v) for v in inputs)
