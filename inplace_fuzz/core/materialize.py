"""The one module of core that needs torch: specs become tensors, tensors become specs, source becomes a class."""

from __future__ import annotations

import linecache
import sys
import types
from typing import Any

import torch

from inplace_fuzz.core.program import Program, ProgramError
from inplace_fuzz.core.spec import DTYPES, Arg, TensorSpec, contiguous_strides

_DTYPE: dict[str, torch.dtype] = {name: getattr(torch, name) for name in DTYPES}


def torch_version() -> str:
    """Distribution and version of the torch that runs here, as corpus entries record it: `torch 2.13.0`."""
    return f"torch {torch.__version__.partition('+')[0]}"


def make_call(call: tuple[Arg, ...]) -> tuple[Any, ...]:
    """Fresh arguments for one call. Specs with one `storage` number become views of one storage."""
    return CallMaker(call).make()


class CallMaker:
    """Makes the arguments of one call again and again. A copy of a tensor costs a tenth of building it from numbers."""

    def __init__(self, call: tuple[Arg, ...]) -> None:
        self._call = call
        self._masters: dict[int, torch.Tensor] = {}

    def make(self) -> tuple[Any, ...]:
        """Fresh arguments, which nobody else holds."""
        storages: dict[int, torch.Tensor] = {}
        return tuple([self._make(arg, storages) for arg in self._call])

    def _make(self, arg: Arg, storages: dict[int, torch.Tensor]) -> Any:
        if isinstance(arg, TensorSpec):
            return self._tensor(arg, storages)
        if isinstance(arg, tuple):
            return tuple(self._make(a, storages) for a in arg)
        if isinstance(arg, list):
            return [self._make(a, storages) for a in arg]
        if isinstance(arg, dict):
            return {k: self._make(a, storages) for k, a in arg.items()}
        return arg

    def _tensor(self, spec: TensorSpec, storages: dict[int, torch.Tensor]) -> torch.Tensor:
        master = self._masters.get(id(spec))
        if master is None:
            master = torch.tensor(spec.values, dtype=_DTYPE[spec.dtype])
            if spec.plain:
                master = master.reshape(spec.shape)
            self._masters[id(spec)] = master
        if spec.plain:
            tensor = master.clone()
        else:
            if spec.storage is None:
                base = master.clone()
            elif spec.storage in storages:
                base = storages[spec.storage]
            else:
                base = storages[spec.storage] = master.clone()
            strides = contiguous_strides(spec.shape) if spec.strides is None else spec.strides
            tensor = base.as_strided(spec.shape, strides, spec.offset)
        return tensor.requires_grad_() if spec.requires_grad else tensor


def describe_call(args: tuple[Any, ...]) -> tuple[Arg, ...]:
    """The specs of actual arguments, sharing included. Raises ProgramError for what a spec cannot hold."""
    users: dict[int, int] = {}
    _count(args, users)
    numbers: dict[int, int] = {}
    return tuple(_describe(a, users, numbers) for a in args)


def _count(arg: Any, users: dict[int, int]) -> None:
    if isinstance(arg, torch.Tensor) and arg.layout is torch.strided:
        key = arg.untyped_storage().data_ptr()
        users[key] = users.get(key, 0) + 1
    elif isinstance(arg, (list, tuple)):
        for a in arg:
            _count(a, users)
    elif isinstance(arg, dict):
        for a in arg.values():
            _count(a, users)


def _describe(arg: Any, users: dict[int, int], numbers: dict[int, int]) -> Arg:
    if isinstance(arg, torch.Tensor):
        return _describe_tensor(arg, users, numbers)
    if isinstance(arg, tuple):
        return tuple(_describe(a, users, numbers) for a in arg)
    if isinstance(arg, list):
        return [_describe(a, users, numbers) for a in arg]
    if isinstance(arg, dict):
        odd = next((k for k in arg if not (k is None or isinstance(k, (bool, int, float, str)))), None)
        if odd is not None:
            raise ProgramError(f"an input has a key of type {type(odd).__name__}; use text or numbers as keys")
        return {k: _describe(a, users, numbers) for k, a in arg.items()}
    if arg is None or isinstance(arg, (bool, int, float, complex, str)):
        return arg
    kind = type(arg).__name__
    raise ProgramError(f"an input of type {kind} cannot be described; use tensors, numbers, lists, tuples, dicts")


def _describe_tensor(tensor: torch.Tensor, users: dict[int, int], numbers: dict[int, int]) -> TensorSpec:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in _DTYPE or tensor.layout is not torch.strided or tensor.device.type != "cpu":
        raise ProgramError(
            f"an input tensor of dtype {dtype}, {tensor.layout}, on {tensor.device} cannot be described; "
            "use strided tensors of the usual dtypes on the CPU"
        )
    key = tensor.untyped_storage().data_ptr()
    shared = users.get(key, 1) > 1 and tensor.untyped_storage().nbytes() > 0
    detached = tensor.detach()
    strides = None if tensor.stride() == contiguous_strides(tuple(tensor.shape)) else tuple(tensor.stride())
    return TensorSpec(
        tuple(tensor.shape),
        dtype,
        storage_values(detached),
        strides,
        int(tensor.storage_offset()),
        numbers.setdefault(key, len(numbers)) if shared else None,
        # Only a leaf can be made again; what a caller computed with gradients is just data here.
        tensor.requires_grad and tensor.is_leaf,
    )


def storage_values(tensor: torch.Tensor) -> tuple[Any, ...]:
    """The whole storage behind a tensor, as flat elements of its dtype."""
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    if count == tensor.numel() and tensor.is_contiguous():
        return tuple(tensor.reshape(-1).tolist())
    return tuple(tensor.detach().as_strided((count,), (1,), 0).tolist())


_serial = 0


def load_namespace(source: str) -> dict[str, Any]:
    """Runs program text and returns its names, findable by `inspect` (and so by TorchScript). Not a sandbox.

    What it makes at random is the same each time.
    """
    global _serial
    _serial += 1
    name = f"inplace_fuzz_program_{_serial}"
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, [f"{line}\n" for line in source.split("\n")], filename)
    module = types.ModuleType(name)
    module.__file__ = filename
    sys.modules[name] = module
    torch.default_generator.manual_seed(0)
    exec(compile(source, filename, "exec"), module.__dict__)
    return module.__dict__


def forget_namespace(namespace: dict[str, Any]) -> None:
    """Lets go of what `load_namespace` keeps, so that a long-lived process stays small."""
    sys.modules.pop(namespace["__name__"], None)
    linecache.cache.pop(namespace["__file__"], None)


def load_module(program: Program) -> torch.nn.Module:
    """A fresh instance of the program's `M`, in eval mode."""
    return new_module(load_namespace(program.source))


def new_module(namespace: dict[str, Any]) -> torch.nn.Module:
    """A fresh instance of M, in eval mode. Random parameters are the same in each, for instances to be compared."""
    torch.default_generator.manual_seed(0)
    module = namespace["M"]()
    if not isinstance(module, torch.nn.Module):
        raise ProgramError("class M is not a torch.nn.Module; derive it from torch.nn.Module")
    return module.eval()
