"""TVM Relax (`from_exported_program`): what its importer refuses or gets wrong, in operators that it takes.

Seen with apache-tvm 0.27: it reads out of bounds for a negative `select`; takes `slice_scatter` only with bounds inside
the tensor; takes `index_put` only with an integer tensor for every dimension, and puts the result of separated index
tensors in the wrong order; forgets `alpha` of `add` and `sub`; has no `select_scatter`, `index_copy`, `index_fill`,
`index_add`, `scatter_add`, `put`, `diagonal_scatter`, boolean masks.
"""

from __future__ import annotations

import torch

from .legal_rules import COMMON, scaled

aten = torch.ops.aten

PASSES = ({**COMMON, aten.add.Tensor: scaled(aten.add.Tensor), aten.sub.Tensor: scaled(aten.sub.Tensor)},)
