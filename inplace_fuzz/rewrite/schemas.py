"""What an operator's schema says: does it write, may its result look at its argument, or is it pure.

The answer for a kind with so many inputs is kept for the life of the process; only kinds whose overloads disagree
(`aten::add` with four inputs is `out=`) have their own node asked again.
"""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

from typing import Any

import torch

PURE, ALIAS, WRITE, ASK, UNKNOWN = "pure", "alias", "write", "ask", "unknown"

_by_kind: dict[str, dict[int, str]] = {}
_by_schema: dict[str, str] = {}


def schema_verdict(schema: Any) -> str:
    """`schema` is a torch FunctionSchema."""
    for argument in schema.arguments:
        if argument.alias_info is not None and argument.alias_info.is_write:
            return WRITE
    for result in schema.returns:
        if result.alias_info is not None:
            return ALIAS
    return PURE


def verdict(kind: str, n_inputs: int, origin: Any = None) -> str:
    """`origin` is the reader's own node: a torch._C.Node, or an OpOverload."""
    if isinstance(origin, torch._ops.OpOverload):
        return schema_verdict(origin._schema)
    counts = _by_kind.get(kind)
    if counts is None:
        counts = _by_kind[kind] = _read_kind(kind)
    found = counts.get(n_inputs, UNKNOWN)
    if found is ASK:
        found = _ask(origin)
    return found


def _read_kind(kind: str) -> dict[int, str]:
    counts: dict[int, str] = {}
    for schema in torch._C._jit_get_schemas_for_operator(kind.split(".", 1)[0]):
        n, answer = len(schema.arguments), schema_verdict(schema)
        counts[n] = answer if counts.get(n, answer) == answer else ASK
    return counts


def _ask(origin: Any) -> str:
    if origin is None:
        return UNKNOWN
    text = origin.schema()
    if text == "(no schema)":
        return UNKNOWN
    found = _by_schema.get(text)
    if found is None:
        found = _by_schema[text] = schema_verdict(torch._C.parse_schema(text))
    return found


def has_functional(kind: str, n_inputs: int) -> bool:
    """An overload of `kind` takes so many arguments and writes none of them."""
    return any(
        len(s.arguments) == n_inputs and schema_verdict(s) is not WRITE
        for s in torch._C._jit_get_schemas_for_operator(kind)
    )
