"""Reads an adapter's `REQUIREMENTS` from its text: importing the adapter would import torch."""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from pathlib import Path

from inplace_fuzz.core.backend import Requirements


class BadRequirements(ValueError):
    """`REQUIREMENTS` is there and is not made of literals."""


@cache
def read_requirements(module: str) -> Requirements | None:
    """The module's `REQUIREMENTS = Requirements(…)`, or None where there is no such line or no such module."""
    path = _source(module)
    if path is None:
        return None
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="REQUIREMENTS")], value=value):
                return _evaluated(value, path)
            case ast.AnnAssign(target=ast.Name(id="REQUIREMENTS"), value=ast.expr() as value):
                return _evaluated(value, path)
    return None


def _evaluated(value: ast.expr, path: Path) -> Requirements:
    try:
        if not isinstance(value, ast.Call):
            raise ValueError("it is no call of Requirements")
        positional = [ast.literal_eval(a) for a in value.args]
        named = {str(k.arg): ast.literal_eval(k.value) for k in value.keywords}
        return Requirements(*positional, **named)
    except (ValueError, TypeError) as error:
        raise BadRequirements(
            f"{path} line {value.lineno}: write REQUIREMENTS = Requirements(…) with literals alone ({error})"
        ) from None


def _source(module: str) -> Path | None:
    """The module's file. Only its top package is looked up, and nothing is imported."""
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin and Path(spec.origin).is_file() else None
    for directory in spec.submodule_search_locations or ():
        stem = Path(directory, *rest)
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return path
    return None
