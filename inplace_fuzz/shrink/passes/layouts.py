"""Plainer layouts of inputs: contiguous, a storage of its own, no more storage than is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.spec import Arg, contiguous_strides, map_specs, specs_in
from inplace_fuzz.shrink.edit import each_input


def plain_layouts(program: Program) -> Iterator[Program]:
    """Gives inputs a contiguous storage of their own, and no gradient; all inputs at once, then one by one."""
    yield from each_input(program, _plain)


def smaller_storages(program: Program) -> Iterator[Program]:
    """Cuts off the end of storages that no input looks at, then the beginning of those with one user."""
    yield program.with_calls(*(_without_ends(c) for c in program.calls))
    yield program.with_calls(*(map_specs(c, _without_beginning) for c in program.calls))


def _plain(spec: TensorSpec) -> TensorSpec:
    strides = contiguous_strides(spec.shape) if spec.strides is None else spec.strides
    offsets = [spec.offset]
    for length, stride in zip(spec.shape, strides, strict=True):
        offsets = [o + k * stride for o in offsets for k in range(length)]
    return TensorSpec(spec.shape, spec.dtype, tuple(spec.values[o] for o in offsets))


def _without_ends(call: tuple[Arg, ...]) -> tuple[Arg, ...]:
    used: dict[int | None, int] = {}
    for spec in specs_in(call):
        if spec.storage is not None:
            used[spec.storage] = max(used.get(spec.storage, 0), _end(spec))

    def cut(spec: TensorSpec) -> TensorSpec:
        return spec.with_values(spec.values[: used.get(spec.storage, _end(spec))])

    return tuple(map_specs(a, cut) for a in call)


def _without_beginning(spec: TensorSpec) -> TensorSpec:
    return spec if spec.storage is not None else replace(spec, values=spec.values[spec.offset :], offset=0)


def _end(spec: TensorSpec) -> int:
    """How many elements of its storage a tensor looks at, from the start of the storage."""
    strides = contiguous_strides(spec.shape) if spec.strides is None else spec.strides
    return spec.offset + sum((n - 1) * s for n, s in zip(spec.shape, strides, strict=True)) + 1 if spec.numel else 0
