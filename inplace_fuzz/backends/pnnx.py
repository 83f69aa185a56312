"""pnnx: `pnnx.export`, which traces the module, and the Python module that it writes, run by torch.

The written module is a program in PyTorch again, for the converter's own check of what it understood. Only outputs are
promised: in-place operators become copies, and buffers constants.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.utils import _pytree as pytree

from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, dense, flattened, heard
from inplace_fuzz.backends.torchscript import TRACE_REFUSALS, quiet
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("pnnx", ("numpy",))


class ConversionFailed(RuntimeError):
    """The converter, a process of its own, wrote no module; with the last thing that it said."""


@dataclass(frozen=True)
class Pnnx:
    name: str = "pnnx"
    channels: frozenset[Channel] = OUTPUT_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = (*TRACE_REFUSALS, LAYOUT_REFUSAL)
    form: str = "fx"
    stateless: bool = True
    starts_from: str = "torchscript-trace"
    per_fork: int = 32

    def version(self) -> str:
        return installed_version(REQUIREMENTS.distribution, self.name)

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        signature = flattened(module, example)
        enter("import")
        import pnnx

        enter("convert")
        # A directory of its own: where nothing is written, the last program's module must not be found.
        with tempfile.TemporaryDirectory() as directory, quiet(), heard() as lines:
            try:
                written = pnnx.export(module, f"{directory}/program.pt", example, check_trace=False)
            except FileNotFoundError as error:
                said = [line for line in lines() if not line.startswith("#")]
                raise ConversionFailed(said[-1] if said else "the converter ended without a word") from error
            parameters = Path(directory, "program.pnnx.param").read_text()
        # An input that nothing reads any more is gone; the others keep their numbers.
        taken = [int(number) for number in re.findall(r"(?m)^pnnx\.Input +pnnx_input_(\d+)", parameters)]

        def call(*args: Any) -> Any:
            leaves = list(signature.inputs(args).values())
            try:
                return signature.result(pytree.tree_leaves(written(*[dense(leaves[k]) for k in taken])))
            except NameError as error:
                raise NameError(_told(str(error))) from error

        return Compiled(call)


def _told(message: str) -> str:
    """What an operand is called that the converter lost is another word each time: `v_22`, `v_out`, `v_key`."""
    return re.sub(r"'v_\w+'", "'v_…'", message)


PNNX = Pnnx()
