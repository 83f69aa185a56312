"""What adapters share whose compilers take and give flat tensors: the way to the caller's nested ones and back."""

from __future__ import annotations

import copy
import inspect
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from inplace_fuzz.core.backend import Refusal


class LayoutNotGiven(NotImplementedError):
    """The program reads an input's memory by its strides, and the compiler is given a dense copy of that input."""


def refuse_other_layout(operators: Iterable[Any], example: tuple[Any, ...]) -> None:
    """Raises LayoutNotGiven where an operator addresses storages, and an input is not the whole of its own in order.

    What the compiler would then answer is about other memory than eager's, and no fault of it.
    """
    inputs = [t for t in pytree.tree_leaves(example) if isinstance(t, torch.Tensor)]
    if any(not _whole(t) for t in inputs) and any("as_strided" in str(operator) for operator in operators):
        raise LayoutNotGiven("as_strided looks at storages, and the compiler is given dense copies of the inputs")


def _whole(tensor: torch.Tensor) -> bool:
    return tensor.is_contiguous() and tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()


class _Operators(TorchDispatchMode):
    """Notes each operator that runs."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


LAYOUT_REFUSAL = Refusal("LayoutNotGiven", r".", "as_strided of an input that the compiler has a dense copy of")


@dataclass(frozen=True)
class Signature:
    """`names` of the caller's arguments in the graph, `held` what user outputs that are no tensors hold, by place."""

    names: tuple[str, ...]
    out_spec: Any
    outputs: int
    held: dict[int, Any]
    dtypes: tuple[Any, ...] = ()  # of the outputs, where they are known

    @staticmethod
    def of(exported: Any) -> Signature:
        """The signature of an ExportedProgram."""
        signature = exported.graph_signature
        names = tuple(s.arg.name for s in signature.input_specs if s.kind.name == "USER_INPUT")
        outputs = [s.arg for s in signature.output_specs if s.kind.name == "USER_OUTPUT"]
        held = {k: arg.value for k, arg in enumerate(outputs) if type(arg).__name__ == "ConstantArgument"}
        return Signature(names, exported.call_spec.out_spec, len(outputs), held)

    def inputs(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """The caller's arguments by name."""
        return dict(zip(self.names, pytree.tree_leaves((args, {})), strict=True))

    def result(self, tensors: Iterable[Any]) -> Any:
        """What the module returns, from its outputs in order, with or without those that are no tensors."""
        given = list(tensors)
        if len(given) == self.outputs:
            leaves = [t.item() if isinstance(self.held.get(k), (bool, int, float)) else t for k, t in enumerate(given)]
        elif len(given) == self.outputs - len(self.held):
            left = iter(given)
            leaves = [self.held[k] if k in self.held else next(left) for k in range(self.outputs)]
        else:
            raise ValueError(f"the compiled module has {len(given)} outputs, and the program {self.outputs}")
        return pytree.tree_unflatten(leaves, self.out_spec)


def flattened(module: Any, example: tuple[Any, ...]) -> Signature:
    """The signature of a module that has none: its parameters' names, and what it returns for copies of `example`.

    Running it moves its buffers; they are put back. Raises LayoutNotGiven, see `refuse_other_layout`.
    """
    state = {name: t.clone() for name, t in module.named_buffers()}
    with torch.no_grad(), _Operators() as ran:
        result = module(*copy.deepcopy(example))
        for name, buffer in module.named_buffers():
            buffer.data = state[name]
    refuse_other_layout(ran.seen, example)
    leaves, out_spec = pytree.tree_flatten(result)
    held = {k: leaf for k, leaf in enumerate(leaves) if not isinstance(leaf, torch.Tensor)}
    names = []
    for name, value in zip(parameters(module), example, strict=False):
        count = len(pytree.tree_leaves(value))
        names += [name] if isinstance(value, torch.Tensor) else [f"{name}_{k}" for k in range(count)]
    dtypes = tuple(getattr(leaf, "dtype", None) for leaf in leaves)
    return Signature(tuple(names), out_spec, len(leaves), held, dtypes)


@contextmanager
def heard() -> Iterator[Callable[[], list[str]]]:
    """What is written to standard error in here, for compilers that say there alone what is wrong."""
    with tempfile.TemporaryFile("w+", errors="replace") as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)

        def lines() -> list[str]:
            file.seek(0)
            return [line.strip() for line in file if line.strip()]

        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def parameters(module: Any) -> list[str]:
    """What forward calls its arguments."""
    if isinstance(module, torch.jit.ScriptModule):
        schema: Any = getattr(module.forward, "schema")  # noqa: B009  not in torch's stubs
        return [a.name for a in schema.arguments[1:]]
    return list(inspect.signature(module.forward).parameters)


def dense(value: Any) -> torch.Tensor:
    """A contiguous copy for a runtime that takes plain memory; a number as the tensor that stands for it."""
    if not isinstance(value, torch.Tensor):
        return torch.tensor(value)
    return value.detach().clone(memory_format=torch.contiguous_format)
