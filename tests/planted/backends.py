"""Wrong compilers: each runs eager's own module and spoils one thing that a caller can see.

`tests.planted.backends:NAME` loads one. The first sentence of each function says what is wrong with it; those that die
are in deaths.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.core import ALL_CHANNELS, Channel, Compiled, Lane, Refusal

Spoil = Callable[[Any, tuple[Any, ...]], Compiled]


@dataclass(frozen=True)
class Spoiled:
    """`spoil` gets the module and the example inputs and gives what the caller is to call."""

    name: str
    spoil: Spoil
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT,)
    refusals: tuple[Refusal, ...] = ()
    form: str = "module"
    per_fork: int = 64

    def version(self) -> str:
        return "planted 1"

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("build")
        return self.spoil(module, example)


def compiled(module: Any, call: Callable[..., Any]) -> Compiled:
    return Compiled(call, lambda: dict(module.named_buffers()))


def mapped(tree: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """The same nest of tuples, lists and dicts with every tensor changed."""
    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, (tuple, list)):
        return type(tree)(mapped(item, change) for item in tree)
    return {k: mapped(v, change) for k, v in tree.items()} if isinstance(tree, Mapping) else tree


def tensors(tree: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    mapped(tree, found.append)
    return found


def own(module: Any, args: tuple[Any, ...]) -> Callable[[torch.Tensor], bool]:
    """Says of an output whether its memory is its own: neither an input's nor a buffer's."""
    outside = {t.untyped_storage().data_ptr() for t in [*tensors(args), *module.buffers()]}
    return lambda t: t.untyped_storage().data_ptr() not in outside


def of_outputs(change: Callable[[torch.Tensor], torch.Tensor]) -> Spoil:
    """Changes every output."""
    return lambda module, example: compiled(module, lambda *args: mapped(module(*args), change))


# ---------------------------------------------------------------------------------------------------------- over calls
def second_call_wrong(module: Any, example: tuple[Any, ...]) -> Compiled:
    """From the second call on, the first output is one too large."""
    calls = []

    def call(*args: Any) -> Any:
        output = module(*args)
        calls.append(1)
        for tensor in tensors(output)[:1] if len(calls) > 1 else []:
            tensor.add_(1) if tensor.dtype is not torch.bool else tensor.logical_not_()
        return output

    return compiled(module, call)


def result_kept(module: Any, example: tuple[Any, ...]) -> Compiled:
    """A result that comes again is handed out again, in the memory that an earlier caller got and may have written."""
    kept: list[tuple[torch.Tensor, torch.Tensor]] = []

    def call(*args: Any) -> Any:
        output = module(*args)
        is_own = own(module, args)
        earlier = list(kept)

        def again(tensor: torch.Tensor) -> torch.Tensor:
            if not is_own(tensor):
                return tensor
            for k, (value, handed_out) in enumerate(earlier):
                if value.dtype == tensor.dtype and torch.equal(value, tensor):
                    del earlier[k]
                    return handed_out
            kept.append((tensor.clone(), tensor))
            return tensor

        return mapped(output, again)

    return compiled(module, call)


def result_buffer_reused(module: Any, example: tuple[Any, ...]) -> Compiled:
    """Every call writes its result into the memory that the call before handed out."""
    handed_out: list[torch.Tensor] = []

    def call(*args: Any) -> Any:
        output = module(*args)
        if not (isinstance(output, torch.Tensor) and output.is_contiguous() and own(module, args)(output)):
            return output
        for buffer in handed_out:
            if (buffer.shape, buffer.dtype) == (output.shape, output.dtype):
                return buffer.copy_(output)
        handed_out.append(output)
        return output

    return compiled(module, call)


def shapes_frozen(module: Any, example: tuple[Any, ...]) -> Compiled:
    """Results are cut to the shape that the first call gave."""
    first: list[torch.Size] = []

    def call(*args: Any) -> Any:
        output = module(*args)
        if not first:
            first.extend(t.shape for t in tensors(output))
        shapes = iter(first)

        def cut(tensor: torch.Tensor) -> torch.Tensor:
            shape = next(shapes)
            if shape == tensor.shape or len(shape) != tensor.dim():
                return tensor
            return tensor[tuple(slice(n) for n in shape)]

        return mapped(output, cut)

    return compiled(module, call)


_was_called = False


def first_in_process_wrong(module: Any, example: tuple[Any, ...]) -> Compiled:
    """The first call in a process gives an output that is one too large; no later one does."""

    def call(*args: Any) -> Any:
        global _was_called
        output = module(*args)
        for tensor in [] if _was_called else tensors(output)[:1]:
            tensor.add_(1) if tensor.dtype is not torch.bool else tensor.logical_not_()
        _was_called = True
        return output

    return compiled(module, call)


# ---------------------------------------------------------------------------------------------------------- of one call
def buffers_frozen(module: Any, example: tuple[Any, ...]) -> Compiled:
    """Buffers are constants: every call begins with those of the start, and the caller never sees them change."""
    start = {name: t.clone() for name, t in module.named_buffers()}

    def call(*args: Any) -> Any:
        for name, tensor in module.named_buffers():
            tensor.copy_(start[name])
        return module(*args)

    return Compiled(call, lambda: start)


def compiling_runs(module: Any, example: tuple[Any, ...]) -> Compiled:
    """Compiling runs the module once, and leaves its buffers as that run left them."""
    module(*example)
    return compiled(module, module)


def inputs_kept(module: Any, example: tuple[Any, ...]) -> Compiled:
    """Inputs are copied before the call, so the caller's own are never written."""
    return compiled(module, lambda *args: module(*mapped(args, torch.clone)))


