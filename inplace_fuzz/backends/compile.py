"""`torch.compile` with AOTAutograd alone (`aot-eager`) and with Inductor; `-dynamic` with sizes that are symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, Unavailable
from inplace_fuzz.core.materialize import torch_version
from inplace_fuzz.core.verdict import ALL_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("torch")
# torch.compile keeps eager's strides and aliasing between inputs and outputs, but not for fresh outputs' padding.
_CHANNELS = ALL_CHANNELS - {Channel.STRIDES}


@dataclass(frozen=True)
class TorchCompile:
    name: str
    mode: str
    per_fork: int
    dynamic: bool | None = None  # as `torch.compile` takes it: None specialises, until a size changes
    channels: frozenset[Channel] = _CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = (
        Refusal("Unsupported", r".", "a graph break under fullgraph=True"),
        Refusal("UserError", r"."),
    )
    form: str = "fx"
    starts_no_threads: bool = False

    def version(self) -> str:
        if self.mode == "inductor":
            import shutil

            if shutil.which("g++") is None and shutil.which("clang++") is None:
                raise Unavailable("Inductor needs a C++ compiler; install g++, for example with `apt-get install g++`")
        return torch_version()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("build")
        torch._dynamo.reset()  # noqa: SLF001  one program's guards are not the next one's
        # A rewritten module's guards look at storages, which Dynamo cannot trace; its forward is the graph alone.
        entry = module.forward if isinstance(module, torch.fx.GraphModule) else module
        compiled = torch.compile(entry, backend=self.mode, fullgraph=True, dynamic=self.dynamic)
        state = {name: t.clone() for name, t in module.named_buffers()}
        compiled(*example)  # compiles, on throwaway inputs
        with torch.no_grad():
            for name, buffer in module.named_buffers():
                buffer.copy_(state[name])
        return Compiled(compiled, lambda: dict(module.named_buffers()))


AOT_EAGER = TorchCompile("aot-eager", "aot_eager", per_fork=16, starts_no_threads=True)
AOT_EAGER_DYNAMIC = TorchCompile("aot-eager-dynamic", "aot_eager", per_fork=16, dynamic=True, starts_no_threads=True)
INDUCTOR = TorchCompile("inductor", "inductor", per_fork=8)
INDUCTOR_DYNAMIC = TorchCompile("inductor-dynamic", "inductor", per_fork=8, dynamic=True)
