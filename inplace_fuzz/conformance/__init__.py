"""The conformance suite: small modules full of in-place writes, by family, for whoever compiles such programs.

Every case runs in eager, which is the reference: its outputs, its inputs and buffers after each call, and what shares
memory with what. Many hold a second set of inputs that takes another path, so that what was frozen shows.

    FAMILIES   a family's name and its cases          CASES   all of them, in order

Importing this imports no torch, and builds no case before one is asked for.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from inplace_fuzz.conformance.case import Case

FAMILY_NAMES = (
    "slice", "select", "nested", "adv_index", "mixed_index", "bool_mask", "accumulate", "inplace_on_view", "compound",
    "view_op", "strides", "complex", "dtype_view", "metadata", "two_aliases", "local", "input_mutation", "output_alias",
    "dtype", "broadcast", "zero_size", "zero_dim", "control_flow", "optional", "list", "state", "foreach", "out",
    "random", "ordering", "dead_write", "stale_view",
)  # fmt: skip
FORMATS = ("text", "md", "csv", "json")

if TYPE_CHECKING:
    FAMILIES: dict[str, list[Case]]
    CASES: list[Case]

__all__ = ["CASES", "FAMILIES", "FAMILY_NAMES", "FORMATS", "Case"]


@functools.cache
def _families() -> dict[str, list[Case]]:
    return {name: importlib.import_module(f"inplace_fuzz.conformance.cases.{name}").CASES for name in FAMILY_NAMES}


def __getattr__(name: str) -> Any:
    if name == "FAMILIES":
        return _families()
    if name == "CASES":
        return [case for cases in _families().values() for case in cases]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
