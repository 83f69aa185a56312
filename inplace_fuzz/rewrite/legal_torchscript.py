"""Compilers that are given a trace of the functional graph: ONNX's TorchScript exporter, OpenVINO's front end, pnnx.

They know the in-place operators that people write and few of their functional twins: none of them has `slice_scatter`,
`select_scatter`, `copy`, `_to_copy`. `index_put` is at its best where nobody looks closely.
"""

# ruff: noqa: ARG001  (the functions of one table take the same arguments)
# ruff: noqa: SLF001  (torch keeps its operators behind underscores)

from __future__ import annotations

from typing import Any

import torch

from .legal_onnx import NARROW
from .legal_parts import CHOOSE, PUT, by_scatter
from .legal_rules import ARITHMETIC, COMMON, COPIES, VIEWS, full_like, widening

aten = torch.ops.aten


def cast(g: Any, x: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    """x.to(dtype)"""
    return x if dtype is None else g.call(aten.to.dtype, x, dtype)


_RULES = {**COMMON, **COPIES, **VIEWS, aten.full_like.default: full_like, PUT: by_scatter, CHOOSE: True}
# As a person would have written it.
_SPELLING = {**COPIES, aten._to_copy.default: cast}

PASSES = (_RULES, _SPELLING)
# The same for ONNX Runtime, whose kernels want wider dtypes.
WIDE = (widening(ARITHMETIC, NARROW, _RULES), _SPELLING)
