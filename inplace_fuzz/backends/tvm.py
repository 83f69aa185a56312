"""TVM Relax: `from_exported_program`, `tvm.compile` for llvm, the Relax virtual machine.

Its importer drops mutation outputs and keeps no buffers, so only outputs are promised; that loss is one known entry of
the corpus, not thousands of findings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils.dlpack
from torch.utils import _pytree as pytree

from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, refuse_other_layout
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

# 0.25 asks for apache-tvm-ffi>=0.1.12, and cannot be imported with a later one.
REQUIREMENTS = Requirements("apache-tvm", when=(("<0.26", "apache-tvm-ffi==0.1.12"),))


@dataclass(frozen=True)
class Tvm:
    name: str = "tvm"
    channels: frozenset[Channel] = OUTPUT_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = (
        *EXPORT_REFUSALS,
        LAYOUT_REFUSAL,
        Refusal("AssertionError", r"Unsupported function types", "an operator that the importer has no converter for"),
        Refusal("NotImplementedError", r"."),
        Refusal("ValueError", r"Unsupported (dtype|data type|type)|not supported"),
        Refusal("AssertionError", r"not supported"),
    )
    form: str = "fx"
    per_fork: int = 8

    def version(self) -> str:
        return installed_version(REQUIREMENTS.distribution, "tvm")

    def warm(self) -> None:
        """Exports and imports one module, so that forked children start with all that this loads. Starts no thread."""
        from tvm.relax.frontend.torch import from_exported_program

        class Tiny(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x[0] = 1
                return x + 1

        from_exported_program(torch.export.export(Tiny(), (torch.ones(2),)))

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("import")
        import tvm
        from tvm import relax
        from tvm.relax.frontend.torch import from_exported_program

        enter("export")
        exported = torch.export.export(module, example)
        refuse_other_layout((node.target for node in exported.graph.nodes), example)
        enter("convert")
        relax_module = from_exported_program(exported)
        parameters = [p.name_hint if hasattr(p, "name_hint") else p.name for p in relax_module["main"].params]
        enter("build")
        machine = relax.VirtualMachine(tvm.compile(relax_module, target="llvm"), tvm.cpu())
        names = [s.arg.name for s in exported.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
        out_spec = exported.call_spec.out_spec
        main = machine["main"]

        def call(*args: Any) -> Any:
            # By name: an input vanishes from the parameters when nothing reads it any more.
            leaves = dict(zip(names, pytree.tree_leaves((args, {})), strict=True))
            # Copies: TVM takes contiguous memory that is aligned to 64 bytes, which a view need not be.
            copies = [leaves[p].detach().clone(memory_format=torch.contiguous_format) for p in parameters]
            results = main(*[tvm.runtime.from_dlpack(c) for c in copies])
            return pytree.tree_unflatten(_tensors(results), out_spec)

        return Compiled(call)


def _tensors(results: Any) -> list[Any]:
    """The virtual machine's answer, one tensor or a nest of arrays, as a flat list of torch tensors."""
    if results is None:
        return [None]
    if hasattr(results, "__dlpack__"):
        return [torch.utils.dlpack.from_dlpack(results).clone()]
    return [tensor for result in results for tensor in _tensors(result)]


TVM = Tvm()
# The same compiler judged on the caller's inputs and the module's buffers too: what its importer loses, as one entry.
STATE = Tvm(name="tvm-state", channels=OUTPUT_CHANNELS | {Channel.INPUTS, Channel.BUFFERS})
