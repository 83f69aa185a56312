"""ONNX Runtime behind the TorchScript exporter, `torch.onnx.export(dynamo=False)`, from script and from trace.

The exporter's own passes remove in-place operators from the TorchScript graph. Only outputs are promised: an ONNX graph
has nothing else.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch

from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, flattened
from inplace_fuzz.backends.onnxruntime import RUNTIME_REFUSALS, session
from inplace_fuzz.backends.torchscript import SCRIPT_REFUSALS, TRACE_REFUSALS, quiet
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("onnxruntime", ("onnx",))


@dataclass(frozen=True)
class OnnxRuntimeTorchScript:
    name: str
    script: bool
    refusals: tuple[Refusal, ...]
    starts_from: str
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    channels: frozenset[Channel] = OUTPUT_CHANNELS
    form: str = "fx"
    stateless: bool = True
    per_fork: int = 32

    def version(self) -> str:
        installed_version("onnx", self.name)
        return installed_version(REQUIREMENTS.distribution, self.name)

    def warm(self) -> None:
        """Exports one module. The runtime itself is left to workers: importing it starts a thread."""

        class Tiny(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x[0] = 1
                return x + 1

        _export(Tiny().eval(), (torch.ones(2),), ("x",))

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        signature = flattened(module, example)
        enter("convert")
        with quiet():
            scripted = torch.jit.script(module) if self.script else module
            model = _export(scripted, example, signature.names)
        enter("build")
        run = session(model, optimised=True)
        return Compiled(lambda *args: signature.result(run(signature.inputs(args))))


def _export(module: Any, example: tuple[Any, ...], names: tuple[str, ...]) -> bytes:
    file = io.BytesIO()
    torch.onnx.export(module, example, cast("Any", file), dynamo=False, input_names=list(names))
    return file.getvalue()


_REFUSALS = (
    LAYOUT_REFUSAL,
    *RUNTIME_REFUSALS,
    Refusal("UnsupportedOperatorError", r"is not supported|unrecognized namespace", "no converter in this opset"),
    Refusal("SymbolicValueError", r"Unsupported:|not supported|only supports", "a converter's own word"),
    Refusal("RuntimeError", r"Unsupported: ONNX export|ONNX export does not support", "a pass's own word"),
)
SCRIPT = OnnxRuntimeTorchScript(
    "onnxruntime-torchscript", True, (*SCRIPT_REFUSALS, *_REFUSALS), "torchscript", lanes=(Lane.DIRECT,)
)
# Also what is rewritten, for scripting takes no graph of operators.
TRACE = OnnxRuntimeTorchScript(
    "onnxruntime-torchscript-trace", False, (*TRACE_REFUSALS, *_REFUSALS), "torchscript-trace"
)
