"""The conformance suite: small modules full of in-place writes, by family, for whoever compiles such programs.

Every case runs in eager, which is the reference: its outputs, its inputs and buffers after each call, and what shares
memory with what. Many hold a second set of inputs that takes another path, so that what was frozen shows.

`FAMILIES` maps a family to its cases. Importing this does not import torch.
"""

from __future__ import annotations

import importlib

from inplace_fuzz.conformance.case import Case

_NAMES = (
    "slice", "select", "nested", "adv_index", "mixed_index", "bool_mask", "accumulate", "inplace_on_view", "compound",
    "view_op", "strides", "complex", "dtype_view", "metadata", "two_aliases", "local", "input_mutation", "output_alias",
    "dtype", "broadcast", "zero_size", "zero_dim", "control_flow", "optional", "list", "state", "foreach", "out",
    "random", "ordering", "dead_write", "stale_view",
)  # fmt: skip

FAMILIES: dict[str, list[Case]] = {
    name: importlib.import_module(f"inplace_fuzz.conformance.cases.{name}").CASES for name in _NAMES
}
CASES: list[Case] = [case for cases in FAMILIES.values() for case in cases]

__all__ = ["CASES", "FAMILIES", "Case"]
