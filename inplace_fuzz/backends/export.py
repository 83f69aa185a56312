"""`torch.export.export`, `run_decompositions()`, and the resulting module run eagerly.

The functional graph that every exporter downstream starts from. What it gets wrong, they all do. `export-strict` reads
the program by Dynamo instead of running it; `export-dynamic` leaves every size of an input open that can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from inplace_fuzz.core.backend import Compiled, Refusal, Requirements
from inplace_fuzz.core.materialize import torch_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("torch")
# How torch.export says that a program is not for it; shared by every compiler that starts from an ExportedProgram.
EXPORT_REFUSALS = (
    Refusal("GuardOnDataDependentSymNode", r".", "control flow or sizes that depend on data"),
    Refusal("UserError", r".", "torch.export's own word for a program it does not take"),
    Refusal("Unsupported", r".", "a graph break under strict export"),
    Refusal("ConstraintViolationError", r"."),
    Refusal("DataDependentOutputException", r"."),
    Refusal("DynamicOutputShapeException", r"."),
    Refusal("UnsupportedOperatorException", r"."),
    Refusal("RuntimeError", r"(?s)metadata mutation|Mutations? on .* is not (yet )?supported|You're using"),
    Refusal("AssertionError", r"(?s)Mutating module attribute|was mutated.*metadata"),
    Refusal("RuntimeError", r"functionalization encountered a tensor being mutated that has internal overlap"),
    Refusal("RuntimeError", r"is banned in compile|behavior is banned|non-compositional"),
    Refusal("AssertionError", r"^Guard failed", "inputs other than those it was specialised for", stage="run"),
    Refusal("RuntimeError", r"Found following user inputs located at \[.*\] are mutated"),
)


@dataclass(frozen=True)
class Export:
    name: str = "export"
    strict: bool = False
    dynamic: bool = False
    # Outputs of an exported module need not alias what eager's do: functionalisation returns fresh tensors.
    channels: frozenset[Channel] = OUTPUT_CHANNELS | {Channel.INPUTS, Channel.BUFFERS}
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = EXPORT_REFUSALS
    form: str = "fx"
    per_fork: int = 16
    starts_no_threads: bool = True

    def version(self) -> str:
        return torch_version()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("export")
        shapes = pytree.tree_map(_open_sizes, example) if self.dynamic else None
        exported = torch.export.export(module, example, strict=self.strict, dynamic_shapes=shapes)
        enter("convert")
        unlifted = exported.run_decompositions().module()
        return Compiled(unlifted, lambda: dict(unlifted.named_buffers()))


def _open_sizes(value: Any) -> Any:
    """Every size of a tensor as one that may change, unless the program or torch.export needs the one it has."""
    return dict.fromkeys(range(value.dim()), torch.export.Dim.AUTO) if isinstance(value, torch.Tensor) else None


EXPORT = Export()
# What is rewritten looks at storages where inputs share them, which Dynamo does not read.
STRICT = Export("export-strict", strict=True, lanes=(Lane.DIRECT,))
DYNAMIC = Export("export-dynamic", dynamic=True)
