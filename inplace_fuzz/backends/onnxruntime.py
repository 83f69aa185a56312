"""ONNX Runtime behind `torch.onnx.export(dynamo=True)`, with its graph optimisations on and off.

An ONNX graph has inputs and outputs alone: the exporter leaves out what the program writes into inputs and buffers, so
only outputs are promised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils.dlpack

from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, Signature, dense, refuse_other_layout
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("onnxruntime", ("onnx", "onnxscript"))

RUNTIME_REFUSALS = (
    Refusal("NotImplemented", r"Could not find an implementation", "no kernel for this dtype"),
    Refusal("RuntimeException", r"data type is not supported", "a kernel that does not take this dtype"),
)


@dataclass(frozen=True)
class OnnxRuntime:
    name: str
    optimised: bool
    channels: frozenset[Channel] = OUTPUT_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = (
        *EXPORT_REFUSALS,
        LAYOUT_REFUSAL,
        *RUNTIME_REFUSALS,
        Refusal("DispatchError", r"No ONNX function found", "an operator that the exporter has no converter for"),
        Refusal("NotImplementedError", r".", "a converter's own word", stage="convert"),
    )
    form: str = "fx"
    stateless: bool = True
    per_fork: int = 32

    def version(self) -> str:
        installed_version("onnxscript", self.name)
        return installed_version(REQUIREMENTS.distribution, self.name)

    def warm(self) -> None:
        """Exports one module. The runtime itself is left to workers: importing it starts a thread."""

        class Tiny(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x[0] = 1
                return x + 1

        _export(Tiny().eval(), (torch.ones(2),))

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("export")
        try:
            program = _export(module, example)
        except torch.onnx.errors.OnnxExporterError as error:
            if type(error).__name__ != "TorchExportError":
                enter("convert")
            raise _first_cause(error) from error
        enter("build")
        run = session(program.model_proto.SerializeToString(), optimised=self.optimised)
        signature = Signature.of(program.exported_program)
        refuse_other_layout((node.target for node in program.exported_program.graph.nodes), example)
        names = [i.name for i in program.model.graph.inputs]  # in order; what the exporter writes to has another name

        def call(*args: Any) -> Any:
            return signature.result(run(dict(zip(names, signature.inputs(args).values(), strict=True))))

        return Compiled(call)


def _first_cause(error: BaseException) -> BaseException:
    """The exporter wraps what went wrong in the steps that it went wrong in."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _export(module: Any, example: tuple[Any, ...]) -> Any:
    _read_converters_once()
    return torch.onnx.export(module, example, dynamo=True, verbose=False)


@functools.cache
def _read_converters_once() -> None:
    """The exporter reads its whole library of converters for each export: two thirds of the time, always the same."""
    from torch.onnx._internal.exporter import _registration

    registry = _registration.ONNXRegistry
    registry.from_torchlib = staticmethod(functools.cache(registry.from_torchlib))  # type: ignore[method-assign]


def session(model: bytes, *, optimised: bool) -> Callable[[dict[str, Any]], list[torch.Tensor]]:
    """A function from tensors by name to the graph's outputs, on one thread. Names that are no inputs are left out."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    made = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    taken = [i.name for i in made.get_inputs()]

    def run(leaves: dict[str, Any]) -> list[torch.Tensor]:
        values = made.run_with_ort_values(None, {name: _to_runtime(ort, leaves[name]) for name in taken})
        return [_from_runtime(value) for value in values]

    return run


_BFLOAT16 = 16  # TensorProto.DataType of the one dtype that NumPy has no word for


def _to_runtime(ort: Any, value: Any) -> Any:
    tensor = dense(value)
    if tensor.dtype is torch.bfloat16:
        bits = tensor.view(torch.uint16).numpy()
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, _BFLOAT16)
    return ort.OrtValue.ortvalue_from_numpy(tensor.numpy())


def _from_runtime(value: Any) -> torch.Tensor:
    if value.element_type() == _BFLOAT16:
        return torch.utils.dlpack.from_dlpack(value._get_c_value()).clone()  # noqa: SLF001  no public way
    return torch.from_numpy(value.numpy()).clone()


ONNXRUNTIME = OnnxRuntime("onnxruntime", optimised=True)
UNOPTIMISED = OnnxRuntime("onnxruntime-unoptimized", optimised=False)
