"""The observing half of the judge: runs a callable and writes down everything that a caller can see.

Runs inside workers; needs torch. Arguments are made afresh for each call, from specs, so that sharing between inputs
is kept and nothing leaks from one run into the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch

from inplace_fuzz.core.materialize import storage_values
from inplace_fuzz.core.observation import CallSeen, Observation, TensorSeen, Tree

# What the caller writes into every output before calling again. No program computes it from its small values.
POISON = 77


class CallFailed(Exception):
    """The callable raised. `error` is what it raised, `call` which call it was, from 0."""

    def __init__(self, error: BaseException, call: int) -> None:
        super().__init__(str(error))
        self.error = error
        self.call = call


class Maker(Protocol):
    """Makes the arguments of one call, afresh each time."""

    def make(self) -> tuple[Any, ...]: ...


def observe(
    call: Callable[..., Any],
    makers: Sequence[Maker],
    *,
    names: tuple[str, ...],
    buffers: Callable[[], Mapping[str, Any]] | None = dict,
    dirty: bool = False,
) -> Observation:
    """Runs the calls in order on one instance and returns what each showed. Raises CallFailed when one raises.

    When `dirty`, the caller writes into the outputs of each call before the next one, and a single call is made twice:
    a run that hands out its own constants or buffers shows it there, or in the first outputs after the last call.
    The random generator is seeded before each call, so that a program may draw.
    """
    seen = []
    first: Any = None
    before = {name: _see(t, {}) for name, t in buffers().items()} if buffers else {}
    if dirty and len(makers) == 1:
        makers = (makers[0], makers[0])
    for index, maker in enumerate(makers):
        args = maker.make()
        torch.default_generator.manual_seed(index)
        output = _call(call, args, index)
        seen.append(_see_call(output, args, names, buffers))
        if dirty and index + 1 < len(makers):
            _poison(output)
        if index == 0:
            first = output
    return Observation(tuple(seen), _see(first, {}) if dirty else None, before)


def _call(call: Callable[..., Any], args: tuple[Any, ...], index: int) -> Any:
    # A caller of a compiled module is not recording gradients unless an input asks for them.
    try:
        return call(*args)
    except Exception as error:
        raise CallFailed(error, index) from error


def _see_call(
    output: Any, args: tuple[Any, ...], names: tuple[str, ...], buffers: Callable[[], Mapping[str, Any]] | None
) -> CallSeen:
    groups: dict[int, int] = {}
    inputs: dict[str, Tree] = {}
    storages: dict[str, tuple[Any, ...]] = {}
    for k, arg in enumerate(args):
        name = names[k] if k < len(names) else f"input {k}"
        inputs[name] = _see(arg, groups)
        _see_storages(arg, name, storages)
    state = {name: _see(t, groups) for name, t in buffers().items()} if buffers else None
    return CallSeen(_see(output, groups), inputs, storages, state)


def _see(value: Any, groups: dict[int, int]) -> Tree:
    if isinstance(value, torch.Tensor):
        return see_tensor(value, groups)
    if isinstance(value, tuple):
        return tuple(_see(v, groups) for v in value)
    if isinstance(value, list):
        return [_see(v, groups) for v in value]
    if isinstance(value, Mapping):
        return {k: _see(v, groups) for k, v in value.items()}
    return value


_names: dict[torch.dtype, str] = {}


def see_tensor(tensor: torch.Tensor, groups: dict[int, int]) -> TensorSeen:
    dtype = _names.get(tensor.dtype)
    if dtype is None:
        dtype = _names[tensor.dtype] = str(tensor.dtype).removeprefix("torch.")
    shape = tuple(tensor.shape)
    if not shape:
        values: tuple[Any, ...] = (tensor.item(),)
    elif len(shape) == 1:
        values = tuple(tensor.tolist())
    else:
        values = tuple(tensor.reshape(-1).tolist())
    pointer = tensor.untyped_storage().data_ptr()
    group = groups.setdefault(pointer, len(groups)) if pointer else -1
    offset = int(tensor.storage_offset()) * tensor.element_size()
    return TensorSeen(dtype, shape, tensor.stride(), values, group, offset)


def _see_storages(arg: Any, name: str, storages: dict[str, tuple[Any, ...]]) -> None:
    if isinstance(arg, torch.Tensor):
        # Where the tensor fills its storage in order, its own values already show everything.
        if arg.numel() * arg.element_size() != arg.untyped_storage().nbytes() or not arg.is_contiguous():
            storages[name] = storage_values(arg)
    elif isinstance(arg, (list, tuple)):
        for k, a in enumerate(arg):
            _see_storages(a, f"{name}[{k}]", storages)
    elif isinstance(arg, dict):
        for k, a in arg.items():
            _see_storages(a, f"{name}[{k!r}]", storages)


def _poison(output: Any) -> None:
    """Writes into every output tensor, as a caller may."""
    if isinstance(output, torch.Tensor):
        with torch.no_grad():
            output.detach().fill_(True if output.dtype is torch.bool else POISON)
    elif isinstance(output, (list, tuple)):
        for value in output:
            _poison(value)
    elif isinstance(output, Mapping):
        for value in output.values():
            _poison(value)