def strides_of_inputs_ignored(module: Any, example: tuple[Any, ...]) -> Compiled:
    """The result for an input that is not contiguous is transposed."""

    def call(*args: Any) -> Any:
        odd = any(not t.is_contiguous() for t in tensors(args))
        output = module(*args)
        return mapped(output, lambda t: t.mT) if odd and all(t.dim() > 1 for t in tensors(output)) else output

    return compiled(module, call)


def writes_outside(module: Any, example: tuple[Any, ...]) -> Compiled:
    """The element before the one that an input begins with is overwritten."""

    def call(*args: Any) -> Any:
        output = module(*args)
        for tensor in tensors(args):
            if tensor.storage_offset():
                torch.as_strided(tensor, (1,), (1,), tensor.storage_offset() - 1).fill_(1)
        return output

    return compiled(module, call)


def outputs_share(module: Any, example: tuple[Any, ...]) -> Compiled:
    """Two results of one shape and type get one piece of memory."""

    def call(*args: Any) -> Any:
        output = module(*args)
        is_own = own(module, args)
        planned: dict[Any, torch.Tensor] = {}

        def place(tensor: torch.Tensor) -> torch.Tensor:
            if not is_own(tensor):
                return tensor
            first = planned.setdefault((tensor.shape, tensor.dtype), tensor)
            return first if first is tensor else first.copy_(tensor)

        return mapped(output, place)

    return compiled(module, call)


def tuples_are_lists(module: Any, example: tuple[Any, ...]) -> Compiled:
    """A tuple is returned as a list."""

    def call(*args: Any) -> Any:
        output = module(*args)
        return list(output) if isinstance(output, tuple) else output

    return compiled(module, call)


def outputs_swapped(module: Any, example: tuple[Any, ...]) -> Compiled:
    """The first two of several outputs change places."""

    def call(*args: Any) -> Any:
        output = module(*args)
        return (output[1], output[0], *output[2:]) if isinstance(output, tuple) and len(output) > 1 else output

    return compiled(module, call)


def random_element_wrong(module: Any, example: tuple[Any, ...]) -> Compiled:
    """One element of the first output is wrong, another one in every run."""

    def call(*args: Any) -> Any:
        output = module(*args)
        for tensor in tensors(output)[:1]:
            if tensor.numel() and tensor.dtype is not torch.bool:
                where = tuple(int.from_bytes(os.urandom(4)) % n for n in tensor.shape)
                tensor[where] += 1 + os.urandom(1)[0] % 50
        return output

    return compiled(module, call)


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """Integers come back as int64."""
    return tensor.long() if tensor.dtype in {torch.int8, torch.uint8, torch.int16, torch.int32} else tensor


def column_major(tensor: torch.Tensor) -> torch.Tensor:
    """A matrix comes back column by column: the same elements with other strides."""
    if tensor.dim() < 2 or not tensor.is_contiguous():
        return tensor
    return tensor.mT.contiguous().mT


def flattened_scalars(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor without dimensions comes back with one."""
    return tensor.reshape(1) if tensor.dim() == 0 else tensor


SECOND_CALL_WRONG = Spoiled("planted-second-call-wrong", second_call_wrong)
RESULT_KEPT = Spoiled("planted-result-kept", result_kept)
RESULT_BUFFER_REUSED = Spoiled("planted-result-buffer-reused", result_buffer_reused)
SHAPES_FROZEN = Spoiled("planted-shapes-frozen", shapes_frozen)
FIRST_IN_PROCESS = Spoiled("planted-first-in-process", first_in_process_wrong, per_fork=1)
BUFFERS_FROZEN = Spoiled("planted-buffers-frozen", buffers_frozen)
COMPILING_RUNS = Spoiled("planted-compiling-runs", compiling_runs)
INPUTS_KEPT = Spoiled("planted-inputs-kept", inputs_kept)
STRIDES_IGNORED = Spoiled("planted-strides-ignored", strides_of_inputs_ignored)
WRITES_OUTSIDE = Spoiled("planted-writes-outside", writes_outside)
OUTPUTS_SHARE = Spoiled("planted-outputs-share", outputs_share)
TUPLES_ARE_LISTS = Spoiled("planted-tuples-are-lists", tuples_are_lists)
OUTPUTS_SWAPPED = Spoiled("planted-outputs-swapped", outputs_swapped)
RANDOM_ELEMENT = Spoiled("planted-random-element", random_element_wrong)
WIDENED = Spoiled("planted-widened", of_outputs(widened))
COLUMN_MAJOR = Spoiled("planted-column-major", of_outputs(column_major))
FLATTENED_SCALARS = Spoiled("planted-flattened-scalars", of_outputs(flattened_scalars))
