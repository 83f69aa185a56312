"""What becomes of every operator of the installed torch whose schema writes.

handled by a row    it has a row in WRITES, or the walk knows it (metadata operators, lists, foreach)
handled as out=     its writing overloads are `out=` overloads of a functional operator
refused by name     UnsupportedMutation names it
out of scope        another library's operators, or no tensor is written (a generator, a list of numbers)
"""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import collections
import functools

import torch

from .rules import DEFAULT_RULES
from .schemas import WRITE, schema_verdict
from .walk import handler_table

FATES = ("handled by a row", "handled as out=", "refused by name", "out of scope")


@functools.cache
def _writing() -> dict[str, list[torch._C.FunctionSchema]]:
    found: dict[str, list[torch._C.FunctionSchema]] = {}
    for schema in torch._C._jit_get_all_schemas():
        if schema_verdict(schema) is WRITE:
            found.setdefault(schema.name, []).append(schema)
    return found


def fate(name: str) -> str:
    """One of FATES for an operator name that has a writing overload. Raises KeyError for one that has none."""
    schemas = _writing()[name]
    if not name.startswith("aten::"):
        return "out of scope"
    if name in _table() and any(not _only_out(s) for s in schemas):
        return "handled by a row"
    if all(_only_out(s) and _has_twin(s) for s in schemas):
        return "handled as out="
    if name.startswith("aten::_foreach_") and name.endswith("_") and name[:-1] in _all_names():
        return "handled by a row"
    if not any("Tensor" in str(a.type) for s in schemas for a in s.arguments):
        return "out of scope"
    return "refused by name"


def census() -> collections.Counter[str]:
    """How many operators have each fate."""
    return collections.Counter(fate(name) for name in _writing())


def _only_out(schema: torch._C.FunctionSchema) -> bool:
    written = [a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
    return all(a.is_out for a in written)


def _has_twin(schema: torch._C.FunctionSchema) -> bool:
    """A functional overload takes the same arguments without those given as out."""
    plain = [str(a.real_type) for a in schema.arguments if not a.is_out]
    for other in torch._C._jit_get_schemas_for_operator(schema.name):
        if schema_verdict(other) is not WRITE and [str(a.real_type) for a in other.arguments] == plain:
            return True
    return False


@functools.cache
def _table() -> frozenset[str]:
    return frozenset(handler_table(DEFAULT_RULES))


@functools.cache
def _all_names() -> frozenset[str]:
    return frozenset(s.name for s in torch._C._jit_get_all_schemas())
