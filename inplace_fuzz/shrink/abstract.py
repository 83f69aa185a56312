"""The form in which two minimal programs with one root cause are the same text.

Names are canonical, and what only makes the values concrete is dropped: numbers become 0 or 1, bounds are only there
or not there, shapes become ranks, inputs are counted up. The operators, the kinds of index, the order of statements and
the dtypes stay.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import replace

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.kinds import index_elements
from inplace_fuzz.core.spec import map_specs
from inplace_fuzz.shrink.edit import Change, edited
from inplace_fuzz.shrink.names import tidy


def canonical(program: Program) -> Program:
    """The program with canonical names and abstract values. It need not run."""
    named = tidy(program)
    changes: dict[ast.AST, Change] = {}
    for node in ast.walk(named.tree):
        match node:
            case ast.Subscript():
                changes |= {e: _abstract_index(e) for e in index_elements(node) if _abstract_index(e) is not e}
            case ast.List(elts=elts) if all(isinstance(e, (ast.Constant, ast.UnaryOp)) for e in elts):
                changes[node] = ast.List([ast.Constant(0)], ast.Load())
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                changes[node] = ast.Constant(1)
            case ast.Constant(value=value) if isinstance(value, (int, float)) and not isinstance(value, bool):
                changes[node] = ast.Constant(1)
    calls = tuple(map_specs(c, _abstract_spec) for c in named.calls)
    return replace(edited(named, changes), calls=calls, title="")


def canonical_key(program: Program) -> str:
    """Twelve hex digits, the same for programs that are one shape."""
    form = canonical(program)
    specs = [[_layout(a) for a in call] for call in form.calls]
    return hashlib.sha256(repr((ast.dump(form.tree), specs)).encode()).hexdigest()[:12]


def _abstract_index(element: ast.expr) -> ast.expr:
    match element:
        case ast.Slice(lower=lower, upper=upper, step=step):
            if lower is None and upper is None and step is None:
                return element
            bounded = ast.Constant(1) if lower or upper else None
            return ast.Slice(bounded, None, ast.Constant(2) if step else None)
        case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant()):
            return ast.Constant(0)
    return element


def _abstract_spec(spec: TensorSpec) -> TensorSpec:
    return replace(
        spec, shape=(2,) * len(spec.shape), values=(), strides=None if spec.strides is None else (0,), offset=0
    )


def _layout(arg: object) -> str:
    if isinstance(arg, TensorSpec):
        return f"{arg.dtype}[{len(arg.shape)}]{'s' if arg.strides else ''}{'' if arg.storage is None else arg.storage}"
    if isinstance(arg, (list, tuple)):
        return f"{type(arg).__name__}({','.join(_layout(a) for a in arg)})"
    return type(arg).__name__
