"""Which places in memory a tensor covers: what decides whether a write is well defined."""

from __future__ import annotations

import torch


def offsets(t: torch.Tensor) -> list[int]:
    """The storage position of every element, row-major."""
    found = [int(t.storage_offset())]
    for size, stride in zip(t.shape, t.stride(), strict=True):
        found = [start + k * stride for start in found for k in range(size)]
    return found


def overlaps_itself(t: torch.Tensor) -> bool:
    """Whether two elements are one place in memory, as after `expand`."""
    reach = 0
    for size, stride in sorted(zip(t.shape, t.stride(), strict=True), key=lambda pair: pair[1]):
        if size > 1:
            if stride <= reach:
                places = offsets(t)
                return len(set(places)) < len(places)
            reach += (size - 1) * stride
    return False


def meet(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one storage have a place in common."""
    return not set(offsets(a)).isdisjoint(offsets(b))


def same_place(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors of one storage cover the same places in the same order."""
    return a.shape == b.shape and a.stride() == b.stride() and a.storage_offset() == b.storage_offset()
