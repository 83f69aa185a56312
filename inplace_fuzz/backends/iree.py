"""IREE: `iree.turbine.aot.export`, `llvm-cpu`, the runtime's synchronous local device.

The compiled module keeps mutable buffers between calls and cannot show them by name: what they hold shows in what later
calls return. It runs on buffers of its own, so a caller's inputs are never written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, dense, flattened, heard
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("iree-base-compiler", ("iree-base-runtime=={version}", "iree-turbine"))

# HAL's name of each dtype, and the NumPy dtype of the same width that carries its bits.
_ELEMENTS = {
    torch.float16: ("FLOAT_16", "uint16"),
    torch.bfloat16: ("BFLOAT_16", "uint16"),
    torch.float32: ("FLOAT_32", "uint32"),
    torch.float64: ("FLOAT_64", "uint64"),
    torch.int8: ("SINT_8", "uint8"),
    torch.int16: ("SINT_16", "uint16"),
    torch.int32: ("SINT_32", "uint32"),
    torch.int64: ("SINT_64", "uint64"),
    torch.uint8: ("UINT_8", "uint8"),
    torch.bool: ("BOOL_8", "uint8"),
}
_SIGNLESS = {"INT_8": torch.int8, "INT_16": torch.int16, "INT_32": torch.int32, "INT_64": torch.int64}
# f64 stays f64, rather than becoming f32 as it does unless one says so.
_FLAGS = ("--iree-input-demote-f64-to-f32=false",)


class CompilationFailed(RuntimeError):
    """The first error among the compiler's diagnostics."""


@dataclass(frozen=True)
class Iree:
    name: str = "iree"
    channels: frozenset[Channel] = OUTPUT_CHANNELS | {Channel.BUFFERS}
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = (
        *EXPORT_REFUSALS,
        LAYOUT_REFUSAL,
        Refusal("CompilationFailed", r"failed to legalize operation 'torch", "an operator that it cannot lower"),
        Refusal("CompilationFailed", r"^unimplemented|not supported|unsupported"),
        Refusal("NotImplementedError", r".", "the importer's own word"),
    )
    form: str = "fx"
    stateless: bool = True
    per_fork: int = 16

    def version(self) -> str:
        installed_version("iree-turbine", self.name)
        return installed_version(REQUIREMENTS.distribution, self.name)

    def warm(self) -> None:
        """Imports one module. Compiling starts threads, which is left to workers."""

        class Tiny(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x[0] = 1
                return x + 1

        _imported(Tiny(), (torch.ones(2),))

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        signature = flattened(module, example)
        enter("convert")
        imported = _imported(module, example)
        enter("build")
        imported.session.set_flags(*_FLAGS)
        with heard() as lines:  # its exception says no more than "see diagnostics"
            try:
                binary = imported.compile(save_to=None, target_backends=("llvm-cpu",))
            except RuntimeError as error:
                said = [line.partition("error: ")[2] for line in lines() if "error: " in line]
                raise CompilationFailed(said[0] if said else str(error)) from error
        import iree.runtime as runtime

        config = runtime.Config("local-sync")
        context = runtime.SystemContext(config=config)
        context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, binary.map_memory()))
        main = context.modules.module["main"]

        def call(*args: Any) -> Any:
            results = main(*[_to_runtime(runtime, config.device, value) for value in signature.inputs(args).values()])
            results = results if isinstance(results, (list, tuple)) else (results,)
            dtypes = signature.dtypes if len(results) == signature.outputs else (None,) * len(results)
            return signature.result(_from_runtime(runtime, v, d) for v, d in zip(results, dtypes, strict=True))

        return Compiled(call, None)


def _imported(module: Any, example: tuple[Any, ...]) -> Any:
    from iree.turbine import aot

    return aot.export(module, args=example)


def _to_runtime(runtime: Any, device: Any, value: Any) -> Any:
    tensor = dense(value)
    element, bits = _ELEMENTS[tensor.dtype]
    return device.allocator.allocate_buffer_copy(
        memory_type=runtime.MemoryType.DEVICE_LOCAL,
        allowed_usage=runtime.BufferUsage.DEFAULT | runtime.BufferUsage.MAPPING,
        device=device,
        buffer=tensor.view(getattr(torch, bits)).numpy(),
        element_type=getattr(runtime.HalElementType, element),
    )


def _from_runtime(runtime: Any, value: Any, expected: Any) -> Any:
    """`expected` says what an integer without sign stands for: MLIR does not."""
    if not hasattr(value, "_buffer_view"):
        return torch.as_tensor(value)
    import numpy as np

    view = value._buffer_view  # noqa: SLF001  to_host() has no word for bfloat16
    kinds = _SIGNLESS | {name: dtype for dtype, (name, _) in _ELEMENTS.items()}
    element = next(name for name in kinds if int(getattr(runtime.HalElementType, name)) == view.element_type)
    dtype = kinds[element]
    if element in _SIGNLESS and expected is torch.uint8 and dtype is torch.int8:
        dtype = expected
    if 0 in view.shape:
        return torch.empty(list(view.shape), dtype=dtype)
    return torch.from_numpy(view.map().asarray(view.shape, np.dtype(_ELEMENTS[dtype][1])).copy()).view(dtype)


IREE = Iree()
