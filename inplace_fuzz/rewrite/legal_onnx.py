"""ONNX Runtime behind `torch.onnx.export(dynamo=True)`: what the exporter or the CPU runtime has nothing for.

Seen with torch 2.13 and onnxruntime 1.32: no kernel computes in int8, int16, uint8 or bfloat16; `index_put` takes no
mask beside a plain dimension; what decomposes to `prims.copy_strided` has no converter.
"""

from __future__ import annotations

import torch

from .legal_rules import ARITHMETIC, COMMON, COPIES, widening

NARROW = {
    torch.int8: torch.int32,
    torch.int16: torch.int32,
    torch.uint8: torch.int32,
    torch.bfloat16: torch.float32,
}
RULES = {**widening(ARITHMETIC, NARROW, COMMON), **COPIES}
PASSES = (RULES,)
