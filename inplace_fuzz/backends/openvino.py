"""OpenVINO on the CPU: `convert_model` of the exported, the scripted and the traced module.

An OpenVINO model has inputs and outputs alone, and converting turns buffers into constants: only outputs are promised.
The precision hint is f32: the plugin would otherwise choose a shorter type where the processor has one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, Signature, dense, flattened, refuse_other_layout
from inplace_fuzz.backends.torchscript import SCRIPT_REFUSALS, TRACE_REFUSALS, quiet
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

# Converting a traced module imports `packaging`, which its wheel does not ask for.
REQUIREMENTS = Requirements("openvino", ("packaging",))

_REFUSALS = (
    LAYOUT_REFUSAL,
    Refusal("OpConversionFailure", r"No conversion rule found", "an operator that the front end has no converter for"),
    Refusal("OpConversionFailure", r"is not supported|not supported|unsupported"),
)
_FAILURES = ("RuntimeError", "GeneralFailure", "NotImplementedFailure", "OpConversionFailure", "OpValidationFailure")
_OPTIONS = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}


@dataclass(frozen=True)
class OpenVino:
    """`front` says what `convert_model` is given: an ExportedProgram, a ScriptModule, or a module that it traces."""

    name: str
    front: str
    refusals: tuple[Refusal, ...]
    starts_from: str
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    channels: frozenset[Channel] = OUTPUT_CHANNELS
    form: str = "fx"
    stateless: bool = True
    per_fork: int = 16

    def version(self) -> str:
        return installed_version(REQUIREMENTS.distribution, self.name)

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("import")
        import openvino

        try:
            model, signature = self._converted(openvino, module, example, enter)
            enter("build")
            compiled = _core().compile_model(model, "CPU", _OPTIONS)
        except Exception as error:
            if type(error).__name__ not in _FAILURES:
                raise
            raise type(error)(_told(str(error))) from error
        names = [_plain(i.get_any_name()) for i in compiled.inputs]

        def call(*args: Any) -> Any:
            leaves = signature.inputs(args)
            # By name where one is gone: an input vanishes from the model when nothing reads it.
            values = leaves.values() if len(leaves) == len(names) else [leaves[n] for n in names]
            request = compiled.create_infer_request()
            for k, value in enumerate(values):
                request.set_input_tensor(k, _to_runtime(openvino, value))
            request.infer()
            return signature.result(_from_runtime(request.get_output_tensor(k)) for k in range(len(compiled.outputs)))

        return Compiled(call)

    def _converted(
        self, openvino: Any, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]
    ) -> tuple[Any, Signature]:
        if self.front == "export":
            enter("export")
            exported = torch.export.export(module, example)
            refuse_other_layout((node.target for node in exported.graph.nodes), example)
            enter("convert")
            return openvino.convert_model(exported), Signature.of(exported)
        signature = flattened(module, example)
        enter("convert")
        with quiet():
            if self.front == "script" and not isinstance(module, torch.jit.ScriptModule):
                module = torch.jit.script(module)
            return openvino.convert_model(module, example_input=example), signature


@functools.cache
def _core() -> Any:
    """One for all programs of a worker: it holds the plugin."""
    import openvino

    return openvino.Core()


def _told(text: str) -> str:
    """The front end's long reports, from the line that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [line for line in lines if line.startswith("-- No conversion")]
    after = [
        lines[k + 1] for k, line in enumerate(lines[:-1])
        if line.startswith(("FrontEnd API failed", "With exception")) or line.endswith("with a message:")
    ]  # fmt: skip
    rest = [line for line in lines if not line.startswith(("Exception from", "Check '", "FrontEnd API"))]
    return "\n".join([*(found[-1:] or after[-1:] or rest[:1]), text])


def _plain(name: str) -> str:
    """TorchScript numbers its names: `x.1` is the parameter `x`."""
    return name.partition(".")[0]


def _to_runtime(openvino: Any, value: Any) -> Any:
    tensor = dense(value)
    types = {torch.bfloat16: openvino.Type.bf16, torch.bool: openvino.Type.boolean}
    kind = types.get(tensor.dtype) or openvino.Type(tensor[:0].numpy().dtype if tensor.dim() else tensor.numpy().dtype)
    made = openvino.Tensor(kind, openvino.Shape(list(tensor.shape)))
    if tensor.numel():
        made.data.reshape(-1).view("uint8")[:] = tensor.reshape(-1).view(torch.uint8).numpy()
    return made


def _from_runtime(value: Any) -> torch.Tensor:
    name = value.element_type.get_type_name()
    dtype = _DTYPES[name]
    if 0 in value.shape:
        return torch.empty(list(value.shape), dtype=dtype)
    bits = torch.from_numpy(value.data.reshape(-1).view("uint8").copy())
    return bits.view(dtype).reshape(list(value.shape))


_DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "boolean": torch.bool,
}

EXPORTED = OpenVino("openvino", "export", (*EXPORT_REFUSALS, *_REFUSALS), "export")
# What is rewritten is a graph of operators, which script takes in no form: it is traced, as in `openvino-trace`.
SCRIPT = OpenVino("openvino-script", "script", (*SCRIPT_REFUSALS, *_REFUSALS), "torchscript", (Lane.DIRECT,))
TRACE = OpenVino("openvino-trace", "trace", (*TRACE_REFUSALS, *_REFUSALS), "torchscript-trace")
