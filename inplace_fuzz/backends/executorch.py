"""ExecuTorch: `to_edge`, `to_executorch`, the runtime with its portable kernels; and lowered to XNNPACK.

The runtime keeps mutable buffers between calls, but its Python binding cannot show them: what they hold shows in what
later calls return. It runs on memory of its own, so a caller's inputs are never written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, Signature, refuse_other_layout
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("executorch", torch=">=2.13,<2.14")


@dataclass(frozen=True)
class ExecuTorch:
    name: str
    xnnpack: bool = False
    channels: frozenset[Channel] = OUTPUT_CHANNELS | {Channel.BUFFERS}
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = (
        *EXPORT_REFUSALS,
        LAYOUT_REFUSAL,
        Refusal("SpecViolationError", r"is not in Core ATen opset"),
        Refusal("RuntimeError", r"Missing out variants", "an operator that the runtime has no kernel for"),
        Refusal("RuntimeError", r"should be contiguous or channels-last", "an input with other strides"),
        Refusal("RuntimeError", r"error:? 0x:?14", "a kernel that the runtime does not have"),
    )
    form: str = "fx"
    stateless: bool = True
    per_fork: int = 16

    def version(self) -> str:
        return installed_version(REQUIREMENTS.distribution, self.name)

    def warm(self) -> None:
        """Lowers one module. The runtime is left to workers: importing it starts a thread."""

        class Tiny(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x[0] = 1
                return x + 1

        self._lowered(torch.export.export(Tiny(), (torch.ones(2),))).to_executorch()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("export")
        exported = torch.export.export(module, example)
        refuse_other_layout((node.target for node in exported.graph.nodes), example)
        signature = Signature.of(exported)
        enter("convert")
        lowered = self._lowered(exported)
        specs = lowered.exported_program().graph_signature.output_specs
        # New contents of inputs come out in front of what the program returns.
        own = [k for k, kind in enumerate(s.kind.name for s in specs if s.kind.name != "BUFFER_MUTATION")
               if kind == "USER_OUTPUT"]  # fmt: skip
        enter("build")
        program = lowered.to_executorch()
        from executorch.runtime import Runtime

        kept = program.buffer, Runtime.get().load_program(program.buffer)
        method = kept[1].load_method("forward")

        def call(*args: Any, _alive: Any = kept) -> Any:  # a method does not keep its program alive
            results = method.execute([_given(value) for value in signature.inputs(args).values()])
            return signature.result(results[k] for k in own)

        return Compiled(call, None)

    def _lowered(self, exported: Any) -> Any:
        from executorch import exir

        if not self.xnnpack:
            return exir.to_edge(exported)
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return exir.to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


def _given(value: Any) -> torch.Tensor:
    """A copy with the strides that the program was exported with: the order of dimensions is part of it, and one of
    another order is read as if it were that one. The runtime itself says which it does not take.
    """
    tensor = value.detach() if isinstance(value, torch.Tensor) else torch.tensor(value)
    copy = tensor.clone()
    return copy if copy.stride() == tensor.stride() else tensor


EXECUTORCH = ExecuTorch("executorch")
XNNPACK = ExecuTorch("executorch-xnnpack", xnnpack=True)
